//! Journal entries into tables.

use std::collections::{BTreeMap, HashMap};

use assay_model::run::Replayed;
use assay_model::{
    CellId, Entry, Machine, Observation, Origin, Phase, PlannedCell, RunId, RunResult, Scope, Series, Status,
    Unit, Value,
};
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, OptionalExtension, Statement, params};

use crate::chosen::chosen;
use crate::layout::relative_run_directory;
use crate::recovery::{DamageReport, RunKnown};

/// Takes entries into the index. Runs are written when they finish, so that most take one insert; those still open
/// are written at the end.
pub(super) struct Filler<'c> {
    connection: &'c Connection,
    put_meta: Statement<'c>,
    put_cell: Statement<'c>,
    get_cell: Statement<'c>,
    newest_attempt: Statement<'c>,
    status_of: Statement<'c>,
    put_run: Statement<'c>,
    finish_run: Statement<'c>,
    put_metric: Statement<'c>,
    get_metric: Statement<'c>,
    put_observation: Statement<'c>,
    put_series: Statement<'c>,
    put_phase: Statement<'c>,
    put_output: Statement<'c>,
    cells: HashMap<CellId, i64>,
    metrics: HashMap<String, Vec<(Unit, i64)>>,
    launched: BTreeMap<RunId, Launch>,
    next_observation: i64,
    /// The session that the entries are of; none before the first.
    session: Option<i64>,
}

#[derive(Default)]
struct Launch {
    at: Option<f64>,
    directory: Option<String>,
}

impl<'c> Filler<'c> {
    pub(super) fn new(connection: &'c Connection) -> rusqlite::Result<Filler<'c>> {
        Ok(Filler {
            connection,
            put_meta: connection.prepare("insert or replace into meta (key, value) values (?1, ?2)")?,
            put_cell: connection.prepare(
                "insert into cell_data (cell, point, platform, planned, settings)
                 values (?1, ?2, ?3, 0, '{}') returning id",
            )?,
            get_cell: connection.prepare("select id from cell_data where cell = ?1")?,
            newest_attempt: connection
                .prepare("select max(attempt) from run_data where cell_id = ?1 and repeat = ?2")?,
            status_of: connection
                .prepare("select status from run_data where cell_id = ?1 and repeat = ?2 and attempt = ?3")?,
            put_run: connection.prepare(
                "insert into run_data (cell_id, repeat, attempt, run, status, started_at, directory, current)
                 values (?1, ?2, ?3, ?4, 'open', nullif(?5, 0), coalesce(?6, ?7), ?8)
                 on conflict (cell_id, repeat, attempt) do update set
                     started_at = coalesce(nullif(?5, 0), started_at), directory = coalesce(?6, directory)
                 where status = 'open'",
            )?,
            finish_run: connection.prepare(
                "insert into run_data (cell_id, repeat, attempt, run, status, detail, reason, started_at,
                     wall_s, user_s, system_s, peak_resident_bytes, peak_group_bytes, stdout_bytes, stderr_bytes,
                     directory, hints, current, first_observation, observations, replayed, session_id, files)
                 values (?1, ?2, ?3, ?4, ?5, ?6, ?7, nullif(?8, 0), ?9, ?10, ?11, ?12, ?13, ?14, ?15,
                     coalesce(?16, ?17), ?18, ?19, ?20, ?21, ?22, ?23, ?24)
                 on conflict (cell_id, repeat, attempt) do update set
                     status = ?5, detail = ?6, reason = ?7, started_at = nullif(?8, 0), wall_s = ?9, user_s = ?10,
                     system_s = ?11, peak_resident_bytes = ?12, peak_group_bytes = ?13, stdout_bytes = ?14,
                     stderr_bytes = ?15, directory = coalesce(?16, directory), hints = ?18,
                     first_observation = ?20, observations = ?21, replayed = ?22, session_id = ?23, files = ?24
                 where status = 'open' returning id",
            )?,
            put_metric: connection
                .prepare("insert into metric_data (name, unit) values (?1, ?2) returning id")?,
            get_metric: connection.prepare("select id from metric_data where name = ?1 and unit = ?2")?,
            put_observation: connection.prepare(
                "insert into observation_data values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?,
            put_series: connection.prepare(
                "insert into series_data (run_id, metric_id, seen, numbers) values (?1, ?2, ?3, ?4)",
            )?,
            put_phase: connection.prepare(
                "insert into phase_data (run_id, name, start_s, end_s, seconds, known_by, file, line)
                 values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?,
            put_output: connection.prepare("insert into output_data values (?1, ?2, ?3)")?,
            cells: HashMap::new(),
            metrics: HashMap::new(),
            launched: BTreeMap::new(),
            next_observation: connection.query_row(
                "select coalesce(max(id), 0) + 1 from observation_data",
                [],
                |row| row.get(0),
            )?,
            session: connection.query_row("select max(id) from session_data", [], |row| row.get(0))?,
        })
    }

    /// Takes in the next entry.
    pub(super) fn take(&mut self, entry: &Entry) -> rusqlite::Result<()> {
        match entry {
            Entry::Record { schema, name, at, .. } => self.record(*schema, name, *at),
            Entry::Session { at, machine, environment, program, .. } => {
                self.count("sessions")?;
                self.meta("last_session", *at)?;
                self.meta("machine", json(machine)?)?;
                self.session(*at, program, machine, environment)
            }
            Entry::Plan { plan, add, drop } => {
                self.meta("plan", json(plan)?)?;
                self.plan(add, drop)
            }
            Entry::Launching { run, at, directory } => {
                let launch = Launch { at: Some(*at), directory: Some(directory.clone()) };
                self.launched.insert(run.clone(), launch);
                Ok(())
            }
            Entry::Started { run, .. } => {
                if !self.launched.contains_key(run) {
                    self.launched.insert(run.clone(), Launch::default());
                }
                Ok(())
            }
            Entry::Finished { run, result } => self.finish(run, result),
            Entry::Submitting { .. }
            | Entry::Submitted { .. }
            | Entry::AcceptedDamage { .. }
            | Entry::Scrubbed { .. } => Ok(()),
        }
    }

    /// What the index knows of a run. An index that cannot answer is replaced later, so that is no reason to stop.
    pub(super) fn known(&mut self, run: &RunId) -> RunKnown {
        let Ok(cell) = self.cell(&run.cell) else { return RunKnown::Finished };
        let status: rusqlite::Result<Option<String>> =
            self.status_of.query_row(params![cell, run.repeat, run.attempt], |row| row.get(0)).optional();
        match status.as_ref().map(|status| status.as_deref()) {
            Ok(None) => match self.newest_attempt.query_row(params![cell, run.repeat], |row| row.get(0)) {
                Ok(Some::<u32>(newest)) if newest > run.attempt => RunKnown::Open,
                _ => RunKnown::No,
            },
            Ok(Some("open")) => RunKnown::Open,
            Ok(Some(_)) | Err(_) => RunKnown::Finished,
        }
    }

    /// Keeps what is wrong with the journal.
    pub(super) fn damage(&mut self, report: &DamageReport) -> rusqlite::Result<()> {
        let text = json(report)?;
        self.meta("damage", text)
    }

    /// Writes what is still open.
    pub(super) fn end(mut self) -> rusqlite::Result<()> {
        self.write_open_runs()
    }

    /// Writes the runs that have no result so far.
    pub(super) fn write_open_runs(&mut self) -> rusqlite::Result<()> {
        for (run, launch) in std::mem::take(&mut self.launched) {
            let cell = self.cell(&run.cell)?;
            let current = self.make_current(cell, &run)?;
            self.put_run.execute(params![
                cell,
                run.repeat,
                run.attempt,
                run.to_string(),
                launch.at,
                launch.directory,
                relative_run_directory(&run),
                current
            ])?;
        }
        Ok(())
    }

    /// Adds one to a counter.
    pub(super) fn count(&mut self, key: &str) -> rusqlite::Result<()> {
        self.connection.execute(
            "insert into meta (key, value) values (?1, 1) on conflict (key) do update set value = value + 1",
            [key],
        )?;
        Ok(())
    }

    fn meta(&mut self, key: &str, value: impl rusqlite::ToSql) -> rusqlite::Result<()> {
        self.put_meta.execute(params![key, value]).map(drop)
    }

    fn record(&mut self, schema: u32, name: &str, at: f64) -> rusqlite::Result<()> {
        self.meta("schema", schema)?;
        let mut first = self.connection.prepare("insert or ignore into meta (key, value) values (?1, ?2)")?;
        first.execute(params!["name", name])?;
        first.execute(params!["created", at])?;
        Ok(())
    }

    /// Takes in who made the runs that follow, with the facts about it: those of the environment that have a dot in
    /// their name, which no variable has, and what says which machine it was.
    fn session(
        &mut self,
        at: f64,
        program: &str,
        machine: &Machine,
        environment: &BTreeMap<String, String>,
    ) -> rusqlite::Result<()> {
        let of_environment = environment.iter().map(|(name, value)| (name.as_str(), Some(value)));
        let of_machine = [
            ("machine.host", Some(&machine.host)),
            ("machine.cpu", machine.cpu.as_ref()),
            ("machine.kernel", machine.kernel.as_ref()),
        ];
        let facts: BTreeMap<&str, &String> = of_environment
            .filter(|(name, _)| name.contains('.'))
            .chain(of_machine)
            .filter_map(|(name, value)| Some((name, value?)))
            .collect();
        self.connection.execute(
            "insert into session_data (at, program, facts) values (?1, ?2, ?3)",
            params![at, program, json(&facts)?],
        )?;
        self.session = Some(self.connection.last_insert_rowid());
        Ok(())
    }

    fn plan(&mut self, add: &[PlannedCell], drop: &[CellId]) -> rusqlite::Result<()> {
        let mut describe = self
            .connection
            .prepare("update cell_data set workload = ?2, planned = 1, settings = ?3 where id = ?1")?;
        let mut clear = self.connection.prepare("delete from setting_data where cell_id = ?1")?;
        let mut put = self.connection.prepare("insert into setting_data values (?1, ?2, ?3, ?4)")?;
        for planned in add {
            let cell = self.cell(&planned.cell)?;
            describe.execute(params![cell, planned.workload, json(&planned.settings)?])?;
            clear.execute([cell])?;
            for (name, value) in &planned.settings {
                put.execute(params![cell, name, value.kind(), sql_value(value)])?;
            }
        }
        let mut forget = self.connection.prepare("update cell_data set planned = 0 where cell = ?1")?;
        for cell in drop {
            forget.execute([cell.to_string()])?;
        }
        Ok(())
    }

    fn finish(&mut self, run: &RunId, result: &RunResult) -> rusqlite::Result<()> {
        let cell = self.cell(&run.cell)?;
        let launch = self.launched.remove(run).unwrap_or_default();
        let current = self.make_current(cell, run)?;
        let status = &result.status;
        let plain =
            matches!(status, Status::Succeeded | Status::Interrupted | Status::Truncated | Status::Unknown);
        let bad = !plain || *status == Status::Truncated;
        let usage = result.usage.as_ref();
        let hints = result.all_hints();
        let id: Option<i64> = self
            .finish_run
            .query_row(
                params![
                    cell,
                    run.repeat,
                    run.attempt,
                    run.to_string(),
                    status.word(),
                    if plain { None } else { Some(json(status)?) },
                    bad.then(|| status.to_string()),
                    result.started_at,
                    usage.map(|usage| usage.wall_s),
                    usage.map(|usage| usage.user_s),
                    usage.map(|usage| usage.system_s),
                    usage.map(|usage| whole(usage.peak_resident_bytes)),
                    usage.and_then(|usage| usage.peak_group_bytes).map(whole),
                    whole(result.stdout_bytes),
                    whole(result.stderr_bytes),
                    launch.directory,
                    relative_run_directory(run),
                    if hints.is_empty() { None } else { Some(json(&hints)?) },
                    current,
                    self.next_observation,
                    result.observations.len() as i64,
                    result.replayed.as_ref().map(Replayed::caveat),
                    self.session,
                    if result.files.is_empty() { None } else { Some(json(&result.files)?) },
                ],
                |row| row.get(0),
            )
            .optional()?;
        match id {
            None => self.count("repeated_results"),
            Some(id) => {
                if let Some(output) = &result.output {
                    self.put_output.execute(params![id, output.stdout, output.stderr])?;
                }
                self.observations(id, &result.observations)?;
                result.phases.iter().try_for_each(|phase| self.phase(id, phase))?;
                result.series.iter().try_for_each(|series| self.series(id, series))
            }
        }
    }

    fn observations(&mut self, run: i64, observations: &[Observation]) -> rusqlite::Result<()> {
        let standing = chosen(observations);
        for (position, observation) in observations.iter().enumerate() {
            let metric = self.metric(&observation.metric, &observation.unit)?;
            let source = observation.source.as_ref();
            self.put_observation.execute(params![
                self.next_observation,
                run,
                metric,
                observation.value,
                observation.scope.map(scope_word),
                origin_word(observation.origin),
                source.map(|source| source.file.as_str()),
                source.map(|source| whole(source.line)),
                standing.binary_search(&position).is_ok(),
            ])?;
            self.next_observation += 1;
        }
        Ok(())
    }

    fn phase(&mut self, run: i64, phase: &Phase) -> rusqlite::Result<()> {
        let source = &phase.source;
        self.put_phase
            .execute(params![
                run,
                phase.name,
                phase.start_s,
                phase.end_s,
                phase.seconds,
                phase.known_by.word(),
                source.file,
                whole(source.line)
            ])
            .map(drop)
    }

    fn series(&mut self, run: i64, series: &Series) -> rusqlite::Result<()> {
        let metric = self.metric(&series.metric, &series.unit)?;
        self.put_series.execute(params![run, metric, whole(series.seen), json(&series.values)?]).map(drop)
    }

    /// Whether a run is the newest attempt at its repeat; those before it no longer are.
    fn make_current(&mut self, cell: i64, run: &RunId) -> rusqlite::Result<bool> {
        let newest: Option<u32> =
            self.newest_attempt.query_row(params![cell, run.repeat], |row| row.get(0))?;
        if newest.is_some_and(|newest| newest < run.attempt) {
            self.connection.execute(
                "update run_data set current = 0 where cell_id = ?1 and repeat = ?2",
                params![cell, run.repeat],
            )?;
        }
        Ok(newest.is_none_or(|newest| newest <= run.attempt))
    }

    fn cell(&mut self, cell: &CellId) -> rusqlite::Result<i64> {
        if let Some(id) = self.cells.get(cell) {
            return Ok(*id);
        }
        let name = cell.to_string();
        let id = match self.get_cell.query_row([&name], |row| row.get(0)).optional()? {
            Some(id) => id,
            None => self.put_cell.query_row(params![name, cell.point.0, cell.platform], |row| row.get(0))?,
        };
        self.cells.insert(cell.clone(), id);
        Ok(id)
    }

    fn metric(&mut self, name: &str, unit: &Unit) -> rusqlite::Result<i64> {
        let known = self.metrics.get(name).and_then(|units| units.iter().find(|(known, _)| known == unit));
        if let Some((_, id)) = known {
            return Ok(*id);
        }
        let key = [name, &unit.to_string()];
        let id = match self.get_metric.query_row(key, |row| row.get(0)).optional()? {
            Some(id) => id,
            None => self.put_metric.query_row(key, |row| row.get(0))?,
        };
        self.metrics.entry(name.to_owned()).or_default().push((unit.clone(), id));
        Ok(id)
    }
}

fn json<T: serde::Serialize + ?Sized>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

/// SQLite's integers are signed; what does not fit is as large as can be.
fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn sql_value(value: &Value) -> SqlValue {
    match value {
        Value::Integer(number) => SqlValue::Integer(*number),
        Value::Float(number) => SqlValue::Real(*number),
        Value::Text(text) => SqlValue::Text(text.clone()),
        Value::Switch(state) => SqlValue::Text(state.to_string()),
    }
}

fn scope_word(scope: Scope) -> &'static str {
    match scope {
        Scope::Instant => "instant",
        Scope::Loop => "loop",
        Scope::Fit => "fit",
        Scope::Job => "job",
    }
}

fn origin_word(origin: Origin) -> &'static str {
    match origin {
        Origin::Measured => "measured",
        Origin::Reported => "reported",
        Origin::Derived => "derived",
        Origin::Prediction => "prediction",
    }
}
