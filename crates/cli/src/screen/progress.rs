//! Progress of a campaign: on a terminal one line a running run and a bar with the time left; elsewhere one line a
//! finished run.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use assay_campaign::Plan;
use assay_launch::Event;
use assay_model::{RunId, RunResult, Status};
use assay_report::Tone;
use assay_report::number::{counted, duration, single};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::{Screen, hint_line, paint};

/// Nothing is drawn before this: what is over in a moment needs no bar.
const QUIET: Duration = Duration::from_millis(100);

/// A fold over the events of a campaign, and its picture.
pub struct Progress<'a> {
    plan: &'a Plan,
    screen: &'a mut Screen,
    /// The lines on a terminal; none where nobody watches.
    lines: Option<Lines>,
    quiet: bool,
    began: Instant,
    total: usize,
    finished: usize,
    /// Error texts are shown once for each reason.
    failures_shown: BTreeMap<String, usize>,
}

struct Lines {
    all: MultiProgress,
    bar: ProgressBar,
    running: BTreeMap<RunId, (ProgressBar, Instant)>,
}

impl<'a> Progress<'a> {
    /// Starts a picture. A quiet one shows nothing but warnings.
    pub fn new(plan: &'a Plan, screen: &'a mut Screen, quiet: bool) -> Progress<'a> {
        let watched = screen.is_watched() && !quiet;
        let (began, failures_shown) = (Instant::now(), BTreeMap::new());
        Progress {
            plan,
            screen,
            lines: watched.then(Lines::new),
            quiet,
            began,
            total: 0,
            finished: 0,
            failures_shown,
        }
    }

    /// Takes in an event.
    pub fn show(&mut self, event: Event<'_>) {
        match event {
            Event::Began { finished_before, certain, .. } => {
                self.total = certain;
                if finished_before > 0 && !self.quiet {
                    let runs = counted(finished_before as u64, "run");
                    self.line(&format!("{runs} in the record already, {certain} to go"));
                }
            }
            Event::Added { runs } => self.total += runs,
            Event::Started { run, cell } => self.started(run, cell),
            Event::Progress { run, metric, value } => self.progress(run, metric, value),
            Event::Finished { run, cell, result } => self.finished(run, cell, result),
            Event::Tick => self.redraw(),
            Event::Warning(text) => self.line(&format!("{} {text}", paint(Tone::Doubt, "warning:"))),
        }
    }

    /// Takes the picture away.
    pub fn end(self) {
        if let Some(lines) = self.lines {
            let _ = lines.all.clear();
        }
    }

    fn started(&mut self, run: &RunId, cell: usize) {
        let label = self.label(cell, run);
        if let Some(lines) = &mut self.lines {
            let line = lines.all.insert_before(&lines.bar, ProgressBar::new_spinner());
            line.set_style(spinner_style());
            line.set_prefix(label);
            lines.running.insert(run.clone(), (line, Instant::now()));
        }
        self.redraw();
    }

    fn progress(&mut self, run: &RunId, metric: &str, value: f64) {
        let unit = self.plan.metrics.iter().find(|known| known.name == metric).map(|known| &known.unit);
        let text = unit.map_or_else(|| plain(value), |unit| single(unit, value));
        if let Some((line, _)) = self.lines.as_mut().and_then(|lines| lines.running.get(run)) {
            line.set_message(format!("{metric} {text}"));
        }
    }

    fn finished(&mut self, run: &RunId, cell: usize, result: &RunResult) {
        if result.status != Status::Interrupted {
            self.finished += 1;
        }
        if let Some((line, _)) = self.lines.as_mut().and_then(|lines| lines.running.remove(run)) {
            line.finish_and_clear();
        }
        let failed = !matches!(result.status, Status::Succeeded | Status::Interrupted);
        if self.lines.is_none() && !self.quiet {
            let text = format!(
                "[{}/{}] {}  {}",
                self.finished,
                self.total,
                self.label(cell, run),
                self.outcome(result)
            );
            self.line(&text);
        } else if failed && !self.quiet && self.failures_shown.len() < 5 {
            self.show_failure(run, cell, result);
        }
        self.redraw();
    }

    /// On a terminal each kind of failure is told once, as it happens; the table counts them all.
    fn show_failure(&mut self, run: &RunId, cell: usize, result: &RunResult) {
        let reason = result.status.to_string();
        let seen = self.failures_shown.entry(reason.clone()).or_default();
        *seen += 1;
        if *seen > 1 {
            return;
        }
        let label = self.label(cell, run);
        self.line(&format!("{} {label} {reason}", paint(Tone::Bad, "failed:")));
        for hint in &result.hints {
            self.line(&hint_line(hint));
        }
    }

    fn outcome(&self, result: &RunResult) -> String {
        if result.status != Status::Succeeded {
            return paint(Tone::Bad, &result.status.to_string());
        }
        let wall = result.usage.as_ref().map(|usage| duration(usage.wall_s)).unwrap_or_default();
        let headline = &self.plan.headline;
        match result.observations.iter().find(|observation| observation.metric == *headline) {
            Some(found) if headline != assay_model::metric::WALL => {
                format!("{wall}  {headline} {}", single(&found.unit, found.value))
            }
            Some(_) => wall,
            None => format!("{wall}  {}", paint(Tone::Doubt, &format!("no {headline}"))),
        }
    }

    /// The settings that tell this cell from the others, and the repeat.
    fn label(&self, cell: usize, run: &RunId) -> String {
        let settings = self.plan.cells.get(cell).map(|planned| &planned.settings);
        let mut words: Vec<String> = self
            .plan
            .varied
            .iter()
            .filter_map(|name| Some(format!("{name}={}", settings?.get(name)?)))
            .collect();
        words.push(run.leaf());
        words.join(" ")
    }

    fn redraw(&mut self) {
        let Some(lines) = &self.lines else { return };
        if self.began.elapsed() < QUIET {
            return;
        }
        for (line, began) in lines.running.values() {
            line.set_length(began.elapsed().as_secs());
            line.tick();
        }
        lines.bar.set_length(self.total as u64);
        lines.bar.set_position(self.finished as u64);
        lines.bar.set_message(self.time_left());
        lines.bar.tick();
    }

    fn time_left(&self) -> String {
        let left = self.total.saturating_sub(self.finished);
        match self.finished {
            0 => String::new(),
            finished => {
                let each = self.began.elapsed().as_secs_f64() / finished as f64;
                format!("about {} left", duration(each * left as f64))
            }
        }
    }

    fn line(&mut self, text: &str) {
        match &self.lines {
            Some(lines) => lines.all.suspend(|| self.screen.say(text)),
            None => self.screen.say(text),
        }
    }
}

impl Lines {
    fn new() -> Lines {
        let all = MultiProgress::new();
        let bar = all.add(ProgressBar::new(0));
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} runs  {msg}") {
            bar.set_style(style);
        }
        Lines { all, bar, running: BTreeMap::new() }
    }
}

/// A number whose unit is not known, without digits that say nothing.
fn plain(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn spinner_style() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {prefix}  {elapsed}  {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
}
