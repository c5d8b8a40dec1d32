use proptest::prelude::*;

use super::super::html::HtmlTable;
use super::super::pipe::PipeTable;
use super::*;

fn pipe(text: &str) -> RawTable {
    let mut table = PipeTable::default();
    for (index, line) in text.lines().enumerate() {
        table.push(index as u64 + 1, line);
    }
    table.finish().unwrap()
}

fn roles(table: &Table) -> Vec<Role> {
    table.columns.iter().map(|column| column.role.clone()).collect()
}

fn metric(name: &str) -> Role {
    Role::Metric(name.to_owned())
}

fn set(name: &str) -> Role {
    Role::Setting(name.to_owned())
}

#[test]
fn settings_metrics_and_units_by_header() {
    let raw = pipe(
        "| Batch Size | Samples processed | Time (ms) | Rate (samples/s) | Final Loss | Remark |\n|-|-|-|-|-|-|\n\
         | 512 | 512,000 | 174285.041 | 2937.72 | 7.1 | good |\n| 1024 | 1024000 | 211352 | TBD |  | fair |",
    );
    let table =
        interpret(raw, &Context { headings: vec!["Cerebras".into(), "Runs".into()], ..Context::default() });
    assert_eq!(
        roles(&table),
        [
            set("batch_size"),
            metric("samples"),
            metric("duration.reported"),
            metric("samples_per_s"),
            metric("loss.final"),
            Role::Label
        ]
    );
    assert_eq!(table.platform.as_deref(), Some("cerebras"));
    assert_eq!(table.rows[0].cells[2].value, Some(174.285041));
    assert_eq!(table.rows[0].cells[1].value, Some(512000.0));
    assert_eq!(table.rows[1].cells[3].problem.as_deref(), Some("`TBD` instead of a number"));
    assert_eq!(table.rows[1].cells[4].problem.as_deref(), Some("empty"));
    assert_eq!(table.rows[0].cells[5].problem, None);
}

#[test]
fn shares_without_a_sign_are_percentages_where_they_must_be() {
    let table = interpret(
        pipe("| N Epochs | Test Accuracy |\n|-|-|\n| 10 | 98.05 |\n| 20 | 97.61 |"),
        &Context::default(),
    );
    assert_eq!(table.rows[0].cells[1].value, Some(0.9805));
    let table = interpret(
        pipe("| N Epochs | Test Accuracy |\n|-|-|\n| 10 | 0.98 |\n| 20 | 0.97 |"),
        &Context::default(),
    );
    assert_eq!(table.rows[0].cells[1].value, Some(0.98));
    assert_eq!(table.rows[0].cells[1].unit, Some(Unit::Fraction));
}

#[test]
fn metrics_in_rows_and_systems_in_columns() {
    let table = interpret(
        pipe(
            "| Metric | One (IPU) | Two (GPU) | Ratio |\n|-|-|-|-|\n| **Mean Latency** | 4.987s | 1.621s | **3.07× faster** |\n\
             | P99 latency (ms) | 5535 | 3133 | 1.77× |\n| Throughput | 65.37 tokens/sec | 203.98 tokens/sec | Similar |\n\
             | Success Rate | 10/10 (100%) | 9/10 (90%) | Equal |",
        ),
        &Context::default(),
    );
    assert!(table.transposed);
    let rows: Vec<Role> = table.rows.iter().map(|row| row.role.clone()).collect();
    assert_eq!(rows, [metric("e2e"), metric("e2e.p99"), metric("tokens_per_s.unnamed"), metric("success")]);
    assert_eq!(table.columns[3].role, Role::Ratio);
    assert_eq!(table.rows[0].cells[3].value, Some(3.07));
    assert_eq!(table.rows[1].cells[1].value, Some(5.535));
    assert_eq!(table.rows[3].cells[2].value, Some(0.9));
}

#[test]
fn devices_by_name_and_by_number() {
    let table = interpret(
        pipe("| GPU | Throughput (tokens/s) |\n|-|-|\n| A100 | 10 |\n| H100 | 20 |"),
        &Context::default(),
    );
    assert_eq!(roles(&table), [set("device"), metric("tokens_per_s.unnamed")]);
    let table = interpret(
        pipe("| GPUs | Tokens/s | Loss |\n|-|-|-|\n| 1 | 10 | 2.5 |\n| 2 | 20 | 2.4 |"),
        &Context::default(),
    );
    assert_eq!(roles(&table), [set("devices"), metric("tokens_per_s"), metric("loss.train")]);
}

#[test]
fn repeats_take_the_metric_of_their_mean() {
    let table = interpret(
        pipe(
            "| Batch | Run 1 | Run 2 | Mean time (s) | Std (s) |\n|-|-|-|-|-|\n| 8 | 1.5 | 1.7 | 1.6 | 0.1 |",
        ),
        &Context::default(),
    );
    assert_eq!(
        roles(&table)[1..4],
        [metric("duration.reported"), metric("duration.reported"), metric("duration.reported")]
    );
    assert_eq!(table.rows[0].cells[1].unit, Some(Unit::Seconds));
    assert_eq!(roles(&table)[4], metric("duration.reported.std"));
    let table = interpret(
        pipe(
            "| Model | params | Time (s) | Median | p99 latency |\n|-|-|-|-|-|\n| a | 6.74 B | 1.5 | 1.7 | 1 ms |",
        ),
        &Context::default(),
    );
    assert_eq!(
        roles(&table)[1..4],
        [metric("parameters"), metric("duration.reported"), metric("duration.reported.median")]
    );
    assert_eq!(
        (table.rows[0].cells[1].value, table.rows[0].cells[3].unit.clone()),
        (Some(6.74e9), Some(Unit::Seconds))
    );
}

#[test]
fn words_where_numbers_are_due_are_problems_and_dashes_are_not() {
    let table = interpret(
        pipe("| Source | Latency (ms) |\n|-|-|\n| a | 2.2 |\n| b | -- |\n| c | crashed |"),
        &Context::default(),
    );
    assert_eq!(roles(&table), [Role::Label, metric("e2e")]);
    assert_eq!(table.rows[1].cells[1].problem, None);
    assert_eq!(table.rows[2].cells[1].problem.as_deref(), Some("`crashed` where a number is due"));
}

proptest! {
    #[test]
    fn any_table_is_read_without_panic(
        header in proptest::collection::vec("[A-Za-z ()/%]{0,16}|Batch Size|Time \\(s\\)|Accuracy|Run 1|Step|CPU / loss", 0..6),
        rows in proptest::collection::vec(proptest::collection::vec(".{0,8}|[0-9.]{1,5}(ms|%|s)?|Latency|Loss", 0..7), 0..6),
    ) {
        let rows: Vec<Vec<(String, u64)>> =
            rows.into_iter().map(|row| row.into_iter().map(|text| (text, 1)).collect()).collect();
        let context = Context { recent: vec![(1, "epochs = 3".into())], ..Context::default() };
        let table = interpret(RawTable { first: 1, last: 2, header, rows, ..RawTable::default() }, &context);
        let _ = super::super::rows::runs(&table, &context);
    }

    #[test]
    fn any_html_is_interpreted_without_panic(text in "(<t[rdh]( rowspan=2| colspan=3)?>|[A-Za-z0-9 %]{0,6}){0,30}") {
        let mut table = HtmlTable::default();
        table.push(1, &format!("<table>{text}"));
        if let Some(raw) = table.finish() {
            let _ = interpret(raw, &Context::default());
        }
    }
}

#[test]
fn what_stands_left_of_the_results_is_a_setting_under_its_own_name() {
    let header = "| Block (bytes) | Run | Size (MB) | Seconds | Rate (MB/s) |\n|-|-|-|-|-|\n";
    let rows = "| 16 | 1 | 500 | 0.34 | 1470.6 |\n| 64 | 1 | 500 | 0.17 | 2941.2 |";
    let table = interpret(pipe(&format!("{header}{rows}")), &Context::default());
    assert_eq!(
        roles(&table),
        [set("block"), Role::Unknown, set("size"), metric("duration.reported"), metric("bytes_per_s")]
    );
    assert_eq!(table.rows[0].cells[4].value, Some(1470.6e6));
    let blocks = |metric: &str| {
        let text = format!("| Block size | {metric} |\n|-|-|\n| 16 | 14.5 |\n| 64 | 15.5 |");
        roles(&interpret(pipe(&text), &Context::default())).remove(0)
    };
    assert_eq!(blocks("Throughput (GB/s)"), set("block_size"));
    assert_eq!(blocks("Throughput (tokens/s)"), set("sequence_length"));
    let named =
        interpret(pipe("| Place | Accuracy |\n|-|-|\n| 1 | 98 % |\n| 2 | 97 % |"), &Context::default());
    assert_eq!(named.columns[0].role, Role::Unknown);
}

#[test]
fn a_row_with_fewer_repeats_keeps_its_mean() {
    let text = "| Block | Run 1 (MB/s) | Run 2 (MB/s) | Run 3 (MB/s) | Mean (MB/s) |\n|-|-|-|-|-|\n\
                | 16 | 10 | 11 | 12 | 11 |\n| 64 | 20 | 21 | 20.5 |";
    let table = interpret(pipe(text), &Context::default());
    assert_eq!(table.rows[1].cells[3].value, None);
    assert_eq!(table.rows[1].cells[4].value, Some(20.5e6));
}
