//! The run that is being read: facts gather here until the run ends.

use assay_model::document::READ_VERSION;
use assay_model::names;
use assay_model::{
    ClockKind, Failure, Hint, KnownBy, Phase, ReadRun, Scope, SettingFact, Span, Standing, Status,
};

use crate::clock::Stamp;
use crate::collector::{Collector, Place, Value, source};

/// More metrics, settings, phases or hints of one run than this are not kept.
const MOST: usize = 1000;

/// A phase whose end may still come.
#[derive(Debug)]
struct OpenPhase {
    name: &'static str,
    start: Option<Stamp>,
    end: Option<Stamp>,
    seconds: Option<f64>,
    /// Start and end after the run's beginning, where the evidence states them instead of giving a clock.
    stated: Option<(f64, f64)>,
    known_by: KnownBy,
    place: Place,
}

/// What is known so far of one run.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    first_line: u64,
    last_line: u64,
    /// Lines in which each reader found something, by reader.
    hits: Vec<u64>,
    pub platform: Option<String>,
    pub title: Option<String>,
    status: Status,
    status_place: Option<Place>,
    /// Whether an end is due that has not come.
    unfinished: bool,
    settings: Vec<SettingFact>,
    phases: Vec<OpenPhase>,
    collectors: Vec<Collector>,
    /// Where the first metric stood that was one too many.
    first_left_out: Option<Place>,
    /// The collectors that the last line gave values to.
    touched: Vec<usize>,
    hints: Vec<Hint>,
    began: Option<Stamp>,
    latest: Option<Stamp>,
    clocks: (bool, bool, bool),
    /// Steps done and steps in all, as a bar shows them.
    pub progress: Option<(f64, Option<f64>)>,
    /// Whether anything but settings was found.
    pub evidence: bool,
}

impl Draft {
    /// Notes that a reader found something on a line.
    pub fn hit(&mut self, reader: usize, line: u64) {
        if self.hits.len() <= reader {
            self.hits.resize(reader + 1, 0);
        }
        if let Some(hits) = self.hits.get_mut(reader) {
            *hits += 1;
        }
        if self.first_line == 0 {
            self.first_line = line;
        }
        self.last_line = line;
    }

    /// Notes a timestamp.
    pub fn stamp(&mut self, stamp: Stamp) {
        match (stamp.dated, stamp.zoned) {
            (true, true) => self.clocks.0 = true,
            (true, false) => self.clocks.1 = true,
            (false, _) => self.clocks.2 = true,
        }
        self.began.get_or_insert(stamp);
        self.latest = Some(stamp);
    }

    /// Takes a value. What is not finite was not observed, but it was seen.
    pub fn value(&mut self, found: &Value<'_>, owner: usize, place: Place, stamp: Option<Stamp>) {
        self.evidence = true;
        if !found.value.is_finite() {
            return;
        }
        let known = self.collectors.iter().position(|collector| collector.metric == found.metric);
        let place_of = match known {
            Some(index) => index,
            None if self.collectors.len() >= MOST => {
                self.first_left_out.get_or_insert(place);
                return;
            }
            None => {
                self.collectors.push(Collector::new(found, owner, place));
                self.collectors.len() - 1
            }
        };
        let Some(collector) = self.collectors.get_mut(place_of) else { return };
        // Readers stand in the order in which they are believed.
        if collector.owner < owner {
            return;
        }
        if owner < collector.owner {
            *collector = Collector::new(found, owner, place);
        }
        collector.take(found, place, stamp);
        self.touched.push(place_of);
    }

    /// A new line begins.
    pub fn next_line(&mut self) {
        self.touched.clear();
    }

    /// Whether a line like the last one would add nothing but counts: all its values would be thinned out.
    pub fn would_drop(&self, skipped: u64) -> bool {
        let drops = |index: &usize| {
            self.collectors.get(*index).is_some_and(|collector| collector.would_drop(skipped))
        };
        !self.touched.is_empty() && self.touched.iter().all(drops)
    }

    /// Counts lines like the last one whose values were not kept.
    pub fn count(&mut self, skipped: u64) {
        for index in &self.touched {
            if let Some(collector) = self.collectors.get_mut(*index) {
                collector.count(skipped);
            }
        }
    }

    /// Whether a metric has a value.
    pub fn has(&self, metric: &str) -> bool {
        self.collectors.iter().any(|collector| collector.metric == metric)
    }

    /// The value of a metric last seen.
    pub fn latest_value(&self, metric: &str) -> Option<f64> {
        self.collector(metric).map(Collector::latest)
    }

    /// A metric's collector.
    pub fn collector(&self, metric: &str) -> Option<&Collector> {
        self.collectors.iter().find(|collector| collector.metric == metric)
    }

    /// All collectors.
    pub fn collectors(&self) -> &[Collector] {
        &self.collectors
    }

    /// Adds a setting, unless the same is there already.
    pub fn setting(&mut self, fact: SettingFact) {
        if fact.standing == Standing::Observed {
            self.evidence = true;
        }
        let known = self.settings.iter().any(|known| {
            known.name == fact.name
                && known.value == fact.value
                && known.standing == fact.standing
                && known.by == fact.by
        });
        if !known && self.settings.len() < MOST {
            self.settings.push(fact);
        }
    }

    /// Forgets what was observed of a setting.
    pub fn forget(&mut self, name: &str) {
        self.settings.retain(|fact| fact.name != name || fact.standing == Standing::Declared);
    }

    /// The value of a setting last noted with a standing.
    pub fn known_setting(&self, name: &str, standing: Standing) -> Option<&SettingFact> {
        self.settings.iter().rev().find(|fact| fact.name == name && fact.standing == standing)
    }

    /// All settings.
    pub fn settings(&self) -> &[SettingFact] {
        &self.settings
    }

    /// A phase begins. One of that name that is still open goes on.
    pub fn start_phase(&mut self, name: &'static str, stamp: Option<Stamp>, place: Place) {
        self.evidence = true;
        let open = self.phases.iter().any(|phase| phase.name == name && phase.is_open());
        if !open && self.phases.len() < MOST {
            let known_by = KnownBy::Timestamp;
            self.phases.push(OpenPhase {
                name,
                start: stamp,
                end: None,
                seconds: None,
                stated: None,
                known_by,
                place,
            });
        }
    }

    /// A phase ends, if it is open.
    pub fn end_phase(&mut self, name: &str, stamp: Option<Stamp>) {
        let open = self.phases.iter_mut().rev().find(|phase| phase.name == name && phase.is_open());
        if let Some(phase) = open {
            phase.end = stamp;
            phase.seconds = phase.start.zip(stamp).map(|(start, end)| end.after(start));
        }
    }

    /// A phase of known length ended on this line.
    pub fn phase_lasted(
        &mut self,
        name: &'static str,
        seconds: f64,
        known_by: KnownBy,
        end: Option<Stamp>,
        place: Place,
    ) {
        self.evidence = true;
        if self.phases.len() < MOST && seconds.is_finite() {
            let start = end.map(|end| Stamp { seconds: end.seconds - seconds, ..end });
            let seconds = Some(seconds);
            self.phases.push(OpenPhase { name, start, end, seconds, stated: None, known_by, place });
        }
    }

    /// A phase whose start and end the evidence states, in seconds after the run's beginning.
    pub fn phase_told(&mut self, name: &'static str, (start, end): (f64, f64), place: Place) {
        self.evidence = true;
        if self.phases.len() < MOST && start.is_finite() && end.is_finite() && start <= end {
            let (seconds, stated) = (Some(end - start), Some((start, end)));
            let known_by = KnownBy::Script;
            self.phases.push(OpenPhase { name, start: None, end: None, seconds, stated, known_by, place });
        }
    }

    /// The phase that is open, the latest one.
    pub fn open_phase(&self) -> Option<&'static str> {
        self.phases.iter().rev().find(|phase| phase.is_open()).map(|phase| phase.name)
    }

    /// Seconds of all phases of a name whose length is known.
    pub fn phase_seconds(&self, name: &str) -> Option<f64> {
        let mut known =
            self.phases.iter().filter(|phase| phase.name == name).filter_map(|phase| phase.seconds);
        let first = known.next()?;
        Some(first + known.sum::<f64>())
    }

    /// Notes how the run ended. A weaker word never replaces a stronger one.
    pub fn status(&mut self, status: Status, place: Place) {
        self.evidence = true;
        self.unfinished = false;
        if weight(&status) >= weight(&self.status) {
            self.status = status;
            self.status_place = Some(place);
        }
    }

    /// How the run ended, as far as it is known.
    pub fn ended(&self) -> &Status {
        &self.status
    }

    /// An end is due: if none comes, the evidence breaks off.
    pub fn expect_end(&mut self) {
        self.unfinished = true;
    }

    /// Adds a hint, each advice once.
    pub fn hint(&mut self, hint: Hint) {
        if self.hints.len() < MOST && !self.hints.iter().any(|known| known.advice == hint.advice) {
            self.hints.push(hint);
        }
    }

    /// The run, if there is evidence of one. `names` are those of the readers.
    pub fn finish(mut self, files: &[String], names: &[String]) -> Option<ReadRun> {
        if !self.evidence {
            return None;
        }
        if self.unfinished && self.status == Status::Unknown {
            self.status = Status::Truncated;
        }
        self.derive();
        if let Some(place) = self.first_left_out {
            self.hint(Hint {
                seen: format!("more than {MOST} metrics; those of further names are left out"),
                advice: "read a part of the log, or name the metrics that are wanted by patterns".to_owned(),
                source: source(place, files),
            });
        }
        self.collectors.retain(|collector| !collector.is_chatter());
        let elapsed = "duration.elapsed";
        if !self.has(elapsed)
            && let Some(collector) = self
                .collectors
                .iter_mut()
                .find(|collector| collector.metric == names::EPOCH_S && collector.is_elapsed())
        {
            elapsed.clone_into(&mut collector.metric);
        }
        let observations = self.collectors.iter().filter_map(|c| c.observation(files)).collect();
        let series = self.collectors.iter().filter_map(|c| c.series(files, self.began)).collect();
        let mut hits: Vec<(u64, usize)> =
            self.hits.iter().enumerate().map(|(index, hits)| (*hits, index)).collect();
        hits.retain(|(hits, _)| *hits > 0);
        hits.sort_by_key(|(hits, index)| (std::cmp::Reverse(*hits), *index));
        let phases = self.phases.iter().map(|phase| phase.finished(self.began, files)).collect();
        Some(ReadRun {
            version: READ_VERSION,
            span: Span::new(
                files.first().cloned().unwrap_or_default(),
                self.first_line,
                self.last_line.max(self.first_line),
            ),
            title: self.title,
            dialects: hits.iter().filter_map(|(_, index)| names.get(*index)).cloned().collect(),
            platform: self.platform,
            status_source: self.status_place.map(|place| source(place, files)),
            status: self.status,
            began_at: self.began.map(|stamp| stamp.seconds),
            clock: self.began.map(|_| clock_kind(self.clocks)),
            settings: self.settings,
            phases,
            observations,
            series,
            hints: self.hints,
        })
    }

    /// Numbers that follow from others, whatever the dialect.
    fn derive(&mut self) {
        let place = Place { file: 0, line: self.last_line };
        let add = |draft: &mut Draft, found: Value<'_>| {
            if !draft.has(found.metric) {
                draft.value(&found, usize::MAX, place, None);
            }
        };
        if let Some(loss) = self.latest_value(names::LOSS_TRAIN) {
            add(self, Value::derived(names::LOSS_FINAL, loss));
        }
        for (phase, metric) in [
            ("queue", names::DURATION_QUEUE),
            ("compile", names::DURATION_COMPILE),
            ("train", names::DURATION_LOOP),
        ] {
            if let Some(seconds) = self.phase_seconds(phase).filter(|seconds| *seconds >= 0.0) {
                add(self, Value::derived(metric, seconds));
            }
        }
        let whole = self.began.zip(self.latest).map(|(began, latest)| latest.after(began));
        // Where only some lines have a clock, bars may describe more time than the stamps span.
        let phases: f64 = self.phases.iter().filter_map(|phase| phase.seconds).sum();
        if let Some(whole) = whole.filter(|whole| *whole > 0.0 && *whole >= phases * 0.99) {
            add(self, Value::derived(names::DURATION_JOB, whole).over(Scope::Job));
            if let Some(samples) = self.latest_value(names::SAMPLES) {
                let rate = Value::derived(names::SAMPLES_PER_S_JOB, samples / whole);
                add(self, rate.over(Scope::Job).counted(samples, whole));
            }
        }
    }
}

impl OpenPhase {
    fn is_open(&self) -> bool {
        self.end.is_none() && self.seconds.is_none()
    }

    fn finished(&self, began: Option<Stamp>, files: &[String]) -> Phase {
        let relative = |stamp: Option<Stamp>| stamp.zip(began).map(|(stamp, began)| stamp.after(began));
        Phase {
            name: self.name.to_owned(),
            start_s: relative(self.start).or(self.stated.map(|(start, _)| start)),
            end_s: relative(self.end).or(self.stated.map(|(_, end)| end)),
            seconds: self.seconds,
            known_by: self.known_by,
            source: source(self.place, files),
        }
    }
}

fn clock_kind((absolute, no_zone, no_date): (bool, bool, bool)) -> ClockKind {
    match (absolute, no_zone, no_date) {
        (true, false, false) => ClockKind::Absolute,
        (false, true, false) => ClockKind::NoZone,
        (false, false, true) => ClockKind::NoDate,
        _ => ClockKind::Mixed,
    }
}

/// How strongly a status speaks. A failed gate says more than the exit code that follows from it; a program that prints
/// its results after a crash has crashed.
fn weight(status: &Status) -> u8 {
    match status {
        Status::Unknown => 0,
        Status::Truncated => 1,
        Status::Succeeded => 2,
        Status::Interrupted | Status::TimedOut { .. } => 3,
        Status::Failed { failure: Failure::Exit { .. } | Failure::Signal { .. } } => 4,
        Status::Failed { .. } => 5,
        Status::Cancelled { .. } | Status::Aborted { .. } | Status::DoesNotFit { .. } => 6,
        Status::GateFailed { .. } => 7,
    }
}
