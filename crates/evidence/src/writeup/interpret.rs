//! What the columns and rows of a table hold.

use assay_model::names::{self, setting};
use assay_model::{Column, Role, Span, Table, TableCell, TableRow, Unit};

mod captions;
mod commas;
mod long;
mod own;
mod splits;

use super::Context;
use super::cell::{CellParts, cell, list};
use super::markup::plain;
use super::raw::RawTable;
use super::units::times;
use super::vocabulary::words::words;
use super::vocabulary::{
    counts_other, device, metric_name, metric_of, other_metric, platform, setting_name, specific_name,
    statistic,
};
use crate::clock::is_moment;
use crate::vocabulary::{CounterKind, MetricKind, NamedMetric, PrintedUnit, Vocabulary};

/// Words over a column that holds ratios of other columns.
const RATIO_WORDS: [&str; 12] = [
    "ratio",
    "relative",
    "vs",
    "factor",
    "change",
    "difference",
    "diff",
    "delta",
    "improvement",
    "winner",
    "advantage",
    "gain",
];

/// Settings whose values are texts.
const TEXT_SETTINGS: [&str; 4] = [setting::MODEL, setting::DEVICE, setting::PRECISION, setting::INPUT];

/// Finds out what a table holds.
pub fn interpret(mut raw: RawTable, context: &Context) -> Table {
    commas::to_points(&mut raw);
    long::part_lists(&mut raw);
    long::to_wide(&mut raw);
    long::spell_out(&mut raw);
    long::spell_units(&mut raw);
    let header: Vec<String> = raw.header.iter().map(|text| plain(text)).collect();
    let transposed = is_transposed(&header, &raw.rows);
    let mut table = Table {
        span: Span::new(context.file.clone(), raw.first, raw.last),
        headings: context.headings.clone(),
        platform: table_platform(context),
        columns: header.into_iter().map(|header| Column { header, role: Role::Unknown }).collect(),
        rows: Vec::with_capacity(raw.rows.len()),
        transposed,
    };
    if transposed {
        read_transposed(&mut table, &raw.rows);
    } else {
        read_upright(&mut table, &raw.rows, context);
    }
    name_training_tokens(&mut table);
    table
}

/// Whether values of this setting are texts.
pub(super) fn is_text_setting(name: &str) -> bool {
    TEXT_SETTINGS.contains(&name)
}

fn table_platform(context: &Context) -> Option<String> {
    let headings = context.headings.iter().rev().map(String::as_str);
    let prose = context.recent.iter().rev().map(|(_, text)| text.as_str());
    context.platform.clone().or_else(|| headings.chain(prose).find_map(platform).map(str::to_owned))
}

/// Metrics stand in rows where the first column names them and the other headers name none.
fn is_transposed(header: &[String], rows: &[Vec<(String, u64)>]) -> bool {
    let Some((_, systems)) = header.split_first() else { return false };
    let names_something = |header: &String| {
        device(header).is_none() && (setting_name(header).is_some() || metric_name(header).is_some())
    };
    if systems.is_empty() || rows.is_empty() || systems.iter().any(names_something) {
        return false;
    }
    let labels: Vec<String> =
        rows.iter().filter_map(|row| row.first()).map(|(text, _)| plain(text)).collect();
    // `decode_lm_valid.acc.ave/dev_clean` is where something was measured.
    let path = |label: &String| {
        !label.contains(' ') && label.len() > 24 && label.contains('/') && label.contains(['_', '.'])
    };
    if labels.iter().any(path) {
        return false;
    }
    let named = labels.iter().filter(|label| metric_name(label).is_some()).count();
    // `P50` and `P99` below `Mean latency` are statistics of it.
    let statistics = labels.iter().filter(|label| named > 0 && statistic(label).is_some()).count();
    let metrics = named + statistics;
    let settings = labels.iter().filter(|label| setting_name(label).is_some()).count();
    metrics >= 1 && (metrics + settings) * 2 >= labels.len()
}

fn read_upright(table: &mut Table, rows: &[Vec<(String, u64)>], context: &Context) {
    let width = table.columns.len();
    let mut units: Vec<Option<(Unit, f64)>> = Vec::with_capacity(width);
    let mut taken: Vec<Role> = Vec::new();
    for (index, column) in table.columns.iter_mut().enumerate() {
        let cells: Vec<CellParts> =
            rows.iter().filter_map(|row| row.get(index)).map(|(text, _)| cell(text, None)).collect();
        column.role = column_role(&column.header, &cells, index);
        // Two columns cannot both hold one setting: `Model` and `Size` of the file.
        if matches!(column.role, Role::Setting(_)) && taken.contains(&column.role) {
            column.role = Role::Label;
        }
        taken.push(column.role.clone());
        units.push(bare_unit(&column.header, &column.role, &cells));
    }
    name_errors_of_speech(table, &mut units);
    captions::name_columns(table, rows, context, &mut units);
    own::name_settings(table, rows);
    splits::name_columns(table);
    name_repeats(table, rows, &mut units);
    for row in rows {
        let row = &own::with_fewer_repeats(table, row);
        let line = row.first().map_or(table.span.first, |(_, line)| *line);
        let mut cells = Vec::with_capacity(width);
        for (index, column) in table.columns.iter().enumerate() {
            let (text, line) = row.get(index).map_or(("", line), |(text, line)| (text.as_str(), *line));
            let unit = units.get(index).and_then(Option::as_ref);
            cells.push(table_cell(text, line, &column.role, unit));
        }
        table.rows.push(TableRow { line, cells, role: Role::Unknown });
    }
}

/// Scores of speech recognition count correct, substituted, deleted and inserted words: `Corr` is not a correlation there,
/// and `Err` is the error rate that a heading names.
fn name_errors_of_speech(table: &mut Table, units: &mut [Option<(Unit, f64)>]) {
    let position = |wanted: &[&str]| {
        table.columns.iter().position(|column| wanted.contains(&column.header.to_lowercase().as_str()))
    };
    if [&["sub", "subs"], &["del", "dels"], &["ins", "inss"]].iter().any(|names| position(*names).is_none()) {
        return;
    }
    let heading = table.headings.last().and_then(|heading| Vocabulary::current().metric(heading, None));
    let rate = heading.map(|named| named.base).filter(|base| base == "wer" || base == "cer");
    let named = [
        (position(&["corr", "cor", "correct"]), Some("accuracy.correct".to_owned())),
        (position(&["err"]), rate),
    ];
    for (index, name) in named {
        let (Some(index), Some(name)) = (index, name) else { continue };
        if let (Some(column), Some(unit)) = (table.columns.get_mut(index), units.get_mut(index)) {
            column.role = Role::Metric(name);
            // Such tables print percentages without the sign.
            *unit = Some((Unit::Fraction, 0.01));
        }
    }
}

/// What a column holds, by its header and the look of its cells.
fn column_role(header: &str, cells: &[CellParts], index: usize) -> Role {
    let numbers = cells.iter().filter(|cell| cell.value.is_some()).count();
    let texts = cells.iter().filter(|cell| is_text(cell)).count();
    let lists = cells.iter().filter(|cell| list(&cell.text, None).is_some()).count();
    if let Some(name) = progress(header).filter(|_| numbers > 0) {
        return Role::Metric(name.to_owned());
    }
    let spoken = words(header).join(" ");
    let mut values = cells.iter().filter_map(|cell| cell.value).peekable();
    if values.peek().is_some() && values.all(|value| is_moment(&spoken, value)) {
        return Role::Unknown;
    }
    if let Some(name) = setting_name(header).or_else(|| setting_name(header.split(['(', '[']).next()?)) {
        return setting_role(name, numbers, texts, cells);
    }
    let unit = common_unit(cells);
    let is_ratio = words(header).iter().any(|word| RATIO_WORDS.contains(&word.as_str()));
    let word = metric_of(header, unit.as_ref())
        .or_else(|| header.rsplit_once(" / ").and_then(|(_, last)| metric_of(last, unit.as_ref())));
    let money = |named: NamedMetric| match cells.iter().any(|cell| cell.text.contains('$')) {
        true if named.base == "loss" => NamedMetric { base: "cost_usd".to_owned(), ..named },
        _ => named,
    };
    // `Success  18` counts what succeeded.
    let counted = |cell: &CellParts| cell.value.is_some_and(|value| value > 1.0 && value.fract() == 0.0);
    let counts =
        || !cells.iter().any(|cell| cell.unit_told || cell.text.contains('.')) && cells.iter().any(counted);
    if word.as_ref().is_some_and(|word| word.name == names::SUCCESS)
        && !header.contains('%')
        && !spoken.contains("rate")
        && counts()
    {
        return Role::Metric("succeeded".to_owned());
    }
    // Under an unknown header, cells with a unit of time or rate say what they are.
    let by_unit = || {
        let unit = unit.as_ref().filter(|unit| matches!(unit, Unit::Seconds | Unit::PerSecond(_)))?;
        let printed = PrintedUnit { unit: unit.clone(), factor: 1.0, per: None };
        let named = Vocabulary::current().metric(header, Some(&printed)).filter(|_| index > 0)?;
        (named.kind != MetricKind::Ignore).then_some(named)
    };
    let share = unit == Some(Unit::Fraction);
    let fits = |named: &NamedMetric| numbers * 2 >= cells.len() && !(share && named.kind == MetricKind::Rate);
    let other = || other_metric(header).filter(fits).map(money);
    match word {
        Some(_) if is_ratio && unit.as_ref() == Some(&times()) => Role::Ratio,
        Some(word) if numbers + lists > 0 || cells.iter().any(|cell| cell.problem.is_some()) => {
            Role::Metric(specific_name(header, &word))
        }
        _ if is_ratio || numbers > 0 && unit.as_ref() == Some(&times()) => Role::Ratio,
        _ if texts > numbers || index == 0 && numbers == 0 => Role::Label,
        _ => other().or_else(by_unit).map_or(Role::Unknown, |named| Role::Metric(named.name())),
    }
}

/// The name of a column that counts epochs or steps. `Epochs` and `Steps` alone are how many there were to be.
fn progress(header: &str) -> Option<&'static str> {
    if header == "#" {
        return Some(names::STEPS);
    }
    let spoken = words(header);
    let alone = spoken.len() == 1 && header.to_lowercase().ends_with('s');
    let counts = ["epoch", "step", "iteration", "iter", "timestep", "update", "episode"];
    if alone || !spoken.last().is_some_and(|word| counts.contains(&word.as_str())) {
        return None;
    }
    Some(match Vocabulary::current().counter(&header.replace('/', " "))? {
        CounterKind::Epoch => names::EPOCH,
        CounterKind::Step => names::STEPS,
    })
}

fn setting_role(name: &'static str, numbers: usize, texts: usize, cells: &[CellParts]) -> Role {
    let name = match name {
        // `GPU` over names is the kind of device, over numbers it is how many.
        setting::DEVICES if texts > numbers => setting::DEVICE,
        setting::DEVICE if numbers > texts => setting::DEVICES,
        // Beside a recall, precision is a share of answers, not a number format.
        setting::PRECISION if numbers > texts => return Role::Metric("precision".to_owned()),
        // Sizes of data are not names of models.
        setting::MODEL if common_unit(cells) == Some(Unit::Bytes) || numbers > texts && numbers > 0 => {
            return Role::Unknown;
        }
        other => other,
    };
    let is_switch = matches!(name, setting::WARMUP | setting::PROFILER | setting::COMPILE_CACHE);
    if texts > numbers && !is_text_setting(name) && !is_switch {
        return Role::Label;
    }
    Role::Setting(name.to_owned())
}

fn is_text(cell: &CellParts) -> bool {
    cell.value.is_none() && cell.problem.is_none() && cell.text.chars().any(char::is_alphanumeric)
}

/// The unit that most of the cells with a number show.
fn common_unit(cells: &[CellParts]) -> Option<Unit> {
    let numbers = cells.iter().filter(|cell| cell.value.is_some()).count();
    let first = cells.iter().find(|cell| cell.unit_told)?.unit.clone()?;
    let same = cells.iter().filter(|cell| cell.unit.as_ref() == Some(&first)).count();
    (same * 2 >= numbers).then_some(first)
}

/// The unit of bare numbers under a header or beside a label.
fn bare_unit(header: &str, role: &Role, cells: &[CellParts]) -> Option<(Unit, f64)> {
    let Role::Metric(name) = role else { return None };
    if name == "succeeded" {
        return Some((Unit::One, 1.0));
    }
    let word = metric_of(header, common_unit(cells).as_ref());
    if let Some(stated) = word.as_ref().and_then(|word| word.stated()) {
        return Some(stated);
    }
    if word.as_ref().is_none_or(|word| word.name == names::QUALITY || counts_other(header, word))
        && let Some(other) = other_metric(header)
    {
        let mut bare = cells.iter().filter(|cell| !cell.unit_told).filter_map(|cell| cell.value);
        let share = other.kind == MetricKind::Share && bare.all(|value| (0.0..=1.0).contains(&value));
        return Some(if share { (Unit::Fraction, 1.0) } else { (other.unit, other.factor) });
    }
    let own = word.map_or_else(|| names::unit(name), |word| names::unit(word.name));
    match own {
        Unit::Fraction => {
            let bare = cells.iter().filter(|cell| !cell.unit_told).filter_map(|cell| cell.value);
            // Shares above one and a half are percentages that were written without the sign.
            let percent = bare.fold(0.0, f64::max) > 1.5;
            Some((Unit::Fraction, if percent { 0.01 } else { 1.0 }))
        }
        Unit::One => Some((Unit::One, 1.0)),
        Unit::Count(thing) => Some((Unit::Count(thing), 1.0)),
        _ => None,
    }
}

fn table_cell(text: &str, line: u64, role: &Role, unit: Option<&(Unit, f64)>) -> TableCell {
    let parts = cell(text, unit);
    let problem = match role {
        Role::Metric(_) if is_text(&parts) && list(text, unit).is_none() => {
            Some(format!("`{}` where a number is due", parts.text))
        }
        Role::Metric(_) => parts.problem,
        Role::Setting(name) if !is_text_setting(name) => parts.problem,
        _ => None,
    };
    TableCell { text: parts.text, line, value: parts.value, unit: parts.unit, problem }
}

/// A column whose header names a metric: where it stands, the metric, and the unit of bare numbers in it.
type NamedColumn = (usize, String, Option<(Unit, f64)>);

/// Gives columns such as `Run 1 (s)` and `Trial 2` the metric that the table is about, if it is about one, and columns
/// such as `Std (s)` and `Median` the metric to their left.
fn name_repeats(table: &mut Table, rows: &[Vec<(String, u64)>], units: &mut [Option<(Unit, f64)>]) {
    let mut named: Vec<NamedColumn> = Vec::new();
    for (index, (column, unit)) in table.columns.iter().zip(units.iter()).enumerate() {
        if let Role::Metric(name) = &column.role
            && !is_repeat(&column.header)
            && statistic(&column.header).is_none()
        {
            named.push((index, name.clone(), unit.clone()));
        }
    }
    let Some((_, first, _)) = named.first() else { return };
    // A deviation of a metric beside it is no other metric.
    let is_about_one =
        named.iter().all(|(_, name, _)| name == first || name.starts_with(&format!("{first}.")));
    for (index, column) in table.columns.iter_mut().enumerate() {
        let has_number =
            rows.iter().any(|row| row.get(index).is_some_and(|(text, _)| cell(text, None).value.is_some()));
        if !matches!(column.role, Role::Unknown | Role::Metric(_)) || !has_number {
            continue;
        }
        // `+/- Stdev` is the share of values within one deviation.
        if column.header.starts_with("+/-") || column.header.starts_with('±') {
            column.role = Role::Unknown;
            continue;
        }
        let left = named.iter().rev().find(|(other, ..)| *other < index);
        let (name, stated) = match (statistic(&column.header), left, named.first()) {
            (Some(statistic), Some((_, name, stated)), _) => {
                let suffix = statistic.suffix().map_or_else(String::new, |suffix| format!(".{suffix}"));
                (format!("{name}{suffix}"), stated)
            }
            (None, _, Some((_, name, stated))) if is_about_one && is_repeat(&column.header) => {
                (name.clone(), stated)
            }
            _ => continue,
        };
        column.role = Role::Metric(name);
        if let Some(unit) = units.get_mut(index).filter(|unit| unit.is_none()) {
            unit.clone_from(stated);
        }
    }
}

/// Whether a header names one of several repeats.
pub(super) fn is_repeat(header: &str) -> bool {
    let words = words(header.split(['(', '[']).next().unwrap_or_default());
    matches!(words.as_slice(), [word, number]
        if matches!(word.as_str(), "run" | "trial" | "repeat" | "rep" | "replicate" | "attempt" | "seed")
            && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn read_transposed(table: &mut Table, rows: &[Vec<(String, u64)>]) {
    for (index, column) in table.columns.iter_mut().enumerate() {
        let is_ratio = words(&column.header)
            .iter()
            .any(|word| RATIO_WORDS.contains(&word.as_str()) || word == "speedup");
        column.role = match index {
            0 => Role::Label,
            _ if is_ratio => Role::Ratio,
            _ => Role::Unknown,
        };
    }
    let mut above: Option<String> = None;
    for row in rows {
        let Some((label, line)) = row.first() else { continue };
        let label = plain(label);
        let systems = table.columns.iter().zip(row).skip(1).filter(|(column, _)| column.role != Role::Ratio);
        let parts: Vec<CellParts> = systems.map(|(_, (text, _))| cell(text, None)).collect();
        let role = match (row_role(&label, &parts), statistic(&label), &above) {
            (Role::Unknown, Some(statistic), Some(name)) => Role::Metric(
                statistic.suffix().map_or_else(|| name.clone(), |suffix| format!("{name}.{suffix}")),
            ),
            (role, ..) => role,
        };
        if let (Role::Metric(_), Some(word)) = (&role, metric_of(&label, common_unit(&parts).as_ref())) {
            above = Some(word.name.to_owned());
        }
        let unit = bare_unit(&label, &role, &parts);
        let mut cells = Vec::with_capacity(table.columns.len());
        for (index, column) in table.columns.iter().enumerate() {
            let (text, line) = row.get(index).map_or(("", *line), |(text, line)| (text.as_str(), *line));
            cells.push(match column.role {
                Role::Unknown => table_cell(text, line, &role, unit.as_ref()),
                _ => table_cell(text, line, &column.role, None),
            });
        }
        table.rows.push(TableRow { line: *line, cells, role });
    }
}

fn row_role(label: &str, cells: &[CellParts]) -> Role {
    // `Model size | 45 MB` names no model.
    let sized = |name: &&str| *name == setting::MODEL && common_unit(cells) == Some(Unit::Bytes);
    if let Some(name) = setting_name(label).filter(|name| !sized(name)) {
        return Role::Setting(name.to_owned());
    }
    match metric_of(label, common_unit(cells).as_ref()) {
        Some(word) => Role::Metric(specific_name(label, &word)),
        None if words(label).iter().any(|word| RATIO_WORDS.contains(&word.as_str())) => Role::Ratio,
        None => Role::Unknown,
    }
}

/// Tokens per second beside a loss or a number of epochs are those of training, not of an endpoint.
fn name_training_tokens(table: &mut Table) {
    let is_training = |role: &Role| match role {
        Role::Metric(name) => name.starts_with("loss."),
        Role::Setting(name) => {
            matches!(
                name.as_str(),
                setting::EPOCHS | setting::LEARNING_RATE | setting::STEPS | setting::MICRO_BATCH_SIZE
            )
        }
        _ => false,
    };
    let roles = table.columns.iter().map(|column| &column.role).chain(table.rows.iter().map(|row| &row.role));
    if !roles.into_iter().any(is_training) {
        return;
    }
    let columns = table.columns.iter_mut().map(|column| &mut column.role);
    for role in columns.chain(table.rows.iter_mut().map(|row| &mut row.role)) {
        if let Role::Metric(name) = role
            && let Some(tail) = name.strip_prefix(names::TOKENS_PER_S_UNNAMED)
        {
            *name = format!("{}{tail}", names::TOKENS_PER_S);
        }
    }
}

#[cfg(test)]
mod tests;
