//! Campaigns built in code go through the checks of a file and give the plan that their text gives.

use std::path::Path;

use assay_campaign::{Campaign, CampaignBuilder, Catalog, OrderBy, PlanContext, Registry};
use assay_model::{SettingDescription, SettingKind, Value, WorkloadDescription};

fn registry() -> Registry {
    let setting = |name: &str, default: i64| SettingDescription {
        name: name.to_owned(),
        summary: format!("The {name}"),
        kind: SettingKind::Integer { min: 1, max: 64 },
        default: Some(Value::Integer(default)),
        optional: false,
    };
    Registry {
        workloads: vec![WorkloadDescription {
            name: "sort".to_owned(),
            summary: "Sorts numbers".to_owned(),
            settings: vec![setting("batch", 8), setting("tasks", 1)],
            command: "{assay} work sort batch={batch} tasks={tasks}".to_owned(),
            headline: "duration.wall".to_owned(),
        }],
        launchers: vec!["local".to_owned()],
        platforms: Catalog::embedded().platforms().to_vec(),
        ..Registry::default()
    }
}

fn numbers(values: &[i64]) -> Vec<Value> {
    values.iter().map(|value| Value::Integer(*value)).collect()
}

fn build(builder: CampaignBuilder) -> Result<Campaign, String> {
    builder.build(Path::new("/"), &registry()).map_err(|problems| problems.render(false))
}

#[test]
fn the_text_of_a_built_campaign_gives_the_same_plan() {
    let builder = Campaign::for_workload("demo", "sort")
        .question("How fast is it?")
        .vary("tasks", numbers(&[1, 2, 4]))
        .setting("batch", numbers(&[8, 16]))
        .fixed("site", "here")
        .labels(["site".to_owned()])
        .exclude("tasks == 4 and batch == 8")
        .repeats(3)
        .at_most(9)
        .precision(0.02)
        .order(OrderBy::Cells)
        .shuffle(false)
        .seed(7)
        .timeout(90.5);
    let built = build(builder).unwrap();
    let plan = built.plan(&PlanContext::default()).unwrap();
    assert_eq!(plan.cells.len(), 5);
    assert_eq!(plan.varied, ["tasks", "batch"]);
    let read = Campaign::parse("demo.toml", &built.text, Path::new("/"), &registry()).unwrap();
    let again = read.plan(&PlanContext::default()).unwrap();
    assert_eq!(again.hash, plan.hash);
    assert_eq!(again.cells, plan.cells);
    assert_eq!(again.varied, plan.varied);
    assert_eq!((again.question, again.repeats), (plan.question, plan.repeats));
    assert_eq!((again.order, read.run.timeout_s), (plan.order, Some(90.5)));
    assert!(plan.warnings.is_empty() && again.warnings.is_empty());
}

#[test]
fn one_value_is_fixed_and_several_are_varied() {
    let one = build(Campaign::for_workload("demo", "sort").setting("batch", numbers(&[16]))).unwrap();
    assert_eq!(one.sweep.fixed["batch"], Value::Integer(16));
    assert!(one.sweep.axes.is_empty());
    let several = build(Campaign::for_workload("demo", "sort").setting("batch", numbers(&[16, 32]))).unwrap();
    assert_eq!(several.sweep.varied(), ["batch"]);
    assert_eq!(several.sweep.axes[0].rows.len(), 2);
}

#[test]
fn problems_name_settings_and_no_file() {
    let wrong = build(
        Campaign::for_workload("demo", "sort")
            .vary("batch", numbers(&[8, 65]))
            .fixed("taskz", 2)
            .exclude("batsh == 8")
            .precision(2.0)
            .timeout(0.0)
            .headline("wal"),
    )
    .unwrap_err();
    for part in [
        "`batch` is 65, but the largest allowed is 64",
        "the workload `sort` has no setting `taskz`",
        "did you mean `tasks`?",
        "`batsh` is not a setting",
        "200% is not a share",
        "timeout",
        "unknown metric `wal`",
    ] {
        assert!(wrong.contains(part), "{part} is missing in\n{wrong}");
    }
    assert!(!wrong.contains("-->") && !wrong.contains("toml") && !wrong.contains("[fixed]"), "{wrong}");
    let unknown = build(Campaign::for_workload("demo", "sorrt")).unwrap_err();
    assert!(unknown.contains("did you mean `sort`?"), "{unknown}");
    let bad = build(Campaign::for_workload("../demo", "sort").repeats(0)).unwrap_err();
    assert!(bad.contains("`../demo` cannot be the name of a campaign"), "{bad}");
    assert!(bad.contains("repeats must be at least 1"), "{bad}");
    let all = Campaign::for_workload("demo", "sort").exclude("batch == 8");
    let campaign = build(all).unwrap();
    let empty = campaign.plan(&PlanContext::default()).unwrap_err().render(false);
    assert!(empty.contains("excluded") && !empty.contains("-->"), "{empty}");
}
