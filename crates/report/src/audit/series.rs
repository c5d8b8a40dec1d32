//! The series of all documents as plots: one metric on one platform in each, a line for each run.

use assay_model::{Document, ReadRun, Series, names};

use crate::figure::{Plot, PlotLine};
use crate::reading;
use crate::words::clean;

/// Lines in one plot; more make it unreadable.
const MOST_LINES: usize = 12;
/// Plots in one page; a page is to be read.
const MOST_PLOTS: usize = 24;

type Member<'a> = (&'a Document, &'a ReadRun, &'a Series);

/// The plots, and how many more there would be.
pub fn plots(documents: &[Document]) -> (Vec<Plot>, usize) {
    let mut plots: Vec<Plot> =
        groups(documents).iter().flat_map(|group| group.chunks(MOST_LINES)).flat_map(plots_of).collect();
    let more = plots.len().saturating_sub(MOST_PLOTS);
    plots.truncate(MOST_PLOTS);
    (plots, more)
}

/// Series that can share a plot: the same metric and unit on the same platform. What is not a course over time is left
/// out, and so is a single value.
fn groups(documents: &[Document]) -> Vec<Vec<Member<'_>>> {
    let mut groups: Vec<Vec<Member<'_>>> = Vec::new();
    for document in documents {
        for run in &document.runs {
            for series in &run.series {
                let plotted = series.values.iter().filter(|value| value.is_finite()).count() > 1
                    && ![names::LOGITS, names::PROBABILITIES].contains(&series.metric.as_str());
                if !plotted {
                    continue;
                }
                let fits = |group: &&mut Vec<Member<'_>>| {
                    group.first().is_some_and(|(_, other_run, other)| {
                        other.metric == series.metric
                            && other.unit == series.unit
                            && other_run.platform == run.platform
                    })
                };
                match groups.iter_mut().find(fits) {
                    Some(group) => group.push((document, run, series)),
                    None => groups.push(vec![(document, run, series)]),
                }
            }
        }
    }
    groups
}

/// A plot over steps, and one over seconds where several runs have a clock: a higher rate need not learn faster.
fn plots_of(members: &[Member<'_>]) -> Vec<Plot> {
    let mut plots = Vec::new();
    let stepped = members.iter().all(|(_, _, series)| series.steps.len() == series.values.len());
    let across = if stepped { "step" } else { "number of the value" };
    plots.extend(plot(members, across, |_, series| {
        if stepped {
            series.steps.clone()
        } else {
            (1..=series.values.len()).map(|index| index as f64).collect()
        }
    }));
    let clocked = members.iter().filter(|(_, _, series)| series.at_s.len() == series.values.len()).count();
    if clocked > 1 && clocked == members.len() {
        let begun = members.iter().all(|(_, run, _)| training_began(run).is_some());
        let across = if begun { "seconds after training began" } else { "seconds after the first value" };
        plots.extend(plot(members, across, |run, series| {
            let zero = training_began(run).filter(|_| begun).or(series.at_s.first().copied()).unwrap_or(0.0);
            series.at_s.iter().map(|at| at - zero).collect()
        }));
    }
    plots
}

fn training_began(run: &ReadRun) -> Option<f64> {
    run.phases.iter().find(|phase| phase.name == "train").and_then(|phase| phase.start_s)
}

fn plot(
    members: &[Member<'_>],
    across: &str,
    places: impl Fn(&ReadRun, &Series) -> Vec<f64>,
) -> Option<Plot> {
    let (_, first_run, first) = members.first()?;
    let names =
        reading::names(&members.iter().map(|(document, run, _)| (*document, *run)).collect::<Vec<_>>());
    let lines = members.iter().zip(names).map(|((_, run, series), label)| PlotLine {
        label,
        points: places(run, series).into_iter().zip(series.values.iter().copied()).collect(),
    });
    let platform = first_run.platform.as_deref().map(|platform| format!(" · {platform}")).unwrap_or_default();
    Some(Plot {
        title: clean(&format!("{}{platform}", first.metric)),
        unit: first.unit.clone(),
        across: across.to_owned(),
        lines: lines.collect(),
    })
}
