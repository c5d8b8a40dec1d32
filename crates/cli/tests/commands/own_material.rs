//! What this program writes passes its own audit: records, and reports of them in every format.

use std::path::Path;

use crate::bench::Bench;

/// The endings of reports.
const FORMATS: [&str; 5] = ["md", "html", "tex", "csv", "json"];

/// What an audit must not say of a material.
#[derive(Clone, Copy)]
enum Clean {
    /// Nothing at all: the numbers are the same in every run of the test.
    Fully,
    /// No contradiction. Numbers that are measured anew each time may look odd by chance, which is doubtful.
    OfContradictions,
}

/// Findings in which an audit says that something is wrong. Outliers are left out: they are a fact about the machine
/// that the report states too.
fn alarms(place: &Bench, names: &[&str], clean: Clean) -> Vec<String> {
    let arguments: Vec<&str> = ["audit", "--json"].into_iter().chain(names.iter().copied()).collect();
    let output = place.command(&arguments).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let found: Vec<serde_json::Value> =
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_contradicted = found.iter().any(|finding| finding["level"] == "contradicted");
    assert_eq!(output.status.code(), Some(if is_contradicted { 4 } else { 0 }), "{names:?}: {output:?}");
    let levels: &[&str] = match clean {
        Clean::Fully => &["contradicted", "doubtful"],
        Clean::OfContradictions => &["contradicted"],
    };
    let wrong = found.into_iter().filter(|finding| {
        levels.contains(&finding["level"].as_str().unwrap()) && finding["class"] != "outlier"
    });
    wrong
        .map(|finding| format!("{}: {} at {}", finding["level"], finding["summary"], finding["sources"]))
        .collect()
}

/// Runs a campaign, audits its record, and audits every report of it, alone and all together.
fn audits_clean(campaign: &str, more: &[&str]) {
    let text = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../campaigns").join(format!("{campaign}.toml")),
    );
    // Base files of configurations stand beside the campaigns.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../campaigns/seeds/cerebras");
    let text = text.unwrap().replace("\"cerebras/", &format!("\"{}/", folder.display()));
    own_campaign_audits_clean(&text, more, Clean::Fully);
}

fn own_campaign_audits_clean(campaign: &str, more: &[&str], clean: Clean) {
    let place = Bench::new().file("own.toml", campaign);
    let arguments: Vec<&str> = ["run", "own.toml"].into_iter().chain(more.iter().copied()).collect();
    let output = place.command(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let records = std::fs::read_dir(place.path("records")).unwrap().map(|entry| entry.unwrap().file_name());
    let record = format!("records/{}", records.last().unwrap().display());
    assert_eq!(alarms(&place, &[&record], clean), Vec::<String>::new(), "{record}");
    let files: Vec<String> = FORMATS.iter().map(|ending| format!("report.{ending}")).collect();
    for file in &files {
        let output = place.command(&["show", &record, "-o", file]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(alarms(&place, &[file], clean), Vec::<String>::new(), "{record} as {file}");
    }
    let all: Vec<&str> = files.iter().map(String::as_str).chain([record.as_str()]).collect();
    assert_eq!(alarms(&place, &all, clean), Vec::<String>::new(), "{record} with its reports");
}

/// Every replayed run of a campaign has every number of its table, but those that only the engine here measures.
fn has_every_number(campaign: &str) {
    const HERE_ONLY: [(&str, &[&str]); 4] = [
        ("sambanova-tasks", &["samples", "duration.loop"]),
        ("graphcore-epochs", &["loss.test", "samples_per_s.loop", "epoch_s"]),
        ("graphcore-batch", &["loss.test", "samples_per_s.loop", "epoch_s"]),
        ("cerebras-llama-batch", &["duration.wall", "tokens_per_s"]),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../campaigns/seeds");
    let file = folder.join(format!("{campaign}.toml"));
    let text = std::fs::read_to_string(&file).unwrap();
    let columns = text.lines().find_map(|line| line.strip_prefix("columns = [")).unwrap();
    let here = HERE_ONLY.iter().find(|(name, _)| *name == campaign).map_or(&[][..], |(_, columns)| columns);
    let place = Bench::new();
    let output = place
        .command(&["run", file.to_str().unwrap(), "--on", "replay", "--record", "r", "--quiet"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let count = |sql: &str| place.run(&["query", sql, "r", "--csv"]);
    let runs = count("select count(*) as n from run");
    for column in columns.trim_end_matches(']').split(',').map(|name| name.trim().trim_matches('"')) {
        let with =
            count(&format!("select count(distinct run) as n from observation where metric = '{column}'"));
        assert!(here.contains(&column) || with == runs, "{campaign}: {column} in {with} of {runs}");
    }
}

#[test]
fn replayed_campaigns_give_every_number_of_their_tables() {
    for campaign in [
        "cerebras-bert-batch",
        "cerebras-llama-batch",
        "sambanova-tasks",
        "groq-bert",
        "graphcore-epochs",
        "graphcore-batch",
    ] {
        has_every_number(campaign);
    }
}

#[test]
fn replayed_campaigns_audit_clean() {
    for campaign in ["cerebras-bert-batch", "cerebras-llama-batch", "sambanova-tasks"] {
        audits_clean(&format!("seeds/{campaign}"), &["--on", "replay"]);
    }
}

#[test]
fn more_replayed_campaigns_audit_clean() {
    for campaign in ["groq-bert", "graphcore-epochs", "graphcore-batch"] {
        audits_clean(&format!("seeds/{campaign}"), &["--on", "replay"]);
    }
}

#[test]
fn the_logs_of_the_tour_audit_clean() {
    audits_clean("tour-log", &[]);
}

#[test]
fn a_campaign_of_commands_audits_clean() {
    own_campaign_audits_clean(
        "name = \"sleeps\"\nquestion = \"How long does it sleep?\"\n[workload]\ncommand = \"sleep {seconds}\"\n\
         [vary]\nseconds = [0.01, 0.02]\n[repeats]\nat_least = 6\n",
        &[],
        Clean::OfContradictions,
    );
}

#[test]
fn a_trained_network_audits_clean() {
    own_campaign_audits_clean(
        "name = \"digits\"\nquestion = \"Does a larger batch train faster?\"\n[workload]\nkind = \"mnist\"\n\
         [fixed]\ndata_set = \"synthetic\"\ntrain_samples = 200\ntest_samples = 100\nepochs = 2\n\
         [vary]\nbatch_size = [8, 32]\n[repeats]\nat_least = 6\n",
        &[],
        Clean::OfContradictions,
    );
}

#[test]
fn a_loaded_endpoint_audits_clean() {
    own_campaign_audits_clean(
        "name = \"serve\"\nquestion = \"Which endpoint answers faster?\"\n[workload]\nkind = \"chat\"\n\
         [fixed]\nduration = \"300ms\"\n\
         [vary]\nmock = [\"slots=4,itl=5ms,ttft=20ms,tokens=10\", \"slots=16,itl=8ms,ttft=20ms,tokens=10\"]\n\
         streams = [1, 4, 16]\n[repeats]\nat_least = 3\n",
        &[],
        Clean::OfContradictions,
    );
}

/// A write-up beside the logs that it is about, and several write-ups together.
#[test]
fn a_folder_of_logs_with_its_write_up_audits_clean() {
    let place = Bench::new();
    for (batch, name) in [("512", "logs/a.log"), ("1024", "logs/b.log")] {
        let set = format!("batch-size={batch}");
        let sample =
            place.command(&["sample", "cerebras", "--set", &set, "--set", "steps=400"]).output().unwrap();
        assert!(sample.status.success(), "{sample:?}");
        std::fs::create_dir_all(place.path("logs")).unwrap();
        std::fs::write(place.path(name), sample.stdout).unwrap();
    }
    let one = "# First part\n\nThe job needs 40 s instead of 50 s, 20 % less.\n";
    let two = "# Second part\n\n| node | images/s |\n|---|---|\n| old | 120 |\n| new | 180 |\n\n\
               The new node is 1.5 times as fast as the old one.\n";
    std::fs::write(place.path("logs/README.md"), one).unwrap();
    std::fs::write(place.path("two.md"), two).unwrap();
    assert_eq!(alarms(&place, &["logs"], Clean::Fully), Vec::<String>::new());
    assert_eq!(alarms(&place, &["logs/README.md", "two.md"], Clean::Fully), Vec::<String>::new());
    assert_eq!(alarms(&place, &["logs", "two.md"], Clean::Fully), Vec::<String>::new());
}
