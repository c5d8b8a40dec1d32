use std::path::Path;

use assay_model::{Bound, Entry, Gate, SCHEMA_VERSION, Status};
use proptest::prelude::*;

use super::*;
use crate::StoreError;
use crate::fault::{InjectedFault, SimulatedDisk};
use crate::sample::{any_entry, finished, launching, plan, record, run, session};

fn path() -> &'static Path {
    Path::new("journal.jsonl")
}

fn lines(entries: &[Entry]) -> Vec<u8> {
    let mut all = Vec::new();
    let (mut line, mut last) = (Vec::new(), 0);
    for entry in entries {
        last = encode_after(entry, last, &mut line).unwrap();
        all.extend_from_slice(&line);
    }
    all
}

fn read(bytes: &[u8]) -> (Vec<Entry>, Troubles) {
    let mut reader = JournalReader::new(bytes, path());
    let mut entries = Vec::new();
    while let Some(located) = reader.next_entry().unwrap() {
        entries.push(located.entry);
    }
    (entries, reader.into_troubles())
}

fn writer_after(bytes: &[u8]) -> (SimulatedDisk, Writer<SimulatedDisk>) {
    let mut reader = JournalReader::new(bytes, path());
    let mut entries = 0;
    while reader.next_entry().unwrap().is_some() {
        entries += 1;
    }
    let (last, torn) = (reader.last_checksum(), reader.troubles().torn_tail.is_some());
    let disk = SimulatedDisk::holding(bytes.to_vec());
    let writer = Writer::new(disk.clone(), path(), entries, last, torn);
    (disk, writer)
}

fn few() -> Vec<Entry> {
    let first = run(1, 1, 1);
    vec![record(), session(1.0), launching(&first), finished(&first, Status::Succeeded, 0.1), session(2.0)]
}

#[test]
fn cut_at_every_byte_a_journal_keeps_its_whole_lines_and_can_be_continued() {
    let entries = few();
    let bytes = lines(&entries);
    for cut in 0..=bytes.len() {
        let whole = bytes[..cut].iter().filter(|byte| **byte == b'\n').count();
        let torn = cut > 0 && bytes[cut - 1] != b'\n';
        let (found, troubles) = read(&bytes[..cut]);
        assert_eq!(found, entries[..whole], "cut at {cut}");
        assert_eq!(troubles.torn_tail.is_some(), torn, "cut at {cut}");
        assert!(troubles.damage.is_empty() && troubles.interrupted.is_empty());

        let (disk, mut writer) = writer_after(&bytes[..cut]);
        let added = if whole == 0 { record() } else { session(3.0) };
        writer.commit(&added).unwrap();
        let (found, troubles) = read(&disk.bytes());
        assert_eq!(found, [&entries[..whole], &[added]].concat(), "cut at {cut}");
        assert_eq!(troubles.interrupted.len(), usize::from(torn));
        assert!(troubles.damage.is_empty() && troubles.torn_tail.is_none());
    }
}

#[test]
fn damage_in_the_middle_is_located_and_costs_only_its_own_lines() {
    let entries = few();
    let mut bytes = lines(&entries);
    let starts: Vec<usize> = (0..entries.len()).map(|count| lines(&entries[..count]).len()).collect();
    for byte in &mut bytes[starts[2] + 3..starts[3] + 20] {
        if *byte != b'\n' {
            *byte = 0;
        }
    }
    let (found, troubles) = read(&bytes);
    assert_eq!(found, [&entries[..2], &entries[4..]].concat());
    let (offset, bytes) = (starts[2] as u64, (starts[4] - starts[2]) as u64);
    assert_eq!(troubles.damage, [Damage { line: 3, lines: 2, offset, bytes, flaw: Flaw::Checksum }]);
    assert_eq!((troubles.torn_tail, troubles.interrupted.len()), (None, 0));
}

#[test]
fn whole_lines_that_are_removed_repeated_or_moved_are_noticed() {
    let entries = few();
    let whole = lines(&entries);
    let pieces: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let found_in = |order: &[usize]| {
        let bytes: Vec<u8> = order.iter().flat_map(|line| pieces[*line].iter().copied()).collect();
        let (found, troubles) = read(&bytes);
        assert_eq!(found.len(), order.len(), "every line counts");
        let places: Vec<(u64, u64)> = troubles.damage.iter().map(|found| (found.line, found.lines)).collect();
        assert!(troubles.damage.iter().all(|found| found.flaw == Flaw::OutOfOrder));
        places
    };
    assert_eq!(found_in(&[0, 1, 2, 3, 4]), []);
    assert_eq!(found_in(&[0, 2, 3, 4]), [(2, 0)]);
    assert_eq!(found_in(&[0, 1, 4]), [(3, 0)]);
    assert_eq!(found_in(&[0, 1, 2, 2, 3, 4]), [(4, 0)]);
    assert_eq!(found_in(&[0, 2, 1, 3, 4]), [(2, 0), (3, 0), (4, 0)]);
    // What is cut off at the end looks like a program that ended earlier.
    assert_eq!(found_in(&[0, 1, 2]), []);
}

#[test]
fn a_journal_of_an_older_schema_is_continued_with_lines_that_name_each_other() {
    let mut old = Vec::new();
    let mut line = Vec::new();
    for entry in &few() {
        encode(entry, &mut line).unwrap();
        old.extend_from_slice(&line);
    }
    let (disk, mut writer) = writer_after(&old);
    writer.commit(&session(3.0)).unwrap();
    writer.commit(&session(4.0)).unwrap();
    let (found, troubles) = read(&disk.bytes());
    assert_eq!((found.len(), troubles), (few().len() + 2, Troubles::default()));
    let without_last_old: Vec<u8> = disk
        .bytes()
        .split_inclusive(|byte| *byte == b'\n')
        .enumerate()
        .filter(|(number, _)| *number != few().len() - 1)
        .flat_map(|(_, line)| line.to_vec())
        .collect();
    assert_eq!(read(&without_last_old).1.damage.len(), 1);
}

#[test]
fn a_damaged_head_does_not_cost_the_lines_after_it() {
    let entries = few();
    let mut bytes = lines(&entries);
    bytes[20] ^= 1;
    let (found, troubles) = read(&bytes);
    assert_eq!(found, entries[1..]);
    assert_eq!(troubles.damage.len(), 1);
}

#[test]
fn a_journal_that_starts_otherwise_is_refused() {
    let bytes = checked_line(&serde_json::to_string(&session(1.0)).unwrap());
    let error = JournalReader::new(bytes.as_slice(), path()).next_entry().unwrap_err();
    assert!(matches!(error, StoreError::NotAJournal { .. }), "{error}");
}

#[test]
fn a_head_that_was_cut_off_does_not_cost_the_lines_after_it() {
    let entries = few();
    let whole = lines(&entries);
    let head = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let (found, troubles) = read(&whole[head..]);
    assert_eq!(found, entries[1..]);
    assert_eq!(troubles.damage.len(), 1);
}

fn checked_line(json: &str) -> Vec<u8> {
    format!("{:08x} {json}\n", crc32fast::hash(json.as_bytes())).into_bytes()
}

#[test]
fn a_newer_schema_is_refused_even_if_its_record_line_looks_different() {
    let next = SCHEMA_VERSION + 1;
    for json in [
        format!(r#"{{"record":{{"schema":{next},"name":"n","at":0.0,"program":"9"}}}}"#),
        r#"{"record":{"schema":77,"title":{"en":"n"}}}"#.to_owned(),
    ] {
        let error = JournalReader::new(checked_line(&json).as_slice(), path()).next_entry().unwrap_err();
        assert!(matches!(error, StoreError::Newer { found, .. } if [next, 77].contains(&found)), "{error}");
        assert!(error.hint().unwrap().contains("update assay"));
    }
}

#[test]
fn an_older_schema_opens_and_unknown_fields_are_ignored() {
    let json = r#"{"record":{"schema":0,"name":"old","at":1.0,"program":"0.0.9","mood":"good"}}"#;
    let unknown = r#"{"weather":{"at":1.0}}"#;
    let bytes = [checked_line(json), checked_line(unknown), lines(&[session(1.0)])].concat();
    let (found, troubles) = read(&bytes);
    assert!(matches!(&found[..], [Entry::Record { schema: 0, .. }, Entry::Session { .. }]));
    assert!(matches!(&troubles.damage[..], [Damage { line: 2, flaw: Flaw::NotAnEntry(_), .. }]));
    const { assert!(SCHEMA_VERSION > 0) };
}

#[test]
fn short_and_interrupted_writes_are_continued() {
    let (disk, mut writer) = writer_after(&[]);
    for fault in [
        InjectedFault::Short(1),
        InjectedFault::Interrupted,
        InjectedFault::Short(40),
        InjectedFault::Interrupted,
    ] {
        disk.inject(fault);
    }
    writer.append(&record()).unwrap();
    assert_eq!(disk.bytes(), lines(&[record()]));
}

#[test]
fn a_full_disk_loses_only_the_entry_it_refused() {
    for room in [0, 1, 30, 60] {
        let (disk, mut writer) = writer_after(&lines(&[record()]));
        disk.inject(InjectedFault::Full(room));
        let error = writer.append(&session(1.0)).unwrap_err();
        assert!(matches!(error, StoreError::Write { entries: 1, .. }), "{error}");
        assert!(error.hint().unwrap().starts_with("free some space"));
        assert_eq!(read(&disk.bytes()).0, [record()]);
        writer.append(&session(1.5)).unwrap_err();
        disk.free_space();
        writer.commit(&session(2.0)).unwrap();
        let (found, troubles) = read(&disk.bytes());
        assert_eq!(found, [record(), session(2.0)], "room for {room}");
        assert_eq!((troubles.damage.len(), troubles.interrupted.len()), (0, usize::from(room > 0)));
    }
}

#[test]
fn a_mark_cut_short_is_marked_again() {
    let (disk, mut writer) = writer_after(&lines(&[record()]));
    disk.inject(InjectedFault::Full(20));
    writer.append(&session(1.0)).unwrap_err();
    for _ in 0..3 {
        disk.free_space();
        disk.inject(InjectedFault::Full(3));
        writer.append(&session(1.0)).unwrap_err();
    }
    disk.free_space();
    writer.append(&session(2.0)).unwrap();
    assert_eq!(read(&disk.bytes()).0, [record(), session(2.0)]);
}

#[test]
fn nothing_is_acknowledged_after_a_failed_sync() {
    let (disk, mut writer) = writer_after(&lines(&[record()]));
    writer.commit(&session(1.0)).unwrap();
    disk.inject(InjectedFault::SyncFails);
    let error = writer.commit(&session(2.0)).unwrap_err();
    assert!(matches!(error, StoreError::Sync { entries: 2, .. }), "{error}");
    for _ in 0..2 {
        assert!(matches!(writer.commit(&session(3.0)), Err(StoreError::Distrusted { .. })));
        assert!(matches!(writer.append(&session(3.0)), Err(StoreError::Distrusted { .. })));
    }
}

#[test]
fn numbers_that_json_cannot_hold_are_refused_by_name() {
    let (disk, mut writer) = writer_after(&lines(&[record()]));
    let error = writer.append(&finished(&run(1, 2, 1), Status::Succeeded, f64::NAN)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "observation `rate.train` of run 0000000000000001@local/r2 is not a finite number: the entry is not recorded"
    );
    assert!(writer.append(&session(f64::INFINITY)).is_err());
    let mut gated = plan(&[1], &[]);
    let Entry::Plan { plan, .. } = &mut gated else { panic!() };
    let bound = Bound::Range { min: None, max: Some(f64::INFINITY) };
    plan.gates.push(Gate { metric: "loss".into(), bound, points: None });
    assert!(writer.append(&gated).unwrap_err().to_string().starts_with("the gate on `loss` is not"));
    assert_eq!(disk.bytes(), lines(&[record()]));
}

#[derive(Debug, Clone)]
enum Step {
    Append(Entry),
    Commit(Entry),
    InjectedFault(InjectedFault),
    /// Power goes, or only the process dies.
    Crash {
        power: bool,
        seed: u64,
    },
}

fn any_step() -> impl Strategy<Value = Step> {
    let any_fault = prop_oneof![
        (1..600_usize).prop_map(InjectedFault::Short),
        Just(InjectedFault::Interrupted),
        (0..600_usize).prop_map(InjectedFault::Full),
        Just(InjectedFault::Broken),
        Just(InjectedFault::SyncFails),
    ];
    prop_oneof![
        6 => any_entry().prop_map(Step::Append),
        6 => any_entry().prop_map(Step::Commit),
        2 => any_fault.prop_map(Step::InjectedFault),
        3 => (any::<bool>(), any::<u64>()).prop_map(|(power, seed)| Step::Crash { power, seed }),
    ]
}

/// Finds each of the wanted entries in the found ones, in order.
fn is_subsequence(wanted: &[Entry], found: &[Entry]) -> bool {
    let mut rest = found.iter();
    wanted.iter().all(|entry| rest.any(|other| other == entry))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Through any sequence of writes, faults and crashes: what was acknowledged is there exactly once and in order,
    /// and nothing is there that was not written.
    #[test]
    fn recovery_keeps_every_acknowledged_entry_exactly_once(steps in prop::collection::vec(any_step(), 1..60)) {
        let (mut disk, mut writer) = writer_after(&[]);
        writer.commit(&record()).unwrap();
        // What must survive a loss of power, and what was tried at all.
        let mut durable = vec![record()];
        let mut written = durable.clone();
        let mut attempted = durable.clone();
        for (number, step) in (0..).zip(steps) {
            // Each entry differs, so that exactly once can be checked.
            let distinct = |entry: Entry| match entry {
                Entry::Launching { run, directory, .. } => Entry::Launching { run, at: f64::from(number), directory },
                other => other,
            };
            match step {
                Step::Append(entry) => {
                    let entry = distinct(entry);
                    attempted.push(entry.clone());
                    if writer.append(&entry).is_ok() {
                        written.push(entry);
                    }
                }
                Step::Commit(entry) => {
                    let entry = distinct(entry);
                    attempted.push(entry.clone());
                    if writer.commit(&entry).is_ok() {
                        written.push(entry);
                        durable.clone_from(&written);
                    }
                }
                Step::InjectedFault(fault) => disk.inject(fault),
                Step::Crash { power, seed } => {
                    let bytes = if power { disk.crash(seed) } else { disk.bytes() };
                    let (found, troubles) = read(&bytes);
                    let kept = if power { &durable } else { &written };
                    prop_assert!(is_subsequence(kept, &found));
                    prop_assert!(is_subsequence(&found, &attempted));
                    if !power {
                        prop_assert!(troubles.damage.is_empty() || bytes.contains(&0));
                    }
                    (disk, writer) = writer_after(&bytes);
                    (durable, written) = (found.clone(), found.clone());
                    attempted = found;
                }
            }
        }
        let (found, _) = read(&disk.bytes());
        prop_assert!(is_subsequence(&written, &found));
        prop_assert!(is_subsequence(&found, &attempted));
    }

    /// A stranger's bytes are read without trouble, and lines that check are found among them.
    #[test]
    fn any_bytes_can_be_read(
        before in prop::collection::vec(any::<u8>(), 0..300),
        after in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let bytes = [before.as_slice(), b"\n", &lines(&few()), &after].concat();
        let (found, troubles) = read(&bytes);
        prop_assert_eq!(found, few());
        let skipped: u64 = troubles.damage.iter().chain(&troubles.interrupted).chain(&troubles.torn_tail)
            .map(|damage| damage.bytes).sum();
        prop_assert_eq!(skipped as usize, before.len() + 1 + after.len());
    }
}
