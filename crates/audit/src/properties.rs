//! No document makes the audit panic, whatever was read.

use assay_model::document::Standing as Known;
use assay_model::{
    Column, Document, Failure, Hint, KnownBy, Observation, Origin, Phase, Quantity, ReadRun, Role, Scope,
    Series, SettingFact, Source, Span, Statement, Status, Table, TableCell, TableRow, Unit, Value, names,
};
use proptest::prelude::*;

use super::audit;

const WORDS: [&str; 26] = [
    "the best",
    "accuracy",
    "is faster",
    "than",
    "loss",
    "more repeats",
    "same",
    "cache",
    "compile",
    "took",
    "MNIST",
    "overfit",
    "mean of",
    "rate",
    "longer",
    "nan",
    "±",
    "3.07×",
    "98.05%",
    "±0",
    "1e999",
    "-",
    "failed",
    "profiler",
    "ß∞",
    "",
];

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => (0_u32..2000).prop_map(|number| f64::from(number) / 8.0),
        2 => any::<f64>(),
        1 => Just(0.0),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(f64::MIN_POSITIVE),
    ]
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::collection::vec(prop::sample::select(WORDS.as_slice()), 0..6).prop_map(|words| words.join(" ")),
        1 => ".{0,20}",
    ]
}

fn any_metric() -> impl Strategy<Value = String> {
    let known: Vec<&'static str> = names::METRICS.iter().map(|metric| metric.name).collect();
    prop_oneof![
        6 => prop::sample::select(known.clone()).prop_map(str::to_owned),
        1 => prop::sample::select(known).prop_map(|name| format!("{name}.std")),
        1 => ".{0,6}",
    ]
}

fn any_setting() -> impl Strategy<Value = String> {
    prop::sample::select(
        [
            "batch_size",
            "epochs",
            "tasks",
            "devices",
            "model",
            "profiler",
            "compile_cache",
            "classes",
            "seed",
            "d_model",
        ]
        .as_slice(),
    )
    .prop_map(str::to_owned)
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => (-3_i64..20).prop_map(Value::Integer),
        1 => any_number().prop_map(Value::Float),
        1 => any_text().prop_map(Value::Text),
        1 => any::<bool>().prop_map(Value::Switch),
    ]
}

fn any_unit() -> impl Strategy<Value = Unit> {
    prop::sample::select(["", "s", "fraction", "samples", "samples/s", "times", "inferences/s"].as_slice())
        .prop_map(|text| if text == "times" { Unit::Other("times".to_owned()) } else { Unit::parse(text).0 })
}

fn source(line: u64) -> Source {
    Source::new("any", line)
}

fn any_observation() -> impl Strategy<Value = Observation> {
    let origin = prop::sample::select([Origin::Reported, Origin::Derived, Origin::Prediction].as_slice());
    let scope = prop::option::of(prop::sample::select(
        [Scope::Loop, Scope::Fit, Scope::Job, Scope::Instant].as_slice(),
    ));
    (
        any_metric(),
        any_number(),
        origin,
        scope,
        prop::option::of(any_number()),
        prop::option::of(any_text()),
        any_unit(),
    )
        .prop_map(|(metric, value, origin, scope, count, written, unit)| Observation {
            scope,
            count,
            seconds: count,
            written,
            source: Some(source(3)),
            ..Observation::new(&metric, value, unit, origin)
        })
}

fn any_status() -> impl Strategy<Value = Status> {
    prop_oneof![
        4 => Just(Status::Succeeded),
        2 => Just(Status::Unknown),
        1 => any_text().prop_map(|reason| Status::GateFailed { reason }),
        1 => any_text().prop_map(|reason| Status::Failed { failure: Failure::WorkloadEvent { reason } }),
        1 => Just(Status::Truncated),
    ]
}

fn any_phase() -> impl Strategy<Value = Phase> {
    let name = prop::sample::select(assay_model::document::PHASES.as_slice());
    let seconds = || prop::option::of(any_number());
    (name, seconds(), seconds(), seconds(), any::<bool>()).prop_map(|(name, start_s, end_s, seconds, bar)| {
        Phase {
            name: name.to_owned(),
            start_s,
            end_s,
            seconds,
            known_by: if bar { KnownBy::Bar } else { KnownBy::Timestamp },
            source: source(2),
        }
    })
}

fn any_series() -> impl Strategy<Value = Series> {
    let points = prop::collection::vec((any_number(), any_number(), any_number()), 0..8);
    (any_metric(), points, any::<bool>()).prop_map(|(metric, points, timed)| Series {
        metric,
        values: points.iter().map(|point| point.0).collect(),
        seen: points.len() as u64,
        steps: points.iter().map(|point| point.1).collect(),
        at_s: if timed { points.iter().map(|point| point.2).collect() } else { Vec::new() },
        ..Series::default()
    })
}

fn any_fact() -> impl Strategy<Value = SettingFact> {
    let by = prop::sample::select(["prose", "table", "log", "command line", "configuration"].as_slice());
    (any_setting(), any_value(), any::<bool>(), by).prop_map(|(name, value, seen, by)| SettingFact {
        name,
        value,
        standing: if seen { Known::Observed } else { Known::Declared },
        by: by.to_owned(),
        arithmetic: None,
        source: source(1),
    })
}

fn any_run() -> impl Strategy<Value = ReadRun> {
    let dialect = prop::sample::select(["table", "cerebras", "poptorch", "tqdm", "groq"].as_slice());
    let parts = (
        prop::collection::vec(any_fact(), 0..5),
        prop::collection::vec(any_phase(), 0..5),
        prop::collection::vec(any_observation(), 0..6),
        prop::collection::vec(any_series(), 0..3),
        prop::collection::vec(any_text(), 0..2),
    );
    (dialect, prop::option::of(any_text()), any_status(), parts, 0_u64..12).prop_map(
        |(dialect, platform, status, (settings, phases, observations, series, hints), line)| ReadRun {
            version: 1,
            span: Span::new("any", line, line),
            title: platform.clone(),
            dialects: vec![dialect.to_owned()],
            platform: platform.map(|_| "cerebras".to_owned()),
            status,
            settings,
            phases,
            observations,
            series,
            hints: hints
                .into_iter()
                .map(|seen| Hint { seen, advice: String::new(), source: source(line) })
                .collect(),
            ..ReadRun::default()
        },
    )
}

fn any_role() -> impl Strategy<Value = Role> {
    prop_oneof![
        any_setting().prop_map(Role::Setting),
        any_metric().prop_map(Role::Metric),
        Just(Role::Label),
        Just(Role::Ratio),
        Just(Role::Unknown),
    ]
}

fn any_cell() -> impl Strategy<Value = TableCell> {
    (any_text(), prop::option::of(any_number()), prop::option::of(any_unit()), prop::option::of(any_text()))
        .prop_map(|(text, value, unit, problem)| TableCell { text, line: 4, value, unit, problem })
}

fn any_table() -> impl Strategy<Value = Table> {
    let column = (any_text(), any_role()).prop_map(|(header, role)| Column { header, role });
    let row = (0_u64..12, prop::collection::vec(any_cell(), 0..5), any_role())
        .prop_map(|(line, cells, role)| TableRow { line, cells, role });
    let headings = prop::collection::vec(any_text(), 0..3);
    (prop::collection::vec(column, 0..5), prop::collection::vec(row, 0..5), headings, any::<bool>()).prop_map(
        |(columns, rows, headings, transposed)| Table {
            span: Span::new("any", 0, 11),
            headings,
            platform: Some("cerebras".to_owned()),
            columns,
            rows,
            transposed,
        },
    )
}

fn any_statement() -> impl Strategy<Value = Statement> {
    let quantity = (
        any_number(),
        prop::option::of(any_number()),
        any_unit(),
        any_text(),
        prop::option::of(any_metric()),
    )
        .prop_map(|(value, to, unit, text, name)| Quantity { value, to, unit, text, name });
    (any_text(), prop::collection::vec(any_text(), 0..3), prop::collection::vec(quantity, 0..4)).prop_map(
        |(text, headings, quantities)| Statement { text, span: Span::new("any", 9, 9), headings, quantities },
    )
}

fn any_document() -> impl Strategy<Value = Document> {
    (
        prop::collection::vec(any_run(), 0..6),
        prop::collection::vec(any_table(), 0..3),
        prop::collection::vec(any_statement(), 0..5),
    )
        .prop_map(|(runs, tables, statements)| Document {
            file: "any".to_owned(),
            lines: 12,
            runs,
            tables,
            statements,
            ..Document::default()
        })
}

proptest! {
    #[test]
    fn no_document_makes_the_audit_panic(documents in prop::collection::vec(any_document(), 0..4)) {
        let audit = audit(&documents);
        for finding in &audit.findings {
            prop_assert!(!finding.sources.is_empty(), "{finding:?}");
            prop_assert!(!finding.summary.is_empty());
            prop_assert!(finding.arithmetic.len() <= 8, "{finding:?}");
        }
    }
}
