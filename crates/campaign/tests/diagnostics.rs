//! What users see when a campaign file is wrong.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::path::Path;

use assay_campaign::{Campaign, Catalog, PlanContext, Problems, Registry};
use assay_model::{Metric, SettingDescription, SettingKind, Unit, Value, WorkloadDescription};
use insta::assert_snapshot;

fn registry() -> Registry {
    let mut catalog = Catalog::embedded();
    let small = "name = 'small'\nlauncher = 'local'\n[limits]\nnodes = 4\ncpus_per_node = 128\nmemory_per_node = '64 GiB'\ndevices_per_node = 8\ndevice = 'RDU'\ntime = '15 min'\n";
    catalog.add(Catalog::parse("small.toml", small).unwrap());
    let setting = |name: &str, kind, default| SettingDescription {
        name: name.into(),
        summary: format!("the {name} of the model"),
        kind,
        default,
        optional: false,
    };
    Registry {
        on: None,
        workloads: vec![WorkloadDescription {
            name: "matmul".into(),
            summary: "multiplies".into(),
            settings: vec![
                setting("size", SettingKind::Integer { min: 1, max: 4096 }, None),
                setting(
                    "precision",
                    SettingKind::Choice(vec!["f32".into(), "f64".into()]),
                    Some(Value::from("f32")),
                ),
            ],
            command: "{assay} work matmul --size {size} --precision {precision}".into(),
            headline: "throughput.flop".into(),
        }],
        dialects: vec!["cerebras".into(), "poptorch".into()],
        launchers: vec!["local".into()],
        platforms: catalog.platforms().to_vec(),
        samples: Vec::new(),
        metrics: vec![
            Metric {
                name: "throughput.flop".into(),
                unit: Unit::PerSecond("FLOP".into()),
                better: Some(assay_model::Direction::Higher),
            },
            Metric { name: "steps".into(), unit: Unit::One, better: None },
        ],
        found: Vec::new(),
    }
}

/// Every problem reported for a file, from reading to planning.
fn told_in(text: &str, directory: &Path) -> String {
    let problems: Problems = match Campaign::parse("c.toml", text, directory, &registry()) {
        Err(problems) => problems,
        Ok(campaign) => match campaign.plan(&PlanContext::default()) {
            Err(problems) => problems,
            Ok(plan) => plan.warnings,
        },
    };
    problems.render(false)
}

fn diagnostics(text: &str) -> String {
    told_in(text, Path::new("."))
}

#[test]
fn nothing_is_told_about_the_example() {
    assert_eq!(diagnostics(assay_campaign::EXAMPLE), "");
}

#[test]
fn mistyped_and_misplaced_keys() {
    assert_snapshot!(diagnostics(
        r#"nmae = "x"
timeout = "5 min"
[workload]
comand = "true"
[reapeats]
at_least = 3
[run]
platfroms = ["local"]
question = "why?"
"#
    ));
}

#[test]
fn wrong_types_and_values() {
    assert_snapshot!(diagnostics(
        r#"name = 5
[workload]
command = "true {a} {b}"
environment = ["A=1"]
[fixed]
a = 2020-01-01
[vary]
b = 8
[repeats]
at_least = "six"
precision = "2"
budget = "10 parsecs"
[order]
by = "size"
seed = -1
[run]
timeout = 300
grace = "0 s"
pin = [0, "one"]
[resources]
tasks = 1.5
memory = "4 gigs"
"#
    ));
}

#[test]
fn syntax_errors_do_not_hide_other_problems() {
    assert_snapshot!(diagnostics(
        r#"name = "x
question = 'fine'
[workload]
command = "run {batsh}"
[vary]
batch = [8, 16
"#
    ));
}

#[test]
fn placeholders_and_settings() {
    assert_snapshot!(diagnostics(
        r#"name = "x"
[workload]
command = "run {bacth} {nobody} ${HOME} {x-y} | awk '{print $1}'"
environment = { THREADS = "{thread}" }
labels = ["lable"]
[fixed]
threads = 2
repeat = 3
in = 4
[vary]
batch = [8]
threads = [1]
"#
    ));
}

#[test]
fn settings_that_change_nothing() {
    assert_snapshot!(diagnostics(
        r#"name = "x"
[workload]
command = "run {batch}"
labels = ["note"]
[vary]
batch = [8, 16]
rate = [0.1, 0.2]
note = ["a"]
"#
    ));
}

#[test]
fn sweeps() {
    assert_snapshot!(diagnostics(
        r#"name = "x"
[workload]
command = "run {a} {b} {c} {d} {e} {f}"
[fixed]
f = 1
[vary]
a = []
b = { from = 9, to = 1, step = 2 }
c = { from = 1, to = 9 }
[[zip]]
d = [1, 2, 3]
e = [1, 2]
[[point]]
a = 1
f = 2
"#
    ));
}

#[test]
fn expressions() {
    assert_snapshot!(diagnostics(
        r#"name = "x"
[workload]
command = "run {batch} {mode}"
[vary]
batch = [8, 16]
mode = ["fast", "slow"]
[where]
exclude = ["bathc == 8", "batch = 8", "batch >", "platform == 'local'"]
require = ["batch && true", "8 < batch < 16", "(batch"]
"#
    ));
}

#[test]
fn expressions_that_fail_on_a_point() {
    assert_snapshot!(diagnostics(
        r#"name = "x"
[workload]
command = "run {batch} {mode}"
[vary]
batch = [8, 16]
mode = ["fast", "slow"]
[where]
exclude = ["mode > 3", "batch"]
require = ["batch / (batch - 8) > 0"]
[run]
expected = { seconds = "0 - batch" }
[resources]
tasks = "batch / 3"
"#
    ));
}

#[test]
fn batch_not_divisible_by_tasks() {
    assert_snapshot!(diagnostics(
        r#"name = "x"
[workload]
command = "run {batch} {tasks}"
[vary]
batch = [33, 64]
tasks = [16, 32]
[where]
require = ["batch % tasks == 0"]
"#
    ));
}

#[test]
fn everything_excluded_and_points_given_twice() {
    let text =
        "name = 'x'\n[workload]\ncommand = 'run {a}'\n[vary]\na = [1, 2]\n[where]\nexclude = ['a > 0']\n";
    assert_snapshot!(diagnostics(text));
    assert_snapshot!(diagnostics(
        "name = 'x'\n[workload]\ncommand = 'run {a}'\n[vary]\na = [1, 1]\n[[point]]\na = 1\n"
    ));
}

#[test]
fn thirty_two_tasks_with_sixteen_per_node_on_one_node() {
    assert_snapshot!(diagnostics(
        r#"name = "x"
[workload]
command = "run {tasks}"
[vary]
tasks = [8, 16, 32]
[run]
platforms = ["small"]
[resources]
nodes = 1
tasks = "tasks"
tasks_per_node = 16
cpus_per_task = 8
"#
    ));
}

#[test]
fn a_fifteen_minute_limit_around_a_thirty_minute_run() {
    let by_timeout = r#"name = "x"
[workload]
command = "run"
[run]
timeout = "15 min"
expected = "30 min"
"#;
    assert_snapshot!(diagnostics(by_timeout));
    let by_platform = r#"name = "x"
[workload]
command = "run {epochs}"
[vary]
epochs = [10, 60]
[run]
platforms = ["small"]
timeout = "1 h"
expected = { seconds = "30 * epochs" }
"#;
    assert_snapshot!(diagnostics(by_platform));
}

#[test]
fn requests_that_do_not_fit_the_platform() {
    assert_snapshot!(diagnostics(
        r#"name = "x"
[workload]
command = "run {tasks}"
[vary]
tasks = [64, 96]
[run]
platforms = ["small"]
pin = [0, 200]
[resources]
nodes = 6
tasks_per_node = "tasks"
cpus_per_task = 4
memory = "128 GiB"
devices = 9
"#
    ));
}

#[test]
fn names_that_do_not_exist() {
    assert_snapshot!(diagnostics(
        r#"name = "x/y"
[workload]
kind = "matmull"
[run]
platforms = ["lokal", "graphcore-pod64", "local", "local"]
[read]
dialect = "cerebra"
headline = "duration.wal"
"#
    ));
}

#[test]
fn built_in_workloads() {
    assert_snapshot!(diagnostics(
        r#"name = "x"
[workload]
kind = "matmul"
command = "true"
[fixed]
precision = "f16"
colour = "red"
[vary]
size = [16, 8192]
"#
    ));
    assert_snapshot!(diagnostics("name = 'x'\nworkload = 'matmul'\n"));
    assert_eq!(diagnostics("name = 'x'\nworkload = 'matmul'\n[vary]\nsize = [16]\n"), "");
}

#[test]
fn repeats_that_contradict_themselves() {
    assert_snapshot!(diagnostics(
        r#"name = "x"
[workload]
command = "true"
[repeats]
at_least = 10
at_most = 5
[run]
expected = "2 min"
"#
    ));
    assert_snapshot!(diagnostics(
        "name = 'x'\n[workload]\ncommand = 'true'\n[repeats]\nat_most = 9\nbudget = '1 min'\n[run]\nexpected = '2 min'\n"
    ));
    assert_snapshot!(diagnostics("name = 'x'\n[workload]\ncommand = 'true'\n[repeats]\nat_most = 9\n"));
}

#[test]
fn fewer_repeats_that_cannot_be() {
    assert_snapshot!(diagnostics(
        r#"name = "x"
[workload]
command = "run {size} {batch}"
[vary]
size = ["small", "large"]
batch = [8, 16]
[repeats]
at_least = 3
[[repeats.fewer]]
where = "size == 'large'"
at_least = 3
[[repeats.fewer]]
where = "sise == 'large'"
at_least = 0
[[repeats.fewer]]
where = "batch >"
at_most = 2
[[repeats.fewer]]
at_least = "two"
"#
    ));
    assert_snapshot!(diagnostics(
        "name = 'x'\n[workload]\ncommand = 'true'\n[repeats]\nat_least = 1\nfewer = [{ where = 'true', at_least = 1 }]\n"
    ));
    assert_snapshot!(diagnostics(
        "name = 'x'\n[workload]\ncommand = 'true'\n[repeats.fewer]\nwhere = 'true'\nat_least = 1\n"
    ));
}

#[test]
fn fewer_repeats_that_change_nothing() {
    assert_snapshot!(diagnostics(
        r#"name = "x"
[workload]
command = "run {size}"
[vary]
size = ["small", "large"]
[repeats]
at_least = 3
budget = "5 min"
[[repeats.fewer]]
where = "size in ['large', 'xl']"
at_least = 2
[[repeats.fewer]]
where = "size == 'huge'"
at_least = 1
[[repeats.fewer]]
where = "size == 'large' and platform == 'local'"
at_least = 1
[run]
expected = "2 min"
"#
    ));
    assert_snapshot!(diagnostics(
        "name = 'x'\n[workload]\ncommand = 'run {a}'\n[vary]\na = [1, 2]\n[[repeats.fewer]]\nwhere = 'a / (a - 1) > 1'\nat_least = 1\n"
    ));
}

#[test]
fn patterns_and_gates() {
    assert_snapshot!(diagnostics(
        r#"name = "x"
[workload]
command = "true"
[read]
headline = "steps"
[[read.pattern]]
metric = "rate"
regex = 'rate=([0-9.]+'
unit = "MB/s"
[[read.pattern]]
metric = "speed"
regex = 'a=(\d+) b=(\d+)'
unit = "MB/s"
keep = "all"
[[read.pattern]]
metric = "score"
regex = 'score=\d+'
[[gate]]
metric = "speed"
min = 3
unit = "s"
[[gate]]
metric = "sped"
max = 1
[[gate]]
metric = "rate"
min = 3
max = 2
[[gate]]
metric = "rate"
expect = 3
[[gate]]
metric = "rate"
within = "5%"
[[gate]]
metric = "rate"
reference = "no/such/record"
within = "500%"
where = "nothing == 1"
"#
    ));
}

#[test]
fn metrics_that_are_known_already() {
    assert_snapshot!(diagnostics(
        r#"name = "x"
[workload]
command = "true"
[[read.pattern]]
metric = "duration.wall"
regex = 'took ([0-9.]+) s'
unit = "s"
[[read.pattern]]
metric = "throughput.flop"
regex = 'rate=([0-9.]+)'
unit = "MB/s"
"#
    ));
}

#[test]
fn configuration_files() {
    let directory = tempfile::tempdir().unwrap();
    let base = "trainer:\n  batch_size: 8\n  val:\n    batch_size: 8\n";
    std::fs::write(directory.path().join("params.yaml"), base).unwrap();
    std::fs::write(directory.path().join("broken.json"), "{\"a\": }").unwrap();
    assert_snapshot!(told_in(
        r#"name = "x"
[workload]
command = "train {run_directory}/params.yaml"
directory = "nowhere"
[[workload.config]]
base = "params.yaml"
set = { "trainer.batchsize" = "{batch}", "batch_size" = 1, "trainer..x" = 2, "trainer.batch_size.x" = "{bacth}" }
[[workload.config]]
base = "broken.json"
[[workload.config]]
base = "missing.toml"
[[workload.config]]
base = "params.ini"
[[workload.config]]
write = "../up.yaml"
[[workload.config]]
base = "params.yaml"
write = "../up.yaml"
[vary]
batch = [8]
"#,
        directory.path()
    ));
}

#[test]
fn problems_as_data() {
    let error = Campaign::parse("c.toml", "name = 'x'\nwho = 1\n", Path::new("."), &registry()).unwrap_err();
    let json = serde_json::to_string_pretty(&error).unwrap();
    assert_snapshot!(json);
}

#[test]
fn colours_are_only_added_not_needed() {
    let error = Campaign::parse("c.toml", "name = 'x'\nwho = 1\n", Path::new("."), &registry()).unwrap_err();
    let colored = error.render(true);
    assert!(colored.contains("\u{1b}["));
    assert!(!error.render(false).contains('\u{1b}'));
}
