//! One reading of a run's output by several readers at once.

use crate::findings::Findings;
use crate::lines::LineSplitter;

/// Which of a run's streams bytes came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stream {
    /// The name of the file that keeps the stream in a run directory.
    pub fn file(self) -> &'static str {
        match self {
            Stream::Stdout => "stdout.log",
            Stream::Stderr => "stderr.log",
        }
    }
}

/// Reads lines and reports what they say.
pub trait LineReader: Send {
    /// Takes one line, without its end.
    fn line(&mut self, stream: Stream, number: u64, line: &[u8]);

    /// Adds all that was found so far.
    fn report(&self, findings: &mut Findings);

    /// The metric and value last seen, for live display.
    fn latest(&self) -> Option<(&str, f64)> {
        None
    }
}

/// Feeds a run's two streams to readers, as bytes arrive.
pub struct Reading {
    stdout: LineSplitter,
    stderr: LineSplitter,
    readers: Vec<Box<dyn LineReader>>,
}

impl Reading {
    /// Starts a reading. Of readers that find the same metric, the one given first is believed.
    pub fn new(readers: Vec<Box<dyn LineReader>>) -> Reading {
        Reading { stdout: LineSplitter::default(), stderr: LineSplitter::default(), readers }
    }

    /// Takes the next bytes of a stream.
    pub fn feed(&mut self, stream: Stream, bytes: &[u8]) {
        let readers = &mut self.readers;
        let mut line = |number: u64, line: &[u8]| {
            if !line.is_empty() {
                readers.iter_mut().for_each(|reader| reader.line(stream, number, line));
            }
        };
        match stream {
            Stream::Stdout => self.stdout.feed(bytes, &mut line),
            Stream::Stderr => self.stderr.feed(bytes, &mut line),
        }
    }

    /// The metric and value last seen, for live display.
    pub fn latest(&self) -> Option<(&str, f64)> {
        self.readers.iter().find_map(|reader| reader.latest())
    }

    /// Ends the reading.
    pub fn finish(mut self) -> Findings {
        let readers = &mut self.readers;
        for (stream, splitter) in [(Stream::Stdout, &mut self.stdout), (Stream::Stderr, &mut self.stderr)] {
            splitter.finish(&mut |number, line| {
                readers.iter_mut().for_each(|reader| reader.line(stream, number, line));
            });
        }
        let mut all = Findings::default();
        for reader in &self.readers {
            let mut found = Findings::default();
            reader.report(&mut found);
            let known = |metric: &str| {
                all.observations.iter().any(|o| o.metric == metric)
                    || all.series.iter().any(|s| s.metric == metric)
            };
            found.observations.retain(|observation| !known(&observation.metric));
            found.series.retain(|series| !known(&series.metric));
            all.observations.append(&mut found.observations);
            all.series.append(&mut found.series);
        }
        all
    }
}
