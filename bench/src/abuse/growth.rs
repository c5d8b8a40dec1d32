//! Whether the time to read a stranger's bytes grows in step with them: each kind of input is doubled three times, and
//! the median ratio of CPU times is bounded.

use std::time::Duration;

use anyhow::{Context, ensure};

use super::attack::AttackScene;
use super::trial::AbuseGroup;
use crate::figures::table;
use crate::measure::cost_with_output;
use crate::place::Place;

/// Twice is linear; sorting and caches that no longer fit take a little more.
const MOST_RATIO: f64 = 2.6;
const DOUBLINGS: usize = 3;
/// No input is made larger than this, however fast it is read.
const MOST_BYTES: usize = 48 << 20;
/// The largest input may take this many CPU seconds; more is as good as no end.
const MOST_SECONDS: f64 = 60.0;

/// The largest input of a kind that takes less than this shows the noise of the machine and no growth.
const LEAST_SECONDS: f64 = 0.02;

/// A kind of input: its file name, and its text with this many parts.
type Kind = (&'static str, &'static str, fn(usize) -> String);

const KINDS: &[Kind] = &[
    ("carriage returns", "a.log", |parts| "x\r".repeat(parts)),
    ("carriage returns with numbers", "a.log", |parts| {
        rows(parts, |row| format!("step {row} loss 0.{row}\r"))
    }),
    ("empty lines", "a.log", |parts| "\n".repeat(parts)),
    ("log lines", "a.log", |parts| {
        rows(parts, |row| format!("step {row}: loss 2.{row}, throughput 12.{row} samples/s\n"))
    }),
    ("one long line of numbers", "a.log", |parts| rows(parts, |row| format!("{row}.5 ms, "))),
    ("one long line of letters", "a.log", |parts| "x".repeat(parts)),
    ("escape sequences", "a.log", |parts| {
        rows(parts, |row| format!("\x1b[3{}mstep {row}\x1b[0m\n", row % 8))
    }),
    ("runs of one log", "a.log", |parts| {
        rows(parts, |row| {
            format!("Accuracy on test set: 9{}.13%\nTraining finished in {row}.5 s\n", row % 10)
        })
    }),
    ("Markdown rows", "a.md", |parts| {
        format!("| model | ms |\n|---|---|\n{}", rows(parts, |row| format!("| m{row} | {row}.5 |\n")))
    }),
    ("Markdown tables", "a.md", |parts| {
        rows(parts, |row| {
            format!("## Part {row}\n\n| model | ms |\n|---|---|\n| a | {row}.5 |\n| b | 7.5 |\n\n")
        })
    }),
    ("Markdown prose", "a.md", |parts| {
        rows(parts, |row| format!("Model m{row} takes {row}.5 ms, which is 1.5x faster than m0.\n\n"))
    }),
    ("fenced runs", "a.md", |parts| {
        rows(parts, |row| format!("```\nloss: 2.{row}\nthroughput: {row} samples/s\n```\n\n"))
    }),
    ("drawn tables", "a.txt", |parts| {
        format!(
            "+-------+------+\n| model | ms   |\n+-------+------+\n{}+-------+------+\n",
            rows(parts, |row| format!("| m{row} | {row}.5 |\n"))
        )
    }),
    ("many drawn tables", "a.txt", |parts| {
        rows(parts, |row| format!("+---+----+\n| a | ms |\n+---+----+\n| b | {row} |\n+---+----+\n\n"))
    }),
    ("brackets never closed, Markdown", "a.md", |parts| "[a](".repeat(parts)),
    ("asterisks, Markdown", "a.md", |parts| "*a **b ".repeat(parts)),
    ("back-quotes, Markdown", "a.md", |parts| rows(parts, |row| format!("{} ", "`".repeat(row % 60 + 1)))),
    ("HTML rows", "a.html", |parts| {
        format!(
            "<table><tr><th>m</th><th>ms</th></tr>{}</table>",
            rows(parts, |row| format!("<tr><td>{row}</td><td>{row}.5</td></tr>"))
        )
    }),
    ("HTML tables", "a.html", |parts| {
        rows(parts, |row| {
            format!("<table><tr><th>m</th><th>ms</th></tr><tr><td>a</td><td>{row}.5</td></tr></table>\n")
        })
    }),
    ("HTML tags never closed", "a.html", |parts| "<table><tr><td>".repeat(parts)),
    ("HTML comments never closed", "a.html", |parts| "<!-- x ".repeat(parts)),
    ("HTML entities", "a.html", |parts| format!("<p>{}</p>", "&amp;&#955;&nope ".repeat(parts))),
    ("LaTeX rows", "a.tex", |parts| {
        format!(
            "\\begin{{tabular}}{{lr}}\nm & ms \\\\\n{}\\end{{tabular}}\n",
            rows(parts, |row| format!("m{row} & {row}.5 \\\\\n"))
        )
    }),
    ("LaTeX tables", "a.tex", |parts| {
        rows(parts, |row| {
            format!("\\begin{{tabular}}{{lr}}\nm & ms \\\\\na & {row}.5 \\\\\n\\end{{tabular}}\n\n")
        })
    }),
    ("LaTeX begins without end", "a.tex", |parts| "\\begin{tabular}{l} ".repeat(parts)),
    ("LaTeX braces", "a.tex", |parts| "{".repeat(parts)),
    ("CSV rows", "a.csv", |parts| format!("model,ms\n{}", rows(parts, |row| format!("m{row},{row}.5\n")))),
    ("CSV columns", "a.csv", |parts| {
        format!("{}\n{}\n", rows(parts, |row| format!("c{row},")), rows(parts, |row| format!("{row}.5,")))
    }),
    ("CSV quotes never closed", "a.csv", |parts| format!("a,b\n{}", "\"x,".repeat(parts))),
    ("JSON rows", "a.json", |parts| {
        format!("[{}{{}}]", rows(parts, |row| format!("{{\"model\":\"m{row}\",\"ms\":{row}.5}},")))
    }),
    ("JSON lines", "a.jsonl", |parts| rows(parts, |row| format!("{{\"step\":{row},\"loss\":2.{row}}}\n"))),
    ("JSON keys", "a.json", |parts| {
        format!("{{{}\"z\":1}}", rows(parts, |row| format!("\"k{row}\":{row}.5,")))
    }),
    ("JSON brackets", "a.json", |parts| "[{\"a\":".repeat(parts)),
    ("JSON in a log", "a.log", |parts| {
        rows(parts, |row| format!("INFO {{\"step\": {row}, \"loss\": 2.{row}}}\n"))
    }),
    ("notebook cells", "a.ipynb", |parts| {
        format!(
            "{{\"cells\":[{}{{\"cell_type\":\"markdown\",\"source\":[]}}]}}",
            rows(parts, |row| format!(
                "{{\"cell_type\":\"code\",\"source\":[],\"outputs\":[{{\"text\":[\"loss: {row}.5\\n\"]}}]}},"
            ))
        )
    }),
    ("reStructuredText rows", "a.rst", |parts| {
        format!(
            "=====  =====\nbatch  ms\n=====  =====\n{}=====  =====\n",
            rows(parts, |row| format!("{:<5}  {}.5\n", row % 9999, row % 100))
        )
    }),
    ("Markdown tables with a claim each", "a.md", |parts| {
        rows(parts, |row| {
            format!(
                "## Part {row}\n\n| model | ms |\n|---|---|\n| a | {row}.5 |\n| b | 7.5 |\n\nModel b is {}.5x faster than a.\n\n",
                row % 9
            )
        })
    }),
    ("stars between spaces", "a.md", |parts| "* ".repeat(parts)),
    ("stops without spaces", "a.md", |parts| "a.".repeat(parts)),
    ("numbers without spaces", "a.md", |parts| "1,".repeat(parts)),
    ("durations", "a.md", |parts| "1 h 1 min ".repeat(parts)),
    ("brackets in brackets", "a.md", |parts| format!("x = {}", "(".repeat(parts))),
    ("fields of a listing", "a.md", |parts| {
        format!("```\n{}```\n", rows(parts, |row| format!("name{row}: {row}.5 s\n")))
    }),
    ("columns of words", "a.md", |parts| {
        format!("```\n{}```\n", rows(parts, |row| format!("foo{row}  bar\n")))
    }),
    ("aligned tables without lines between", "a.txt", |parts| "name  ms\na  1\nb  2\nx y z\n".repeat(parts)),
    ("columns with short rows, Markdown", "a.md", |parts| {
        format!("|{}\n|{}\n{}", "a|".repeat(parts), "-|".repeat(parts), "|1|\n".repeat(parts / 4))
    }),
    ("CSV columns without a known name", "a.csv", |parts| {
        format!("model,latency ms,foo bar\n{}", rows(parts, |row| format!("m{row},{row}.5,{row}.25\n")))
    }),
    ("HTML scripts", "a.html", |parts| "<script></script>x ".repeat(parts)),
    ("HTML headings in one cell", "a.html", |parts| format!("<table><tr><td>{}", "a<h1>".repeat(parts))),
    ("LaTeX arguments never closed", "a.tex", |parts| "\\label{".repeat(parts)),
    ("LaTeX heads of long tables", "a.tex", |parts| {
        format!("\\begin{{longtable}}{{l}}\n{}\\end{{longtable}}", "a & b \\\\ \\endhead\n".repeat(parts))
    }),
    ("reStructuredText directives", "a.rst", |parts| {
        rows(parts, |row| format!(".. note::\n\n   x takes {row} ms\n\n"))
    }),
    ("notebook strings with other escapes", "a.ipynb", |parts| {
        let cell =
            |row| format!("{{\"cell_type\":\"markdown\",\"source\":[\"caf\\u00e9 takes {row} ms\\n\"]}},");
        format!("{{\"cells\":[{}{{\"cell_type\":\"markdown\",\"source\":[]}}]}}", rows(parts, cell))
    }),
    ("progress bars with equations, one line", "a.log", |parts| {
        rows(parts, |row| format!("\r{row}%|###| {row}/100 [00:0{}<00:00, {row}it/s, loss={row}]", row % 10))
    }),
    ("progress bars", "a.log", |parts| {
        rows(parts, |row| format!("\r {}%|####      | {row}/99999 [00:01<00:02, 12.{row}it/s]", row % 100))
    }),
];

fn rows(parts: usize, row: impl Fn(usize) -> String) -> String {
    (0..parts).map(row).collect()
}

/// Doubles every kind of input for both verbs.
pub fn grow(place: &Place, quick: bool) -> anyhow::Result<AbuseGroup> {
    let mut group = AbuseGroup::new("inputs that grow");
    let least_s = if quick { 0.03 } else { 0.15 };
    let mut lines = Vec::new();
    for (what, name, text) in KINDS {
        let scene = AttackScene::new(place)?;
        for verb in ["read", "audit"] {
            let measured = ratio(&scene, verb, name, *text, least_s);
            if let Ok(found) = &measured {
                lines.push(vec![
                    verb.to_owned(),
                    (*what).to_owned(),
                    format!("{:.2}", found.ratio),
                    format!("{:.2}", found.seconds),
                    (found.bytes >> 10).to_string(),
                ]);
            }
            let outcome = measured.and_then(|found| {
                ensure!(
                    found.ratio <= MOST_RATIO || found.seconds < LEAST_SECONDS,
                    "twice the input takes {:.2} times as long; {} kB take {:.1} s",
                    found.ratio,
                    found.bytes >> 10,
                    found.seconds
                );
                Ok(())
            });
            group.attempt(&format!("{verb}: {what}"), outcome);
        }
        let _ = std::fs::remove_file(scene.path(name));
    }
    lines.sort_by(|a, b| b.get(2).cmp(&a.get(2)));
    lines.truncate(12);
    print_slowest(&lines);
    Ok(group)
}

#[expect(clippy::print_stdout, reason = "a bench prints what it measured")]
fn print_slowest(lines: &[Vec<String>]) {
    println!("inputs that grow fastest, by the median ratio of CPU times when they are doubled\n");
    println!("{}", table(&["verb", "input", "ratio", "CPU s of the largest", "its kB"], lines));
}

struct Growth {
    ratio: f64,
    /// CPU seconds and bytes of the largest input.
    seconds: f64,
    bytes: usize,
}

fn ratio(
    scene: &AttackScene<'_>,
    verb: &str,
    name: &str,
    text: fn(usize) -> String,
    least_s: f64,
) -> anyhow::Result<Growth> {
    let idle_s = seconds(scene, verb, name, "x\n")?;
    let mut parts = 500;
    // Start where the program's own start no longer matters.
    let mut before = loop {
        let text = text(parts);
        let taken = (seconds(scene, verb, name, &text)? - idle_s).max(1e-4);
        if taken >= least_s || text.len() << DOUBLINGS > MOST_BYTES {
            break taken;
        }
        parts *= 2;
    };
    let mut ratios = Vec::new();
    let mut bytes = 0;
    for _ in 0..DOUBLINGS {
        parts *= 2;
        let text = text(parts);
        bytes = text.len();
        let taken = (seconds(scene, verb, name, &text)? - idle_s).max(1e-4);
        ratios.push(taken / before);
        before = taken;
        ensure!(taken <= MOST_SECONDS, "{} kB take {taken:.0} CPU s", bytes >> 10);
    }
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios.get(DOUBLINGS / 2).copied().context("no ratio")?;
    Ok(Growth { ratio, seconds: before, bytes })
}

/// CPU seconds of reading a text. What takes longer than the largest may is ended.
fn seconds(scene: &AttackScene<'_>, verb: &str, name: &str, text: &str) -> anyhow::Result<f64> {
    scene.file(name, text)?;
    let limit = Duration::from_secs_f64(MOST_SECONDS).as_secs().to_string();
    let mut command = std::process::Command::new("prlimit");
    command.arg(format!("--cpu={limit}")).arg(scene.command(&[]).get_program()).args([verb, name]);
    command.current_dir(&scene.directory);
    Ok(cost_with_output(&mut command, &[0, 2, 4])?.cpu_s)
}
