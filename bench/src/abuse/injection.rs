//! Text that would be a command, a formula, markup or a terminal sequence in the place where it comes out.

use std::fs;

use anyhow::ensure;

use super::attack::{AttackScene, Ended};
use super::trial::AbuseGroup;
use crate::place::Place;

/// Directory names that a shell would take for something else.
const DIRECTORIES: &[&str] =
    &["$(touch pwned)", "`touch pwned`", "sp ace", "it's", "a;touch pwned", "a\"b", "*", "-n", "a\nb", "é €"];

/// What of a stranger's text must not reach a terminal: escape sequences in 7 and 8 bits, bells, and characters that
/// turn the direction of text.
const TERMINAL: &[char] = &['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}', '\u{2066}', '\u{8}', '\u{90}'];

/// A text that is dangerous everywhere.
const HOSTILE: &str =
    "=1+1|x\u{1b}[31mred\u{7}\u{202e}abc\u{9b}2J<script>alert(1)</script>\\input{/etc/passwd}`id`";

pub fn inject(place: &Place) -> anyhow::Result<AbuseGroup> {
    let mut group = AbuseGroup::new("injection");
    for name in DIRECTORIES {
        group.attempt(&format!("a record under {name:?}"), paths(place, name));
    }
    for name in ["A B;touch pwned", "A\nB", "A=B", "", "1A", "A$(touch pwned)"] {
        group.attempt(&format!("a variable named {name:?}"), variable(place, name));
    }
    settings(place, &mut group)?;
    group.attempt("a path that is not UTF-8", not_utf8(place));
    group.attempt("a hostile log", terminal_of_log(place));
    group.attempt("hostile file names", file_names(place));
    outputs(place, &mut group)?;
    Ok(group)
}

fn paths(place: &Place, name: &str) -> anyhow::Result<()> {
    let scene = AttackScene::new(place)?;
    scene.file(
        &format!("{name}/campaign.toml"),
        "name = \"quoted\"\n[workload]\ncommand = '''cd {run_directory} && pwd > \"{run_directory}/where\"; \
         test \"$(cat '{run_directory}/where')\" = {run_directory}; test -f {campaign_directory}/campaign.toml && \
         echo `echo ok {run_directory}` && cat <<EOF\n{run_directory}\nEOF\necho metric=1'''\n",
    )?;
    let inside = AttackScene::at(place, &scene.path(name));
    inside.assay(&["run", "campaign.toml"])?.expect(&[0])?;
    for directory in [&scene, &inside] {
        ensure!(!directory.path("pwned").exists(), "the path was executed");
    }
    let found = fs::read_dir(inside.path("records/quoted/runs"))?.flatten().next();
    let place = found.map(|cell| cell.path().join("r1/where")).unwrap_or_default();
    ensure!(place.exists(), "the command saw another path");
    Ok(())
}

fn variable(place: &Place, name: &str) -> anyhow::Result<()> {
    let scene = AttackScene::new(place)?;
    let quoted = serde_json::to_string(name)?;
    scene.file(
        "campaign.toml",
        format!("name = \"v\"\n[workload]\ncommand = \"echo metric=1\"\n[workload.environment]\n{quoted} = \"x\"\n"),
    )?;
    scene.assay(&["run", "campaign.toml"])?.expect(&[2])?;
    ensure!(!scene.path("pwned").exists(), "the name was executed");
    Ok(())
}

/// Hostile values in every placeholder that quotes.
fn settings(place: &Place, group: &mut AbuseGroup) -> anyhow::Result<()> {
    let values = [
        "$(touch pwned)",
        "`touch pwned`",
        "a; touch pwned",
        "it's",
        "a\"; touch pwned; \"",
        "a\ntouch pwned\n",
        "EOF\ntouch pwned",
    ];
    let commands = [
        "printf '%s' {x:q} > out",
        "printf '%s' \"{x:q}\" > out",
        "printf '%s' '{x:q}' > out",
        "printf '%s' \"$(printf '%s' {x:q})\" > out",
        "# {x:q}\nprintf '%s' {x:q} > out",
    ];
    for value in values {
        for (number, command) in commands.iter().enumerate() {
            let scene = AttackScene::new(place)?;
            let text = format!(
                "name = \"s\"\n[workload]\ncommand = {}\n[workload.environment]\nPLAIN = \"{{x}}\"\n[fixed]\nx = {}\n",
                serde_json::to_string(&format!("{command}; echo metric=1"))?,
                serde_json::to_string(value)?
            );
            scene.file("campaign.toml", text)?;
            let outcome = || -> anyhow::Result<()> {
                scene.assay(&["run", "campaign.toml"])?.expect(&[0])?;
                ensure!(!scene.path("pwned").exists(), "the value was executed");
                let out = fs::read_to_string(scene.path("out"))?;
                // A substitution takes line breaks off the end.
                ensure!(out == value || (number == 3 && out == value.trim_end()), "it came out as {out:?}");
                Ok(())
            };
            group.attempt(&format!("{value:?} in `{command}`"), outcome());
        }
    }
    Ok(())
}

fn not_utf8(place: &Place) -> anyhow::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let scene = AttackScene::new(place)?;
    scene.file("campaign.toml", "name = \"n\"\n[workload]\ncommand = \"echo metric=1\"\n")?;
    let mut command = scene.command(&["run", "campaign.toml", "--record"]);
    command.arg(std::ffi::OsStr::from_bytes(b"rec\xff"));
    scene.attack(&mut command)?.expect(&[2])?;
    Ok(())
}

/// Fails if something dangerous for terminals comes out.
fn is_clean(ended: &Ended) -> anyhow::Result<()> {
    let found = ended.all().chars().find(|letter| TERMINAL.contains(letter));
    ensure!(found.is_none(), "{found:?} reaches the terminal");
    Ok(())
}

fn terminal_of_log(place: &Place) -> anyhow::Result<()> {
    let scene = AttackScene::new(place)?;
    let log = format!("{HOSTILE}\nError: {HOSTILE}\nthroughput_{HOSTILE}: 12.5 samples/s\nloss: 2.5\n");
    scene.file("a.log", &log)?;
    scene.file(
        "a.md",
        format!(
            "# {HOSTILE}\n\n| {HOSTILE} | ms |\n|---|---|\n| {HOSTILE} | 3 |\n\n{HOSTILE} is 2x faster.\n"
        ),
    )?;
    scene.file("a.csv", format!("\"{HOSTILE}\",ms\n\"{HOSTILE}\",3\n"))?;
    for arguments in [
        &["read", "a.log"][..],
        &["read", "a.log", "--full"],
        &["read", "a.md", "--full"],
        &["read", "a.csv", "--full"],
        &["audit", "a.log"],
        &["audit", "a.md"],
        &["audit", "a.csv"],
    ] {
        is_clean(&scene.assay(arguments)?).map_err(|error| error.context(arguments.join(" ")))?;
    }
    Ok(())
}

fn file_names(place: &Place) -> anyhow::Result<()> {
    let scene = AttackScene::new(place)?;
    let name = "d/\u{1b}[31m\u{202e}x\u{7}.log";
    scene.file(name, "loss: 2.5\n")?;
    scene.file("d/\u{9b}2J.csv", "a,b\n1,2\n")?;
    std::os::unix::fs::symlink("/nowhere", scene.path("d/\u{1b}]0;title\u{7}"))?;
    for arguments in [
        &["read", "d"][..],
        &["audit", "d"],
        &["read", name],
        &["read", "d/\u{1b}gone"],
        &["run", "\u{1b}[31m.toml"],
        &["show", "\u{1b}[31m"],
        &["list", "d"],
    ] {
        is_clean(&scene.assay(arguments)?).map_err(|error| error.context(arguments.join(" ")))?;
    }
    Ok(())
}

/// A hostile text as question, setting, metric, output and reason of failure, through every way out.
fn outputs(place: &Place, group: &mut AbuseGroup) -> anyhow::Result<()> {
    let scene = AttackScene::new(place)?;
    let text = serde_json::to_string(HOSTILE)?;
    let plain = serde_json::to_string("@SUM(A1)")?;
    scene.file("hostile.txt", format!("Error: {HOSTILE}\n"))?;
    scene.file(
        "campaign.toml",
        format!(
            "name = \"out\"\nquestion = {text}\n[workload]\ncommand = 'echo metric=1; cat hostile.txt >&2; exit {{code}}'\n\
             labels = [\"note\", \"sum\"]\n[vary]\nnote = [{text}, \"b\"]\nsum = [{plain}]\ncode = [0, 3]\n[repeats]\nat_least = 2\n"
        ),
    )?;
    group.attempt(
        "a run with hostile texts",
        scene.assay(&["run", "campaign.toml"]).and_then(|ended| {
            ended.expect(&[0, 3])?;
            is_clean(&ended)
        }),
    );
    for arguments in [
        &["show", "records/out"][..],
        &["show", "records/out", "--runs"],
        &["show", "records/out", "--all"],
        &["list", "records"],
        &["query", "runs", "records/out"],
        &["query", "select * from run", "records/out"],
        &["audit", "records/out"],
        &["plan", "campaign.toml"],
    ] {
        let outcome = scene.assay(arguments).and_then(|ended| is_clean(&ended));
        group.attempt(&arguments.join(" "), outcome);
    }
    group.attempt("cells of a CSV export", csv(&scene));
    group.attempt("a report in HTML", markup(&scene, "report.html", "<script>alert(1)"));
    group.attempt("a report in Markdown", markup(&scene, "report.md", "<script>alert(1)"));
    group.attempt("a report in LaTeX", markup(&scene, "report.tex", "\\input{"));
    Ok(())
}

/// No cell begins with what a spreadsheet takes for a formula, and no control character is in one.
fn csv(scene: &AttackScene<'_>) -> anyhow::Result<()> {
    let table = scene.assay(&["query", "runs", "records/out", "--csv"])?;
    table.expect(&[0])?;
    is_clean(&table)?;
    scene.assay(&[
        "query",
        "select note, sum, '=1+1' as a, '+2' as b, '-cmd' as c, '@x' as d from runs",
        "records/out",
        "-o",
        "cells.csv",
    ])?;
    scene.assay(&["show", "records/out", "-o", "table.csv"])?;
    for file in ["cells.csv", "table.csv"] {
        let Ok(text) = fs::read_to_string(scene.path(file)) else { continue };
        let found = text.chars().find(|letter| TERMINAL.contains(letter));
        ensure!(found.is_none(), "{found:?} is in {file}");
        for cell in text.lines().flat_map(|line| line.split(',')) {
            let inner = cell.trim_start_matches('"');
            let formula = inner.starts_with(['=', '+', '-', '@']) && inner.parse::<f64>().is_err();
            ensure!(!formula, "a cell of {file} is a formula: {cell}");
        }
    }
    Ok(())
}

fn markup(scene: &AttackScene<'_>, file: &str, live: &str) -> anyhow::Result<()> {
    let ended = scene.assay(&["show", "records/out", "-o", file])?;
    if ended.code == Some(2) && ended.messages.contains("hint: ") {
        // A format that is not offered cannot hold anything.
        return Ok(());
    }
    ended.expect(&[0])?;
    let text = fs::read_to_string(scene.path(file))?;
    // A backslash in front takes its meaning away in Markdown, and so does a block of code.
    let text = if file.ends_with(".md") { outside_code(&text).replace("\\<", "") } else { text };
    ensure!(!text.contains(live), "`{live}` is live in it");
    let found = text.chars().find(|letter| TERMINAL.contains(letter));
    ensure!(found.is_none(), "{found:?} is in it");
    Ok(())
}

/// Markdown without its fenced blocks. A fence ends a block that began with one at most as long.
fn outside_code(text: &str) -> String {
    let mut fence = 0;
    let mut kept = String::new();
    for line in text.lines() {
        let ticks = line.trim_start().chars().take_while(|letter| *letter == '`').count();
        match fence {
            0 if ticks >= 3 => fence = ticks,
            0 => kept.extend([line, "\n"]),
            open if ticks >= open && line.trim().len() == ticks => fence = 0,
            _ => {}
        }
    }
    kept
}
