//! Markdown write-ups as people hand them in: headings, prose, declared settings, tables, logs in fences. An honest one
//! says only what its logs and tables bear out; the other repeats the mistakes that people make.

mod cerebras;
mod cs336;
mod endpoints;
mod graphcore;
mod groq;
mod llama;
mod sambanova;

use crate::calendar::Clock;
use crate::kind::{FLAG, OptionValues, SampleJob, SampleKind, Settings, plain_options};
use crate::log::{Log, say};
use assay_random::Random;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "write-up",
    summary: "a Markdown write-up with logs, tables and claims, sound or with the usual mistakes",
    options: plain_options![
        (
            "part",
            "all",
            OptionValues::Words(&[
                "all",
                "cerebras",
                "graphcore",
                "sambanova",
                "groq",
                "llama",
                "endpoints",
                "cs336"
            ]),
            "what it is about"
        ),
        ("honest", "true", FLAG, "whether its claims are borne out by its evidence"),
        ("crlf", "false", FLAG, "lines end as on Windows"),
    ],
    compose,
};

/// A section of the write-up.
type Section = fn(&mut Page<'_, '_>);

const SECTIONS: [(&str, Section); 7] = [
    ("cerebras", cerebras::section),
    ("graphcore", graphcore::section),
    ("sambanova", sambanova::section),
    ("groq", groq::section),
    ("llama", llama::section),
    ("endpoints", endpoints::section),
    ("cs336", cs336::section),
];

fn compose(job: &mut SampleJob<'_, '_>) {
    let part = job.settings.word("part");
    let mut sections: Vec<Section> = SECTIONS
        .iter()
        .filter(|(name, _)| part == "all" || part == *name)
        .map(|(_, section)| *section)
        .collect();
    job.random.shuffle(&mut sections);
    let moment = Clock::some(&mut job.random).moment();
    let title = job.random.pick(&["Homework", "Benchmark notes", "Accelerator report", "Lab report"]);
    say!(job.log, "# {title}");
    say!(
        job.log,
        "Sample Author {}, {:04}-{:02}-{:02}",
        job.random.whole(1, 99),
        moment.year,
        moment.month,
        moment.day
    );
    let wanted = job.units.map_or(sections.len(), |units| units as usize);
    for section in sections.iter().cycle().take(wanted) {
        job.log.line("");
        let random = job.random.fork();
        section(&mut Page { log: job.log, random, honest: job.settings.flag("honest") });
    }
}

/// A write-up in the making.
struct Page<'a, 'out> {
    log: &'a mut Log<'out>,
    random: Random,
    honest: bool,
}

impl Page<'_, '_> {
    fn heading(&mut self, level: usize, text: &str) {
        say!(self.log, "{} {text}", "#".repeat(level));
        self.log.line("");
    }

    fn paragraph(&mut self, text: &str) {
        self.log.line(text);
        self.log.line("");
    }

    /// A table of Markdown.
    fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        say!(self.log, "| {} |", head.join(" | "));
        say!(self.log, "|{}", "---|".repeat(head.len()));
        for row in rows {
            say!(self.log, "| {} |", row.join(" | "));
        }
        self.log.line("");
    }

    /// A log between fences.
    fn fence(&mut self, kind: &'static SampleKind, settings: &Settings, seed: u64) {
        self.log.line("```");
        self.embed(kind, settings, seed);
        self.log.line("```");
        self.log.line("");
    }

    /// A log as it is.
    fn embed(&mut self, kind: &'static SampleKind, settings: &Settings, seed: u64) {
        let random = Random::stream(seed, kind.name);
        (kind.compose)(&mut SampleJob { settings, random, units: None, log: self.log });
    }
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}
