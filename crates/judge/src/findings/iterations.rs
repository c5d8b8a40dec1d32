//! What the iterations within runs say.

use assay_model::{Settings, Unit};

use super::words::{counted, label, shown};
use super::{Finding, finding};
use crate::iterations::IterationStudy;

/// What the iterations within runs say.
pub fn of_iterations(studies: &[IterationStudy]) -> Vec<Finding> {
    let mut found = Vec::new();
    let differs = |name: &String| {
        studies.windows(2).any(|pair| match pair {
            [one, other] => one.settings.get(name) != other.settings.get(name),
            _ => false,
        })
    };
    for study in studies {
        let unit = &study.unit;
        // What all cells have in common distinguishes none of them.
        let own = study.settings.iter().filter(|(name, _)| differs(name));
        let own: Settings = own.map(|(name, value)| (name.clone(), value.clone())).collect();
        let place = if own.is_empty() { String::new() } else { format!("{}: ", label(&own)) };
        if study.unsteady > 0 {
            let text = format!(
                "{place}{} of {} never reach a steady {}",
                study.unsteady,
                counted(study.runs, "run"),
                study.metric
            );
            found.push(finding("unsteady", text, vec![study.cell.clone()]));
        }
        if let Some(without) = study.mean_without.filter(|_| study.cut > 0) {
            let text = format!(
                "{place}{} of {} iterations come before the steady state; the mean {} is {} with them and {} without",
                study.cut,
                study.iterations,
                study.metric,
                shown(study.mean_with, unit),
                shown(without, unit)
            );
            found.push(finding("warm_up", text, vec![study.cell.clone()]));
        }
        if let Some(levels) = study.levels {
            let share = 100.0 * levels.share_between_runs;
            let advice = levels.advice.map_or_else(
                || "no number of runs that anybody would make reaches the precision".to_owned(),
                |advice| {
                    // The best number is flat around its optimum: a few more or fewer make no difference.
                    let level = if advice.iterations as f64 > 1.2 * levels.iterations {
                        "repeat iterations within runs"
                    } else {
                        "repeat runs, not iterations"
                    };
                    let time = advice.seconds.map_or_else(String::new, |seconds| {
                        format!(", about {}", shown(seconds, &Unit::Seconds))
                    });
                    format!(
                        "{level}: ± {} % takes {} of {} at the least cost{time}",
                        (1e4 * advice.precision).round() / 100.0,
                        counted(advice.runs, "run"),
                        counted(advice.iterations, "iteration"),
                    )
                },
            );
            let text = format!(
                "{place}{share:.0} % of the variance of {} lies between runs; {} of {:.0} iterations give ± {:.1} %; {advice}",
                study.metric,
                counted(study.runs, "run"),
                levels.iterations,
                100.0 * levels.half_width
            );
            found.push(finding("variance_levels", text, vec![study.cell.clone()]));
        }
    }
    found
}
