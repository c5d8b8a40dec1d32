//! One reading of a run's output as it arrives: the streams of a process, and files that it writes to.

use assay_model::{Hint, Observation, Phase, Series, SettingFact, Status, Stream, Unit, names};

use crate::collector::Collector;
use crate::engine::Engine;
use crate::lines::LineSplitter;
use crate::readers::Readers;

/// All that was found in one run's output.
#[derive(Debug, Default)]
pub struct Findings {
    /// Facts found, one for each metric.
    pub observations: Vec<Observation>,
    /// Values per step, for metrics seen more than once.
    pub series: Vec<Series>,
    /// Phases, in the order they began.
    pub phases: Vec<Phase>,
    /// Settings, declared and observed.
    pub settings: Vec<SettingFact>,
    /// What to do about error texts seen.
    pub hints: Vec<Hint>,
    /// How the output says that the run ended; none if it does not show.
    pub status: Option<Status>,
}

/// How far a run is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// Steps done.
    pub step: Option<f64>,
    /// Steps in all.
    pub steps: Option<f64>,
    /// The loss last seen.
    pub loss: Option<f64>,
    /// The rate last seen.
    pub rate: Option<(f64, Unit)>,
    /// The phase that is under way.
    pub phase: Option<String>,
    /// The metric and value last seen.
    pub latest: Option<(String, f64)>,
    /// The file that the output says it goes to instead.
    pub redirected_to: Option<String>,
}

/// Reads a run's output as bytes arrive.
pub struct Reading {
    engine: Engine,
    splitters: Vec<LineSplitter>,
    redirected_to: Option<String>,
}

impl Reading {
    /// Starts a reading of both streams.
    pub fn new(readers: &Readers) -> Reading {
        let files = [Stream::Stdout, Stream::Stderr].map(|stream| stream.file().to_owned());
        Reading {
            engine: Engine::new(readers, files.to_vec()),
            splitters: vec![LineSplitter::default(), LineSplitter::default()],
            redirected_to: None,
        }
    }

    /// Adds a file that the run writes to; gives the number to feed its bytes under.
    pub fn add_file(&mut self, name: &str) -> usize {
        self.engine.files.push(name.to_owned());
        self.splitters.push(LineSplitter::default());
        self.splitters.len() - 1
    }

    /// Takes the next bytes of a stream.
    pub fn feed(&mut self, stream: Stream, bytes: &[u8]) {
        self.feed_file(usize::from(stream == Stream::Stderr), bytes);
    }

    /// Takes the next bytes of a file that was added.
    pub fn feed_file(&mut self, file: usize, bytes: &[u8]) {
        let Reading { engine, splitters, redirected_to } = self;
        let Some(splitter) = splitters.get_mut(file) else { return };
        splitter.feed(bytes, &mut |number, line| show(engine, redirected_to, file, number, line));
    }

    /// How far the run is.
    pub fn progress(&self) -> Progress {
        let draft = &self.engine.draft;
        let rated = |collector: &&Collector| matches!(collector.unit(), Unit::PerSecond(_));
        let latest = draft.collectors().last();
        let (done, of) = draft.progress.map_or((None, None), |(done, of)| (Some(done), of));
        Progress {
            step: done.or_else(|| draft.collectors().iter().find_map(Collector::step)),
            steps: of.or_else(|| self.declared_steps()),
            loss: draft.latest_value(names::LOSS_TRAIN),
            rate: draft.collectors().iter().find(rated).map(|rate| (rate.latest(), rate.unit().clone())),
            phase: draft.open_phase().map(str::to_owned),
            latest: latest.map(|latest| (latest.metric.clone(), latest.latest())),
            redirected_to: self.redirected_to.clone(),
        }
    }

    fn declared_steps(&self) -> Option<f64> {
        let steps = |fact: &&SettingFact| fact.name == names::setting::STEPS;
        self.engine.draft.settings().iter().rev().find(steps)?.value.number()
    }

    /// Ends the reading. Output that holds several runs one after the other is one run here: later values count, and
    /// earlier ones fill what they lack.
    pub fn finish(mut self) -> Findings {
        let Reading { engine, splitters, redirected_to } = &mut self;
        for (file, splitter) in splitters.iter_mut().enumerate() {
            splitter.finish(&mut |number, line| show(engine, redirected_to, file, number, line));
        }
        engine.boundary(0);
        let mut findings = Findings::default();
        for run in std::mem::take(&mut engine.runs).into_iter().rev() {
            let known = |metric: &str| findings.observations.iter().any(|o| o.metric == metric);
            let fresh: Vec<Observation> =
                run.observations.into_iter().filter(|o| !known(&o.metric)).collect();
            findings.observations.extend(fresh);
            let known = |metric: &str| findings.series.iter().any(|series| series.metric == metric);
            let fresh: Vec<Series> = run.series.into_iter().filter(|series| !known(&series.metric)).collect();
            findings.series.extend(fresh);
            findings.phases.splice(0..0, run.phases);
            findings.settings.splice(0..0, run.settings);
            findings.hints.splice(0..0, run.hints);
            findings.status =
                findings.status.or(Some(run.status).filter(|stated| *stated != Status::Unknown));
        }
        findings
    }
}

fn show(engine: &mut Engine, redirected_to: &mut Option<String>, file: usize, number: u64, line: &[u8]) {
    if line.is_empty() {
        return;
    }
    let place = u16::try_from(file).unwrap_or(u16::MAX);
    if engine.line(place, number, line).leaves_rest {
        engine.unclaimed(place, number, line);
    }
    if let Some(path) = crate::redirect::target(line) {
        *redirected_to = Some(path);
    }
}
