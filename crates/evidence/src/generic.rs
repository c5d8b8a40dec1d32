//! Reads lines that no dialect knows: anybody's training loop, benchmark printout or table of columns.
//!
//! | file | holds |
//! |---|---|
//! | `generic/tokens.rs` | cutting a line: numbers with units, counters, clocks, words |
//! | `generic/shape.rs` | the shape of a line, its numbers taken out |
//! | `generic/naming.rs` | from tokens to a plan: which number is what |
//! | `generic/table.rs` | rows under column names |
//! | `generic/plan.rs` | the plan of a shape, used for every line of it |
//! | `generic/headings.rs` | what a line without numbers says about those below it |
//! | `generic/ranks.rs` | prefixes of ranks and workers |
//! | `generic/steps.rs` | steps, and where another run begins |
//! | `generic/sections.rs` | banners between the results of several runs |
//! | `generic/settings.rs` | settings in dumps of arguments |
//!
//! A line's shape is hashed; the plan made for the first line of a shape reads all others, so that repeated lines cost
//! little more than parsing their numbers.

mod headings;
mod naming;
mod plan;
mod ranks;
mod sections;
mod settings;
mod shape;
mod steps;
mod table;
mod tokens;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use assay_model::Unit;

use crate::collector::Value;
use crate::dialects::{Dialect, DialectReader, Shape, Taken};
use crate::facts::Facts;
use crate::line::Line;
use crate::vocabulary::{CounterKind, MetricKind, Split, Vocabulary};
use headings::{block, heading, indent};
use naming::{LineContext, NumberedLine};
use plan::Plan;
use ranks::worker;
use sections::Sections;
use steps::Place;
use table::TableHeader;
use tokens::{TokenKind, tokens};

/// The registry's entry. The engine shows it every line that no other dialect took.
pub const DIALECT: Dialect = Dialect {
    name: "generic",
    title: "Any other output",
    summary: "lines of any program that name their numbers: training loops, benchmark printouts, tables of columns",
    needles: &[],
    shapes: &[
        Shape {
            text: "Epoch 5/5 | train loss 0.6810 | val acc 73.28% | 22.95s",
            reads: "loss.train, accuracy.eval, epoch_s, setting epochs",
        },
        Shape {
            text: "Test set: Average loss: 0.0312, Accuracy: 9898/10000 (99%)",
            reads: "loss.test, accuracy.test",
        },
        Shape {
            text: "step 400 | loss 2.31 | lr 3.0e-04 | grad norm 0.71 | 37.2k tok/s",
            reads: "loss, learning_rate, gradient_norm, tokens_per_s",
        },
        Shape { text: "[12]\ttrain-rmse:6.561\tvalidation-rmse:6.620", reads: "rmse.train, rmse.eval" },
        Shape {
            text: "Latency avg=16.39s p50=15.86s p99=17.54s",
            reads: "latency.mean, latency.p50, latency.p99",
        },
        Shape {
            text: "epoch  train_loss  valid_loss  accuracy\n0      1.0658      0.6037      0.798",
            reads: "loss.train, loss.eval, accuracy",
        },
        Shape { text: "|    ep_rew_mean      | 21.3     |", reads: "reward" },
    ],
    derived: &["Steps that start again begin another run."],
    notes: &[
        "A number gets its name from its unit, the key on its left, the words on its right, the column above it; one that \
         none of these names is not read.",
        "Split and unit stay empty where nothing prints them.",
    ],
    reader: || Box::<GenericReader>::default(),
};

/// A longer line names no groups of columns.
const LONGEST_ABOVE: usize = 240;

/// More shapes than this are not remembered.
const MOST_SHAPES: usize = 2048;

/// A shape and its plan.
struct KnownShape {
    plan: Arc<Plan>,
    /// The numbers of the first line whose keys nobody knows, until another line shows whether they vary.
    first: Option<Vec<f64>>,
    varies: bool,
}

/// Reads lines that no dialect knows.
#[derive(Default)]
pub(crate) struct GenericReader {
    shapes: HashMap<u64, KnownShape>,
    /// Of shapes with digits in their names, which runs of digits these are.
    fixed: HashMap<u64, Vec<usize>>,
    runs: Vec<u32>,
    context: LineContext,
    context_hash: u64,
    /// The shape of the line as it is, whatever stands above it.
    bare: u64,
    /// Of each shape, the steps of its first and its last line.
    steps: HashMap<u64, (Place, Place)>,
    sections: Sections,
    /// Shares that were printed with a percent sign.
    percent: HashSet<String>,
    /// Metrics that were read with a step.
    counted: HashSet<String>,
    /// Metrics that were read on lines that count the batches of an epoch.
    batched: HashSet<String>,
    /// Whether the line before is a heading.
    headed: bool,
    table: Option<Arc<TableHeader>>,
    /// The line above, where nothing was read from it: it may stand over the groups of a table's columns.
    above: String,
    tables: u64,
    /// The column names in the line before, if it is nothing else.
    names: String,
    /// Whether a heading announced an evaluation.
    evaluated: bool,
    /// Lines in a row that are one `key: value` each, and how many of the values are switches.
    listed: (u32, u32),
    /// The epoch that a line alone announced.
    epoch: Option<f64>,
    /// The first epoch seen: whether epochs are counted from 0 or from 1.
    first_epoch: Option<f64>,
    rank: Option<u32>,
    /// Whether the output speaks of transactions, which `tps` counts then.
    transactions: bool,
}

/// Names rates that a database prints as `tps`.
fn name_transactions(plan: &mut Plan, text: &str) {
    let counted = crate::vocabulary::words(text).iter().any(|word| word == "tps");
    for slot in plan.slots.iter_mut().filter(|_| counted) {
        if let Some(rest) = slot.metric.strip_prefix("tokens_per_s") {
            slot.metric = format!("transactions_per_s{rest}");
            slot.unit = Unit::PerSecond("transactions".to_owned());
        }
    }
}

/// Whether a line is a piece of a file that is no text, such as an archive on standard output.
fn is_binary(text: &str) -> bool {
    let control = |one: char| one.is_control() && !matches!(one, '\t' | '\r' | '\u{8}' | '\u{c}');
    text.chars().any(|one| one == '\u{fffd}' || control(one))
}

impl DialectReader for GenericReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let Some(text) = self.own_rank(line) else { return Taken::Whole };
        self.read(text, facts)
    }

    fn again(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> bool {
        let Some(text) = self.own_rank(line) else { return true };
        self.leave_block(text);
        let shape = self.key(text);
        let key = self.variant(shape, text);
        let Some(known) = self.shapes.get(&key).filter(|known| known.plan.is_known()) else { return false };
        let plan = Arc::clone(&known.plan);
        self.apply(key, &plan, text, facts) == Taken::Whole
    }

    fn end(&mut self, _facts: &mut Facts<'_>) {
        *self = GenericReader::default();
    }
}

impl GenericReader {
    fn read(&mut self, text: &str, facts: &mut Facts<'_>) -> Taken {
        self.leave_block(text);
        let shape = self.key(text);
        let mut key = self.variant(shape, text);
        if let Some(known) = self.shapes.get(&key) {
            let plan = Arc::clone(&known.plan);
            return self.apply(key, &plan, text, facts);
        }
        if is_binary(text) {
            return Taken::Nothing;
        }
        let plan = Arc::new(self.plan(text));
        // The plan may have set a context that the next line of this shape is read in.
        if self.shapes.len() >= MOST_SHAPES {
            self.shapes.clear();
            self.fixed.clear();
            self.steps.clear();
        }
        if !plan.fixed.is_empty() {
            let known = self.fixed.entry(shape).or_default();
            known.extend(plan.fixed.iter().filter(|run| !known.contains(run)).copied().collect::<Vec<_>>());
            key = self.variant(shape, text);
        }
        self.note_metrics(&plan);
        let known = KnownShape { plan: Arc::clone(&plan), first: None, varies: false };
        self.shapes.insert(key, known);
        self.apply(key, &plan, text, facts)
    }

    /// Notes which metrics a new shape counts along a step, and which it prints with a percent sign.
    fn note_metrics(&mut self, plan: &Plan) {
        let counts = !plan.counters.is_empty() || self.epoch.is_some();
        for slot in &plan.slots {
            if counts && self.counted.len() < MOST_SHAPES {
                self.counted.insert(slot.metric.clone());
            }
            if slot.unit == Unit::Fraction && slot.factor != 1.0 && self.percent.len() < MOST_SHAPES {
                self.percent.insert(slot.metric.clone());
            }
        }
    }

    /// The line's text, if it is of the rank that is read: the first one seen speaks for all.
    fn own_rank<'a>(&mut self, line: Line<'a>) -> Option<&'a str> {
        let (rank, text) = match line.rank {
            Some(rank) => (Some(rank), line.text),
            None => worker(line.text),
        };
        match (rank, self.rank) {
            (Some(rank), Some(own)) if rank != own => None,
            (Some(rank), None) => {
                self.rank = Some(rank);
                Some(text)
            }
            _ => Some(text),
        }
    }

    fn key(&mut self, text: &str) -> u64 {
        self.bare = shape::hash(text.as_bytes(), &mut self.runs);
        self.bare ^ self.context_hash
    }

    /// A shape with the digits in its names: `p50: 3 ms` and `p99: 5 ms` are of one shape and of two names.
    fn variant(&self, shape: u64, text: &str) -> u64 {
        let Some(fixed) = self.fixed.get(&shape) else { return shape };
        let mut hasher = DefaultHasher::new();
        shape.hash(&mut hasher);
        for run in fixed {
            let start = self.runs.get(*run).map_or(text.len(), |start| *start as usize);
            let rest = text.get(start..).unwrap_or_default();
            let end = rest.find(|letter: char| !(letter.is_ascii_digit() || letter == '.'));
            rest.get(..end.unwrap_or(rest.len())).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// An indented block ends at the first line that is not indented more than the one above it.
    fn leave_block(&mut self, text: &str) {
        if self.context.indent.is_some_and(|above| indent(text) <= above) {
            self.context = LineContext::default();
            self.set_context();
        }
    }

    fn set_context(&mut self) {
        let mut hasher = DefaultHasher::new();
        self.context.hash(&mut hasher);
        self.table.as_ref().map(|table| table.number).hash(&mut hasher);
        self.context_hash = hasher.finish();
    }

    /// The plan for a line of a new shape.
    fn plan(&mut self, text: &str) -> Plan {
        let found = tokens(text);
        let dump = self.is_dump(text, &found);
        let line = NumberedLine { text, tokens: &found, runs: &self.runs };
        let vocabulary = Vocabulary::current();
        if let Some(row) =
            self.table.as_ref().and_then(|table| table.row(&line, self.context.split, vocabulary))
        {
            return row;
        }
        if let Some(mut header) = self.table.as_ref().and_then(|table| table.with_units(text)) {
            self.tables += 1;
            header.number = self.tables;
            return Plan { header: Some(Arc::new(header)), ..Plan::default() };
        }
        // A box whose column names take two lines.
        if let Some(joined) = table::joined(&self.names, text) {
            let found = tokens(&joined);
            let line = NumberedLine { text: &joined, tokens: &found, runs: &[] };
            if let Some(mut header) = TableHeader::read(&line, "", &self.context, vocabulary) {
                self.tables += 1;
                header.number = self.tables;
                return Plan { header: Some(Arc::new(header)), names: joined, ..Plan::default() };
            }
        }
        if let Some(mut header) = TableHeader::read(&line, &self.above, &self.context, vocabulary) {
            self.tables += 1;
            header.number = self.tables;
            return Plan { header: Some(Arc::new(header)), names: text.to_owned(), ..Plan::default() };
        }
        if dump {
            return Plan::default();
        }
        let mut plan = naming::plan(&line, &self.context, vocabulary);
        self.transactions |= text.contains("transaction");
        if self.transactions {
            name_transactions(&mut plan, text);
        }
        let numbers =
            found.iter().any(|token| matches!(token.kind, TokenKind::Number(_) | TokenKind::Counter { .. }));
        if !numbers {
            plan.heading = heading(text, &found, vocabulary, self.sections.is_below_rule());
            if plan.heading.as_ref().is_some_and(|heading| heading.name.is_some()) {
                plan.fix(line.runs_in(0, found.len()));
            }
            plan.banner = sections::banner(text, &found, self.sections.is_below_rule());
        }
        if numbers && plan.slots.is_empty() && plan.counters.is_empty() {
            plan.heading = block(text, &found, vocabulary);
        }
        plan.rule = matches!(found.as_slice(), [only] if only.kind == TokenKind::Bar);
        plan
    }

    /// Whether a line belongs to a dump of settings: one of many `key: value` lines, some of them switches.
    fn is_dump(&mut self, text: &str, found: &[tokens::Token]) -> bool {
        let joint = |token: &tokens::Token| matches!(token.kind, TokenKind::Sign(b':' | b'='));
        let place = found.iter().position(joint);
        let pair = place.is_some_and(|place| (1..=3).contains(&place))
            && found.iter().filter(|token| joint(token)).count() == 1;
        let value = text.rsplit([':', '=']).next().unwrap_or_default().trim();
        let switch = ["True", "False", "None", "true", "false", "null"].contains(&value);
        self.listed = if pair { (self.listed.0 + 1, self.listed.1 + u32::from(switch)) } else { (0, 0) };
        self.listed.0 > 6 && self.listed.1 > 1
    }

    fn apply(&mut self, key: u64, plan: &Plan, text: &str, facts: &mut Facts<'_>) -> Taken {
        if let Some(header) = &plan.header {
            self.table = Some(Arc::clone(header));
            self.names.clone_from(&plan.names);
            self.set_context();
            return Taken::Nothing;
        }
        if let Some(heading) = &plan.heading {
            self.context.clone_from(heading);
            // `Start training` opens a log of which every line may be of training; after an evaluation it ends that.
            self.evaluated |= heading.split.is_some_and(|split| split != Split::Train);
            if !self.evaluated && heading.indent.is_none() {
                self.context.split = None;
            }
            self.set_context();
        }
        // `Results on test set` above a rule stands over a block, too.
        if plan.rule && self.headed && self.context.split.is_some() {
            self.context.titled = true;
            self.set_context();
        }
        self.names.clear();
        let labeled = plan.slots.len() == 1 && plan.counters.is_empty();
        if self.context.labels && plan.heading.is_none() && !labeled && !plan.rule {
            self.context.labels = false;
            self.set_context();
        }
        self.headed = plan.heading.is_some();
        self.sections.next(plan);
        if plan.configuration {
            for (name, value) in settings::listed(text) {
                facts.declare(&name, value, "configuration");
            }
        }
        if plan.diverged {
            facts.diverged();
        }
        if !plan.pieces.is_empty() {
            return self.pieces(plan, text, facts);
        }
        self.above.clear();
        if plan.slots.is_empty() && plan.counters.is_empty() {
            if text.len() < LONGEST_ABOVE {
                self.above.push_str(text);
            }
            return if plan.diverged { Taken::Part } else { Taken::Nothing };
        }
        let (step, complete) = self.step(plan, text, facts);
        if plan.slots.is_empty() {
            return Taken::Nothing;
        }
        if !plan.is_known() && !self.varies(key, plan, text) {
            return Taken::Nothing;
        }
        if let Some(step) = step.filter(|_| plan.counters.iter().any(|counter| !counter.within_epoch)) {
            // Steps that begin again in the next epoch are those of the epoch.
            let epoch = plan.counters.iter().find(|counter| counter.kind == CounterKind::Epoch);
            let epoch = epoch.and_then(|epoch| epoch.place.above(text, &self.runs));
            self.restart(plan, (epoch.unwrap_or(0.0), step), epoch, facts);
        }
        if step.is_none() && self.sections.repeats(self.bare) {
            facts.begin();
            facts.title(self.sections.title());
        }
        self.sections.holds_values();
        if memchr::memchr(b':', text.as_bytes()).is_none_or(|place| place < 2) {
            facts.without_clock();
        }
        for slot in &plan.slots {
            if slot.when_complete && !complete {
                continue;
            }
            let Some((value, written)) = slot.place.read(text, &self.runs) else { continue };
            // A step that took no time is one that the clock could not see.
            if slot.metric == "step_s" && value == 0.0 {
                continue;
            }
            if slot.when_complete && self.is_time_left(plan, text, value * slot.factor) {
                continue;
            }
            // `mean acc: 0.915` behind the folds that it is the mean of.
            let mean = slot.averaged && step.is_none() && self.counted.contains(&slot.metric);
            let metric = match (mean, self.is_summary(slot, plan, facts)) {
                (true, _) => Cow::Owned(format!("{}.mean", slot.metric)),
                (false, true) => Cow::Owned(format!("{}.epoch", slot.metric)),
                (false, false) => Cow::Borrowed(slot.metric.as_str()),
            };
            // A share that exceeds 1 without a percent sign is on a scale that nothing prints.
            let bare = slot.kind == MetricKind::Share && slot.factor == 1.0 && value > 1.0;
            let percent = bare && self.percent.contains(&slot.metric);
            let unit = match (percent, bare && slot.unit == Unit::Fraction) {
                (true, _) => &Unit::Fraction,
                (false, true) => &Unit::One,
                (false, false) => &slot.unit,
            };
            let value = if percent { value / 100.0 } else { value };
            let mut found =
                Value { unit: Some(unit), ..Value::reported(&metric, value * slot.factor) }.written(written);
            found.step = step;
            found.unfamiliar = !slot.known;
            found.inferred =
                if percent { Some("a percentage, as where it has its sign") } else { slot.inferred };
            facts.value(found);
        }
        self.expire(plan);
        Taken::Whole
    }

    /// Reads the parts of a line that holds several epochs, each as a line of its own.
    fn pieces(&mut self, plan: &Plan, text: &str, facts: &mut Facts<'_>) -> Taken {
        let mut starts = vec![0];
        for (run, word) in &plan.pieces {
            let number = self.runs.get(*run).map_or(text.len(), |start| *start as usize);
            let head = text.get(..number).unwrap_or_default().to_ascii_lowercase();
            starts.extend(head.rfind(word.as_str()).filter(|start| *start > 0));
        }
        starts.push(text.len());
        let mut taken = Taken::Nothing;
        for piece in starts.windows(2).filter_map(|ends| text.get(*ends.first()?..*ends.last()?)) {
            let plain = piece.trim_end_matches([' ', ',', ';', '|', '(', '[']);
            // A part that holds several itself would never end.
            if plain.len() < text.len() && self.read(plain, facts) == Taken::Whole {
                taken = Taken::Part;
            }
        }
        taken
    }

    /// A heading's split holds for the line below it: the one after that may be of the next part. Over a block of
    /// `key: value` lines it holds for all of them.
    fn expire(&mut self, plan: &Plan) {
        let one = plan.slots.len() == 1 || self.table.is_some();
        let listed = one && plan.counters.is_empty();
        // Scores without a step are those of the evaluation that was announced, however many lines they take.
        let scores = plan.counters.is_empty()
            && plan.slots.iter().all(|slot| slot.known && slot.kind == MetricKind::Share)
            && self.context.split.is_some_and(|split| split != Split::Train);
        if scores {
            return;
        }
        let holds = self.context.titled && listed || self.context.indent.is_some();
        if self.context.split.is_none() || holds {
            return;
        }
        self.context.split = None;
        self.set_context();
    }
}

#[cfg(test)]
mod tests;
