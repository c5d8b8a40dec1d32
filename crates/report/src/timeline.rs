//! Where the time of a run went: its phases on one axis, with lengths and shares. Text and figures are made from it.

use assay_model::{KnownBy, Phase, ReadRun, Source, names};

/// The phases of a run on one axis that begins with the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The length of the axis in seconds: the whole run as far as it is known.
    pub total_s: f64,
    /// The phases by name, in the order they first began.
    pub lanes: Vec<Lane>,
    /// Seconds inside the run that no phase covers.
    pub uncovered_s: f64,
    /// Whether the starts are those of a clock; otherwise the phases are laid end to end.
    pub clocked: bool,
}

/// All phases of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Lane {
    /// The name of the phase.
    pub name: String,
    /// When it ran.
    pub intervals: Vec<PhaseSpan>,
    /// The length of all its intervals whose length is known; none where no length is.
    pub seconds: Option<f64>,
    /// That length as a share of the axis.
    pub share: Option<f64>,
    /// How the first of them is known.
    pub known_by: KnownBy,
    /// The line the first of them began on.
    pub source: Source,
}

/// One stretch of a phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhaseSpan {
    /// Seconds after the start of the axis.
    pub start_s: f64,
    /// The end; none for a phase that never ended.
    pub end_s: Option<f64>,
}

/// The timeline of a run; none if no phase has a length or a start.
pub fn timeline(run: &ReadRun) -> Option<Timeline> {
    let clocked = run.phases.iter().any(|phase| time(phase.start_s).is_some());
    let placed: Vec<(&Phase, PhaseSpan)> = place(&run.phases);
    let ends = placed.iter().map(|(_, interval)| interval.end_s.unwrap_or(interval.start_s));
    let mut total_s = ends.fold(0.0, f64::max);
    if clocked {
        // The job may have gone on after its last phase.
        let job = run.observations.iter().find(|observation| observation.metric == names::DURATION_JOB);
        total_s = job.and_then(|job| time(Some(job.value))).unwrap_or(0.0).max(total_s);
    }
    if placed.is_empty() || total_s <= 0.0 {
        return None;
    }
    let uncovered_s = total_s - covered(&placed, total_s);
    Some(Timeline { total_s, lanes: lanes(&placed, total_s), uncovered_s, clocked })
}

/// The longest time that is drawn: about thirty thousand years, far from where sums of seconds lose their meaning.
const LONGEST_S: f64 = 1e12;

/// A time that can be drawn.
fn time(seconds: Option<f64>) -> Option<f64> {
    seconds.filter(|seconds| (0.0..=LONGEST_S).contains(seconds))
}

/// Puts each phase where the clock says it was, and behind the one before it where there is no clock.
fn place(phases: &[Phase]) -> Vec<(&Phase, PhaseSpan)> {
    let mut placed = Vec::new();
    let mut cursor = 0.0;
    for phase in phases {
        let start = time(phase.start_s);
        let length =
            time(phase.seconds).or_else(|| Some(time(phase.end_s)? - start?).filter(|length| *length >= 0.0));
        if start.is_none() && length.is_none() {
            continue;
        }
        let start_s = start.unwrap_or(cursor);
        let end_s = length.map(|length| start_s + length);
        cursor = end_s.unwrap_or(start_s);
        placed.push((phase, PhaseSpan { start_s, end_s }));
    }
    placed
}

fn lanes(placed: &[(&Phase, PhaseSpan)], total_s: f64) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::new();
    for (phase, interval) in placed {
        let length = interval.end_s.map(|end| end - interval.start_s);
        match lanes.iter_mut().find(|lane| lane.name == phase.name) {
            Some(lane) => {
                lane.intervals.push(*interval);
                lane.seconds = match (lane.seconds, length) {
                    (Some(sum), Some(length)) => Some(sum + length),
                    (sum, length) => sum.or(length),
                };
            }
            None => lanes.push(Lane {
                name: phase.name.clone(),
                intervals: vec![*interval],
                seconds: length,
                share: None,
                known_by: phase.known_by,
                source: phase.source.clone(),
            }),
        }
    }
    for lane in &mut lanes {
        lane.share = lane.seconds.map(|seconds| seconds / total_s);
    }
    lanes
}

/// How many seconds of the axis at least one phase covers; a phase that never ended covers the rest.
fn covered(placed: &[(&Phase, PhaseSpan)], total_s: f64) -> f64 {
    let mut intervals: Vec<(f64, f64)> =
        placed.iter().map(|(_, interval)| (interval.start_s, interval.end_s.unwrap_or(total_s))).collect();
    intervals.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut reached = 0.0_f64;
    let mut sum = 0.0;
    for (start, end) in intervals {
        sum += (end - start.max(reached)).max(0.0);
        reached = reached.max(end);
    }
    sum
}

/// A lane drawn with blocks, this many columns wide. Every interval shows, however short.
pub fn bar(lane: &Lane, total_s: f64, width: usize) -> String {
    let mut cells = vec![' '; width];
    let scale = width as f64 / total_s;
    for interval in &lane.intervals {
        let from = interval.start_s * scale;
        let to = interval.end_s.unwrap_or(total_s) * scale;
        let first = (from as usize).min(width.saturating_sub(1));
        let last = (to.ceil() as usize).clamp(first + 1, width.max(first + 1));
        for (index, cell) in cells.iter_mut().enumerate().take(last).skip(first) {
            let share = (to.min((index + 1) as f64) - from.max(index as f64)).clamp(0.0, 1.0);
            let glyph = if interval.end_s.is_none() { '░' } else { block(share, from > index as f64) };
            // A fuller block of the same lane is not overwritten by a thin one.
            if *cell != '█' {
                *cell = glyph;
            }
        }
    }
    cells.into_iter().collect::<String>().trim_end().to_owned()
}

/// A block for the covered share of a column. There are eighths that stand to the left; for what begins within a
/// column, the right half is all there is.
fn block(share: f64, begins_inside: bool) -> char {
    const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
    if begins_inside && share > 0.25 && share < 0.875 {
        return '▐';
    }
    let index = ((share * 8.0).round() as usize).clamp(1, 8) - 1;
    EIGHTHS.get(index).copied().unwrap_or('█')
}

#[cfg(test)]
mod tests {
    use assay_model::{Observation, Origin, Unit};

    use super::*;

    pub fn phase(name: &str, start_s: Option<f64>, seconds: Option<f64>) -> Phase {
        Phase {
            name: name.into(),
            start_s,
            end_s: None,
            seconds,
            known_by: KnownBy::Timestamp,
            source: Source::default(),
        }
    }

    fn run(phases: Vec<Phase>) -> ReadRun {
        ReadRun { phases, ..ReadRun::default() }
    }

    #[test]
    fn shares_are_of_the_whole_job_and_repeated_phases_add_up() {
        let mut run = run(vec![
            phase("queue", Some(10.0), Some(200.0)),
            phase("queue", Some(300.0), Some(600.0)),
            phase("train", Some(900.0), Some(50.0)),
        ]);
        run.observations.push(Observation::new("duration.job", 1000.0, Unit::Seconds, Origin::Derived));
        let timeline = timeline(&run).unwrap();
        assert_eq!(timeline.total_s, 1000.0);
        assert_eq!(timeline.lanes.len(), 2);
        assert_eq!(timeline.lanes[0].share, Some(0.8));
        assert_eq!(timeline.uncovered_s, 150.0);
    }

    #[test]
    fn phases_without_a_clock_are_laid_end_to_end() {
        let timeline =
            timeline(&run(vec![phase("compile", None, Some(22.0)), phase("train", None, Some(88.0))]))
                .unwrap();
        assert!(!timeline.clocked);
        assert_eq!(timeline.lanes[1].intervals[0], PhaseSpan { start_s: 22.0, end_s: Some(110.0) });
        assert_eq!(timeline.uncovered_s, 0.0);
    }

    #[test]
    fn lengths_that_are_no_lengths_are_left_out() {
        assert_eq!(timeline(&run(vec![phase("train", None, Some(f64::NAN))])), None);
        assert_eq!(timeline(&run(vec![phase("train", Some(-1.0), None)])), None);
        assert_eq!(timeline(&run(vec![phase("train", None, Some(0.0))])), None);
    }

    #[test]
    fn the_shortest_phase_still_shows() {
        let run = run(vec![
            phase("queue", Some(0.0), Some(1000.0)),
            phase("compile", Some(1000.0), Some(0.0)),
            phase("train", Some(1000.0), None),
        ]);
        let mut timeline = timeline(&run).unwrap();
        timeline.total_s = 1250.0;
        let bars: Vec<String> = timeline.lanes.iter().map(|lane| bar(lane, 1250.0, 10)).collect();
        assert_eq!(bars, ["████████", "        ▏", "        ░░"]);
    }
}
