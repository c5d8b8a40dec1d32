//! The tables of the index. What people ask are the views; the tables below them hold each name once and numbers
//! for it everywhere else, which keeps a hundred thousand runs small and quick to write. The observations of a run lie
//! next to each other, so that the run needs only their first number and their count to find them.

/// The version of these tables. An index of any other version is made again.
pub(super) const INDEX_VERSION: i64 = 7;

pub(super) const TABLES: &str = "
create table meta (key text primary key, value) without rowid;
create table cell_data (
    id integer primary key, cell text not null unique, point text not null, platform text not null,
    workload text, planned integer not null, settings text not null);
create table setting_data (
    cell_id integer not null, name text not null, kind text not null, value,
    primary key (cell_id, name)) without rowid;
create table run_data (
    id integer primary key, cell_id integer not null, repeat integer not null, attempt integer not null,
    run text not null, status text not null, detail text, reason text, started_at real,
    wall_s real, user_s real, system_s real, peak_resident_bytes integer, peak_group_bytes integer,
    stdout_bytes integer, stderr_bytes integer, directory text, hints text, replayed text, current integer not null,
    first_observation integer, observations integer, session_id integer, files text,
    unique (cell_id, repeat, attempt));
create table session_data (
    id integer primary key, at real not null, program text not null, facts text not null);
create table metric_data (id integer primary key, name text not null, unit text not null, unique (name, unit));
create table observation_data (
    id integer primary key, run_id integer not null, metric_id integer not null, value real not null,
    scope text, origin text not null, file text, line integer, counts integer not null);
create table series_data (
    id integer primary key, run_id integer not null, metric_id integer not null, seen integer not null,
    numbers text not null);
create index series_of_run on series_data (run_id);
create table phase_data (
    id integer primary key, run_id integer not null, name text not null, start_s real, end_s real, seconds real,
    known_by text not null, file text, line integer);
create table output_data (run_id integer primary key, stdout text not null, stderr text not null);

create view cell as
    select cell, point, platform, workload, planned,
        (select count(*) from run_data where cell_id = cell_data.id and current) as runs
    from cell_data;
create view setting as
    select cell, name, value from setting_data join cell_data on cell_data.id = cell_id;
create view run as
    select run, cell, point, platform, workload, repeat, attempt, status, reason, started_at, wall_s, user_s,
        system_s, peak_resident_bytes, peak_group_bytes, stdout_bytes, stderr_bytes, directory, replayed, current, planned,
        session_id as session, files
    from run_data join cell_data on cell_data.id = cell_id;
create view observation as
    select run, name as metric, value, unit, scope, origin, file, line, counts
    from observation_data join run_data on run_data.id = run_id join metric_data on metric_data.id = metric_id;
create view series as
    select run, name as metric, unit, each.key + 1 as step, each.value as value
    from series_data join run_data on run_data.id = run_id join metric_data on metric_data.id = metric_id
        join json_each(numbers) as each;
create view session as
    select session_data.id as session, at, program, each.key as fact, each.value as value
    from session_data join json_each(facts) as each;
create view phase as
    select run, name, start_s, end_s, seconds, known_by, file, line
    from phase_data join run_data on run_data.id = run_id order by phase_data.id;
create view output as
    select run, stdout, stderr from output_data join run_data on run_data.id = run_id;
";

/// A table that people ask: its name and its columns.
pub(super) struct View {
    /// Its name.
    pub(super) name: &'static str,
    /// Its columns.
    pub(super) columns: &'static [&'static str],
}

/// What people ask, for hints.
pub(super) const VIEWS: [View; 9] = [
    View {
        name: "run",
        columns: &[
            "run",
            "cell",
            "point",
            "platform",
            "workload",
            "repeat",
            "attempt",
            "status",
            "reason",
            "started_at",
            "wall_s",
            "user_s",
            "system_s",
            "peak_resident_bytes",
            "peak_group_bytes",
            "stdout_bytes",
            "stderr_bytes",
            "directory",
            "replayed",
            "current",
            "planned",
            "session",
            "files",
        ],
    },
    View {
        name: "observation",
        columns: &["run", "metric", "value", "unit", "scope", "origin", "file", "line", "counts"],
    },
    View { name: "series", columns: &["run", "metric", "unit", "step", "value"] },
    View {
        name: "phase",
        columns: &["run", "name", "start_s", "end_s", "seconds", "known_by", "file", "line"],
    },
    View { name: "cell", columns: &["cell", "point", "platform", "workload", "planned", "runs"] },
    View { name: "session", columns: &["session", "at", "program", "fact", "value"] },
    View { name: "setting", columns: &["cell", "name", "value"] },
    View { name: "output", columns: &["run", "stdout", "stderr"] },
    View { name: "meta", columns: &["key", "value"] },
];

/// The tables with their columns, for hints.
pub(super) fn described() -> String {
    let wide = "runs(the columns of run, \"setting.NAME\" …, \"metric.NAME\" …)".to_owned();
    let views = VIEWS.iter().map(|view| format!("{}({})", view.name, view.columns.join(", ")));
    let tables: Vec<String> = [wide].into_iter().chain(views).collect();
    tables.join(", ")
}
