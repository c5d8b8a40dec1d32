//! Whole commands as a user types them, with all they print. Times, hashes and machine facts are filtered out.

use crate::bench::Bench;

/// Values that depend on nothing, so that every number in a table is known.
const FIXED: &str = r#"
name = "fixed"
question = "Is the first group faster?"
[workload]
command = "echo speed=$(({group} * 100 + {repeat})) samples/s"
[vary]
group = [1, 2]
[read]
headline = "speed"
[[read.metric]]
name = "speed"
unit = "samples/s"
"#;

const MISTAKES: &str = r#"
name = "mistakes"
[workload]
command = "train --batch {bacth}"
[vary]
batch = [8, 16]
epochs = []
[repeats]
at_least = 10
at_most = 5
[run]
platforms = ["locl"]
timeout = 15
[read]
dialect = "metric"
"#;

#[test]
fn a_campaign_is_planned_run_and_shown() {
    let bench = Bench::new().file("fixed.toml", FIXED);
    insta::assert_snapshot!("plan", bench.run(&["plan", "fixed.toml"]));
    insta::assert_snapshot!("run", bench.run(&["run", "fixed.toml"]));
    insta::assert_snapshot!("show", bench.run(&["show"]));
    insta::assert_snapshot!("show_runs", bench.run(&["show", "fixed", "--runs"]));
    insta::assert_snapshot!("show_json", bench.run(&["show", "fixed.toml", "--json"]));
    let report = bench.run(&["show", "-o", "-"]);
    for part in
        ["exit code 0", "\n# ", "## Results", "## How it was made", "## Evidence", "run.sh", "stdout.log:"]
    {
        assert!(report.contains(part), "{part} is missing in {report}");
    }
    insta::assert_snapshot!("list", bench.run(&["list"]));
}

#[test]
fn running_again_runs_nothing_and_fresh_keeps_the_old_record() {
    let bench = Bench::new().file("fixed.toml", FIXED);
    bench.run(&["run", "fixed.toml", "--quiet"]);
    insta::assert_snapshot!("run_again", bench.run(&["run", "fixed.toml"]));
    insta::assert_snapshot!("run_fresh", bench.run(&["run", "fixed.toml", "--fresh", "--quiet"]));
    assert_eq!(bench.count("records/fixed/runs", "run.sh"), 12);
    assert_eq!(bench.count("records/fixed.old-1/runs", "run.sh"), 12);
}

#[test]
fn every_mistake_in_a_file_is_reported_at_once() {
    let bench = Bench::new().file("mistakes.toml", MISTAKES);
    insta::assert_snapshot!("mistakes", bench.run(&["run", "mistakes.toml"]));
    assert!(!bench.path("records").exists(), "nothing may be made before a campaign is right");
}

#[test]
fn tasks_that_do_not_fit_a_node_are_caught_by_the_plan() {
    let campaign = r#"
name = "tasks"
[workload]
command = "srun train --tasks {tasks}"
[vary]
tasks = [4, 8, 16, 32]
[run]
platforms = ["node"]
[resources]
nodes = 1
tasks = "tasks"
tasks_per_node = "min(tasks, 16)"
cpus_per_task = 8
"#;
    let platform =
        "name = \"node\"\nsummary = \"a node\"\nlauncher = \"local\"\n[limits]\ncpus_per_node = 128\n";
    let bench = Bench::new().file("tasks.toml", campaign).file("platforms/node.toml", platform);
    insta::assert_snapshot!("tasks_do_not_fit", bench.run(&["plan", "tasks.toml"]));
}

#[test]
fn platforms_whose_scheduler_cannot_be_asked_can_be_planned_for() {
    let campaign =
        "name = \"tasks\"\n[workload]\ncommand = \"train\"\n[run]\nplatforms = [\"sambanova-sn30\"]\n";
    let bench = Bench::new().file("tasks.toml", campaign);
    // What the reason is depends on what is installed.
    let plan = bench.run(&["plan", "tasks.toml"]);
    assert!(plan.contains("warning: limits of `sambanova-sn30` are not checked"), "{plan}");
    let run = bench.run(&["run", "tasks.toml"]);
    assert!(run.contains("error: the scheduler of platform `sambanova-sn30` cannot be queried"), "{run}");
    assert!(run.contains("hint: run on a login node") && !bench.path("records").exists(), "{run}");
}

#[test]
fn what_a_site_refuses_jobs_without_is_asked_for_by_the_plan() {
    let campaign = "name = 'x'\n[workload]\ncommand = 'train'\n[run]\nplatforms = ['polaris']\n";
    let plan = |more: &str| {
        let bench = Bench::new().file("x.toml", &format!("{campaign}{more}"));
        bench.run(&["plan", "x.toml"])
    };
    let printed = plan("");
    assert!(printed.starts_with("exit code 2"), "{printed}");
    assert!(printed.contains("`polaris` refuses jobs without `account`"), "{printed}");
    let account = "[platform.polaris]\naccount = 'y'\n";
    assert!(plan(account).contains("set `[run] timeout`, or `time` under [platform.polaris]"));
    assert!(plan(&format!("timeout = '10 min'\n{account}")).starts_with("exit code 0"));
}

#[test]
fn a_limit_shorter_than_the_run_is_caught_by_the_plan() {
    let campaign = r#"
name = "limit"
[workload]
command = "train"
[run]
timeout = "15 min"
expected = "30 min"
"#;
    let bench = Bench::new().file("limit.toml", campaign);
    insta::assert_snapshot!("limit_too_short", bench.run(&["plan", "limit.toml"]));
}

#[test]
fn failures_are_kept_apart_from_numbers_and_can_be_redone() {
    // The second group fails until a file appears; the third takes longer than its timeout.
    let campaign = r#"
name = "failing"
[workload]
command = "case {group} in 2) test -e fixed || {{ echo 'No space left on device' >&2; exit 3; }};; 3) sleep 60;; esac; echo speed={group}00 samples/s"
[vary]
group = [1, 2, 3]
[repeats]
at_least = 2
[run]
timeout = "300 ms"
[read]
headline = "speed"
[[read.metric]]
name = "speed"
unit = "samples/s"
"#;
    let bench = Bench::new().file("failing.toml", campaign);
    insta::assert_snapshot!("failing", bench.run(&["run", "failing.toml"]));
    std::fs::write(bench.path("fixed"), "").unwrap();
    insta::assert_snapshot!("failing_redone", bench.run(&["run", "failing.toml", "--only", "failed"]));
}

#[test]
fn gates_decide_the_exit_code() {
    let gate = "[[gate]]\nmetric = \"speed\"\nmin = 150\n";
    let bench = Bench::new().file("gated.toml", &format!("{FIXED}{gate}"));
    insta::assert_snapshot!("gated", bench.run(&["run", "gated.toml", "--quiet"]));
}

#[test]
fn precision_asks_for_more_repeats_and_says_when_it_is_not_reached() {
    let repeats = "[repeats]\nprecision = \"0.1%\"\nat_least = 7\nat_most = 9\n";
    let bench = Bench::new().file("precise.toml", &format!("{FIXED}{repeats}"));
    insta::assert_snapshot!("not_precise", bench.run(&["run", "precise.toml", "--quiet"]));
}

#[test]
fn two_records_are_compared_cell_by_cell() {
    let bench = Bench::new().file("fixed.toml", FIXED);
    bench.run(&["run", "fixed.toml", "--quiet", "--record", "before"]);
    bench.run(&["run", "fixed.toml", "--quiet", "--record", "after"]);
    insta::assert_snapshot!("compare", bench.run(&["compare", "before", "after"]));
    let other = FIXED.replace("* 100", "* 150");
    std::fs::write(bench.path("fixed.toml"), other).unwrap();
    bench.run(&["run", "fixed.toml", "--quiet", "--record", "changed"]);
    insta::assert_snapshot!("compare_changed", bench.run(&["compare", "before", "changed"]));
    insta::assert_snapshot!("compare_missing", bench.run(&["compare", "before", "nowhere"]));
}

#[test]
fn a_regression_fails_a_comparison_only_if_requested() {
    let bench = Bench::new().file("fixed.toml", FIXED);
    bench.run(&["run", "fixed.toml", "--quiet", "--record", "before"]);
    std::fs::write(bench.path("fixed.toml"), FIXED.replace("* 100", "* 50")).unwrap();
    bench.run(&["run", "fixed.toml", "--quiet", "--record", "after"]);
    let compare = |more: &[&str]| bench.run(&[&["compare"], more].concat());
    assert!(compare(&["before", "after"]).starts_with("exit code 0"));
    assert!(compare(&["before", "after", "--fail-on", "regression"]).starts_with("exit code 4"));
    assert!(compare(&["after", "before", "--fail-on", "regression"]).starts_with("exit code 0"));
    compare(&["before", "after", "-o", "c.csv", "-o", "c.md", "-o", "c.json"]);
    assert!(bench.read("c.csv").contains(",worse,"), "{}", bench.read("c.csv"));
    assert!(bench.read("c.md").contains("slower") && bench.read("c.json").contains("\"comparison\""));
    assert!(compare(&["before", "after", "-o", "c.doc"]).starts_with("exit code 2"));
}

#[test]
fn records_are_removed_only_after_consent() {
    let bench = Bench::new().file("fixed.toml", FIXED).file("notes/text.md", "mine");
    bench.run(&["run", "fixed.toml", "--quiet"]);
    bench.run(&["run", "fixed.toml", "--quiet", "--record", "other"]);
    insta::assert_snapshot!("rm_unconfirmed", bench.run(&["rm", "fixed"]));
    let young = bench.run(&["rm", "--older-than", "1d", "--yes"]);
    assert!(young.contains("no records to remove"), "{young}");
    let foreign = bench.run(&["rm", "notes", "--yes"]);
    assert!(foreign.starts_with("exit code 2") && bench.path("notes/text.md").exists(), "{foreign}");
    assert!(bench.path("records/fixed/journal.jsonl").exists());
    insta::assert_snapshot!("rm", bench.run(&["rm", "fixed", "--yes"]));
    assert!(!bench.path("records/fixed").exists());
    assert!(bench.run(&["rm", "--older-than", "1ms", "--yes"]).contains("removed other"));
    assert!(!bench.path("other").exists());
    assert!(bench.run(&["rm"]).starts_with("exit code 2"));
}

#[test]
fn outliers_are_marked_in_the_list_of_runs() {
    let campaign = FIXED.replace("{repeat})) samples", "{repeat} + {repeat} / 6 * 5000)) samples");
    let bench = Bench::new().file("fixed.toml", &campaign);
    bench.run(&["run", "fixed.toml", "--quiet"]);
    insta::assert_snapshot!("show_runs_outlier", bench.run(&["show", "--runs"]));
}

#[test]
fn an_edited_campaign_adds_cells_and_keeps_old_ones() {
    let bench = Bench::new().file("fixed.toml", FIXED);
    bench.run(&["run", "fixed.toml", "--quiet"]);
    std::fs::write(bench.path("fixed.toml"), FIXED.replace("[1, 2]", "[2, 3]")).unwrap();
    insta::assert_snapshot!("edited", bench.run(&["run", "fixed.toml"]));
}

#[test]
fn the_index_answers_sql_and_refuses_to_be_changed() {
    let bench = Bench::new().file("fixed.toml", FIXED);
    bench.run(&["run", "fixed.toml", "--quiet"]);
    let sql = "select s.value as of_group, count(*) as runs, avg(o.value) as speed from observation o \
               join run r using (run) join setting s on s.cell = r.cell and s.name = 'group' \
               where o.metric = 'speed' group by 1 order by 1";
    insta::assert_snapshot!("query", bench.run(&["query", sql]));
    insta::assert_snapshot!("query_json", bench.run(&["query", sql, "--json"]));
    insta::assert_snapshot!("query_csv", bench.run(&["query", sql, "--csv"]));
    insta::assert_snapshot!("query_wrong", bench.run(&["query", "select * from rnu"]));
    insta::assert_snapshot!("query_write", bench.run(&["query", "delete from run"]));
}

#[test]
fn exports_and_reports_are_written_by_their_ending() {
    let bench = Bench::new().file("fixed.toml", FIXED);
    bench.run(&["run", "fixed.toml", "--quiet"]);
    for (table, file) in [("runs", "runs.csv"), ("observations", "o.jsonl"), ("series", "series.parquet")] {
        let output = bench.run(&["query", table, "--output", file]);
        assert!(output.contains("exit code 0"), "{output}");
        assert!(bench.path(file).metadata().unwrap().len() > 0 || table == "series");
    }
    let header = bench.read("runs.csv").lines().next().unwrap().to_owned();
    assert!(header.contains(",setting.group,") && header.contains(",metric.speed"), "{header}");
    let sql = "select \"setting.group\" as of_group, avg(\"metric.speed\") as speed from runs group by 1";
    bench.run(&["query", sql, "-o", "speed.csv", "-o", "speed.jsonl", "-o", "speed.parquet"]);
    assert_eq!(bench.read("speed.csv"), "of_group,speed\n1,103.5\n2,203.5\n");
    assert_eq!(
        bench.read("speed.jsonl"),
        "{\"of_group\":1,\"speed\":103.5}\n{\"of_group\":2,\"speed\":203.5}\n"
    );
    assert!(bench.path("speed.parquet").metadata().unwrap().len() > 0);
    insta::assert_snapshot!("report_csv", {
        bench.run(&["show", "-o", "answer.csv", "-o", "answer.md"]);
        assert!(bench.read("answer.md").contains("Is the first group faster?"));
        bench.read("answer.csv")
    });
    insta::assert_snapshot!("export_wrong", bench.run(&["query", "runs", "--output", "runs.xls"]));
    insta::assert_snapshot!("report_wrong", bench.run(&["show", "--output", "answer.doc"]));
    let wrong = bench.run(&["query", "select nothing", "-o", "wrong.csv"]);
    assert!(wrong.starts_with("exit code 2") && !bench.path("wrong.csv").exists(), "{wrong}");
}

#[test]
fn init_writes_a_campaign_that_plans_and_never_overwrites() {
    let bench = Bench::new();
    insta::assert_snapshot!("init", bench.run(&["init"]));
    insta::assert_snapshot!("init_again", bench.run(&["init"]));
    assert!(bench.run(&["plan"]).contains("exit code 0"));
}

#[test]
fn usage_errors_have_a_hint() {
    let bench = Bench::new();
    insta::assert_snapshot!("no_campaign", bench.run(&["run"]));
    insta::assert_snapshot!("no_record", bench.run(&["show"]));
    insta::assert_snapshot!("no_record_of_that_name", bench.run(&["show", "nowhere"]));
    insta::assert_snapshot!("no_such_verb", bench.run(&["shwo"]));
    for (old, new) in [
        ("report", "assay show"),
        ("export", "assay query"),
        ("peak", "assay doctor peak"),
        ("data", "assay doctor data"),
        ("train", "assay bench bert train-head"),
    ] {
        let output = bench.run(&[old, "--anything"]);
        assert!(output.starts_with("exit code 2") && output.contains(new), "{output}");
    }
    insta::assert_snapshot!("no_jobs", bench.run(&["run", "--jobs", "0"]));
}

#[test]
fn help_completions_and_manual_are_there() {
    let bench = Bench::new();
    insta::assert_snapshot!("help", bench.run(&["--help"]));
    for shell in ["bash", "zsh", "fish"] {
        assert!(bench.run(&["completions", shell]).contains("assay"));
    }
    assert!(bench.run(&["man"]).contains(".TH assay"));
    assert!(bench.run(&["man", "run"]).contains("fresh"));
    insta::assert_snapshot!("platforms", bench.run(&["list", "platforms"]));
    insta::assert_snapshot!("dialects", bench.run(&["list", "dialects"]));
}
