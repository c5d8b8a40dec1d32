//! Files that multiply, hide or never end: links, pipes, devices, archives that swell, encodings and odd tables.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::attack::AttackScene;
use super::trial::AbuseGroup;
use crate::place::Place;

pub fn read(place: &Place, quick: bool) -> anyhow::Result<AbuseGroup> {
    let mut group = AbuseGroup::new("hostile files");
    group.attempt("a zoo of links", links(place));
    tables(place, &mut group)?;
    group.attempt("a file that vanishes", vanishing(place));
    group.attempt("pipes in a directory", pipes(place));
    for device in ["/dev/zero", "/dev/urandom", "/dev/full"] {
        let scene = AttackScene::new(place)?;
        group.attempt(device, scene.assay(&["read", device]).and_then(|ended| ended.expect(&[2]).map(drop)));
    }
    group.attempt("an archive that swells", bomb(place, if quick { 64 } else { 1024 }));
    group.attempt("one line without end", long_line(place, if quick { 64 } else { 1024 }));
    nested(place, &mut group)?;
    group.attempt("pipes in the place of a record's files", record_pipes(place));
    Ok(group)
}

/// What `read --json` says: one document a line, or one value.
fn documents(text: &str) -> anyhow::Result<Vec<Value>> {
    let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(text).into_iter().collect();
    values.context("not JSON")
}

fn links(place: &Place) -> anyhow::Result<()> {
    let scene = AttackScene::new(place)?;
    scene.file("zoo/a.log", "Accuracy on test set: 97.13%\n")?;
    scene.file("zoo/deep/er/b.txt", "nothing here\n")?;
    for (target, name) in [
        (".", "here"),
        (".", "there"),
        ("..", "deep/up"),
        ("../..", "deep/er/up"),
        ("a.log", "b.log"),
        ("b.log", "c.log"),
        ("loop1", "loop2"),
        ("loop2", "loop1"),
        ("/nowhere", "broken.log"),
        ("deep", "shallow"),
    ] {
        symlink(target, scene.path("zoo").join(name))?;
    }
    fs::hard_link(scene.path("zoo/a.log"), scene.path("zoo/hard.log"))?;
    symlink(scene.path("zoo"), scene.path("zoo/deep/absolute"))?;
    let ended = scene.assay(&["read", "zoo", "zoo/here", "zoo/a.log", "--json"])?;
    ended.expect(&[0])?;
    let count = ended.out.matches("97.13").count().max(ended.out.matches("0.9713").count());
    let files = documents(&ended.out)?.len();
    ensure!(count >= 1, "the log was not read: {}", ended.messages);
    let with_runs = ended.out.matches("\"accuracy\"").count();
    ensure!(with_runs == 1, "the run is there {with_runs} times in {files} values");
    Ok(())
}

fn tables(place: &Place, group: &mut AbuseGroup) -> anyhow::Result<()> {
    let rows = |separator: &str| {
        (0..10_000)
            .map(|row| format!("<tr><td>{row}</td><td>{}.5</td></tr>{separator}", row))
            .collect::<String>()
    };
    let page = format!(
        "<html><body><table><tr><th>batch</th><th>latency ms</th></tr>{}</table></body></html>",
        rows("")
    );
    let long = "x".repeat(70_000);
    let wide = format!("model,note,tokens/s\na,{long},100.5\nb,n,101.5\nc,n,102.5\n");
    let utf16 = |text: &str| -> Vec<u8> {
        [0xfeff_u16].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let small = "model,batch,tokens/s\na,8,1250.25\nb,16,2500.25\n";
    let cases: [(&str, &str, Vec<u8>, &[&str]); 7] = [
        ("an HTML table on one line", "a.html", page.into_bytes(), &["9999.5", "5000.5"]),
        ("a CSV cell of 70 kB", "b.csv", wide.into_bytes(), &["100.5", "101.5", "102.5"]),
        ("NaN in JSON", "c.json", br#"[{"model":"a","tokens_per_s":12.25,"loss":NaN},{"model":"b","tokens_per_s":13.25,"loss":-Infinity}]"#.to_vec(), &["12.25", "13.25"]),
        ("UTF-16", "d.csv", utf16(small), &["1250.25", "2500.25"]),
        ("UTF-16, the other way round", "e.csv", utf16(small).chunks(2).flat_map(|pair| pair.iter().rev().copied().collect::<Vec<_>>()).collect(), &["1250.25", "2500.25"]),
        ("gzip", "f.csv.gz", gzip(small.as_bytes())?, &["1250.25", "2500.25"]),
        ("gzip of UTF-16", "g.csv.gz", gzip(&utf16(small))?, &["1250.25", "2500.25"]),
    ];
    for (what, name, bytes, values) in cases {
        let scene = AttackScene::new(place)?;
        scene.file(name, bytes)?;
        let outcome = || -> anyhow::Result<()> {
            let ended = scene.assay(&["read", name, "--json"])?;
            ended.expect(&[0])?;
            for value in values {
                ensure!(ended.out.contains(value), "{value} was not read: {}", ended.messages.trim());
            }
            Ok(())
        };
        group.attempt(what, outcome());
    }
    Ok(())
}

fn gzip(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// Files of a directory come and go while it is read.
fn vanishing(place: &Place) -> anyhow::Result<()> {
    let scene = AttackScene::new(place)?;
    for number in 0..200 {
        scene.file(&format!("d/{number}.log"), "loss: 2.5\n")?;
    }
    let mut command = scene.command(&["read", "d", "--json"]);
    let directory = scene.path("d");
    let remover = std::thread::spawn(move || {
        for number in (0..200).rev() {
            let _ = fs::remove_file(directory.join(format!("{number}.log")));
            std::thread::sleep(std::time::Duration::from_micros(100));
        }
    });
    let ended = scene.attack(&mut command);
    let _ = remover.join();
    // Where all were gone before the directory was listed, there was nothing to read.
    ended?.expect(&[0, 2])?;
    Ok(())
}

fn pipes(place: &Place) -> anyhow::Result<()> {
    let scene = AttackScene::new(place)?;
    scene.file("d/a.log", "loss: 2.5\n")?;
    scene.fifo(&scene.path("d/b.log"))?;
    symlink("/dev/zero", scene.path("d/c.log"))?;
    let _socket = std::os::unix::net::UnixListener::bind(scene.path("d/s.log"))?;
    scene.assay(&["read", "d"])?.expect(&[0])?;
    scene.assay(&["audit", "d"])?.expect(&[0, 4])?;
    Ok(())
}

/// An archive of a few kilobytes that holds a thousand times as much.
fn bomb(place: &Place, megabytes: usize) -> anyhow::Result<()> {
    let scene = AttackScene::new(place)?;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let piece = "loss: 2.5 step 3\n".repeat(60_000);
    for _ in 0..megabytes {
        encoder.write_all(piece.as_bytes())?;
    }
    scene.file("bomb.log.gz", encoder.finish()?)?;
    scene.assay(&["read", "bomb.log.gz"])?.expect(&[0])?;
    Ok(())
}

fn long_line(place: &Place, megabytes: usize) -> anyhow::Result<()> {
    let scene = AttackScene::new(place)?;
    let mut file = fs::File::create(scene.path("long.log"))?;
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..megabytes {
        file.write_all(&piece)?;
    }
    drop(file);
    scene.assay(&["read", "long.log"])?.expect(&[0])?;
    scene.assay(&["audit", "long.log"])?.expect(&[0])?;
    fs::remove_file(scene.path("long.log"))?;
    Ok(())
}

/// Brackets in brackets, a hundred thousand deep.
fn nested(place: &Place, group: &mut AbuseGroup) -> anyhow::Result<()> {
    const DEPTH: usize = 100_000;
    let scene = AttackScene::new(place)?;
    let between = |open: &str, close: &str| format!("{}1{}", open.repeat(DEPTH), close.repeat(DEPTH));
    let cases = [
        ("a.json", between("[", "]")),
        ("b.json", between("{\"a\":", "}")),
        ("c.html", between("<table><tr><td>", "</td></tr></table>")),
        ("d.html", between("<div>", "</div>")),
        ("e.tex", between("\\begin{tabular}{l}", "\\end{tabular}")),
        ("f.tex", between("{", "}")),
        ("g.md", between("> ", "")),
        ("h.md", between("[", "](x)")),
        ("i.md", between("*", "*")),
        ("j.ipynb", format!("{{\"cells\":{}}}", between("[", "]"))),
        ("k.toml", format!("a = {}", between("[", "]"))),
        ("l.csv", between("\"\"\"", "\"")),
        ("m.rst", between("+-", "-+")),
        ("n.md", format!("x = {}", between("(", ")"))),
        ("o.md", format!("It is {}", between("(", ""))),
        ("p.rst", (0..2000).map(|depth| format!("{}.. note::\n", " ".repeat(depth))).collect()),
        ("q.md", format!("It takes 5 s{} each.\n", "/s".repeat(1000))),
        (
            "r.html",
            format!(
                "<table><tr>{}</tr></table>",
                "<td colspan=1000000000 rowspan=1000000000>1</td>".repeat(20)
            ),
        ),
        (
            "s.tex",
            format!(
                "\\begin{{tabular}}{{*{{1000000000}}{{c}}}}\n{}\\end{{tabular}}",
                "\\multicolumn{1000000000}{c}{1} & \\multirow{1000000000}{*}{3} \\\\\n".repeat(20)
            ),
        ),
        (
            "t.log",
            format!(
                "loss: {}\nloss: 1e999999999\nepoch 99999999999999999999/1\n999999-99-99 99:99:99 loss 3\n",
                "9".repeat(DEPTH)
            ),
        ),
    ];
    for (name, text) in cases {
        scene.file(name, text)?;
        for verb in ["read", "audit"] {
            let outcome = scene.assay(&[verb, name]).and_then(|ended| ended.expect(&[0, 2, 4]).map(drop));
            group.attempt(&format!("{verb} of {DEPTH} levels in {name}"), outcome);
        }
    }
    Ok(())
}

/// A record of a stranger in which a pipe waits for its reader.
fn record_pipes(place: &Place) -> anyhow::Result<()> {
    for name in ["journal.jsonl", "lock", "index.sqlite", "index.check", "index.lock"] {
        let scene = AttackScene::new(place)?;
        scene.file("campaign.toml", "name = \"p\"\n[workload]\ncommand = \"echo metric=1\"\n")?;
        scene.assay(&["run", "campaign.toml"])?.expect(&[0])?;
        scene.assay(&["show", "records/p"])?.expect(&[0])?;
        let path = scene.path("records/p").join(name);
        fs::remove_file(&path)?;
        scene.fifo(&path)?;
        for arguments in [
            &["show", "records/p"][..],
            &["list", "records"],
            &["query", "runs", "records/p"],
            &["audit", "records/p"],
            &["run", "campaign.toml"],
            &["scrub", "records/p"],
            &["rm", "--yes", "records/p"],
        ] {
            scene
                .assay(arguments)
                .with_context(|| format!("{} with a pipe as {name}", arguments.join(" ")))?;
        }
    }
    Ok(())
}
