//! `read`: how numbers are found in logs, and which of them the answer is about.

use assay_model::metric::{self, Direction, Metric};
use assay_model::{Keep, Stream, Unit, WorkloadDescription};

use super::names::Names;
use crate::problem::Problem;
use crate::reader::{Collector, Item, SpannedText, Table};
use crate::registry::Registry;
use crate::suggest;
use crate::template::Template;

/// What is read from logs.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadPolicy {
    /// The log dialect; `auto` lets the text decide.
    pub dialect: String,
    /// The metric the answer is about.
    pub headline: String,
    /// Files that a run writes its log to, which are read like its output.
    pub follow: Vec<Template>,
    /// The user's own patterns.
    pub patterns: Vec<Pattern>,
    /// Metrics the file declares, by patterns and by `read.metric`.
    pub metrics: Vec<Metric>,
    /// All metrics that can be named here: the declared ones, the launcher's and the registry's.
    pub(crate) known: Vec<Metric>,
    /// Where `follow` stands.
    pub(crate) follow_place: Option<std::ops::Range<usize>>,
}

/// A user's pattern: what to look for in the output of a run.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Pattern {
    /// The metric it finds.
    pub metric: String,
    /// The regular expression.
    pub regex: String,
    /// The number of the capture group that holds the value.
    pub group: u32,
    /// The base unit of the metric.
    pub unit: Unit,
    /// The factor from the number as written to the base unit.
    pub factor: f64,
    pub better: Direction,
    /// What to keep of several matches.
    pub keep: Keep,
    /// Where to look; both streams unless given.
    pub stream: Option<Stream>,
}

impl ReadPolicy {
    pub(super) fn read(
        top: &mut Table<'_>,
        built_in: Option<&WorkloadDescription>,
        registry: &Registry,
        names: &Names<'_>,
        problems: &Collector<'_>,
    ) -> ReadPolicy {
        let usual = built_in.map_or(metric::WALL, |description| description.headline.as_str());
        let mut policy = ReadPolicy {
            dialect: "auto".to_owned(),
            headline: usual.to_owned(),
            follow: Vec::new(),
            patterns: Vec::new(),
            metrics: Vec::new(),
            known: metric::launcher_metrics(),
            follow_place: None,
        };
        policy.known.extend(registry.metrics.iter().cloned());
        let table = top.get("read").and_then(|item| item.table());
        let mut headline = None;
        if let Some(mut table) = table {
            if let Some(text) = table.get("dialect").and_then(|item| item.text()) {
                let known = || registry.dialects.iter().map(String::as_str).chain(["auto"]);
                if !known().any(|name| name == text.value) {
                    let problem = Problem::error(format!("unknown dialect `{}`", text.value));
                    let hint = suggest::hint(&text.value, known());
                    problems.add(problem.at(text.span.clone()).label("not a dialect").maybe_hint(hint));
                }
                policy.dialect = text.value;
            }
            headline = table.get("headline").and_then(|item| item.text());
            if let Some(item) = table.get("follow") {
                policy.follow = read_follow(&item, names);
                policy.follow_place = Some(item.key_span);
            }
            for pattern in table.get("pattern").map(|item| item.tables()).unwrap_or_default() {
                policy.read_pattern(pattern, problems);
            }
            for declared in table.get("metric").map(|item| item.tables()).unwrap_or_default() {
                policy.read_metric(declared, problems);
            }
            table.finish();
        }
        // What the file declares comes first: it may give a direction where the registry knows none.
        policy.known.splice(0..0, policy.metrics.iter().cloned());
        for metric in &registry.found {
            match policy.known.iter_mut().find(|known| known.name == metric.name) {
                Some(known) => known.better = known.better.or(metric.better),
                None => policy.known.push(metric.clone()),
            }
        }
        if let Some(text) = headline {
            policy.read_headline(text, problems);
        }
        policy
    }

    pub(super) fn read_headline(&mut self, text: SpannedText, problems: &Collector<'_>) {
        match self.metric(&text.value) {
            Some(metric) if metric.better.is_none() => {
                let message = format!("it is not known whether more or less of `{}` is better", text.value);
                let problem = Problem::error(message).at(text.span.clone());
                problems.add(problem.hint("declare it in [[read.metric]] with `better`"));
            }
            Some(_) => {}
            None if problems.is_file() => problems.add(self.unknown(&text)),
            None => {
                let hint = "if the commands print it, add `--better higher` or `--better lower`";
                problems.add(self.unknown(&text).hint(hint));
            }
        }
        self.headline = text.value;
    }

    /// Takes a metric that only the output of runs will show, unless it is known already.
    pub(super) fn expect(&mut self, name: &str, better: Direction) {
        if self.metric(name).is_none() {
            let metric = Metric { name: name.to_owned(), unit: Unit::One, better: Some(better) };
            self.metrics.push(metric.clone());
            self.known.insert(0, metric);
        }
    }

    /// A metric that can be named in this campaign.
    pub(super) fn metric(&self, name: &str) -> Option<&Metric> {
        self.known.iter().find(|metric| metric.name == name)
    }

    pub(super) fn unknown(&self, text: &SpannedText) -> Problem {
        let known = || self.known.iter().map(|metric| metric.name.as_str());
        let near = in_other_words(&text.value, known()).or_else(|| suggest::nearest(&text.value, known()));
        let hint = match near {
            Some(name) => format!("did you mean `{name}`?"),
            None => {
                "find it by a [[read.pattern]], or declare what a dialect finds by [[read.metric]]".to_owned()
            }
        };
        Problem::error(format!("unknown metric `{}`", text.value))
            .at(text.span.clone())
            .label("not a metric")
            .hint(hint)
    }

    fn read_pattern(&mut self, mut table: Table<'_>, problems: &Collector<'_>) {
        let metric = table.get("metric").and_then(|item| item.text());
        let regex = table.get("regex").and_then(|item| item.text());
        let unit = table.get("unit").and_then(|item| item.text());
        let better_item = table.get("better");
        let better = better_item.as_ref().and_then(|item| direction(item, problems));
        let keep =
            [("last", Keep::Last), ("first", Keep::First), ("sum", Keep::Sum), ("series", Keep::Series)];
        let keep = choice(table.get("keep"), &keep, problems).unwrap_or(Keep::Last);
        let stream = [("stdout", Some(Stream::Stdout)), ("stderr", Some(Stream::Stderr)), ("both", None)];
        let stream = choice(table.get("stream"), &stream, problems).flatten();
        let (Some(metric), Some(regex)) = (&metric, &regex) else {
            table.problem(Problem::error("[[read.pattern]] needs `metric` and `regex`"));
            table.finish();
            return;
        };
        table.finish();
        let group = capture_group(regex, problems);
        let (unit, factor) = unit.map_or((Unit::One, 1.0), |text| Unit::parse(&text.value));
        let asked = better_item.is_some();
        let Some(better) = better.or_else(|| metric::usual_direction(&metric.value, &unit)) else {
            if !asked {
                let message = format!("it is not known whether more or less of `{}` is better", metric.value);
                let hint = "add `better = \"higher\"` or `better = \"lower\"`";
                problems.add(Problem::error(message).at(metric.span.clone()).hint(hint));
            }
            return;
        };
        self.declare(metric, unit.clone(), better, problems);
        self.patterns.extend(group.map(|group| Pattern {
            metric: metric.value.clone(),
            regex: regex.value.clone(),
            group,
            unit,
            factor,
            better,
            keep,
            stream,
        }));
    }

    fn read_metric(&mut self, mut table: Table<'_>, problems: &Collector<'_>) {
        let name = table.get("name").and_then(|item| item.text());
        let unit = table.get("unit").and_then(|item| item.text());
        let better = table.get("better").and_then(|item| direction(&item, problems));
        let unit = unit.map_or(Unit::One, |text| Unit::parse(&text.value).0);
        match name {
            None => table.problem(Problem::error("[[read.metric]] needs `name`")),
            Some(name) => match better.or_else(|| metric::usual_direction(&name.value, &unit)) {
                Some(better) => self.declare(&name, unit, better, problems),
                None => table.problem(
                    Problem::error(format!("the metric `{}` needs `better`", name.value))
                        .hint("write `better = \"higher\"` or `better = \"lower\"`"),
                ),
            },
        }
        table.finish();
    }

    /// Adds a metric. Several patterns may find one metric, but they must agree on what it is.
    fn declare(&mut self, name: &SpannedText, unit: Unit, better: Direction, problems: &Collector<'_>) {
        if metric::launcher_metrics().iter().any(|metric| metric.name == name.value) {
            let problem = Problem::error(format!("`{}` is measured for every run already", name.value));
            problems.add(problem.at(name.span.clone()).hint("choose another name for the metric"));
            return;
        }
        if let Some(known) = self.metric(&name.value).filter(|known| known.unit != unit) {
            let message = format!("`{}` is known in `{}`, not in `{unit}`", name.value, known.unit);
            problems.add(
                Problem::error(message).at(name.span.clone()).hint("give it the right unit or another name"),
            );
            return;
        }
        match self.metrics.iter().find(|metric| metric.name == name.value) {
            Some(metric) if metric.unit == unit && metric.better == Some(better) => {}
            Some(_) => {
                let message =
                    format!("`{}` is declared twice, with different units or directions", name.value);
                problems.add(Problem::error(message).at(name.span.clone()));
            }
            None => self.metrics.push(Metric { name: name.value.clone(), unit, better: Some(better) }),
        }
    }
}

/// One file or a list of them.
fn read_follow(item: &Item<'_>, names: &Names<'_>) -> Vec<Template> {
    let texts = match item.value.is_str() {
        true => item.text().into_iter().collect(),
        false => item.texts().unwrap_or_default(),
    };
    texts.iter().filter_map(|text| names.template(text)).collect()
}

fn direction(item: &Item<'_>, problems: &Collector<'_>) -> Option<Direction> {
    choice(Some(item.clone()), &[("higher", Direction::Higher), ("lower", Direction::Lower)], problems)
}

/// One of a few words.
fn choice<T: Copy>(item: Option<Item<'_>>, words: &[(&str, T)], problems: &Collector<'_>) -> Option<T> {
    let item = item?;
    let text = item.text()?;
    let found = words.iter().find(|(word, _)| *word == text.value).map(|(_, meaning)| *meaning);
    if found.is_none() {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let problem =
            Problem::error(format!("`{}` cannot be `{}`", item.name, text.value)).at(text.span.clone());
        problems.add(problem.maybe_hint(suggest::list(&known).map(|words| format!("use one of {words}"))));
    }
    found
}

/// The group that holds the value: the one named `value`, or the only one.
fn capture_group(regex: &SpannedText, problems: &Collector<'_>) -> Option<u32> {
    let parsed = match regex_syntax::Parser::new().parse(&regex.value) {
        Ok(parsed) => parsed,
        Err(error) => {
            let (reason, span) = match &error {
                regex_syntax::Error::Parse(error) => (error.kind().to_string(), Some(error.span())),
                regex_syntax::Error::Translate(error) => (error.kind().to_string(), Some(error.span())),
                other => (other.to_string(), None),
            };
            let part = span.map(|span| regex.part(span.start.offset..span.end.offset));
            let span = part.filter(|part| !part.is_empty()).unwrap_or(regex.span.clone());
            problems
                .add(Problem::error(format!("the pattern is not a regular expression: {reason}")).at(span));
            return None;
        }
    };
    let mut groups = Vec::new();
    collect_groups(&parsed, &mut groups);
    let named = groups.iter().find(|(_, name)| name.as_deref() == Some("value"));
    match (named, groups.as_slice()) {
        (Some((index, _)), _) | (None, [(index, _)]) => Some(*index),
        (None, []) => {
            let problem = Problem::error("the pattern has no capture group for the value");
            problems
                .add(problem.at(regex.span.clone()).hint("put the number in parentheses: `rate=([0-9.]+)`"));
            None
        }
        _ => {
            let message =
                format!("the pattern has {} groups: it is not clear which is the value", groups.len());
            let hint = "name the one that is by `(?P<value>…)`, or make the others `(?:…)`";
            problems.add(Problem::error(message).at(regex.span.clone()).hint(hint));
            None
        }
    }
}

/// The parser bounds the depth of patterns, so this recursion is bounded too.
fn collect_groups(pattern: &regex_syntax::hir::Hir, groups: &mut Vec<(u32, Option<String>)>) {
    use regex_syntax::hir::HirKind;
    match pattern.kind() {
        HirKind::Capture(capture) => {
            groups.push((capture.index, capture.name.as_ref().map(|name| name.to_string())));
            collect_groups(&capture.sub, groups);
        }
        HirKind::Repetition(repetition) => collect_groups(&repetition.sub, groups),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().for_each(|part| collect_groups(part, groups));
        }
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => {}
    }
}

/// The known name that holds all words of another one, as they stand or cut short: `accuracy.test` for `test_acc`.
fn in_other_words<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let parts = |name: &str| -> Vec<String> {
        name.split(['.', '_', '-', ' ']).map(str::to_lowercase).filter(|part| !part.is_empty()).collect()
    };
    let mut wanted = parts(text);
    for word in &mut wanted {
        if matches!(word.as_str(), "val" | "valid" | "validation" | "dev") {
            "eval".clone_into(word);
        }
    }
    let holds = |name: &&str| {
        let own = parts(name);
        wanted.iter().all(|word| word.len() >= 3 && own.iter().any(|part| part.starts_with(word.as_str())))
    };
    known.filter(|name| !wanted.is_empty() && holds(name)).min_by_key(|name| name.len())
}
