//! What built-in workloads say of themselves: one JSON object a line, the key `assay` telling what it is.

use assay_model::document::PHASES;
use assay_model::{Failure, Origin, Status, Unit, Value as Setting, WorkloadEvent};

use super::{Dialect, DialectReader, Shape, Taken};
use crate::collector::Value;
use crate::facts::{Facts, shortened};
use crate::line::Line;

/// The registry's entry.
pub const DIALECT: Dialect = Dialect {
    name: "assay",
    title: "built-in workloads",
    summary: "JSON lines of this program's own workloads and of adapters to other engines",
    needles: &["{\"assay\":"],
    shapes: &[
        Shape {
            text: r#"{"assay":"value","metric":"time.forward","value":0.871,"step":3}"#,
            reads: "time.forward, status truncated",
        },
        Shape {
            text: r#"{"assay":"value","metric":"tokens_per_s","value":588.0,"scope":"loop","count":5120,"seconds":8.707,"derived":true}"#,
            reads: "tokens_per_s, status truncated",
        },
        Shape {
            text: r#"{"assay":"setting","name":"threads","value":2}"#,
            reads: "setting threads, status truncated",
        },
        Shape {
            text: r#"{"assay":"phase","name":"warmup","start_s":0.41,"end_s":3.02}"#,
            reads: "phase warmup, status truncated",
        },
        Shape { text: r#"{"assay":"progress","done":3,"of":10}"#, reads: "status truncated" },
        Shape {
            text: r#"{"assay":"note","text":"weights are random","hint":"give `resume` to use trained ones"}"#,
            reads: "hint, status truncated",
        },
        Shape {
            text: r#"{"assay":"does_not_fit","reason":"needs 61 GiB, 22 GiB are free","hint":"batch_size = 1 fits"}"#,
            reads: "status does_not_fit, hint",
        },
        Shape {
            text: r#"{"assay":"failed","reason":"the loss is not a number at step 12"}"#,
            reads: "status failed",
        },
        Shape { text: r#"{"assay":"done","steps":10}"#, reads: "setting steps, status succeeded" },
    ],
    derived: &[],
    notes: &[
        "A value with a step belongs to a series; a value without one stands for the whole run and is the observation.",
        "Output that has no `done` line breaks off before its end.",
        "A note is read only if it says what to do.",
        "Any program may print such lines; a line with a key that is not known here is not read.",
    ],
    reader: || Box::new(OwnReader),
};

struct OwnReader;

impl DialectReader for OwnReader {
    fn line(&mut self, line: Line<'_>, facts: &mut Facts<'_>) -> Taken {
        let text = line.text.trim();
        let Ok(stated) = serde_json::from_str::<WorkloadEvent>(text) else { return Taken::Nothing };
        facts.expect_end();
        take(stated, facts);
        Taken::Whole
    }
}

fn take(stated: WorkloadEvent, facts: &mut Facts<'_>) {
    match stated {
        WorkloadEvent::Setting { name, value } => facts.replace(&name, value, "log"),
        WorkloadEvent::Value { metric, value, unit, step, scope, count, seconds, derived } => {
            let unit = unit.map(|unit| Unit::parse(&unit));
            let factor = unit.as_ref().map_or(1.0, |(_, factor)| *factor);
            let origin = if derived { Origin::Derived } else { Origin::Reported };
            facts.value(Value {
                unit: unit.as_ref().map(|(unit, _)| unit),
                scope,
                origin,
                step: step.map(|step| step as f64),
                count,
                seconds,
                whole: step.is_none(),
                ..Value::reported(&metric, value * factor)
            });
        }
        WorkloadEvent::Phase { name, start_s, end_s } => {
            if let Some(phase) = PHASES.iter().find(|phase| **phase == name) {
                facts.spanned(phase, start_s, end_s);
            }
        }
        WorkloadEvent::Progress { done, of } => facts.progress(done as f64, Some(of as f64)),
        WorkloadEvent::Note { text, hint } => advise(&text, hint, facts),
        WorkloadEvent::DoesNotFit { reason, hint } => {
            advise(&reason, hint, facts);
            facts.status(Status::DoesNotFit { reason: shortened(&reason) });
        }
        WorkloadEvent::Failed { reason, hint } => {
            advise(&reason, hint, facts);
            facts.status(Status::Failed { failure: Failure::Reported { reason: shortened(&reason) } });
        }
        WorkloadEvent::Done { steps } => {
            facts.replace(assay_model::names::setting::STEPS, Setting::Integer(whole(steps)), "log");
            facts.status(Status::Succeeded);
        }
    }
}

fn advise(reason: &str, hint: Option<String>, facts: &mut Facts<'_>) {
    if let Some(hint) = hint {
        facts.hint(reason, &hint);
    }
}

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use crate::Stream;
    use crate::reading::Findings;
    use crate::{Readers, Reading};
    use assay_model::{Origin, Scope, Status};

    fn read(text: &str) -> Findings {
        let mut reading = Reading::new(&Readers::new("auto", &[], &[]).unwrap());
        reading.feed(Stream::Stdout, text.as_bytes());
        reading.finish()
    }

    #[test]
    fn values_per_step_are_a_series_and_the_value_for_the_run_is_the_observation() {
        let findings = read(concat!(
            "{\"assay\":\"value\",\"metric\":\"time.forward\",\"value\":0.5,\"step\":1}\n",
            "{\"assay\":\"value\",\"metric\":\"time.forward\",\"value\":0.7,\"step\":2}\n",
            "{\"assay\":\"value\",\"metric\":\"time.forward\",\"value\":0.6,\"count\":2,\"scope\":\"loop\",\"derived\":true}\n",
            "{\"assay\":\"done\",\"steps\":2}\n",
        ));
        let observation = findings.observations.iter().find(|o| o.metric == "time.forward").unwrap();
        assert_eq!((observation.value, observation.count), (0.6, Some(2.0)));
        assert_eq!(observation.origin, Origin::Derived);
        assert_eq!(findings.series[0].values, [0.5, 0.7]);
        assert_eq!(findings.status, Some(Status::Succeeded));
    }

    #[test]
    fn output_that_breaks_off_is_not_whole() {
        let findings = read("{\"assay\":\"value\",\"metric\":\"loss.train\",\"value\":2.5,\"step\":1}\n");
        assert_eq!(findings.status, Some(Status::Truncated));
    }

    #[test]
    fn a_rate_keeps_what_it_was_computed_from() {
        let line =
            serde_json::to_string(&assay_model::WorkloadEvent::rate("tokens_per_s", 512.0, 0.5)).unwrap();
        let found = read(&line).observations.remove(0);
        assert_eq!((found.value, found.count, found.seconds), (1024.0, Some(512.0), Some(0.5)));
        assert_eq!(found.scope, Some(Scope::Loop));
    }
}
