//! Jobs as schedulers write them in JSON: `sacct --json`, `squeue --json`, `qstat -F json`.

use assay_model::ReadRun;
use serde_json::{Map, Value};

use super::builder::Builder;
use super::lines::Lines;
use crate::dialects::slurm_accounting::Job;

/// Reads the jobs of an object, if it is one of a scheduler.
pub(super) fn read(
    object: &Map<String, Value>,
    path: &str,
    file: &str,
    lines: &Lines,
    found: &mut Vec<ReadRun>,
) -> bool {
    if let Some(Value::Array(jobs)) = object.get("jobs")
        && jobs.iter().any(|job| job.get("job_id").is_some())
    {
        for (index, job) in jobs.iter().enumerate() {
            let mut builder = Builder::new(file, "slurm_accounting");
            slurm(job, lines.at(&format!("{path}/jobs/{index}")), &mut builder);
            found.extend(builder.finish());
        }
        return true;
    }
    if let Some(Value::Object(jobs)) = object.get("Jobs")
        && jobs.values().any(|job| job.get("job_state").is_some())
    {
        for (id, job) in jobs {
            let mut builder = Builder::new(file, "pbs");
            pbs(job, lines.at(&format!("{path}/Jobs/{id}")), &mut builder);
            found.extend(builder.finish());
        }
        return true;
    }
    false
}

fn slurm(job: &Value, line: u64, builder: &mut Builder) {
    let mut known = Job::default();
    let mut facts = builder.facts(line);
    let mut field = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            known.field(name, &value, &mut facts);
        }
    };
    let number = |path: &str| job.pointer(path).and_then(number);
    let seconds =
        |path: &str| number(path).filter(|seconds| *seconds > 0.0).map(|seconds| seconds.to_string());
    let minutes = |path: &str| {
        number(path).filter(|minutes| *minutes > 0.0).map(|minutes| (minutes * 60.0).to_string())
    };
    field("JobName", job.get("name").and_then(Value::as_str).map(str::to_owned));
    field("Submit", seconds("/time/submission").or_else(|| seconds("/submit_time")));
    field("Start", seconds("/time/start").or_else(|| seconds("/start_time")));
    field("Timelimit", minutes("/time/limit").or_else(|| minutes("/time_limit")));
    field("Elapsed", seconds("/time/elapsed"));
    let cpu = number("/time/total/seconds").unwrap_or(0.0)
        + number("/time/total/microseconds").unwrap_or(0.0) * 1e-6;
    field("TotalCPU", (cpu > 0.0).then(|| cpu.to_string()));
    field("NNodes", seconds("/allocation_nodes").or_else(|| seconds("/node_count")));
    field("AllocCPUS", seconds("/required/CPUs").or_else(|| seconds("/cpus")));
    field("NumTasks", seconds("/tasks"));
    for allocated in job.pointer("/tres/allocated").and_then(Value::as_array).into_iter().flatten() {
        let (kind, name) = (text(allocated.get("type")), text(allocated.get("name")));
        if let Some(count) = allocated.get("count").and_then(Value::as_f64).filter(|_| kind == "gres") {
            field("AllocTRES", Some(format!("gres/{name}={count}")));
        }
    }
    field("MaxRSS", most_memory(job).map(|bytes| bytes.to_string()));
    let code = number("/exit_code/return_code").or_else(|| number("/exit_code")).unwrap_or(0.0);
    let signal =
        number("/exit_code/signal/signal_id").or_else(|| number("/exit_code/signal/id")).unwrap_or(0.0);
    field("ExitCode", Some(format!("{code}:{signal}")));
    let state = ["/state/current", "/job_state"].iter().find_map(|path| match job.pointer(path)? {
        Value::Array(states) => states.first()?.as_str(),
        state => state.as_str(),
    });
    field("State", state.map(str::to_owned));
    field("End", seconds("/time/end").or_else(|| seconds("/end_time")));
}

/// A number, or `{"set": true, "infinite": false, "number": 12}` as newer releases write it.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Object(number) if number.get("set") == Some(&Value::Bool(false)) => None,
        Value::Object(number) if number.get("infinite") == Some(&Value::Bool(true)) => None,
        Value::Object(number) => number.get("number")?.as_f64(),
        plain => plain.as_f64(),
    }
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

/// The largest memory of any step.
fn most_memory(job: &Value) -> Option<f64> {
    let steps = job.get("steps")?.as_array()?;
    let maxima = steps.iter().filter_map(|step| step.pointer("/tres/requested/max")?.as_array()).flatten();
    let memory = maxima
        .filter(|entry| text(entry.get("type")) == "mem")
        .filter_map(|entry| entry.get("count")?.as_f64());
    memory.filter(|bytes| *bytes > 0.0).reduce(f64::max)
}

fn pbs(job: &Value, line: u64, builder: &mut Builder) {
    let mut known = crate::dialects::pbs::PbsReader::default();
    let mut facts = builder.facts(line);
    let Some(job) = job.as_object() else { return };
    for (name, value) in job {
        match value {
            Value::Object(inner) if matches!(name.as_str(), "resources_used" | "Resource_List") => {
                for (resource, value) in inner {
                    known.attribute(&format!("{name}.{resource}"), &plain(value), &mut facts);
                }
            }
            value => drop(known.attribute(name, &plain(value), &mut facts)),
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
