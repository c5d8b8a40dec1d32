//! The runs that a table states: one for each row, for each row and group of columns, or, where metrics stand in
//! rows, for each column.

mod group;

use assay_model::document::READ_VERSION;
use assay_model::names::{self, setting};
use assay_model::{
    Column, Observation, Origin, ReadRun, Role, Series, SettingFact, Source, Span, Standing, Status, Table,
    TableCell, TableRow, Unit, Value,
};

use self::group::Group;
use super::Context;
use super::cell::{CellParts, cell, list};
use super::interpret::{is_repeat, is_text_setting};
use super::prose::{declared, number_value};
use super::units::unknown;
use super::vocabulary::words::words;
use super::vocabulary::{MetricWord, device, metric_of, other_metric, platform, statistic};
use crate::vocabulary::{MetricKind, NamedMetric, Split, Vocabulary};

/// The runs that a table states. A row without any number is in the table, and is not a run.
pub fn runs(table: &Table, context: &Context) -> Vec<ReadRun> {
    let prose = prose_settings(table, context);
    let mut reader = Reader { table, prose, own_names: Vec::new() };
    reader.own_names = (0..table.columns.len()).map(|index| reader.own_name(index)).collect();
    if table.transposed && reader.has_statistics_in_columns() {
        return reader.statistics_run().into_iter().collect();
    }
    if table.transposed {
        return (1..table.columns.len()).filter_map(|column| reader.column_run(column)).collect();
    }
    if let Some(progress) = reader.progress_column() {
        return reader.progress_run(progress).into_iter().collect();
    }
    let groups = group::groups(table);
    let rows = table.rows.iter();
    rows.flat_map(|row| groups.iter().filter_map(|group| reader.row_run(row, group)).collect::<Vec<_>>())
        .collect()
}

/// Words over columns that number, count or date rows.
const NUMBERING: [&str; 14] = [
    "id", "index", "row", "rank", "place", "job", "date", "day", "year", "count", "run", "seed", "fold", "no",
];

struct Reader<'a> {
    table: &'a Table,
    prose: Vec<SettingFact>,
    /// The name of each column that no dictionary knows. Looked at for every cell, and found by looking at all rows.
    own_names: Vec<Option<String>>,
}

impl Reader<'_> {
    /// The run of one row and one group of columns.
    fn row_run(&self, row: &TableRow, group: &Group) -> Option<ReadRun> {
        let mut run = self.bare_run(row.line, row.line);
        let mut label: Option<String> = None;
        let mut has_own_number = false;
        let mut repeats: Option<f64> = None;
        for (index, (column, cell)) in self.table.columns.iter().zip(&row.cells).enumerate() {
            run.span.first = run.span.first.min(cell.line);
            run.span.last = run.span.last.max(cell.line);
            match &column.role {
                Role::Setting(name) => run.settings.extend(self.setting(name, cell)),
                Role::Metric(name) if group.holds(index) => {
                    has_own_number |= cell.value.is_some() && !group.shares(index);
                    let name = &self.distinct(index, name, group);
                    run.observations.extend(self.observations(name, &column.header, cell));
                    let listed = self.listed(name, &column.header, cell);
                    has_own_number |= listed.is_some() && !group.shares(index);
                    run.series.extend(listed);
                }
                Role::Unknown if counts_repeats(&column.header) => repeats = cell.value,
                Role::Unknown if group.name.is_none() => {
                    run.observations.extend(self.unnamed(index, cell));
                }
                Role::Label if label.is_none() && !cell.text.is_empty() => label = Some(cell.text.clone()),
                _ => {}
            }
        }
        // Numbers that all groups of a row share are a result of none of them.
        if !has_own_number {
            return None;
        }
        for observation in &mut run.observations {
            observation.count = observation.count.or(repeats);
        }
        let model = run.settings.iter().find(|fact| fact.name == setting::MODEL && group.name.is_some());
        let label = label.or_else(|| model.map(|fact| fact.value.to_string()));
        self.name_row(&mut run, label.as_deref(), group);
        Some(self.finished(run))
    }

    /// The name of a column of numbers that no dictionary knows: its own words. Columns left of the first result are
    /// settings, and what a ratio or a rank says is not a result.
    fn own_name(&self, index: usize) -> Option<String> {
        self.table.columns.get(index).filter(|column| column.role == Role::Unknown)?;
        let is_metric = |column: &Column| matches!(column.role, Role::Metric(_));
        let first = self.table.columns.iter().position(is_metric)?;
        let header = &self.table.columns.get(index)?.header;
        let bare = header.split(['(', '[']).next().unwrap_or_default();
        let spoken = words(bare);
        let vocabulary = Vocabulary::current();
        let numbers = self.values(index).count();
        let named = index > first
            && bare.starts_with(char::is_alphabetic)
            && (1..=3).contains(&spoken.len())
            && (spoken.len() > 1 || spoken.iter().all(|word| word.chars().count() > 1))
            && numbers * 3 >= self.table.rows.len() * 2
            && !vocabulary.is_budget(&spoken)
            && vocabulary.counter(bare).is_none()
            && statistic(header).is_none()
            && !NUMBERING.contains(&spoken.last()?.as_str());
        named.then(|| spoken.join("_"))
    }

    /// A number under a header that no dictionary knows.
    fn unnamed(&self, index: usize, cell: &TableCell) -> Option<Observation> {
        let name = self.own_names.get(index)?.as_deref()?;
        let value = cell.value.filter(|value| value.is_finite())?;
        let unit = cell.unit.clone().unwrap_or(Unit::One);
        let mut observation = Observation::new(name, value, unit, Origin::Reported);
        observation.source = Some(self.source(cell.line));
        observation.written = Some(cell.text.clone());
        Some(observation)
    }

    /// The name of a column's metric. Where another column of the run has the same one (`Base Accuracy` and `New
    /// Accuracy`), the words that only one of their headers holds are part of it.
    fn distinct(&self, index: usize, name: &str, group: &Group) -> String {
        let header =
            |at: usize| self.table.columns.get(at).map(|column| words(&column.header)).unwrap_or_default();
        let same = |other: &usize| {
            let role = self.table.columns.get(*other).map(|column| &column.role);
            *other != index && matches!(role, Some(Role::Metric(metric)) if metric == name)
        };
        let own = header(index);
        let Some(other) = group.columns.iter().copied().find(same) else { return name.to_owned() };
        let others = header(other);
        let plain = |word: &&String| word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let parts: Vec<String> =
            own.iter().filter(|word| !others.contains(word)).filter(plain).cloned().collect();
        let said = Vocabulary::current();
        let parts: Vec<String> = parts.into_iter().filter(|word| !said.is_statistic(word)).collect();
        let repeat = self.table.columns.get(index).is_some_and(|column| is_repeat(&column.header));
        if parts.is_empty() || parts.len() > 3 || repeat {
            return name.to_owned();
        }
        format!("{name}.{}", parts.join("_"))
    }

    /// Gives the run its title, its platform and its device, by the label of the row and the name of the group.
    fn name_row(&self, run: &mut ReadRun, label: Option<&str>, group: &Group) {
        let names: Vec<&str> = label.into_iter().chain(group.name.as_deref()).collect();
        let device_setting = run.settings.iter().find_map(|fact| match &fact.value {
            Value::Text(text) if fact.name == setting::DEVICE => Some(text.clone()),
            _ => None,
        });
        let stated = names.iter().rev().copied().chain(device_setting.as_deref());
        if let Some(make) = stated.clone().find_map(platform) {
            run.platform = Some(make.to_owned());
        }
        let line = run.span.first;
        if let Some(name) = group.name.as_deref() {
            for found in declared(name) {
                run.settings.push(self.fact(&found.name, found.value, "table", line));
            }
        }
        if device_setting.is_none()
            && let Some(kind) = names.iter().find_map(|name| device_word(name))
        {
            run.settings.push(self.fact(setting::DEVICE, Value::from(kind), "table", line));
        }
        if !names.is_empty() {
            run.title = Some(names.join(" / "));
        }
    }

    /// The run of one column of a table with metrics in rows.
    fn column_run(&self, index: usize) -> Option<ReadRun> {
        let column = self.table.columns.get(index).filter(|column| column.role == Role::Unknown)?;
        let mut run = self.bare_run(self.table.span.first, self.table.span.last);
        let split = Vocabulary::current().split(&column.header);
        for row in &self.table.rows {
            let (Some(label), Some(cell)) = (row.cells.first(), row.cells.get(index)) else { continue };
            match &row.role {
                Role::Setting(name) => run.settings.extend(self.setting(name, cell)),
                Role::Metric(name) => {
                    let name = on_split(name, &label.text, split);
                    run.observations.extend(self.observations(&name, &label.text, cell));
                }
                _ => {}
            }
        }
        if run.observations.is_empty() {
            return None;
        }
        let is_named =
            !matches!(column.header.to_lowercase().as_str(), "" | "value" | "result" | "results" | "values");
        if is_named {
            let group = Group { name: Some(column.header.clone()), ..Group::default() };
            self.name_row(&mut run, None, &group);
        }
        Some(self.finished(run))
    }

    /// Whether the columns of a table with metrics in rows are statistics instead of systems.
    fn has_statistics_in_columns(&self) -> bool {
        let systems = self.table.columns.iter().skip(1).filter(|column| column.role == Role::Unknown);
        let headers: Vec<&str> = systems.map(|column| column.header.as_str()).collect();
        !headers.is_empty() && headers.iter().all(|header| statistic(header).is_some())
    }

    /// The one run of a table with metrics in rows and statistics in columns.
    fn statistics_run(&self) -> Option<ReadRun> {
        let mut run = self.bare_run(self.table.span.first, self.table.span.last);
        for row in &self.table.rows {
            let (Some(label), Role::Metric(name)) = (row.cells.first(), &row.role) else { continue };
            for (column, cell) in self.table.columns.iter().zip(&row.cells).skip(1) {
                // `+/- Stdev` is the share of values within one deviation.
                if column.header.starts_with("+/-") {
                    continue;
                }
                let Some(statistic) = statistic(&column.header) else { continue };
                let name =
                    statistic.suffix().map_or_else(|| name.clone(), |suffix| format!("{name}.{suffix}"));
                run.observations.extend(self.observations(&name, &label.text, cell));
            }
        }
        (!run.observations.is_empty()).then(|| self.finished(run))
    }

    /// A column of steps or epochs makes the rows states of one run.
    fn progress_column(&self) -> Option<usize> {
        if self.table.rows.len() < 2 {
            return None;
        }
        let is_progress =
            |role: &Role| matches!(role, Role::Metric(name) if name == names::EPOCH || name == names::STEPS);
        let rises = |index: usize| {
            let steps: Vec<f64> = self.values(index).map(|(_, value, _)| value).collect();
            steps.len() >= 2 && steps.is_sorted_by(|before, after| before < after)
        };
        let mut columns = self.table.columns.iter().enumerate();
        columns.find(|(index, column)| is_progress(&column.role) && rises(*index)).map(|(index, _)| index)
    }

    fn values(&self, index: usize) -> impl Iterator<Item = (&TableRow, f64, &TableCell)> {
        let cells =
            self.table.rows.iter().filter_map(move |row| row.cells.get(index).map(|cell| (row, cell)));
        cells.filter_map(|(row, cell)| cell.value.map(|value| (row, value, cell)))
    }

    fn progress_run(&self, progress: usize) -> Option<ReadRun> {
        let mut run = self.bare_run(self.table.span.first, self.table.span.last);
        let all = Group { columns: (0..self.table.columns.len()).collect(), ..Group::default() };
        for (index, column) in self.table.columns.iter().enumerate() {
            let name = match &column.role {
                // Another counter is no result.
                Role::Metric(name) if name == names::EPOCH || name == names::STEPS => continue,
                Role::Metric(name) => self.distinct(index, name, &all),
                // What changes while a run goes on was not set once.
                Role::Setting(name) if name == setting::LEARNING_RATE => name.clone(),
                Role::Unknown => match self.own_names.get(index) {
                    Some(Some(name)) => name.clone(),
                    _ => continue,
                },
                _ => continue,
            };
            let name = &name;
            if index == progress {
                continue;
            }
            if let Some((_, _, last)) = self.values(index).last() {
                run.observations.extend(self.observations(name, &column.header, last));
            }
            let mut series = Series { metric: name.clone(), ..Series::default() };
            for (row, value, cell) in self.values(index) {
                if let Some(step) = row.cells.get(progress).and_then(|cell| cell.value) {
                    series.unit = unit_of_cell(name, cell);
                    series.source.get_or_insert_with(|| self.source(cell.line));
                    series.values.push(value);
                    series.steps.push(step);
                }
            }
            series.seen = series.values.len() as u64;
            if !series.values.is_empty() {
                run.series.push(series);
            }
        }
        (!run.series.is_empty()).then(|| self.finished(run))
    }

    fn bare_run(&self, first: u64, last: u64) -> ReadRun {
        ReadRun {
            version: READ_VERSION,
            span: Span::new(self.table.span.file.clone(), first, last),
            title: self.table.headings.last().cloned(),
            dialects: vec!["table".to_owned()],
            platform: self.table.platform.clone(),
            status: Status::Unknown,
            ..ReadRun::default()
        }
    }

    /// Adds what prose declares and the table does not say, and what rates were taken over.
    fn finished(&self, mut run: ReadRun) -> ReadRun {
        for fact in &self.prose {
            if !run.settings.iter().any(|own| own.name == fact.name) {
                run.settings.push(fact.clone());
            }
        }
        fill_rates(&mut run.observations);
        run
    }

    fn source(&self, line: u64) -> Source {
        Source::new(self.table.span.file.clone(), line)
    }

    fn fact(&self, name: &str, value: Value, by: &str, line: u64) -> SettingFact {
        SettingFact {
            name: name.to_owned(),
            value,
            standing: Standing::Declared,
            by: by.to_owned(),
            arithmetic: None,
            source: self.source(line),
        }
    }

    fn setting(&self, name: &str, cell: &TableCell) -> Option<SettingFact> {
        let value = setting_value(name, cell)?;
        Some(self.fact(name, value, "table", cell.line))
    }

    /// The samples that a cell lists.
    fn listed(&self, name: &str, header: &str, cell: &TableCell) -> Option<Series> {
        let word = metric_of(header, None)?;
        let values = list(&cell.text, word.stated().as_ref())?;
        Some(Series {
            metric: name.to_owned(),
            unit: word.unit,
            seen: values.len() as u64,
            values,
            source: Some(self.source(cell.line)),
            ..Series::default()
        })
    }

    fn observations(&self, name: &str, header: &str, cell: &TableCell) -> Vec<Observation> {
        let Some(value) = cell.value.filter(|value| value.is_finite()) else { return Vec::new() };
        // A percentage in a column of times or counts is a ratio of its other rows.
        let counted = matches!(Vocabulary::current().kind(name), Some(MetricKind::Count | MetricKind::Time));
        if counted && cell.unit == Some(Unit::Fraction) {
            return Vec::new();
        }
        let word = metric_of(header, cell.unit.as_ref())
            .or_else(|| header.rsplit_once(" / ").and_then(|(_, last)| metric_of(last, cell.unit.as_ref())));
        let is_prediction = word.as_ref().is_some_and(|word| word.prediction);
        let origin = if is_prediction { Origin::Prediction } else { Origin::Reported };
        let parts = cell_parts(cell, word.as_ref());
        let mut observation = Observation::new(name, value, unit_of_cell(name, cell), origin);
        observation.scope = word.and_then(|word| word.scope);
        observation.source = Some(self.source(cell.line));
        observation.written = Some(cell.text.clone());
        observation.count = parts.out_of;
        let mut found = vec![observation];
        // `10/10` of a success rate counts the requests behind every other number of its row or column.
        if let Some(requests) = parts.out_of.filter(|_| name == names::SUCCESS) {
            let unit = names::unit(names::REQUESTS);
            let mut counted = Observation::new(names::REQUESTS, requests, unit, origin);
            counted.source = Some(self.source(cell.line));
            counted.written = Some(cell.text.clone());
            found.push(counted);
        }
        if let Some(spread) = parts.spread.filter(|_| names_deviation(header)) {
            let mut deviation =
                Observation::new(&format!("{name}.std"), spread, unit_of_cell(name, cell), origin);
            deviation.source = Some(self.source(cell.line));
            deviation.written = Some(cell.text.clone());
            found.push(deviation);
        }
        found
    }
}

/// The name of a row's metric under a column that names a split: `Accuracy` under `Training Set`.
fn on_split(name: &str, label: &str, split: Option<Split>) -> String {
    let named = other_metric(label).filter(|named| named.split.is_none() && split.is_some());
    named.map_or_else(|| name.to_owned(), |named| NamedMetric { split, ..named }.name())
}

fn cell_parts(table_cell: &TableCell, word: Option<&MetricWord>) -> CellParts {
    let unit = word.and_then(MetricWord::stated);
    let due = unit.or_else(|| table_cell.unit.clone().map(|unit| (unit, 1.0)));
    cell(&table_cell.text, due.as_ref())
}

/// Whether a column says over how many repeats the numbers beside it were taken.
fn counts_repeats(header: &str) -> bool {
    let header = header.trim_start_matches('#').trim().to_lowercase();
    let header = header.strip_prefix("number of ").unwrap_or(&header);
    matches!(header, "n" | "runs" | "repeats" | "reps" | "repetitions" | "trials" | "replicates")
}

fn names_deviation(header: &str) -> bool {
    words(header).iter().any(|word| matches!(word.as_str(), "std" | "stdev" | "stddev" | "sd" | "deviation"))
}

/// The unit of a number in a cell. A number whose metric has a dimension, but whose unit nobody shows, has an unknown
/// one.
fn unit_of_cell(name: &str, cell: &TableCell) -> Unit {
    let plain = names::METRICS
        .iter()
        .filter(|metric| name.starts_with(metric.name))
        .max_by_key(|metric| metric.name.len());
    let own = plain.map_or(Unit::One, |metric| names::unit(metric.name));
    match (&cell.unit, own) {
        // A factor is a bare number, and images are samples, where the metric's own unit says so.
        (Some(Unit::Other(_) | Unit::Bytes), Unit::One) => Unit::One,
        (Some(Unit::PerSecond(_)), own @ Unit::PerSecond(_)) => own,
        (Some(Unit::Other(_) | Unit::Count(_)), own @ Unit::Count(_)) => own,
        (Some(unit), _) => unit.clone(),
        (None, Unit::One) => Unit::One,
        (None, _) => unknown(),
    }
}

/// The value of a setting in a cell.
fn setting_value(name: &str, cell: &TableCell) -> Option<Value> {
    let text = cell.text.trim();
    if text.is_empty() || !text.chars().any(char::is_alphanumeric) {
        return None;
    }
    if is_text_setting(name) {
        return Some(Value::from(text));
    }
    match text.to_lowercase().as_str() {
        "yes" | "true" | "on" | "✓" => return Some(Value::Switch(true)),
        "no" | "false" | "off" | "✗" => return Some(Value::Switch(false)),
        _ => {}
    }
    match cell.value {
        Some(value) => Some(number_value(value, text)),
        None if cell.problem.is_some() => None,
        None => Some(Value::from(text)),
    }
}

fn device_word(name: &str) -> Option<&'static str> {
    let mut found = name.split(|character: char| !character.is_alphanumeric()).filter_map(device);
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

/// Settings that the prose above a table declares and no column or row of the table holds.
fn prose_settings(table: &Table, context: &Context) -> Vec<SettingFact> {
    let columns = table.columns.iter().map(|column| &column.role);
    let roles: Vec<&Role> = columns.chain(table.rows.iter().map(|row| &row.role)).collect();
    let mut facts: Vec<SettingFact> = Vec::new();
    let mut disputed: Vec<String> = Vec::new();
    for (line, text) in context.recent.iter().rev() {
        for found in declared(text) {
            let in_table =
                roles.iter().any(|role| matches!(role, Role::Setting(name) if *name == found.name));
            if let Some(nearer) = facts.iter().find(|fact| fact.name == found.name) {
                // Two lines of one list that give a setting two values are about two things.
                if nearer.value != found.value && nearer.source.line <= line + 1 {
                    disputed.push(found.name);
                }
                continue;
            }
            if in_table {
                continue;
            }
            facts.push(SettingFact {
                name: found.name,
                value: found.value,
                standing: Standing::Declared,
                by: "prose".to_owned(),
                arithmetic: None,
                source: Source::new(table.span.file.clone(), *line),
            });
        }
    }
    facts.retain(|fact| !disputed.contains(&fact.name));
    facts
}

/// Gives a rate the count and the seconds that the same row states.
fn fill_rates(observations: &mut [Observation]) {
    let find = |names: &[&str]| {
        let mut found = observations.iter().filter(|own| names.contains(&own.metric.as_str()));
        found.next().filter(|_| found.next().is_none()).map(|own| own.value)
    };
    let seconds =
        find(&[names::DURATION_REPORTED, names::DURATION_LOOP, names::DURATION_FIT, names::DURATION_JOB]);
    let counts = [
        ("samples_per_s", find(&[names::SAMPLES])),
        ("tokens_per_s", find(&[names::TOKENS, names::TOKENS_TOTAL, names::TOKENS_OUTPUT])),
        ("request_throughput", find(&[names::REQUESTS])),
    ];
    for observation in observations {
        if observation.metric == names::SAMPLES_PER_S_INSTANT {
            continue;
        }
        let count = counts
            .iter()
            .find(|(prefix, _)| observation.metric.starts_with(prefix))
            .and_then(|(_, count)| *count);
        if let (Some(count), Some(seconds)) = (count, seconds) {
            observation.count = Some(count);
            observation.seconds = Some(seconds);
        }
    }
}

#[cfg(test)]
mod tests;
