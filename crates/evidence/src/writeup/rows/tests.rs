use super::super::grid::GridTable;
use super::super::html::HtmlTable;
use super::super::interpret::interpret;
use super::super::pipe::PipeTable;
use super::super::raw::RawTable;
use super::*;
use assay_model::Scope;

fn pipe(text: &str) -> RawTable {
    let mut table = PipeTable::default();
    for (index, line) in text.lines().enumerate() {
        table.push(index as u64 + 1, line);
    }
    table.finish().unwrap()
}

fn read(raw: RawTable, context: &Context) -> Vec<ReadRun> {
    runs(&interpret(raw, context), context)
}

fn setting_of<'a>(run: &'a ReadRun, name: &str) -> Option<(&'a Value, &'a str)> {
    run.settings.iter().find(|fact| fact.name == name).map(|fact| (&fact.value, fact.by.as_str()))
}

fn observed<'a>(run: &'a ReadRun, name: &str) -> Option<&'a Observation> {
    run.observations.iter().find(|observation| observation.metric == name)
}

fn context(heading: &str, recent: &[&str]) -> Context {
    Context {
        file: "report.md".into(),
        headings: vec![heading.into()],
        platform: None,
        recent: recent
            .iter()
            .enumerate()
            .map(|(index, line)| (index as u64 * 5 + 1, (*line).to_owned()))
            .collect(),
    }
}

#[test]
fn a_row_is_a_run_with_settings_of_table_and_prose() {
    let context = context(
        "Graphcore trials",
        &["Trials over [8, 16] with the number of epochs = 10 and a learning rate of 0.03."],
    );
    let found = read(
        pipe("| Batch Size | Test Accuracy |\n|-|-|\n| 8 | 98.05% |\n| 16 |  |\n| 32 | 97.61% |"),
        &context,
    );
    assert_eq!(found.len(), 2);
    let run = &found[0];
    assert_eq!(setting_of(run, "batch_size"), Some((&Value::Integer(8), "table")));
    assert_eq!(setting_of(run, "epochs"), Some((&Value::Integer(10), "prose")));
    assert_eq!(setting_of(run, "learning_rate"), Some((&Value::Float(0.03), "prose")));
    assert_eq!(
        (run.platform.as_deref(), run.title.as_deref()),
        (Some("graphcore"), Some("Graphcore trials"))
    );
    assert_eq!((run.dialects.as_slice(), &run.status), (["table".to_owned()].as_slice(), &Status::Unknown));
    let accuracy = observed(run, "accuracy").unwrap();
    assert_eq!((accuracy.value, accuracy.written.as_deref()), (0.9805, Some("98.05%")));
    assert_eq!(accuracy.source, Some(Source::new("report.md", 3)));
}

#[test]
fn rates_get_the_count_and_seconds_beside_them() {
    let found = read(
        pipe(
            "| Batch | Number of samples | Time (s) | Rate (samples/s) | Avg Rate (samples/s) |\n|-|-|-|-|-|\n| 512 | 512000 | 174.285 | 2937.72 | 2940 |",
        ),
        &context("A", &[]),
    );
    let rate = observed(&found[0], "samples_per_s").unwrap();
    assert_eq!((rate.count, rate.seconds), (Some(512000.0), Some(174.285)));
    let instant = observed(&found[0], "samples_per_s.instant").unwrap();
    assert_eq!((instant.count, instant.scope), (None, Some(Scope::Instant)));
}

#[test]
fn groups_of_columns_are_runs_of_their_own() {
    let mut table = HtmlTable::default();
    let text = "<table><tr><th rowspan=2>Size<th rowspan=2>num_params<th colspan=2>CPU<th colspan=2>CUDA</tr>\n\
                <tr><th>forward_time<th>forward+backward<th>forward_time<th>forward+backward</tr>\n\
                <tr><td>small<td>120.9M<td>250.7ms<td>965.8ms<td>24.2ms<td>80.4msa</tr>\n\
                <tr><td>2.7B<td>3.38B<td>4685.3ms<td>81446.5ms<td>TBD<td></tr></table>";
    for (index, line) in text.lines().enumerate() {
        table.push(index as u64 + 1, line);
    }
    let found = read(table.finish().unwrap(), &context("Times", &[]));
    let shape: Vec<(&str, &str, usize)> = found
        .iter()
        .map(|run| (run.title.as_deref().unwrap(), run.platform.as_deref().unwrap(), run.observations.len()))
        .collect();
    assert_eq!(shape, [("small / CPU", "cpu", 3), ("small / CUDA", "nvidia", 2), ("2.7B / CPU", "cpu", 3)]);
    assert_eq!(setting_of(&found[2], "model"), Some((&Value::from("2.7B"), "table")));
    assert_eq!(setting_of(&found[0], "device"), Some((&Value::from("CPU"), "table")));
    assert_eq!(observed(&found[1], "time.forward").unwrap().value, 0.0242);
    assert_eq!(observed(&found[0], "parameters").unwrap().value, 120.9e6);
}

#[test]
fn devices_in_flat_headers_make_groups_too() {
    let found = read(
        pipe("| Size | CPU forward (ms) | GPU forward (ms) |\n|-|-|-|\n| small | 250 | 24 |"),
        &context("T", &[]),
    );
    assert_eq!(found.len(), 2);
    assert_eq!(observed(&found[1], "time.forward").unwrap().value, 0.024);
    let one = read(
        pipe("| Size | Latency (ms) | GPU memory (GB) | CPU memory (GB) |\n|-|-|-|-|\n| s | 2 | 3 | 4 |"),
        &context("T", &[]),
    );
    assert_eq!(one.len(), 1);
}

#[test]
fn predictions_are_tagged_and_dashes_are_absent() {
    let mut table = GridTable::default();
    for (index, line) in [
        "+--------+----------+-------------------------+----------------------+-------------+",
        "| Source | Accuracy | end-to-end latency (ms) | on-chip latency (ms) | on-chip IPS |",
        "+--------+----------+-------------------------+----------------------+-------------+",
        "|  cpu   |  77.47%  |          2.21           |          --          |      --     |",
        "|  groq  |  77.47%  |          0.05           |         0.03         |   37576.72  |",
        "+--------+----------+-------------------------+----------------------+-------------+",
    ]
    .iter()
    .enumerate()
    {
        assert!(table.push(index as u64 + 1, line));
    }
    let found = read(table.finish().unwrap(), &context("Chip", &[]));
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].title.as_deref(), found[0].platform.as_deref()), (Some("cpu"), Some("cpu")));
    assert_eq!(found[0].observations.len(), 2);
    let estimate = observed(&found[1], "inferences_per_s.estimated").unwrap();
    assert_eq!((estimate.value, estimate.origin), (37576.72, Origin::Prediction));
    assert_eq!(observed(&found[1], "e2e").unwrap().origin, Origin::Reported);
    assert_eq!(observed(&found[1], "latency.estimated").unwrap().value, 3e-5);
}

#[test]
fn systems_in_columns_are_runs() {
    let found = read(
        pipe(
            "| Metric | One (SambaNova) | Two (GPU) | Ratio |\n|-|-|-|-|\n| Mean Latency | 4.987s | 1.621s | 3.07× |\n| Success Rate | 10/10 (100%) | 9/10 (90%) | - |",
        ),
        &context("Endpoints", &["I sent 10 prompts to each."]),
    );
    assert_eq!(found.len(), 2);
    assert_eq!(
        (found[0].title.as_deref(), found[0].platform.as_deref()),
        (Some("One (SambaNova)"), Some("sambanova"))
    );
    assert_eq!(observed(&found[1], "e2e").unwrap().value, 1.621);
    assert_eq!(observed(&found[1], "success").unwrap().count, Some(10.0));
    assert_eq!(setting_of(&found[1], "requests"), Some((&Value::Integer(10), "prose")));
}

#[test]
fn a_column_of_steps_makes_one_run_with_series() {
    let found = read(
        pipe("| Epoch | Loss | Accuracy |\n|-|-|-|\n| 1 | 2.5 | 40% |\n| 2 | 1.5 | 60% |\n| 3 | | 70% |"),
        &context("T", &[]),
    );
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].series[0].values, [2.5, 1.5]);
    assert_eq!(found[0].series[1].steps, [1.0, 2.0, 3.0]);
    assert_eq!(observed(&found[0], "accuracy").unwrap().value, 0.7);
}

#[test]
fn repeats_in_columns_are_runs() {
    let found = read(
        pipe("| Batch | Run 1 | Run 2 | Mean time (s) |\n|-|-|-|-|\n| 8 | 1.5 | 1.7 | 1.6 |"),
        &context("T", &[]),
    );
    let values: Vec<f64> =
        found.iter().map(|run| observed(run, "duration.reported").unwrap().value).collect();
    assert_eq!(values, [1.5, 1.7]);
    assert_eq!(setting_of(&found[1], "batch_size"), Some((&Value::Integer(8), "table")));
}

#[test]
fn a_setting_with_two_values_in_one_list_belongs_to_neither() {
    let context = Context {
        recent: vec![(1, "- One: `some-7b`".into()), (2, "- Two: `other-70b`".into())],
        ..context("T", &[])
    };
    let found = read(pipe("| Name | Latency (s) |\n|-|-|\n| a | 1 |"), &context);
    assert_eq!(setting_of(&found[0], "model"), None);
}

#[test]
fn times_without_a_unit_have_an_unknown_one() {
    let found = read(
        pipe("| Batch | Latency | Deviation of time ± std (s) |\n|-|-|-|\n| 8 | 1.5 | 2.0 ± 0.5 |"),
        &context("T", &[]),
    );
    assert_eq!(observed(&found[0], "e2e").unwrap().unit, unknown());
    assert_eq!(observed(&found[0], "duration.reported.std").map(|own| own.value), Some(2.0));
}

#[test]
fn statistics_in_columns_belong_to_one_run() {
    let found = read(
        pipe("| Metric | Mean | P99 |\n|-|-|-|\n| TTFT (ms) | 120.5 | 340 |\n| E2E latency (s) | 4.5 | 9 |"),
        &context("Endpoint", &[]),
    );
    assert_eq!(found.len(), 1);
    let names: Vec<(&str, f64)> =
        found[0].observations.iter().map(|own| (own.metric.as_str(), own.value)).collect();
    assert_eq!(names, [("ttft", 0.1205), ("ttft.p99", 0.34), ("e2e", 4.5), ("e2e.p99", 9.0)]);
}

#[test]
fn a_column_of_repeats_is_the_count_of_the_means_beside_it() {
    let found = read(
        pipe(
            "| Config | n | Mean time (s) | Throughput (images/s) | Speedup |\n|-|-|-|-|-|\n| base | 8 | 1.2 | 40 | 1.5x |",
        ),
        &context("T", &[]),
    );
    assert_eq!(observed(&found[0], "duration.reported").unwrap().count, Some(8.0));
    assert_eq!(observed(&found[0], "samples_per_s").unwrap().unit, Unit::PerSecond("samples".into()));
    assert_eq!(observed(&found[0], "speedup").unwrap().unit, Unit::One);
}

#[test]
fn a_cell_that_lists_its_runs_gives_samples() {
    let found = read(
        pipe(
            "| Distance | Runs | Mean rate (MB/s) | Rates (MB/s) |\n|-|-|-|-|\n| 2 | 3 | 11 ± 1 | 10, 11, 12 |\n| 8 | 3 | 12 ± 1 | 11, 12, 13 |",
        ),
        &Context::default(),
    );
    assert_eq!(found.len(), 2);
    assert_eq!(setting_of(&found[0], "distance"), Some((&Value::Integer(2), "table")));
    assert_eq!(observed(&found[0], "bytes_per_s").map(|one| one.value), Some(11e6));
    assert_eq!(found[0].series[0].values, [10e6, 11e6, 12e6]);
}
