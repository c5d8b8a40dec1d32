//! Progress of a campaign: on a terminal one line a running run and a bar with the time left; elsewhere one line a
//! finished run, and now and then the phase that a long one is in. With `--view` the same events fill the whole screen.

mod live;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use assay_campaign::Plan;
use assay_launch::LaunchEvent;
use assay_model::untrusted::one_line;
use assay_model::{Observation, Origin, RunId, RunResult, Status};
use assay_report::Tone;
use assay_report::number::{counted, duration, single};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
pub use live::Live;

use super::view::View;
use super::{Screen, hint_line, paint};

/// Nothing is drawn before this: what is over in a moment needs no bar.
const QUIET: Duration = Duration::from_millis(100);
/// Redraws per second; more would only flicker.
const DRAWN_A_SECOND: u8 = 4;
/// The most running runs that have a line.
const MOST_LINES: usize = 4;
/// Without a terminal, phases are reported at most this often.
const PHASES: Duration = Duration::from_secs(10);

/// A fold over the events of a campaign, and its picture.
pub struct Progress<'a> {
    plan: &'a Plan,
    screen: &'a mut Screen,
    /// The lines on a terminal; none where nobody watches.
    lines: Option<Lines>,
    /// The whole screen, while it is wanted.
    view: Option<View>,
    quiet: bool,
    began: Instant,
    total: usize,
    finished: usize,
    /// When the last of them ended, after the beginning.
    last_finished: Duration,
    running: BTreeMap<RunId, Active>,
    /// When a phase was last reported without a terminal.
    phase_reported: Instant,
    /// Error texts are shown once for each reason.
    failures_shown: BTreeMap<String, usize>,
}

struct Lines {
    all: MultiProgress,
    bar: ProgressBar,
}

/// A run that goes on.
struct Active {
    label: String,
    live: Live,
    /// Its line on a terminal, if it has one.
    line: Option<ProgressBar>,
}

impl<'a> Progress<'a> {
    /// Starts a picture. A quiet one shows nothing but warnings; a full one takes the whole screen.
    pub fn new(plan: &'a Plan, screen: &'a mut Screen, quiet: bool, full: bool) -> Progress<'a> {
        let watched = screen.is_watched() && !quiet;
        let view = if full && watched { View::open() } else { None };
        if full && view.is_none() && !quiet {
            screen.warn("--view needs a terminal; progress is printed as lines");
        }
        let (began, failures_shown) = (Instant::now(), BTreeMap::new());
        Progress {
            plan,
            screen,
            lines: (watched && view.is_none()).then(Lines::new),
            view,
            quiet,
            began,
            total: 0,
            finished: 0,
            last_finished: Duration::ZERO,
            running: BTreeMap::new(),
            phase_reported: began,
            failures_shown,
        }
    }

    /// Takes in an event.
    pub fn show(&mut self, event: LaunchEvent<'_>) {
        let wants_lines = self.view.as_mut().is_some_and(|view| !view.show(self.plan, &event));
        if wants_lines {
            self.close_view();
            self.lines = Some(Lines::new());
        }
        match event {
            LaunchEvent::Began { finished_before, certain, .. } => {
                self.total = certain;
                if finished_before > 0 && !self.quiet && self.view.is_none() {
                    let runs = counted(finished_before as u64, "run");
                    self.line(&format!("{runs} already in the record, {certain} to go"));
                }
            }
            LaunchEvent::Added { runs } => self.total += runs,
            LaunchEvent::Started { run, cell, first_metric_in_s } => {
                let (label, live) = (label(self.plan, cell, run), Live::new(first_metric_in_s));
                self.running.insert(run.clone(), Active { label, live, line: None });
                self.redraw();
            }
            LaunchEvent::Progress { run, cell, progress, first_metric_in_s } => {
                let Some(active) = self.running.get_mut(run) else { return };
                if active.live.take(self.plan, cell, progress, first_metric_in_s) {
                    self.report_phase(run);
                }
            }
            LaunchEvent::Finished { run, cell, result } => self.finished(run, cell, result),
            LaunchEvent::Tick => self.redraw(),
            LaunchEvent::Warning(_) if self.view.is_some() => {}
            LaunchEvent::Warning(text) => self.line(&format!("{} {text}", paint(Tone::Doubt, "warning:"))),
        }
    }

    /// Takes the picture away.
    pub fn end(mut self) {
        self.close_view();
        if let Some(lines) = self.lines {
            let _ = lines.all.clear();
        }
    }

    /// Puts the terminal back; what was reported on the other screen is said again on the one that stays.
    fn close_view(&mut self) {
        let Some(view) = self.view.take() else { return };
        let messages = view.messages().to_vec();
        drop(view);
        for message in messages {
            self.screen.say(&message);
        }
    }

    /// Without a terminal, a run that waits or compiles for long should not look dead.
    fn report_phase(&mut self, run: &RunId) {
        if self.lines.is_some() || self.view.is_some() || self.quiet || self.phase_reported.elapsed() < PHASES
        {
            return;
        }
        let Some(Active { label, live, .. }) = self.running.get(run) else { return };
        if let Some(phase) = &live.phase {
            let text = format!("{label}: {phase}");
            self.phase_reported = Instant::now();
            self.line(&text);
        }
    }

    fn finished(&mut self, run: &RunId, cell: usize, result: &RunResult) {
        if result.status != Status::Interrupted {
            self.finished += 1;
            self.last_finished = self.began.elapsed();
        }
        if let Some(line) = self.running.remove(run).and_then(|active| active.line) {
            line.finish_and_clear();
        }
        let failed = !result.status.is_usable() && result.status != Status::Interrupted;
        if self.view.is_some() {
            return;
        }
        if self.lines.is_none() && !self.quiet {
            let text = format!(
                "[{}/{}] {}  {}",
                self.finished,
                self.total,
                label(self.plan, cell, run),
                outcome(self.plan, result)
            );
            self.line(&text);
        } else if failed && !self.quiet && self.failures_shown.len() < 5 {
            self.show_failure(run, cell, result);
        }
        self.redraw();
    }

    /// On a terminal each kind of failure is reported once, as it happens; the table counts them all.
    fn show_failure(&mut self, run: &RunId, cell: usize, result: &RunResult) {
        let reason = result.status.to_string();
        let seen = self.failures_shown.entry(reason.clone()).or_default();
        *seen += 1;
        if *seen > 1 {
            return;
        }
        let label = label(self.plan, cell, run);
        self.line(&format!("{} {label} {reason}", paint(Tone::Bad, "failed:")));
        for hint in result.all_hints() {
            self.line(&hint_line(hint));
        }
    }

    fn redraw(&mut self) {
        let Some(lines) = &self.lines else { return };
        if self.began.elapsed() < QUIET {
            return;
        }
        let free = MOST_LINES.saturating_sub(self.running.values().filter(|run| run.line.is_some()).count());
        for active in self.running.values_mut().filter(|active| active.line.is_none()).take(free) {
            active.line = Some(lines.add(&active.label));
        }
        for Active { live, line, .. } in self.running.values() {
            if let Some(line) = line {
                line.set_message(one_line(&live.line()).into_owned());
                line.tick();
            }
        }
        lines.bar.set_length(self.total as u64);
        lines.bar.set_position(self.finished as u64);
        let unseen = self.running.len().saturating_sub(MOST_LINES);
        let unseen = if unseen > 0 { format!("  and {unseen} more running") } else { String::new() };
        let left = time_left(self.finished, self.total, self.last_finished, self.began.elapsed());
        lines.bar.set_message(format!("{}{unseen}", left.unwrap_or_default()));
        lines.bar.tick();
    }

    fn line(&mut self, text: &str) {
        match &self.lines {
            Some(lines) => lines.all.suspend(|| self.screen.say(text)),
            None => self.screen.say(text),
        }
    }
}

/// How a run ended, in a few words.
pub fn outcome(plan: &Plan, result: &RunResult) -> String {
    if !result.status.is_usable() {
        return paint(Tone::Bad, &result.status.to_string());
    }
    let mut words: Vec<String> = result.usage.iter().map(|usage| duration(usage.wall_s)).collect();
    let headline = &plan.headline;
    match result.observations.iter().find(|observation| observation.metric == *headline) {
        Some(found) if headline != assay_model::metric::WALL => {
            words.push(format!("{headline} {}", single(&found.unit, found.value)));
        }
        Some(_) => {}
        None => words.push(paint(Tone::Doubt, &missing_headline(headline, &result.observations))),
    }
    if matches!(result.status, Status::GateFailed { .. }) {
        words.push(paint(Tone::Doubt, &result.status.to_string()));
    }
    if result.replayed.is_some() {
        words.push(paint(Tone::Doubt, "replayed"));
    }
    words.join("  ")
}

/// The settings that distinguish a cell, as they may be shown on a terminal.
pub fn cell_label(plan: &Plan, cell: usize) -> String {
    let settings = plan.cells.get(cell).map(|planned| &planned.settings);
    let varied = plan.varied.iter();
    let words: Vec<String> =
        varied.filter_map(|name| Some(format!("{name}={}", settings?.get(name)?))).collect();
    one_line(&words.join(" ")).into_owned()
}

/// The settings that distinguish a run's cell, and the repeat.
pub fn label(plan: &Plan, cell: usize, run: &RunId) -> String {
    format!("{} {}", cell_label(plan, cell), run.leaf()).trim_start().to_owned()
}

/// What is left at the pace so far; none while nothing is known of it.
pub fn time_left(finished: usize, total: usize, last: Duration, now: Duration) -> Option<String> {
    if finished == 0 {
        return None;
    }
    let each_s = last.as_secs_f64() / finished as f64;
    let since_s = now.saturating_sub(last).as_secs_f64();
    let left_s = each_s * total.saturating_sub(finished) as f64 - since_s;
    // Where the runs under way take longer than those before, nothing is known any more.
    (left_s >= 1.0).then(|| format!("about {} left", duration(left_s)))
}

impl Lines {
    fn new() -> Lines {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(DRAWN_A_SECOND));
        let bar = all.add(ProgressBar::new(0));
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} runs  {msg}") {
            bar.set_style(style);
        }
        Lines { all, bar }
    }

    /// A line for one more running run.
    fn add(&self, label: &str) -> ProgressBar {
        let line = self.all.insert_before(&self.bar, ProgressBar::new_spinner());
        line.set_style(spinner_style());
        line.set_prefix(label.to_owned());
        line
    }
}

fn spinner_style() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {prefix}  {elapsed}  {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
}

/// Says that a run has no headline, and which metric of its output may be meant.
fn missing_headline(headline: &str, observations: &[Observation]) -> String {
    let own = |metric: &str| assay_model::names::METRICS.iter().any(|known| known.name == metric);
    let reported = |observation: &&Observation| observation.origin == Origin::Reported;
    let listed: Vec<&Observation> =
        observations.iter().filter(|observation| reported(observation) || own(&observation.metric)).collect();
    let found: Vec<&str> = listed.iter().map(|observation| observation.metric.as_str()).collect();
    let words: Vec<&str> = headline.split(['.', '_']).filter(|word| word.len() > 2).collect();
    let shared = |metric: &str| {
        let parts: Vec<&str> = metric.split(['.', '_']).collect();
        words.iter().filter(|word| parts.contains(*word)).count()
    };
    // Of metrics that share as many words, what the program printed is nearest, and then the shortest name.
    let nearest = listed
        .iter()
        .filter(|found| shared(&found.metric) > 0)
        .max_by_key(|found| (shared(&found.metric), reported(found), usize::MAX - found.metric.len()));
    match nearest.map(|found| &found.metric) {
        Some(metric) => format!("no {headline} (did you mean {metric}?)"),
        None if found.is_empty() => format!("no {headline}"),
        None => {
            format!("no {headline} (found {})", found.iter().take(4).copied().collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn settings_cannot_steer_the_terminal() {
        const CAMPAIGN: &str = "name = 'c'\n[workload]\ncommand = 'true'\nlabels = ['h']\n\
            [vary]\nh = [\"\\u001b]52;c;U0VU=\\u0007\", \"a\\nb\", 'plain']\n[repeats]\nat_least = 1\n";
        let campaign = crate::records::parse(Path::new("c.toml"), CAMPAIGN).unwrap();
        let plan = crate::execute::assemble(&campaign, "no-such-record".into()).unwrap().plan;
        let labels: Vec<String> = (0..plan.cells.len()).map(|cell| cell_label(&plan, cell)).collect();
        assert!(labels.iter().any(|label| label.contains("52;c;U0VU=")), "{labels:?}");
        assert!(labels.iter().any(|label| label == "h=plain"), "{labels:?}");
        assert!(!labels.concat().contains(|letter: char| letter.is_control()), "{labels:?}");
    }
}
