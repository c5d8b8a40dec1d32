use std::fs;
use std::io::Write;

use assay_model::{Entry, Origin, Scope, Status, Unit, Value};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::layout::{INDEX, INDEX_LOCK, JOURNAL};
use crate::sample::*;
use crate::{Record, StatusCounts};

fn record_of(entries: &[Entry]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    append_all(directory.path(), &[&[record()], entries].concat());
    directory
}

fn index(directory: &TempDir) -> Index {
    Record::open(directory.path()).unwrap().index().unwrap()
}

/// All that people can see in an index, apart from how it was made.
fn visible(index: &Index) -> Vec<SqlRows> {
    let tables = [
        "select * from run order by run",
        "select * from observation order by run, metric, value",
        "select * from series order by run, metric, step",
        "select * from cell order by cell",
        "select * from setting order by cell, name",
        "select * from meta order by key",
    ];
    tables.iter().map(|sql| index.query(sql).unwrap()).collect()
}

fn usual() -> Vec<Entry> {
    let (lone, redone, again) = (run(1, 1, 1), run(2, 1, 1), run(2, 1, 2));
    vec![
        session(5.0),
        plan(&[1, 2, 3], &[]),
        launching(&lone),
        started(&lone),
        finished(&lone, Status::Succeeded, 8.0),
        launching(&redone),
        finished(&redone, exit(3), 4.0),
        launching(&again),
        finished(&again, Status::TimedOut { after_s: 2.5 }, 5.0),
        launching(&run(2, 2, 1)),
        plan(&[], &[3]),
    ]
}

#[test]
fn typed_questions_are_answered() {
    let directory = record_of(&usual());
    let index = index(&directory);

    let cells = index.cells().unwrap();
    let shown: Vec<_> = cells.iter().map(|cell| (cell.planned, cell.runs.total())).collect();
    assert_eq!(shown, [(true, 1), (true, 2), (false, 0)]);
    assert_eq!(cells[0].cell, cell(1));
    assert_eq!(cells[0].settings["fused"], Value::Switch(false));
    assert_eq!(cells[1].runs, StatusCounts { timed_out: 1, open: 1, ..StatusCounts::default() });

    let values = index.values("rate.train").unwrap();
    let value = &values[&cell(2)][0];
    assert_eq!((value.run.clone(), value.value, value.origin), (run(2, 1, 2), 5.0, Origin::Reported));
    assert_eq!((value.scope, value.unit.clone()), (Some(Scope::Loop), Unit::PerSecond("samples".into())));
    assert_eq!(value.status, Some(Status::TimedOut { after_s: 2.5 }));
    assert!(index.values("nothing").unwrap().is_empty());

    let metrics: Vec<_> =
        index.metrics().unwrap().into_iter().map(|metric| (metric.name, metric.runs)).collect();
    assert_eq!(metrics, [("duration.wall".to_owned(), 2), ("rate.train".to_owned(), 2)]);

    let Entry::Finished { result, .. } = finished(&run(1, 1, 1), Status::Succeeded, 8.0) else { panic!() };
    assert_eq!(index.observations(&run(1, 1, 1)).unwrap(), result.observations);
    assert_eq!(index.series(&run(1, 1, 1)).unwrap(), result.series);
    assert!(index.series(&run(9, 1, 1)).unwrap().is_empty());

    let summary = index.summary().unwrap();
    assert_eq!((summary.name.as_str(), summary.sessions, summary.last_session), ("nightly", 1, Some(5.0)));
    assert_eq!(summary.plan.unwrap().seed, u64::MAX);
    assert_eq!(summary.machine.unwrap().cpus, Some(2));
}

#[test]
fn runs_are_filtered() {
    let directory = record_of(&usual());
    let index = index(&directory);
    let names = |filter: RunFilter| -> Vec<String> {
        index.runs(&filter).unwrap().iter().map(|row| row.run.leaf()).collect()
    };
    assert_eq!(names(RunFilter::default()), ["r1", "r1", "r1.2", "r2"]);
    assert_eq!(names(RunFilter { current: true, ..RunFilter::default() }), ["r1", "r1.2", "r2"]);
    assert_eq!(names(RunFilter { last: Some(1), ..RunFilter::default() }), ["r2"]);
    assert_eq!(names(RunFilter { status: Some("open".into()), ..RunFilter::default() }), ["r2"]);
    assert_eq!(names(RunFilter { cell: Some(cell(1)), ..RunFilter::default() }), ["r1"]);
    assert_eq!(names(RunFilter { workload: Some("chat".into()), ..RunFilter::default() }), [""; 0]);
    let one = index.runs(&RunFilter { run: Some(run(2, 1, 1)), ..RunFilter::default() }).unwrap();
    assert_eq!(one[0].status, Some(exit(3)));
    assert_eq!(one[0].usage.as_ref().unwrap().wall_s.to_bits(), (0.1_f64 + 0.2).to_bits());
    assert_eq!(one[0].hints, ["look at \"this\""]);
    assert!(!one[0].current && one[0].planned);
}

#[test]
fn failures_are_grouped() {
    let mut entries = usual();
    for repeat in 1..4 {
        entries.push(finished(&run(3, repeat, 1), exit(9), 1.0));
    }
    let failures = index(&record_of(&entries)).failures().unwrap();
    let shown: Vec<_> = failures.iter().map(|failure| (failure.reason.as_str(), failure.runs)).collect();
    assert_eq!(shown, [("failed: exit code 9", 3), ("timed out after 2.5 s", 1)]);
    assert_eq!(failures[0].example, run(3, 3, 1));
}

#[test]
fn what_does_not_fit_is_told_once_a_cell_whatever_was_free() {
    let unfit = |free: &str| Status::DoesNotFit { reason: format!("needs 9 GB, and {free} are free") };
    let entries =
        [record(), finished(&run(1, 1, 1), unfit("4 GB"), 1.0), finished(&run(1, 2, 1), unfit("3 GB"), 1.0)];
    let failures = index(&record_of(&entries)).failures().unwrap();
    assert_eq!(failures.iter().map(|failure| failure.runs).collect::<Vec<_>>(), [2]);
    assert!(failures[0].reason.contains("3 GB"), "the last one: {}", failures[0].reason);
}

#[test]
fn an_index_is_used_again_until_the_journal_grows_or_changes() {
    let directory = record_of(&usual());
    let path = directory.path().join(INDEX);
    let before = visible(&index(&directory));
    let inode = || std::os::unix::fs::MetadataExt::ino(&fs::metadata(&path).unwrap());
    let (first, bytes) = (inode(), fs::read(&path).unwrap());
    assert_eq!(visible(&index(&directory)), before);
    assert_eq!(fs::read(&path).unwrap(), bytes, "a fresh index is not written");

    append_all(directory.path(), &[finished(&run(2, 2, 1), Status::Succeeded, 6.0)]);
    assert_eq!(index(&directory).values("rate.train").unwrap()[&cell(2)].len(), 2);
    assert_eq!(inode(), first, "extended, not made again");

    fs::remove_file(directory.path().join(JOURNAL)).unwrap();
    append_all(directory.path(), &[record(), finished(&run(7, 1, 1), Status::Succeeded, 6.0)]);
    assert_eq!(index(&directory).cells().unwrap().len(), 1);
    assert_ne!(inode(), first, "another journal, another index");
}

#[test]
fn a_torn_tail_adds_nothing_until_it_is_marked() {
    let directory = record_of(&usual());
    let before = visible(&index(&directory));
    let bytes = fs::read(directory.path().join(INDEX)).unwrap();
    let mut journal = fs::OpenOptions::new().append(true).open(directory.path().join(JOURNAL)).unwrap();
    journal.write_all(b"0123 torn").unwrap();
    assert_eq!(visible(&index(&directory)), before);
    assert_eq!(fs::read(directory.path().join(INDEX)).unwrap(), bytes);
    journal.write_all(b"#torn\n").unwrap();
    append_all(directory.path(), &[session(6.0)]);
    assert_eq!(index(&directory).summary().unwrap().sessions, 2);
}

#[test]
fn deleted_broken_and_half_written_indexes_are_made_again() {
    let directory = record_of(&usual());
    let path = directory.path().join(INDEX);
    let good = visible(&index(&directory));
    let bytes = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(visible(&index(&directory)), good);
    let zeros = vec![0; bytes.len()];
    for broken in [&b""[..], b"not a database", &bytes[..100], &bytes[..bytes.len() / 2], &zeros] {
        fs::write(&path, broken).unwrap();
        assert_eq!(visible(&index(&directory)), good, "{} bytes", broken.len());
    }
    // Pages that are wrong one by one: whichever question meets them, it is answered.
    for page in 0..bytes.len() / 4096 {
        let mut broken = bytes.clone();
        broken[page * 4096 + 8..(page + 1) * 4096].fill(0xa5);
        fs::write(&path, &broken).unwrap();
        assert_eq!(visible(&index(&directory)), good, "page {page}");
    }
    // A rollback file of some other index must not be applied to this one.
    fs::write(&path, b"broken").unwrap();
    fs::write(directory.path().join("index.sqlite-journal"), &bytes[..2000]).unwrap();
    assert_eq!(visible(&index(&directory)), good);
}

#[test]
fn an_index_of_another_version_is_made_again() {
    let directory = record_of(&usual());
    let good = visible(&index(&directory));
    let connection = Connection::open(directory.path().join(INDEX)).unwrap();
    connection.execute("update meta set value = 99 where key = 'index_version'", []).unwrap();
    assert_eq!(visible(&index(&directory)), good);
}

#[test]
fn while_another_process_has_the_index_a_temporary_one_answers() {
    let directory = record_of(&usual());
    let lock = fs::File::create(directory.path().join(INDEX_LOCK)).unwrap();
    lock.lock().unwrap();
    let index = index(&directory);
    assert_eq!(index.cells().unwrap().len(), 3);
    assert!(!directory.path().join(INDEX).exists());
    assert!(index.query("create table t (a)").is_err());
}

#[test]
fn queries_read_and_never_write() {
    let directory = record_of(&usual());
    let index = index(&directory);
    let answer =
        index.query("select run, value from observation where counts and metric = 'rate.train'").unwrap();
    assert_eq!(answer.columns, ["run", "value"]);
    assert_eq!(answer.rows[0][1], Datum::Float(8.0));
    assert_eq!(
        index
            .query("with recursive n(i) as (select 1 union select i + 1 from n where i < 3) select * from n")
            .unwrap()
            .rows
            .len(),
        3
    );
    assert_eq!(
        index.query("select step, value from series limit 1").unwrap().rows,
        [[Datum::Integer(1), Datum::Float(8.0)]]
    );
    for sql in [
        "delete from run_data",
        "update meta set value = 1",
        "create temp table t (a)",
        "attach database 'other.sqlite' as other",
        "pragma journal_mode = wal",
        "pragma query_only = off",
        "vacuum into 'copy.sqlite'",
        "select load_extension('x')",
        "select 1; delete from run_data",
        "begin",
    ] {
        let error = index.query(sql).unwrap_err();
        assert!(matches!(error, StoreError::Query { .. }), "{sql}: {error}");
    }
    let error = index.query("select colour from run").unwrap_err();
    assert_eq!(error.to_string(), "query failed: no such column: colour (at character 8)");
    assert!(error.hint().unwrap().contains("observation(run, metric, value"));
    let error = index.query("select \"colour\" from run").unwrap_err();
    assert!(error.to_string().contains("no such column"), "{error}");
    assert_eq!(index.query(" \n").unwrap_err().to_string(), "query failed: empty query");
    assert!(index.query("-- only a remark").is_err());
    let mut first = None;
    index
        .query_each("select run from run", &mut |row| {
            first = Some(row);
            false
        })
        .unwrap();
    assert!(first.is_some());
}

#[test]
fn the_described_columns_are_those_there_are() {
    let index = index(&record_of(&usual()));
    for view in schema::VIEWS {
        let answer = index.query(&format!("select * from {} limit 0", view.name)).unwrap();
        assert_eq!(answer.columns, view.columns, "{}", view.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// However often an index is extended, it equals one made in one go, and agrees with the fold.
    #[test]
    fn extending_equals_making_again(parts in prop::collection::vec(prop::collection::vec(any_entry(), 0..12), 1..5)) {
        let grown = record_of(&[]);
        for part in &parts {
            append_all(grown.path(), part);
            index(&grown).cells().unwrap();
        }
        let whole = record_of(&parts.concat());
        let (grown_index, whole_index) = (index(&grown), index(&whole));
        prop_assert_eq!(visible(&grown_index), visible(&whole_index));

        let state = Record::open(whole.path()).unwrap().state().unwrap();
        prop_assert_eq!(whole_index.summary().unwrap().runs, state.counts());
        for (cell, values) in whole_index.values("rate.train").unwrap() {
            let folded: Vec<_> = state.values(&cell, "rate.train").iter().map(|(run, value)| (run.repeat, *value)).collect();
            let indexed: Vec<_> = values.iter().map(|value| (value.repeat, value.value)).collect();
            prop_assert_eq!(indexed, folded);
        }
    }
}

#[test]
fn the_wide_view_has_settings_and_metrics_of_every_run() {
    let directory = record_of(&usual());
    let index = index(&directory);
    let sql = "select run, status, \"setting.batch\", \"metric.rate.train\" from runs where \"metric.rate.train\" > 7";
    let rows = index.query(sql).unwrap();
    assert_eq!(rows.columns, ["run", "status", "setting.batch", "metric.rate.train"]);
    let text = |text: &str| Datum::Text(text.to_owned());
    let expected =
        [text("0000000000000001@local/r1"), text("succeeded"), Datum::Integer(8), Datum::Float(8.0)];
    assert_eq!(rows.rows, [expected]);
    assert_eq!(index.query("select * from RUNS").unwrap().rows.len(), 4);
    assert!(index.query("delete from runs").is_err(), "the view leaves the connection read-only");
    assert!(index.query("create temp table t (a)").is_err());
}
