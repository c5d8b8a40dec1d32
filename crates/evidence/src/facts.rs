//! What a dialect says about a line. Dialects state facts here; runs are put together from them.

use assay_model::{Hint, KnownBy, ReadRun, SettingFact, Standing, Status, Value as Setting};

use crate::clock::{self, Stamp};
use crate::collector::{Place, Value, source};
use crate::draft::Draft;

/// Takes the facts of one line.
pub struct Facts<'a> {
    pub(crate) draft: &'a mut Draft,
    pub(crate) runs: &'a mut Vec<ReadRun>,
    pub(crate) files: &'a [String],
    pub(crate) names: &'a [String],
    /// Settings that hold for every run of this block, and its heading.
    pub(crate) base: &'a Base,
    pub(crate) text: &'a str,
    pub(crate) place: Place,
    pub(crate) reader: usize,
    pub(crate) stamp: Option<Option<Stamp>>,
}

/// What every run of a block begins with.
#[derive(Debug, Default)]
pub(crate) struct Base {
    pub settings: Vec<SettingFact>,
    pub title: Option<String>,
    pub platform: Option<String>,
}

impl Base {
    /// A run that knows no more than this.
    pub fn draft(&self) -> Draft {
        let mut draft = Draft::default();
        (draft.title, draft.platform) = (self.title.clone(), self.platform.clone());
        self.settings.iter().cloned().for_each(|fact| draft.setting(fact));
        draft
    }
}

impl Facts<'_> {
    /// A new run begins on this line. Without evidence so far, the run goes on instead: a command line and the
    /// scheduler's first word about it are one run.
    pub fn begin(&mut self) {
        if self.draft.evidence {
            self.close(self.base.draft());
        }
    }

    /// A new run begins on this line that has the settings of the one before: the next row of a tool's table.
    pub fn split(&mut self) {
        if self.draft.evidence {
            let mut next = self.base.draft();
            next.platform.clone_from(&self.draft.platform);
            self.draft.settings().iter().cloned().for_each(|fact| next.setting(fact));
            self.close(next);
        }
    }

    fn close(&mut self, next: Draft) {
        let done = std::mem::replace(self.draft, next);
        self.runs.extend(done.finish(self.files, self.names));
    }

    /// Whether the run has a value for a metric.
    pub fn has(&self, metric: &str) -> bool {
        self.draft.has(metric)
    }

    /// Whether another reader, such as that of bars, gives a metric at steps of its own.
    pub(crate) fn is_of_a_bar(&self, metric: &str) -> bool {
        self.draft.collector(metric).is_some_and(|collector| collector.owner != self.reader)
    }

    /// The value of a metric last seen in this run.
    pub fn latest(&self, metric: &str) -> Option<f64> {
        self.draft.latest_value(metric)
    }

    /// Whether the run has anything but settings.
    pub fn has_evidence(&self) -> bool {
        self.draft.evidence
    }

    /// How the run ended, as far as it is known.
    pub fn ended(&self) -> &Status {
        self.draft.ended()
    }

    /// What the run is called, unless that is known.
    pub(crate) fn title(&mut self, title: &str) {
        if !title.is_empty() {
            self.draft.title = Some(shortened(title));
        }
    }

    /// The run is on this make of machine.
    pub fn platform(&mut self, name: &str) {
        self.draft.platform = Some(name.to_owned());
    }

    /// A setting that was asked for. `by` is one of the words of [`SettingFact::by`].
    pub fn declare(&mut self, name: &str, value: Setting, by: &str) {
        self.setting(name, value, Standing::Declared, by, None);
    }

    /// A setting that is seen to be in effect.
    pub fn observe(&mut self, name: &str, value: Setting, by: &str) {
        self.setting(name, value, Standing::Observed, by, None);
    }

    /// A setting that is seen to be in effect instead of what was seen before.
    pub fn replace(&mut self, name: &str, value: Setting, by: &str) {
        self.draft.forget(name);
        self.observe(name, value, by);
    }

    /// A setting that follows from other numbers.
    pub fn infer(&mut self, name: &str, value: Setting, arithmetic: String) {
        self.setting(name, value, Standing::Observed, "arithmetic", Some(arithmetic));
    }

    /// The value that a setting has in this run, observed before declared.
    pub fn known(&self, name: &str) -> Option<f64> {
        let fact = |standing| self.draft.known_setting(name, standing);
        fact(Standing::Observed).or_else(|| fact(Standing::Declared))?.value.number()
    }

    /// Whether a setting was noted at all.
    pub fn is_set(&self, name: &str) -> bool {
        self.draft.settings().iter().any(|fact| fact.name == name)
    }

    fn setting(
        &mut self,
        name: &str,
        value: Setting,
        standing: Standing,
        by: &str,
        arithmetic: Option<String>,
    ) {
        let source = source(self.place, self.files);
        let (name, by) = (name.to_owned(), by.to_owned());
        self.draft.setting(SettingFact { name, value, standing, by, arithmetic, source });
    }

    /// A metric's value.
    pub fn value(&mut self, found: Value<'_>) {
        let stamp = self.stamp();
        self.draft.value(&found, self.reader, self.place, stamp);
    }

    /// A reported value without more.
    pub fn report(&mut self, metric: &str, value: f64) {
        self.value(Value::reported(metric, value));
    }

    /// A value that is reported for a step.
    pub fn report_at(&mut self, metric: &str, step: f64, value: f64) {
        self.value(Value::reported(metric, value).at(step));
    }

    /// A phase begins on this line.
    pub fn start(&mut self, phase: &'static str) {
        let stamp = self.stamp();
        self.draft.start_phase(phase, stamp, self.place);
    }

    /// A phase ends on this line.
    pub fn end(&mut self, phase: &'static str) {
        let stamp = self.stamp();
        self.draft.end_phase(phase, stamp);
    }

    /// A phase ends and the next one begins on this line.
    pub fn turn(&mut self, from: &'static str, to: &'static str) {
        self.end(from);
        self.start(to);
    }

    /// A phase of known length ended on this line.
    pub fn lasted(&mut self, phase: &'static str, seconds: f64, known_by: KnownBy) {
        let stamp = self.stamp();
        self.draft.phase_lasted(phase, seconds, known_by, stamp, self.place);
    }

    /// A phase whose start and end the line states, in seconds after the run's beginning.
    pub fn spanned(&mut self, phase: &'static str, start_s: f64, end_s: f64) {
        self.draft.phase_told(phase, (start_s, end_s), self.place);
    }

    /// The phase that is open, the latest one.
    pub fn open_phase(&self) -> Option<&'static str> {
        self.draft.open_phase()
    }

    /// How the run ended.
    pub fn status(&mut self, status: Status) {
        self.draft.status(status, self.place);
    }

    /// The run failed, and the evidence says why.
    pub fn failed(&mut self, reason: &str) {
        let failure = assay_model::Failure::Reported { reason: shortened(reason) };
        self.status(Status::Failed { failure });
    }

    /// An end is due: if none comes, the evidence breaks off.
    pub fn expect_end(&mut self) {
        self.draft.expect_end();
    }

    /// Steps done, of this many.
    pub fn progress(&mut self, done: f64, of: Option<f64>) {
        self.draft.evidence = true;
        self.draft.progress = Some((done, of));
    }

    /// What to do about this line.
    pub fn hint(&mut self, seen: &str, advice: &str) {
        let source = source(self.place, self.files);
        self.draft.hint(Hint { seen: shortened(seen), advice: advice.to_owned(), source });
    }

    /// The stream that the line came from.
    pub(crate) fn stream(&self) -> crate::Stream {
        if self.place.file == 1 { crate::Stream::Stderr } else { crate::Stream::Stdout }
    }

    /// The loss of this line is not a number.
    pub fn diverged(&mut self) {
        self.draft.evidence = true;
        self.hint(
            "the loss is not a number",
            "the run diverged: lower the learning rate, or look for a fault in the data",
        );
    }

    /// This line carries its time in a form of its own, which outweighs any stamp that its text may hold.
    pub fn at_time(&mut self, stamp: Stamp) {
        self.draft.stamp(stamp);
        self.stamp = Some(Some(stamp));
    }

    /// The line is known to have no timestamp: nobody need look for one.
    pub(crate) fn without_clock(&mut self) {
        self.stamp = Some(None);
    }

    /// The timestamp of this line.
    pub fn stamp(&mut self) -> Option<Stamp> {
        if let Some(known) = self.stamp {
            return known;
        }
        let found = clock::find(self.text.as_bytes());
        if let Some(stamp) = found {
            self.draft.stamp(stamp);
        }
        self.stamp = Some(found);
        found
    }
}

/// The steps that a reader has seen of a run.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    first_and_last: Option<(f64, f64)>,
}

impl Steps {
    /// Takes the next step; says whether steps begin again, which is another run. Another reader may have begun that
    /// run already: then it lacks `metric`, which this reader gives at every step.
    pub fn next(&mut self, step: f64, metric: &str, facts: &mut Facts<'_>) -> bool {
        let again = self.first_and_last.is_some_and(|(first, last)| step < last && step <= first);
        if again {
            self.restart(metric, facts);
        }
        let first = self.first_and_last.map_or(step, |(first, _)| first);
        self.first_and_last = Some((first, step));
        again
    }

    /// A line says that a run begins. That counts only if steps of one were seen: the lines of a scheduler and the first
    /// of a program are one run.
    pub fn restart(&mut self, metric: &str, facts: &mut Facts<'_>) {
        if self.first_and_last.take().is_some() && facts.has(metric) {
            facts.begin();
        }
    }
}

/// A number as the value of a setting: whole ones are integers.
pub(crate) fn setting_number(value: f64) -> Setting {
    // Beyond 2^53 a float no longer distinguishes neighboring integers.
    if value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 {
        Setting::Integer(value as i64)
    } else {
        Setting::Float(value)
    }
}

/// At most 200 letters of a text, on one line.
pub(crate) fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
