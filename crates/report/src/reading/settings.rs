//! Settings: what was asked for beside what was seen.

use assay_model::{ReadRun, SettingFact, Standing, Value, names};

use crate::block::TerminalBlock;
use crate::table::{Cell, Column, Table, Tone};
use crate::words::clean;

/// One setting of a run, from both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared<'a> {
    /// The setting.
    pub name: &'a str,
    /// What was asked for, each value once.
    pub declared: Vec<&'a SettingFact>,
    /// What was seen, each value once.
    pub observed: Vec<&'a SettingFact>,
    /// Whether a value was asked for that is not the one seen.
    pub mismatch: bool,
}

impl<'a> Compared<'a> {
    /// The value in effect as far as is known: the last one seen, else the last one asked for.
    pub fn effective(&self) -> Option<&'a Value> {
        self.observed.last().or(self.declared.last()).map(|fact| &fact.value)
    }

    /// The setting in short: `epochs=10≠50` where 50 were asked for and 10 seen.
    pub fn short(&self) -> String {
        let value = self.effective().map(ToString::to_string).unwrap_or_default();
        let other = self.declared.iter().find(|fact| self.mismatch && !self.is_in_force(fact));
        let other = other.map(|fact| format!("≠{}", fact.value)).unwrap_or_default();
        clean(&format!("{}={value}{other}", self.name))
    }

    fn is_in_force(&self, declared: &SettingFact) -> bool {
        self.observed.last().is_none_or(|observed| same(&declared.value, &observed.value))
    }
}

/// The settings of a run, each once, in the order they first appear.
pub fn compared(run: &ReadRun) -> Vec<Compared<'_>> {
    let mut all: Vec<Compared<'_>> = Vec::new();
    for fact in &run.settings {
        let index = all.iter().position(|setting| setting.name == fact.name).unwrap_or_else(|| {
            all.push(Compared {
                name: &fact.name,
                declared: Vec::new(),
                observed: Vec::new(),
                mismatch: false,
            });
            all.len() - 1
        });
        let Some(setting) = all.get_mut(index) else { continue };
        let side = match fact.standing {
            Standing::Declared => &mut setting.declared,
            Standing::Observed => &mut setting.observed,
        };
        // The newest of equal facts stands last, so that the value in effect is the last one.
        if let Some(known) = side.iter().position(|known| same(&known.value, &fact.value)) {
            let known = side.remove(known);
            side.push(known);
        } else {
            side.push(fact);
        }
    }
    for setting in &mut all {
        setting.mismatch = setting.declared.iter().any(|fact| !setting.is_in_force(fact));
    }
    all
}

/// The values in effect, by name.
pub fn effective(run: &ReadRun) -> Vec<(&str, &Value)> {
    let settings = compared(run);
    let settings = settings.iter().filter(|setting| setting.name != names::setting::JOB);
    settings.filter_map(|setting| Some((setting.name, setting.effective()?))).collect()
}

/// Whether two values say the same; `8` and `8.0` do.
fn same(a: &Value, b: &Value) -> bool {
    match (a.number(), b.number()) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
        (None, None) => a.to_string().eq_ignore_ascii_case(&b.to_string()),
        _ => false,
    }
}

/// All settings as a table.
pub fn table(run: &ReadRun) -> Option<TerminalBlock> {
    let settings = compared(run);
    if settings.is_empty() {
        return None;
    }
    let rows = settings.iter().map(|setting| {
        let tone = if setting.mismatch { Tone::Bad } else { Tone::Plain };
        vec![
            Cell::toned(clean(setting.name), tone),
            Cell::toned(side(&setting.declared), tone),
            Cell::toned(if setting.mismatch { "≠" } else { "" }, Tone::Bad),
            Cell::toned(side(&setting.observed), tone),
        ]
    });
    let table = Table {
        columns: ["setting", "declared", "", "observed"].into_iter().map(Column::left).collect(),
        rows: rows.collect(),
        ..Table::default()
    };
    Some(TerminalBlock::Table { indent: 2, table })
}

/// The settings that were asked for and did not take effect, a line each.
pub fn mismatches(run: &ReadRun) -> Vec<TerminalBlock> {
    compared(run)
        .iter()
        .filter(|setting| setting.mismatch)
        .map(|setting| {
            let text = format!(
                "{}: declared {}, observed {}",
                setting.name,
                side(&setting.declared),
                side(&setting.observed)
            );
            TerminalBlock::labelled(4, Cell::toned("≠", Tone::Bad), vec![Cell::toned(text, Tone::Bad)])
        })
        .collect()
}

/// The values of one side with how each is known.
fn side(facts: &[&SettingFact]) -> String {
    let shown: Vec<String> = facts
        .iter()
        .map(|fact| {
            let value = fact.arithmetic.clone().unwrap_or_else(|| fact.value.to_string());
            let by = if fact.arithmetic.is_some() { "" } else { fact.by.as_str() };
            let separator = if by.is_empty() { "" } else { ", " };
            clean(&format!("{value} ({by}{separator}line {})", fact.source.line))
        })
        .collect();
    shown.join("; ")
}
