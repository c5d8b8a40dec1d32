//! From a campaign file to runs.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]

use std::collections::BTreeSet;
use std::path::Path;

use assay_campaign::{Campaign, Catalog, OrderBy, Plan, PlanContext, Registry, RunPaths, Shell};
use assay_model::{Bound, CellId, SettingDescription, SettingKind, Value, WorkloadDescription};

fn setting(name: &str, default: i64) -> SettingDescription {
    SettingDescription {
        name: name.into(),
        summary: String::new(),
        kind: SettingKind::Integer { min: 1, max: 4096 },
        default: Some(Value::Integer(default)),
        optional: false,
    }
}

fn registry() -> Registry {
    let mut catalog = Catalog::embedded();
    let second = "name = 'second'\nlauncher = 'local'\n[environment]\nPLACE = 'there'\nLC_ALL = 'x'\n[log]\ndialect = 'poptorch'\n";
    catalog.add(Catalog::parse("second.toml", second).unwrap());
    Registry {
        on: None,
        workloads: vec![WorkloadDescription {
            name: "matmul".into(),
            summary: String::new(),
            settings: vec![setting("size", 64), setting("seed", 7)],
            command: "{assay} work matmul --size {size} --seed {seed}".into(),
            headline: "duration.wall".into(),
        }],
        dialects: vec!["poptorch".into()],
        launchers: vec!["local".into()],
        platforms: catalog.platforms().to_vec(),
        samples: Vec::new(),
        metrics: Vec::new(),
        found: Vec::new(),
    }
}

fn plan_in(text: &str, directory: &Path) -> Plan {
    let campaign = match Campaign::parse("c.toml", text, directory, &registry()) {
        Ok(campaign) => campaign,
        Err(problems) => panic!("{problems}"),
    };
    campaign.plan(&PlanContext::default()).unwrap_or_else(|problems| panic!("{problems}"))
}

fn plan(text: &str) -> Plan {
    plan_in(text, Path::new("."))
}

fn paths() -> RunPaths<'static> {
    RunPaths { assay: Path::new("/bin/as say"), run_directory: Path::new("/runs/1") }
}

const SMALL: &str = "name = 'x'\nquestion = 'why?'\n[workload]\ncommand = 'run {batch} {rate}'\n[fixed]\nrate = 0.5\n[vary]\nbatch = [8, 16]\n";

#[test]
fn the_example_runs_on_this_machine() {
    let plan = plan(assay_campaign::EXAMPLE);
    assert_eq!(plan.warnings.render(false), "");
    assert_eq!((plan.cells.len(), plan.repeats.at_least, plan.repeats.at_most), (3, 6, 6));
    assert_eq!(plan.estimate(1).seconds_at_least, Some(18.0));
    let invocation = plan.invocation(0, 1, &paths()).unwrap();
    let output = std::process::Command::new(&invocation.arguments[0])
        .args(&invocation.arguments[1..])
        .envs(&invocation.environment)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("copied, "), "{output:?}");
}

/// Computed by hand from the texts that the reference describes. If this fails, records of earlier versions no longer match: that must be a decision.
#[test]
fn identities_never_change() {
    let plan = plan(SMALL);
    let points: Vec<&str> = plan.cells.iter().map(|cell| cell.cell.point.0.as_str()).collect();
    assert_eq!(points, ["c9ac8b98ac053ec3", "402deae9a412f955"]);
    assert_eq!(plan.hash.get(..16), Some("1252b85e9d15003f"));
    assert_eq!(plan.seed, u64::from_str_radix(plan.hash.get(..12).unwrap(), 16).unwrap());
}

#[test]
fn points_depend_on_what_is_computed_and_on_nothing_else() {
    let ids = |text: &str| -> BTreeSet<String> {
        plan(text).cells.iter().map(|cell| cell.cell.point.0.clone()).collect()
    };
    let base = ids(SMALL);
    for same in [
        format!(
            "{SMALL}[repeats]\nat_least = 3\n[order]\nseed = 1\nby = 'cells'\n[run]\ntimeout = '1 min'\n"
        ),
        format!(
            "{SMALL}[[read.pattern]]\nmetric = 'a'\nregex = '(x)'\nunit = 's'\n[[gate]]\nmetric = 'a'\nmax = 1\n"
        ),
        format!("{SMALL}[run]\nplatforms = ['second']\n"),
        SMALL.replace("name = 'x'", "name = 'other'"),
        SMALL.replace("rate = 0.5\n[vary]\nbatch = [8, 16]", "[vary]\nbatch = [16, 8]\nrate = [0.50]"),
    ] {
        assert_eq!(ids(&same), base, "{same}");
    }
    for different in [
        SMALL.replace("run {batch}", "run  {batch}"),
        SMALL.replace("rate = 0.5", "rate = 0.25"),
        SMALL.replace("[8, 16]", "[8.0, 16.0]"),
        SMALL.replace("[fixed]", "shell = 'bash'\n[fixed]"),
        SMALL.replace("[fixed]", "environment = { A = '1' }\n[fixed]"),
    ] {
        assert!(ids(&different).is_disjoint(&base), "{different}");
    }
    let hash = |text: &str| plan(text).hash;
    assert_ne!(hash(SMALL), hash(&format!("{SMALL}[repeats]\nat_least = 3\n")));
    assert_ne!(hash(SMALL), hash(&format!("{SMALL}[order]\nseed = 3\n")));
    assert_eq!(hash(SMALL), hash(&format!("{SMALL}[run]\ntimeout = '1 min'\n")));
}

#[test]
fn cells_are_points_on_platforms() {
    let plan = plan(&format!("{SMALL}[run]\nplatforms = ['local', 'second']\n"));
    let names: Vec<String> =
        plan.cells.iter().map(|cell| format!("{}@{}", cell.settings["batch"], cell.cell.platform)).collect();
    assert_eq!(names, ["8@local", "8@second", "16@local", "16@second"]);
    assert_eq!(plan.platform(3).unwrap().name, "second");
    let dialects = [0, 1].map(|cell| plan.dialect_on(plan.platform(cell).unwrap()));
    assert_eq!(dialects, ["auto", "poptorch"]);
    let invocation = plan.invocation(1, 1, &paths()).unwrap();
    assert_eq!(invocation.environment["PLACE"], "there");
    assert!(plan.invocation(4, 1, &paths()).is_err());
}

#[test]
fn axes_zips_points_and_exclusions() {
    let text = "name = 'x'\n[workload]\ncommand = 'run {a} {b} {c}'\n[vary]\na = { from = 1, to = 4, times = 2 }\n\
        [[zip]]\nb = [1, 2]\nc = ['x', 'y']\n[[point]]\na = 9\nb = 9\nc = 'z'\n[where]\nexclude = ['a == 1 and b == 2', \"c == 'z'\"]\n";
    let plan = plan(text);
    let shown: Vec<String> = plan
        .cells
        .iter()
        .map(|cell| format!("{}{}{}", cell.settings["a"], cell.settings["b"], cell.settings["c"]))
        .collect();
    assert_eq!(shown, ["11x", "21x", "22y", "41x", "42y", "99z"]);
    assert_eq!((plan.excluded, plan.varied.join(" ")), (1, "a b c".to_owned()));
    let only_points = "name = 'x'\n[workload]\ncommand = 'run {a}'\n[[point]]\na = 1\n[[point]]\na = 2\n";
    assert_eq!(self::plan(only_points).cells.len(), 2);
    let nothing_varied = "name = 'x'\n[workload]\ncommand = 'true'\n";
    assert_eq!(self::plan(nothing_varied).cells.len(), 1);
}

#[test]
fn invocations_fill_in_everything() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("base.yaml"), "a:\n  b: 1 # keep\n  c: x\n").unwrap();
    let text = r#"
name = "x"
[workload]
command = "run {mode} --c {run_directory}/p.yaml ${HOME} '{{}}' {repeat} {platform} {campaign_directory}"
environment = { LC_ALL = "C", T = "{threads}", N = 3 }
[[workload.config]]
base = "base.yaml"
write = "p.yaml"
set = { "a.b" = "{threads}", "a.c" = "{mode} {seed}" }
[fixed]
threads = 2
mode = "a b"
[run]
timeout = "1 min"
grace = "250 ms"
pin = [1, 0, 1]
"#;
    let plan = plan_in(text, directory.path());
    let invocation = plan.invocation(0, 4, &paths()).unwrap();
    let here = directory.path().to_string_lossy();
    assert_eq!(invocation.command, format!("run a b --c /runs/1/p.yaml ${{HOME}} '{{}}' 4 local {here}"));
    assert_eq!(invocation.arguments, ["sh", "-c", invocation.command.as_str()]);
    assert_eq!(invocation.environment["T"], "2");
    assert_eq!(invocation.environment["N"], "3");
    let seed = plan.run_seed(0, 4);
    assert_eq!(invocation.files[0].name, "p.yaml");
    assert_eq!(
        String::from_utf8_lossy(&invocation.files[0].bytes),
        format!("a:\n  b: 2 # keep\n  c: \"a b {seed}\"\n")
    );
    assert_ne!(seed, plan.run_seed(0, 5));
    assert_eq!(invocation.timeout.unwrap().as_secs(), 60);
    assert_eq!(invocation.grace.as_millis(), 250);
    assert_eq!(invocation.pin, [0, 1]);
    let words = plan_in(&text.replace("environment", "shell = 'none'\nenvironment"), directory.path());
    let invocation = words.invocation(0, 1, &paths()).unwrap();
    assert_eq!(invocation.shell, Shell::None);
    assert_eq!(invocation.arguments[..3], ["run", "a b", "--c"]);
    let other = text.replace("\"a.b\" = \"{threads}\", ", "");
    assert_ne!(plan_in(&other, directory.path()).cells[0].cell, plan.cells[0].cell);
    std::fs::write(directory.path().join("base.yaml"), "a:\n  b: 1\n  c: y\n").unwrap();
    assert_ne!(
        plan_in(text, directory.path()).cells[0].cell,
        plan.cells[0].cell,
        "the base file is part of a point"
    );
}

#[test]
fn built_in_workloads_bring_command_and_defaults() {
    let plan = plan("name = 'x'\nworkload = 'matmul'\n");
    assert_eq!(plan.cells[0].workload, "matmul");
    assert_eq!(plan.cells[0].settings["size"], Value::Integer(64));
    let invocation = plan.invocation(0, 1, &paths()).unwrap();
    assert_eq!(invocation.arguments, ["/bin/as say", "work", "matmul", "--size", "64", "--seed", "7"]);
    // A built-in workload may have a setting whose name is reserved elsewhere.
    let seeded = self::plan("name = 'x'\nworkload = 'matmul'\n[vary]\nseed = [1, 2]\n");
    assert_eq!(seeded.cells[1].settings["seed"], Value::Integer(2));
}

#[test]
fn repeats_have_sensible_defaults() {
    let repeats = |section: &str| {
        let repeats = plan(&format!("{SMALL}{section}")).repeats;
        (repeats.at_least, repeats.at_most)
    };
    assert_eq!(repeats(""), (6, 6));
    assert_eq!(repeats("[repeats]\nprecision = 0.02\n"), (10, 30));
    assert_eq!(repeats("[repeats]\nbudget = '1 h'\n"), (6, 30));
    assert_eq!(repeats("[repeats]\nat_least = 3\n"), (3, 3));
    assert_eq!(repeats("[repeats]\nat_most = 4\nprecision = '5%'\n"), (4, 4));
    assert_eq!(repeats("[repeats]\nat_least = 40\nprecision = '5%'\n"), (40, 40));
}

#[test]
fn orders_are_permutations_and_follow_their_policy() {
    let text = "name = 'x'\n[workload]\ncommand = 'run {a}'\n[vary]\na = { from = 1, to = 20, step = 1 }\n[repeats]\nat_least = 3\n";
    let shuffled = plan(text);
    let all: Vec<usize> = (0..20).collect();
    for round in 1..5 {
        let mut order = shuffled.round(round);
        assert_ne!(order, all);
        order.sort_unstable();
        assert_eq!(order, all);
    }
    assert_ne!(shuffled.round(1), shuffled.round(2));
    assert_eq!(shuffled.round(1), plan(text).round(1));
    assert_eq!(shuffled.sequence().len(), 60);
    assert_eq!(shuffled.sequence()[20].1, 2);
    let plain = plan(&format!("{text}[order]\nshuffle = false\n"));
    assert_eq!(plain.round(2), all);
    let cells = plan(&format!("{text}[order]\nby = 'cells'\n"));
    assert_eq!(cells.order.by, OrderBy::Cells);
    let sequence = cells.sequence();
    assert!(sequence.chunks(3).all(|runs| runs.iter().all(|run| run.0 == runs[0].0)));
    assert_eq!(cells.round(1), cells.round(7));
}

const SIZES: &str = "name = 'x'\n[workload]\ncommand = 'run {size}'\n[vary]\nsize = ['small', 'medium', 'large', 'xl']\n[run]\nplatforms = ['local', 'second']\nexpected = '10 s'\n";

#[test]
fn the_first_entry_that_holds_says_how_often_a_cell_is_run() {
    let fewer = "[[repeats.fewer]]\nwhere = \"size in ['large', 'xl'] and platform == 'second'\"\nat_least = 1\n[[repeats.fewer]]\nwhere = \"size in ['large', 'xl']\"\nat_least = 2\n";
    let plan = plan(&format!("{SIZES}{fewer}"));
    let least: Vec<u32> = (0..8).map(|cell| plan.least_of(cell)).collect();
    assert_eq!(least, [6, 6, 6, 6, 2, 1, 2, 1]);
    assert_eq!((plan.fewer_of(0), plan.fewer_of(5)), (None, Some(1)));
    let sequence = plan.sequence();
    for (cell, least) in least.iter().enumerate() {
        let repeats: Vec<u32> = sequence.iter().filter(|run| run.0 == cell).map(|run| run.1).collect();
        assert_eq!(repeats, (1..=*least).collect::<Vec<_>>());
    }
    let mut second = plan.round(2);
    second.sort_unstable();
    assert_eq!(second, [0, 1, 2, 3, 4, 6]);
    let estimate = plan.estimate(1);
    assert_eq!((estimate.runs_at_least, estimate.runs_at_most), (30, 30));
    assert_eq!(estimate.seconds_at_least, Some(300.0));
    let by_cells = self::plan(&format!("{SIZES}{fewer}[order]\nby = 'cells'\n"));
    assert_eq!(by_cells.sequence().len(), 30);
}

#[test]
fn cells_with_fewer_repeats_are_never_repeated_for_precision() {
    let text = format!(
        "{SIZES}[repeats]\nprecision = '2%'\nbudget = '20 min'\n[[repeats.fewer]]\nwhere = \"size == 'xl'\"\nat_least = 9\n"
    );
    let plan = plan(&text);
    assert_eq!((plan.least_of(0), plan.most_of(0)), (10, 30));
    assert_eq!((plan.least_of(6), plan.most_of(6)), (9, 9));
    let estimate = plan.estimate(1);
    assert_eq!((estimate.runs_at_least, estimate.runs_at_most), (78, 198));
    assert_eq!((estimate.seconds_at_least, estimate.seconds_at_most), (Some(780.0), Some(1200.0)));
}

#[test]
fn fewer_repeats_are_part_of_the_hash_by_the_cells_they_are_for() {
    let hash = |section: &str| plan(&format!("{SIZES}{section}")).hash;
    let large = "[[repeats.fewer]]\nwhere = \"size == 'large'\"\nat_least = 2\n";
    assert_ne!(hash(large), hash(""));
    assert_ne!(hash(large), hash(&large.replace("at_least = 2", "at_least = 3")));
    assert_eq!(hash(large), hash(&large.replace("size == 'large'", "size in ['large']")));
}

#[test]
fn estimates_know_what_they_do_not_know() {
    let estimate = plan(&format!("{SMALL}[run]\nexpected = {{ seconds = '10 * batch' }}\n")).estimate(2);
    assert_eq!((estimate.runs_at_least, estimate.runs_at_most, estimate.cells_unknown), (12, 12, 0));
    assert_eq!(estimate.seconds_at_least, Some(6.0 * 240.0 / 2.0));
    let unknown = plan(SMALL).estimate(1);
    assert_eq!((unknown.seconds_at_least, unknown.cells_unknown), (None, 2));
    let budget = format!("{SMALL}[run]\nexpected = '1 s'\n[repeats]\nbudget = '20 s'\n");
    assert_eq!(plan(&budget).estimate(1).seconds_at_most, Some(20.0));
}

#[test]
fn earlier_records_give_times_and_only_warn() {
    let campaign =
        Campaign::parse("c.toml", &format!("{SMALL}[run]\ntimeout = '1 min'\n"), Path::new("."), &registry())
            .unwrap();
    let earlier = |_: &CellId| Some(120.0);
    let plan = campaign.plan(&PlanContext { earlier: &earlier, ..PlanContext::default() }).unwrap();
    assert_eq!(plan.expected_s(0), Some(120.0));
    assert!(plan.warnings.render(false).contains("runs took 2 min before"), "{}", plan.warnings);
}

#[test]
fn probed_limits_fill_what_the_catalog_leaves_open() {
    let text = format!("{SMALL}[resources]\ntasks_per_node = 'batch'\n");
    let campaign = Campaign::parse("c.toml", &text, Path::new("."), &registry()).unwrap();
    let mut context = PlanContext::default();
    context.limits.insert(
        "local".into(),
        assay_model::platform::Limits { cpus_per_node: Some(8), ..Default::default() },
    );
    let problems = campaign.plan(&context).unwrap_err();
    assert!(problems.to_string().contains("16 tasks per node at 1 CPU each need 16 CPUs"), "{problems}");
    assert_eq!(plan(&text).resources(1).tasks_per_node, Some(16));
}

#[test]
fn jobs_that_ask_for_more_time_than_their_partition_gives_are_refused() {
    let refused = |platform: &str, run: &str| {
        let mut registry = Registry { launchers: vec!["slurm".into()], ..registry() };
        registry.platforms = Catalog::embedded().platforms().to_vec();
        let text = format!(
            "name = 'times'\n[workload]\ncommand = 'true'\n[platform.slurm-gpu]\n{platform}\n\
             [run]\nplatforms = ['slurm-gpu']\n{run}"
        );
        let campaign = Campaign::parse("c.toml", &text, Path::new("."), &registry).unwrap();
        let mut context = PlanContext::default();
        let limits = assay_model::platform::Limits { time_s: Some(120.0), ..Default::default() };
        context.limits.insert("slurm-gpu".into(), limits);
        campaign.plan(&context).err().map(|problems| problems.to_string())
    };
    let text = refused("time = '5 min'", "").unwrap();
    assert!(text.contains("a job requests 5 min, `slurm-gpu` gives a job at most 2 min"), "{text}");
    assert!(text.contains("c.toml:5:8") && text.contains("`time` of at most 2 min fits"), "{text}");
    let text = refused("", "timeout = '90 s'\ngrace = '10 s'").unwrap();
    assert!(text.contains("requests 3 min") && text.contains("c.toml:8:11"), "{text}");
    assert!(text.contains("`timeout` of at most 50 s fits"), "{text}");
    let text = refused("time = '1 min'\npack = 4", "").unwrap();
    assert!(
        text.contains("a job of 4 runs requests 4 min") && text.contains("`pack` of at most 2 fits"),
        "{text}"
    );
    assert_eq!(refused("time = '1 min'\npack = 2", ""), None);
}

#[test]
fn gates_are_in_base_units_and_apply_where_they_should() {
    let text = format!(
        "{SMALL}[[read.pattern]]\nmetric = 'speed'\nregex = '(?P<value>[0-9.]+) (MB|GB)/s'\nunit = 'MB/s'\n\
         [[gate]]\nmetric = 'speed'\nmin = 2\nwhere = 'batch == 8'\n\
         [[gate]]\nmetric = 'speed'\nexpect = 3\nunit = 'GB/s'\nwithin = 0.1\n"
    );
    let plan = plan(&text);
    assert_eq!(plan.patterns[0].group, 1);
    assert_eq!(plan.gates[0].bound, Bound::Range { min: Some(2e6), max: None });
    assert_eq!(plan.gates[1].bound, Bound::Near { expect: 3e9, within: 0.1 });
    let points = |gate: usize| plan.gates[gate].points.as_ref().map(Vec::len);
    assert_eq!((points(0), points(1)), (Some(1), None));
}

#[test]
fn a_metric_that_only_a_dialect_finds_can_be_declared() {
    let text = format!(
        "{SMALL}[read]\nheadline = 'widgets'\n[[read.metric]]\nname = 'widgets'\nunit = 'widgets/s'\n"
    );
    assert_eq!(plan(&text).headline, "widgets");
    assert_eq!(plan(&text).metrics[0].better, Some(assay_model::Direction::Higher));
}

/// What the example shows in comments must be right too, as far as keys and syntax go.
#[test]
fn the_commented_parts_of_the_example_are_valid_keys() {
    let is_code = |line: &str| {
        let word = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(line.len());
        line.starts_with('[') || (word > 0 && line.get(word..).is_some_and(|rest| rest.starts_with(" = ")))
    };
    let mut uncommented = 0;
    let lines: Vec<&str> = assay_campaign::EXAMPLE
        .lines()
        .map(|line| match line.strip_prefix("# ").filter(|rest| is_code(rest)) {
            Some(code) => {
                uncommented += 1;
                code
            }
            None => line,
        })
        .collect();
    assert!(uncommented > 30, "{uncommented}");
    let diagnostics = match Campaign::parse("c.toml", &lines.join("\n"), Path::new("."), &registry()) {
        Ok(_) => String::new(),
        Err(problems) => problems.render(false),
    };
    assert!(!diagnostics.contains("unknown key") && !diagnostics.contains("not valid TOML"), "{diagnostics}");
}
