//! Questions that the other rooms ask.

use std::collections::BTreeMap;

use assay_model::{
    CellId, CurrentPlan, Machine, Observation, Origin, RunId, Scope, Series, Settings, ShortOutput, Source,
    Status, Unit, Usage, UsedFile,
};
use rusqlite::{OptionalExtension, Row, ToSql};

use super::Index;
use super::decode::{
    counts, counts_by_cell, hints, origin, parse_json, parsed, run_number, run_row, scope, status,
};
use crate::state::StatusCounts;
use crate::{DamageReport, StoreError};

/// What is known of a record as a whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndexSummary {
    /// The campaign's name.
    pub name: String,
    /// When the record was made, in seconds since 1970 UTC.
    pub created: f64,
    /// The current plan, if one was made.
    pub plan: Option<CurrentPlan>,
    /// How many coordinators opened the record.
    pub sessions: u64,
    /// When the last one did, in seconds since 1970 UTC.
    pub last_session: Option<f64>,
    /// The machine of the last one.
    pub machine: Option<Machine>,
    /// What is wrong with the journal.
    pub damage: DamageReport,
    /// How the newest attempts ended.
    pub runs: StatusCounts,
}

/// A cell and how its runs went.
#[derive(Debug, Clone, PartialEq)]
pub struct CellSummary {
    /// Its identity.
    pub cell: CellId,
    /// The workload's name; empty where the plan that named it was lost.
    pub workload: String,
    /// All its settings.
    pub settings: Settings,
    /// Whether the current plan has it.
    pub planned: bool,
    /// How the newest attempts ended.
    pub runs: StatusCounts,
}

/// The value of a metric in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunValue {
    /// Which run: the newest attempt at its repeat.
    pub run: RunId,
    /// Which repeat, from 1.
    pub repeat: u32,
    /// How the run ended; none while it is open.
    pub status: Option<Status>,
    /// When it started, in seconds since 1970 UTC.
    pub started_at: Option<f64>,
    /// The value in the base unit.
    pub value: f64,
    /// The base unit.
    pub unit: Unit,
    /// What it was taken over, where that is known.
    pub scope: Option<Scope>,
    /// How it came about.
    pub origin: Origin,
    /// Why the number is not this program's own measurement: it was replayed from a log.
    pub replayed: Option<String>,
}

/// A metric that runs have values of.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricSummary {
    /// Its name.
    pub name: String,
    /// The base unit.
    pub unit: Unit,
    /// How many of the newest attempts have a value of it.
    pub runs: u64,
}

/// A run as the index knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRow {
    /// Its identity.
    pub run: RunId,
    /// The workload's name.
    pub workload: String,
    /// How it ended; none while it is open.
    pub status: Option<Status>,
    /// When it started, in seconds since 1970 UTC.
    pub started_at: Option<f64>,
    /// What it used.
    pub usage: Option<Usage>,
    /// Bytes captured from standard output; none while it is open.
    pub stdout_bytes: Option<u64>,
    /// Bytes captured from standard error; none while it is open.
    pub stderr_bytes: Option<u64>,
    /// The run directory, relative to the record.
    pub directory: String,
    /// Hints for the error text seen.
    pub hints: Vec<String>,
    /// Whether it is the newest attempt at its repeat.
    pub current: bool,
    /// Whether the current plan has its cell.
    pub planned: bool,
}

/// Which runs to show; by default all of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunFilter {
    /// Only this run.
    pub run: Option<RunId>,
    /// Only runs of this cell.
    pub cell: Option<CellId>,
    /// Only runs of this workload.
    pub workload: Option<String>,
    /// Only runs that ended so: the word of a status, or `open`.
    pub status: Option<String>,
    /// Only the newest attempt at each repeat.
    pub current: bool,
    /// Only the last ones, this many.
    pub last: Option<u32>,
}

/// A coordinator that made runs of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionFacts {
    /// Its number within the record.
    pub session: i64,
    /// The version of the program that it was.
    pub program: String,
    /// Facts about what it measured and on what, such as the commit of the campaign's directory.
    pub facts: BTreeMap<String, String>,
}

/// Usable runs of one cell that were made by one session and used the same files.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOrigin {
    pub cell: CellId,
    /// The session; none where the journal has none.
    pub session: Option<i64>,
    /// What they used, as far as that is known.
    pub files: Vec<UsedFile>,
    /// The first and the last repeat of them.
    pub repeats: (u32, u32),
}

/// A way in which runs failed.
#[derive(Debug, Clone, PartialEq)]
pub struct FailureReason {
    /// What happened, for example `failed: exit code 1`.
    pub reason: String,
    /// To how many of the newest attempts.
    pub runs: u64,
    /// The last of them.
    pub example: RunId,
    /// Hints for the error text seen in that one.
    pub hints: Vec<String>,
}

/// A doubt about runs that succeeded.
#[derive(Debug, Clone, PartialEq)]
pub struct RunDoubt {
    /// What was noticed, as the example has it: other runs may differ in its numbers.
    pub text: String,
    /// About how many of the newest attempts.
    pub runs: u64,
    /// The first of them.
    pub example: RunId,
}

impl Index {
    /// What is known of the record as a whole.
    pub fn summary(&self) -> Result<IndexSummary, StoreError> {
        self.ask(|connection| {
            let mut get = connection.prepare("select value from meta where key = ?1")?;
            let mut summary = IndexSummary { runs: counts(connection)?, ..IndexSummary::default() };
            let mut text = |key: &str| get.query_row([key], |row| row.get::<_, String>(0)).optional();
            summary.name = text("name")?.unwrap_or_default();
            summary.machine = text("machine")?.map(|json| parse_json(&json)).transpose()?;
            summary.plan = text("plan")?.map(|json| parse_json(&json)).transpose()?;
            let mut number = |key: &str| get.query_row([key], |row| row.get::<_, f64>(0)).optional();
            summary.created = number("created")?.unwrap_or(0.0);
            summary.last_session = number("last_session")?;
            let mut count = |key: &str| get.query_row([key], |row| row.get::<_, u64>(0)).optional();
            summary.sessions = count("sessions")?.unwrap_or(0);
            let damage: Option<String> = get.query_row(["damage"], |row| row.get(0)).optional()?;
            summary.damage = damage.as_deref().map_or_else(|| Ok(DamageReport::default()), parse_json)?;
            Ok(summary)
        })
    }

    /// All cells, in the order the plans named them.
    pub fn cells(&self) -> Result<Vec<CellSummary>, StoreError> {
        self.ask(|connection| {
            let mut counts = counts_by_cell(connection)?;
            let mut statement = connection.prepare(
                "select cell, coalesce(workload, ''), settings, planned, id from cell_data order by id",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(CellSummary {
                    cell: parsed(row, 0)?,
                    workload: row.get(1)?,
                    settings: parse_json(&row.get::<_, String>(2)?)?,
                    planned: row.get(3)?,
                    runs: counts.remove(&row.get(4)?).unwrap_or_default(),
                })
            })?;
            rows.collect()
        })
    }

    /// The sessions that made the record's runs, in their order.
    pub fn sessions(&self) -> Result<Vec<SessionFacts>, StoreError> {
        self.ask(|connection| {
            let mut statement =
                connection.prepare("select id, program, facts from session_data order by id")?;
            let rows = statement.query_map([], |row| {
                Ok(SessionFacts {
                    session: row.get(0)?,
                    program: row.get(1)?,
                    facts: parse_json(&row.get::<_, String>(2)?)?,
                })
            })?;
            rows.collect()
        })
    }

    /// Where the newest attempts that ended well come from: by cell, session and files, in the order of the repeats.
    pub fn origins(&self) -> Result<Vec<RunOrigin>, StoreError> {
        self.ask(|connection| {
            let mut statement = connection.prepare(
                "select cell, session_id, files, min(repeat), max(repeat)
                 from run_data join cell_data on cell_data.id = cell_id
                 where current and status in ('succeeded', 'gate_failed', 'unknown')
                 group by cell_id, session_id, files order by cell_id, min(repeat)",
            )?;
            let rows = statement.query_map([], |row| {
                let files: Option<String> = row.get(2)?;
                Ok(RunOrigin {
                    cell: parsed(row, 0)?,
                    session: row.get(1)?,
                    files: files.map(|json| parse_json(&json)).transpose()?.unwrap_or_default(),
                    repeats: (row.get(3)?, row.get(4)?),
                })
            })?;
            rows.collect()
        })
    }

    /// The values of a metric by cell, of the newest attempts, by repeat.
    pub fn values(&self, metric: &str) -> Result<BTreeMap<CellId, Vec<RunValue>>, StoreError> {
        self.ask(|connection| {
            let mut statement = connection.prepare(
                "select run, status, detail, started_at, value, unit, scope, origin, replayed
                 from metric_data cross join observation_data on metric_id = metric_data.id
                     cross join run_data on run_data.id = run_id
                 where name = ?1 and counts and current order by cell_id, repeat",
            )?;
            let mut values: BTreeMap<CellId, Vec<RunValue>> = BTreeMap::new();
            let mut rows = statement.query([metric])?;
            while let Some(row) = rows.next()? {
                let run: RunId = parsed(row, 0)?;
                let value = RunValue {
                    repeat: run.repeat,
                    status: status(row, 1, 2)?,
                    started_at: row.get(3)?,
                    value: row.get(4)?,
                    unit: Unit::parse(&row.get::<_, String>(5)?).0,
                    scope: scope(row, 6)?,
                    origin: origin(row, 7)?,
                    replayed: row.get(8)?,
                    run,
                };
                match values.get_mut(&value.run.cell) {
                    Some(list) => list.push(value),
                    None => {
                        values.insert(value.run.cell.clone(), vec![value]);
                    }
                }
            }
            Ok(values)
        })
    }

    /// The metrics that the newest attempts have values of, by name.
    pub fn metrics(&self) -> Result<Vec<MetricSummary>, StoreError> {
        self.ask(|connection| {
            // Few runs are not current, so theirs are counted apart and taken off.
            let mut statement = connection.prepare(
                "select name, unit, total - coalesce(outdated, 0) as runs from metric_data
                     join (select metric_id as a, count(*) as total from observation_data
                           where counts group by metric_id) on a = metric_data.id
                     left join (select metric_id as b, count(*) as outdated
                                from run_data join observation_data on observation_data.id >= first_observation
                                    and observation_data.id < first_observation + observations
                                where not current and counts group by metric_id) on b = metric_data.id
                 where runs > 0 order by name, unit",
            )?;
            let rows = statement.query_map([], |row| {
                let unit = Unit::parse(&row.get::<_, String>(1)?).0;
                Ok(MetricSummary { name: row.get(0)?, unit, runs: row.get(2)? })
            })?;
            rows.collect()
        })
    }

    /// The runs that a filter lets through, in the order they were recorded.
    pub fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        let mut conditions = vec!["1"];
        let mut values: Vec<Box<dyn ToSql>> = Vec::new();
        let mut condition = |text: &'static str, value: Option<String>| {
            if let Some(value) = value {
                conditions.push(text);
                values.push(Box::new(value));
            }
        };
        condition("run = ?", filter.run.as_ref().map(RunId::to_string));
        let cell = filter.cell.as_ref().or(filter.run.as_ref().map(|run| &run.cell));
        condition("cell = ?", cell.map(CellId::to_string));
        condition("workload = ?", filter.workload.clone());
        condition("status = ?", filter.status.clone());
        if filter.current {
            conditions.push("current");
        }
        values.push(Box::new(filter.last.map_or(-1, i64::from)));
        let sql = format!(
            "select run, coalesce(workload, ''), status, detail, started_at, wall_s, user_s, system_s,
                 peak_resident_bytes, peak_group_bytes, stdout_bytes, stderr_bytes, directory, hints, current,
                 planned
             from run_data join cell_data on cell_data.id = cell_id
             where {} order by run_data.id desc limit ?",
            conditions.join(" and ")
        );
        self.ask(|connection| {
            let mut statement = connection.prepare(&sql)?;
            let rows = statement.query_map(rusqlite::params_from_iter(&values), run_row)?;
            let mut runs: Vec<RunRow> = rows.collect::<rusqlite::Result<_>>()?;
            runs.reverse();
            Ok(runs)
        })
    }

    /// All facts found in a run, in order.
    pub fn observations(&self, run: &RunId) -> Result<Vec<Observation>, StoreError> {
        self.ask(|connection| {
            let Some(id) = run_number(connection, run)? else { return Ok(Vec::new()) };
            let mut statement = connection.prepare(
                "select name, value, unit, scope, origin, file, line
                 from run_data join observation_data on observation_data.id >= first_observation
                         and observation_data.id < first_observation + observations
                     join metric_data on metric_data.id = metric_id
                 where run_data.id = ?1 order by observation_data.id",
            )?;
            let rows = statement.query_map([id], |row| {
                let file: Option<String> = row.get(5)?;
                let line: Option<u64> = row.get(6)?;
                let unit = Unit::parse(&row.get::<_, String>(2)?).0;
                Ok(Observation {
                    scope: scope(row, 3)?,
                    source: file.zip(line).map(|(file, line)| Source::new(file, line)),
                    ..Observation::new(&row.get::<_, String>(0)?, row.get(1)?, unit, origin(row, 4)?)
                })
            })?;
            rows.collect()
        })
    }

    /// The output of a run that has no directory of its own.
    pub fn short_output(&self, run: &RunId) -> Result<Option<ShortOutput>, StoreError> {
        self.ask(|connection| {
            let Some(id) = run_number(connection, run)? else { return Ok(None) };
            let mut statement =
                connection.prepare("select stdout, stderr from output_data where run_id = ?1")?;
            let output = |row: &Row<'_>| Ok(ShortOutput { stdout: row.get(0)?, stderr: row.get(1)? });
            statement.query_row([id], output).optional()
        })
    }

    /// All series of a run.
    pub fn series(&self, run: &RunId) -> Result<Vec<Series>, StoreError> {
        self.ask(|connection| {
            let Some(id) = run_number(connection, run)? else { return Ok(Vec::new()) };
            let mut statement = connection.prepare(
                "select name, unit, numbers, seen
                 from series_data join metric_data on metric_data.id = metric_id
                 where run_id = ?1 order by series_data.id",
            )?;
            let rows = statement.query_map([id], |row| {
                Ok(Series {
                    metric: row.get(0)?,
                    unit: Unit::parse(&row.get::<_, String>(1)?).0,
                    values: parse_json(&row.get::<_, String>(2)?)?,
                    seen: row.get(3)?,
                    ..Series::default()
                })
            })?;
            rows.collect()
        })
    }

    /// The ways in which newest attempts failed or timed out, the most frequent first. What does not fit is one way a cell:
    /// its words say how much memory was free, which differs from run to run.
    pub fn failures(&self) -> Result<Vec<FailureReason>, StoreError> {
        self.ask(|connection| {
            let mut statement = connection.prepare(
                "select reason, failed.runs, run, hints from (
                     select count(*) as runs, max(id) as last from run_data
                     where reason is not null and current
                     group by case status when 'does_not_fit' then cell_id else reason end) as failed
                 join run_data on run_data.id = failed.last order by failed.runs desc, reason",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(FailureReason {
                    reason: row.get(0)?,
                    runs: row.get(1)?,
                    example: parsed(row, 2)?,
                    hints: hints(row, 3)?,
                })
            })?;
            rows.collect()
        })
    }

    /// What was noticed about newest attempts that succeeded, each kind of doubt once, the most frequent first.
    pub fn doubts(&self) -> Result<Vec<RunDoubt>, StoreError> {
        let rows = self.ask(|connection| {
            let mut statement = connection.prepare(
                "select run, hints from run_data
                 where status = 'succeeded' and current and hints is not null order by id",
            )?;
            let rows = statement.query_map([], |row| Ok((parsed::<RunId>(row, 0)?, hints(row, 1)?)))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        let kind = |text: &str| text.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>();
        let mut found: Vec<(String, RunDoubt)> = Vec::new();
        for (run, hints) in rows {
            for text in hints {
                let kind = kind(&text);
                match found.iter_mut().find(|(known, _)| *known == kind) {
                    Some((_, doubt)) => doubt.runs += 1,
                    None => found.push((kind, RunDoubt { text, runs: 1, example: run.clone() })),
                }
            }
        }
        let mut doubts: Vec<RunDoubt> = found.into_iter().map(|(_, doubt)| doubt).collect();
        doubts.sort_by_key(|doubt| std::cmp::Reverse(doubt.runs));
        Ok(doubts)
    }
}
