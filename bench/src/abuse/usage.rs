//! Wrong use ends with exit code 2 and a hint, and a query can neither change anything nor run on.

use std::time::Duration;

use anyhow::ensure;
use rustix::process::{Pid, Signal, kill_process};

use super::attack::AttackScene;
use super::trial::AbuseGroup;
use crate::place::Place;

const CAMPAIGN: &str = "name = \"small\"\n[workload]\ncommand = \"echo metric=1\"\n[repeats]\nat_least = 3\n";

pub fn misuse(place: &Place) -> anyhow::Result<AbuseGroup> {
    let mut group = AbuseGroup::new("wrong use");
    campaigns(place, &mut group)?;
    queries(place, &mut group)?;
    Ok(group)
}

/// Campaigns that `plan` and `run` refuse.
fn campaigns(place: &Place, group: &mut AbuseGroup) -> anyhow::Result<()> {
    let long = "n".repeat(300);
    let pattern = |regex: &str| {
        format!(
            "{CAMPAIGN}[read]\nheadline = \"x\"\n[[read.pattern]]\nmetric = \"x\"\nunit = \"s\"\npattern = \"{regex}\"\n"
        )
    };
    let deep = format!("{CAMPAIGN}[fixed]\nx = {}1{}\n", "[".repeat(50_000), "]".repeat(50_000));
    let cases = [
        ("a name of 300 characters", CAMPAIGN.replace("small", &long)),
        ("a regex that is too large", pattern("(?<value>[0-9]{1000}{1000}{1000})")),
        ("a NUL in a command", CAMPAIGN.replace("echo metric=1", "echo \\u0000")),
        (
            "a NUL in a setting",
            format!("{CAMPAIGN}[fixed]\nx = \"a\\u0000b\"\n").replace("metric=1", "{x:q}"),
        ),
        ("a NUL in a variable", format!("{CAMPAIGN}[workload.environment]\nX = \"a\\u0000b\"\n")),
        ("lists in lists, 50,000 deep", deep),
        ("a name that is a path", CAMPAIGN.replace("small", "../../outside")),
        ("a name that is two dots", CAMPAIGN.replace("small", "..")),
        (
            "a configuration file outside its run directory",
            format!("{CAMPAIGN}[[workload.config]]\nbase = \"b.json\"\nwrite = \"../../../escaped.json\"\n"),
        ),
        (
            "a configuration file with an absolute path",
            format!("{CAMPAIGN}[[workload.config]]\nbase = \"b.json\"\nwrite = \"/tmp/escaped.json\"\n"),
        ),
        (
            "a configuration file in the place of the script",
            format!("{CAMPAIGN}[[workload.config]]\nbase = \"b.json\"\nwrite = \"./run.sh\"\n"),
        ),
        (
            "a configuration file in the place of the result",
            format!("{CAMPAIGN}[[workload.config]]\nbase = \"b.json\"\nwrite = \"result.jsonl\"\n"),
        ),
    ];
    for (what, text) in cases {
        for verb in ["plan", "run"] {
            let scene = AttackScene::new(place)?;
            scene.file("campaign.toml", &text)?;
            scene.file("b.json", "{}")?;
            let refused = || -> anyhow::Result<()> {
                scene.assay(&[verb, "campaign.toml"])?.expect(&[2])?;
                ensure!(!scene.path("escaped.json").exists(), "it wrote outside its record");
                Ok(())
            };
            group.attempt(&format!("{verb}: {what}"), refused());
        }
    }
    let scene = AttackScene::new(place)?;
    scene.file("campaign.toml", CAMPAIGN)?;
    scene.file("a-file", "x")?;
    let cases: [(&str, &[&str]); 5] = [
        ("a record inside a file", &["run", "campaign.toml", "--record", "a-file/record"]),
        ("a record that is a file", &["run", "campaign.toml", "--record", "a-file"]),
        ("a record with a name of 300 characters", &["run", "campaign.toml", "--record", &long]),
        ("a campaign that is a directory", &["run", "."]),
        ("a campaign that is not there", &["run", "nothing.toml"]),
    ];
    for (what, arguments) in cases {
        group.attempt(what, scene.assay(arguments).and_then(|ended| ended.expect(&[2]).map(drop)));
    }
    Ok(())
}

fn queries(place: &Place, group: &mut AbuseGroup) -> anyhow::Result<()> {
    let scene = AttackScene::new(place)?;
    scene.file("campaign.toml", CAMPAIGN)?;
    scene.assay(&["run", "campaign.toml"])?.expect(&[0])?;
    let journal = std::fs::read(scene.path("records/small/journal.jsonl"))?;
    let endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";
    let refused = [
        "attach database 'stolen.sqlite' as s",
        "vacuum into 'stolen.sqlite'",
        "select load_extension('libm.so.6')",
        "pragma journal_mode = delete",
        "pragma writable_schema = on",
        "delete from run",
        "drop table run",
        "insert into meta values ('a', 1)",
        "create table stolen (a)",
        "update run set status = 'failed'",
        "select 1; delete from run",
        "select zeroblob(2000000000)",
        "select readfile('/etc/passwd')",
        "select writefile('stolen.sqlite', 'x')",
        "select * from pragma_database_list",
        "select fts3_tokenizer('simple')",
        "select edit('x')",
        "begin exclusive",
        "",
    ];
    for sql in refused {
        let outcome = || -> anyhow::Result<()> {
            scene.assay(&["query", sql, "records/small"])?.expect(&[2])?;
            ensure!(!scene.path("stolen.sqlite").exists(), "it wrote a file");
            ensure!(
                std::fs::read(scene.path("records/small/journal.jsonl"))? == journal,
                "it changed the journal"
            );
            Ok(())
        };
        group.attempt(&format!("query: {sql}"), outcome());
    }
    let outcome = scene.assay(&["query", endless, "records/small", "--timeout", "300ms"]);
    group.attempt(
        "a query without end",
        outcome.and_then(|ended| ended.expect(&[2])?.says("time limit").map(drop)),
    );
    let large = "with recursive n(i) as (select 1 union all select i + 1 from n) select i, hex(zeroblob(100000)) from n";
    let outcome = scene.assay(&["query", large, "records/small", "--timeout", "1s", "-o", "rows.csv"]);
    group.attempt("rows without end", outcome.and_then(|ended| ended.expect(&[2]).map(drop)));
    let stuck = "select instr(printf('%.*c', 40000000, 'a'), printf('%.*c', 20000000, 'a') || 'b')";
    let outcome = scene.assay(&["query", stuck, "records/small", "--timeout", "300ms"]);
    group.attempt(
        "a query that never leaves one function",
        outcome.and_then(|ended| ended.expect(&[2])?.says("time limit").map(drop)),
    );
    for file in ["journal.jsonl", "runs/x.jsonl"] {
        let outcome = || -> anyhow::Result<()> {
            let file = format!("records/small/{file}");
            scene.assay(&["query", "runs", "records/small", "-o", &file])?.expect(&[2])?;
            let now = std::fs::read(scene.path("records/small/journal.jsonl"))?;
            ensure!(now == journal, "it changed the journal");
            Ok(())
        };
        group.attempt(&format!("an export over {file}"), outcome());
    }
    scene.file("said.md", "# Results\n\nModel a takes 5 ms.\n")?;
    for verb in ["read", "audit"] {
        let outcome = scene.assay(&[verb, "said.md", "-o", "said.md"]);
        group.attempt(
            &format!("{verb}: output over input"),
            outcome.and_then(|ended| ended.expect(&[2]).map(drop)),
        );
    }
    let outcome = scene.assay(&["query", "runs", "records/small", "-o", "no/such/directory/runs.csv"]);
    group.attempt(
        "an export path that cannot be written",
        outcome.and_then(|ended| ended.expect(&[2]).map(drop)),
    );
    group.attempt("an interrupted query", interrupted(&scene, endless));
    Ok(())
}

/// Interrupts a query that would never end.
fn interrupted(scene: &AttackScene<'_>, sql: &str) -> anyhow::Result<()> {
    let mut child = scene.command(&["query", sql, "records/small"]).spawn()?;
    let pid = Pid::from_child(&child);
    for _ in 0..100 {
        std::thread::sleep(Duration::from_millis(100));
        if child.try_wait()?.is_some() {
            return Ok(());
        }
        kill_process(pid, Signal::INT)?;
    }
    kill_process(pid, Signal::KILL)?;
    child.wait()?;
    anyhow::bail!("it ignores Ctrl-C")
}
