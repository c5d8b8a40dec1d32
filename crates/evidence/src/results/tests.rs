//! Result files of many tools, with values of our own.

use super::*;
use assay_model::Status;
use proptest::prelude::*;

fn read(text: &str) -> Vec<ReadRun> {
    runs(text.as_bytes(), "result.json").unwrap()
}

fn value(run: &ReadRun, metric: &str) -> Option<f64> {
    run.observations.iter().find(|o| o.metric == metric).map(|o| o.value)
}

fn setting(run: &ReadRun, name: &str) -> Option<String> {
    run.settings.iter().find(|fact| fact.name == name).map(|fact| fact.value.to_string())
}

#[test]
fn vllm_with_its_requests() {
    let text = "{\n \"date\": \"20250501-100000\",\n \"backend\": \"vllm\",\n \"model_id\": \"acme/tiny\",\n \"num_prompts\": 4,\n \
                \"request_rate\": \"inf\",\n \"max_concurrency\": null,\n \"duration\": 2.0,\n \"completed\": 4,\n \
                \"total_input_tokens\": 40,\n \"total_output_tokens\": 100,\n \"request_throughput\": 2.0,\n \
                \"output_throughput\": 50.0,\n \"mean_ttft_ms\": 120.5,\n \"p99_itl_ms\": 30.0,\n \
                \"ttfts\": [0.1, 0.12, 0.14, 0.122],\n \"itls\": [[0.01, 0.02], [0.03]],\n \"generated_texts\": [\"a\", \"b\"]\n}";
    let runs = read(text);
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    assert_eq!(run.dialects, ["vllm_bench"]);
    assert_eq!(value(run, "ttft"), Some(0.1205));
    assert_eq!(value(run, "itl.p99"), Some(0.03));
    let rate = run.observations.iter().find(|o| o.metric == "output_throughput").unwrap();
    assert_eq!((rate.count, rate.seconds, rate.source.as_ref().unwrap().line), (Some(100.0), Some(2.0), 13));
    assert_eq!(setting(run, "model").as_deref(), Some("acme/tiny"));
    assert_eq!(setting(run, "request_rate").as_deref(), Some("unlimited"));
    assert_eq!(setting(run, "concurrency"), None);
    let series = |name: &str| run.series.iter().find(|series| series.metric == name).unwrap();
    assert_eq!(series("ttft").values, [0.1, 0.12, 0.14, 0.122]);
    assert_eq!(series("itl").seen, 3);
}

#[test]
fn sglang_on_lines_each_a_run() {
    let line = |rate: f64| {
        format!(
            "{{\"backend\": \"sglang\", \"request_rate\": {rate:.1}, \"duration\": 5.0, \"completed\": 10, \"request_throughput\": 2.0, \"input_throughput\": 90.5, \"concurrency\": 3.5, \"mean_e2e_latency_ms\": 500.0}}\n"
        )
    };
    let runs = read(&(line(1.0) + &line(2.0) + "{\"backend\": \"sgl"));
    assert_eq!(runs.len(), 2);
    assert_eq!(value(&runs[1], "e2e"), Some(0.5));
    assert_eq!(value(&runs[1], "concurrency.mean"), Some(3.5));
    assert_eq!(setting(&runs[1], "request_rate").as_deref(), Some("2"));
    assert_eq!(runs[1].span.first, 2);
}

#[test]
fn guidellm_takes_what_succeeded() {
    let text = r#"{"metadata": {"version": 1}, "args": {"model": "acme/tiny"}, "benchmarks": [
        {"config": {"seed": 7}, "duration": 10.0, "metrics": {
            "request_totals": {"successful": 9, "errored": 1, "incomplete": 0, "total": 10},
            "request_latency": {"successful": {"mean": 1.5, "std_dev": 0.1, "percentiles": {"p99": 2.0}}, "total": {"mean": 9.0}},
            "time_to_first_token_ms": {"successful": {"mean": 80.0}, "total": {"mean": 90.0}},
            "inter_token_latency_ms": {"successful": {"mean": 12.0}}}},
        {"metrics": {"requests_per_second": {"successful": {"mean": 2.5}}}}]}"#;
    let runs = read(text);
    assert_eq!(runs.len(), 2);
    assert_eq!((value(&runs[0], "requests"), value(&runs[0], "requests.failed")), (Some(9.0), Some(1.0)));
    assert_eq!((value(&runs[0], "e2e"), value(&runs[0], "e2e.p99")), (Some(1.5), Some(2.0)));
    assert_eq!((value(&runs[0], "ttft"), value(&runs[0], "tpot")), (Some(0.08), Some(0.012)));
    assert_eq!(value(&runs[1], "request_throughput"), Some(2.5));
    assert_eq!(setting(&runs[1], "model").as_deref(), Some("acme/tiny"));
}

#[test]
fn aiperf_llmperf_and_optimum() {
    let run = &read(
        r#"{"input_config": {"loadgen": {"concurrency": 8}, "endpoint": {"model_names": ["acme/tiny"]}},
            "time_to_first_token": {"unit": "ms", "avg": 40.0, "p99": 90.0}, "request_count": {"unit": "requests", "avg": 100},
            "output_token_throughput": {"unit": "tokens/sec", "avg": 800.0}, "inter_token_latency": {"avg": 5.0}}"#,
    )[0];
    assert_eq!(
        (value(run, "ttft"), value(run, "ttft.p99"), value(run, "tpot")),
        (Some(0.04), Some(0.09), Some(0.005))
    );
    assert_eq!((value(run, "requests"), value(run, "output_throughput")), (Some(100.0), Some(800.0)));
    assert_eq!(
        (setting(run, "concurrency").as_deref(), setting(run, "model").as_deref()),
        (Some("8"), Some("acme/tiny"))
    );
    let run = &read(
        r#"{"model": "tiny", "mean_input_tokens": 550, "num_concurrent_requests": 5, "results_ttft_s_mean": 0.2,
            "results_inter_token_latency_s_mean": 0.018, "results_mean_output_throughput_token_per_s": 132.8, "results_num_completed_requests": 50}"#,
    )[0];
    assert_eq!(
        (value(run, "ttft"), value(run, "latency.e2e_per_token"), value(run, "requests")),
        (Some(0.2), Some(0.018), Some(50.0))
    );
    assert_eq!(
        (value(run, "output_throughput"), setting(run, "prompt_length").as_deref()),
        (Some(132.8), Some("550"))
    );
    let run = &read(
        r#"{"config": {"scenario": {"input_shapes": {"batch_size": 2}}}, "report": {
            "prefill": {"latency": {"unit": "s", "mean": 0.05, "values": [0.05, 0.05]}, "throughput": {"unit": "tokens/s", "value": 2000.0},
                        "memory": {"unit": "MB", "max_allocated": 100.0, "max_ram": 50.0}},
            "decode": {"throughput": {"unit": "tokens/s", "value": 90.0}, "memory": {"unit": "MB", "max_allocated": 120.0}}}}"#,
    )[0];
    assert_eq!(
        (value(run, "ttft"), value(run, "prompt_throughput"), value(run, "output_throughput")),
        (Some(0.05), Some(2000.0), Some(90.0))
    );
    assert_eq!((value(run, "memory.peak"), value(run, "memory.peak.host")), (Some(120e6), Some(50e6)));
    assert_eq!(setting(run, "batch_size").as_deref(), Some("2"));
}

#[test]
fn flat_lists_and_histories() {
    let runs = read(
        r#"[{"Framework": "vLLM", "Model": "tiny", "Hardware": "A100", "Num of Hardware": 4, "Batch Size": 16, "Throughput (tokens/sec)": 1200.5},
            {"Framework": "vLLM", "Model": "tiny", "Hardware": "A100", "Num of Hardware": 4, "Batch Size": 32, "Throughput (tokens/sec)": "--"},
            {"Model": "tiny", "Batch Size": 64, "Throughput (tokens/sec)": "1900"}]"#,
    );
    assert_eq!(runs.len(), 2);
    assert_eq!(value(&runs[0], "tokens_per_s.unnamed"), Some(1200.5));
    assert_eq!(
        (setting(&runs[0], "devices").as_deref(), setting(&runs[1], "batch_size").as_deref()),
        (Some("4"), Some("64"))
    );
    assert_eq!(runs[1].span.first, 3);
    let runs = read(
        r#"{"max_steps": 20, "log_history": [{"loss": 2.5, "epoch": 0.5, "step": 10}, {"loss": 2.0, "epoch": 1.0, "step": 20},
            {"eval_loss": 2.1, "epoch": 1.0, "step": 20}]}"#,
    );
    assert_eq!(runs.len(), 1);
    assert_eq!(
        (value(&runs[0], "loss.train"), value(&runs[0], "loss.eval"), value(&runs[0], "loss.final")),
        (Some(2.0), Some(2.1), Some(2.0))
    );
    let loss = runs[0].series.iter().find(|series| series.metric == "loss.train").unwrap();
    assert_eq!(
        (loss.values.as_slice(), loss.steps.as_slice()),
        ([2.5, 2.0].as_slice(), [10.0, 20.0].as_slice())
    );
}

#[test]
fn llama_bench_says_elsewhere_what_it_measured() {
    let runs = read(
        r#"[{"model_type": "tiny 7B", "backends": "CPU", "n_threads": 8, "n_prompt": 512, "n_gen": 0, "model_n_params": 7000000000,
             "avg_ns": 100, "avg_ts": 800.5, "stddev_ts": 2.5, "samples_ts": [798.0, 803.0]},
            {"model_type": "tiny 7B", "n_prompt": 0, "n_gen": 128, "avg_ts": 40.0, "stddev_ts": 0.5}]"#,
    );
    assert_eq!(
        (value(&runs[0], "prompt_throughput"), value(&runs[0], "prompt_throughput.std")),
        (Some(800.5), Some(2.5))
    );
    assert_eq!(
        (value(&runs[1], "output_throughput"), value(&runs[0], "parameters")),
        (Some(40.0), Some(7e9))
    );
    assert_eq!(runs[0].series[0].values, [798.0, 803.0]);
    assert_eq!(
        (setting(&runs[0], "device").as_deref(), setting(&runs[0], "threads").as_deref()),
        (Some("CPU"), Some("8"))
    );
}

#[test]
fn jobs_of_schedulers() {
    let runs = read(
        r#"{"jobs": [
            {"job_id": 7, "name": "train", "state": {"current": ["FAILED"], "reason": "NonZeroExitCode"},
             "exit_code": {"status": ["ERROR"], "return_code": {"set": true, "infinite": false, "number": 2}},
             "time": {"elapsed": 90, "submission": 1712674800, "start": 1712675400, "end": 1712675490, "limit": {"set": true, "number": 60}},
             "tres": {"allocated": [{"type": "gres", "name": "gpu", "count": 4}]},
             "steps": [{"tres": {"requested": {"max": [{"type": "mem", "count": 2048}]}}}]},
            {"job_id": 8, "name": "next", "state": {"current": "COMPLETED"}, "exit_code": {"return_code": 0}, "time": {"elapsed": 5}}]}"#,
    );
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0].status.to_string(), "failed: exit code 2");
    assert_eq!(
        (value(&runs[0], "duration.queue"), value(&runs[0], "duration.job"), value(&runs[0], "memory.peak")),
        (Some(600.0), Some(90.0), Some(2048.0))
    );
    assert_eq!(
        (setting(&runs[0], "devices").as_deref(), runs[0].title.as_deref()),
        (Some("4"), Some("train"))
    );
    assert_eq!((&runs[1].status, value(&runs[1], "duration.queue")), (&Status::Succeeded, None));
    let runs = read(
        r#"{"pbs_version": "2022", "Jobs": {"9.cluster": {"Job_Name": "bert", "job_state": "F", "Exit_status": 0,
            "qtime": "Tue Apr 09 15:00:00 2024", "stime": "Tue Apr 09 15:01:00 2024",
            "resources_used": {"walltime": "00:10:00", "mem": "2048kb", "ncpus": 8}}}}"#,
    );
    assert_eq!(
        (&runs[0].status, value(&runs[0], "duration.queue"), value(&runs[0], "duration.job")),
        (&Status::Succeeded, Some(60.0), Some(600.0))
    );
    assert_eq!(value(&runs[0], "memory.peak"), Some(2048.0 * 1024.0));
}

#[test]
fn what_states_no_result_is_no_run_and_logs_in_json_stay_logs() {
    assert_eq!(read(r#"{"name": "x", "version": "1.0", "dependencies": {"a": "1"}, "scripts": []}"#), []);
    assert_eq!(read("[]"), []);
    assert_eq!(
        runs(b"{\"level\": \"info\", \"msg\": \"loss=2\"}\n{\"level\": \"info\", \"msg\": \"x\"}\n", "a.log"),
        None
    );
    assert_eq!(runs(b"{'loss': 2.3}", "a.log"), None);
}

proptest! {
    #[test]
    fn any_json_is_survived(bytes in proptest::collection::vec(any::<u8>(), 0..60), number in any::<f64>(), key in "[a-z_]{0,20}(_ms|_s|s)?", n in 0..3_usize) {
        let _ = runs(&bytes, "x.json");
        let keys = ["ttfts", "avg_ts", "latency"];
        let text = format!("{{\"{key}\": {number:?}, \"request_throughput\": {{\"avg\": 1e308}}, \"{}\": [[1e308, {{}}], null, \"{key}\"], \"jobs\": [{{\"job_id\": {number:?}}}]}}", keys[n]);
        for run in runs(text.as_bytes(), "x.json").unwrap_or_default() {
            prop_assert!(run.observations.iter().all(|o| o.value.is_finite()));
            prop_assert!(run.series.iter().all(|series| series.values.iter().all(|value| value.is_finite())));
        }
    }
}

#[test]
fn lines_of_json_with_objects_inside() {
    let text = b"{\"epoch\": 1, \"train\": {\"loss\": 0.75}, \"val\": {\"acc\": 0.5}}\n{\"epoch\": 2, \"train\": {\"loss\": 0.5}, \"val\": {\"acc\": 0.75}}\n";
    let found = runs(text, "a.jsonl").unwrap();
    let names: Vec<&str> = found[0].series.iter().map(|series| series.metric.as_str()).collect();
    assert!(names.contains(&"loss.train") && names.contains(&"accuracy.eval"), "{names:?}");
}

#[test]
fn lists_of_names_values_and_units() {
    let text = b"window.DATA = {\"entries\": [{\"commit\": {\"id\": \"abcdef0123456789\"}, \"benches\": [{\"name\": \"io.py::test_read[10]\", \"value\": 28.5, \"unit\": \"iter/sec\", \"extra\": \"mean: 35.5 msec\\nrounds: 27\"}, {\"name\": \"io.py::test_wr";
    let found = runs(text, "data.js").unwrap();
    let value = |name: &str| found[0].observations.iter().find(|one| one.metric == name).map(|one| one.value);
    assert_eq!(value("iterations_per_s.test_read_10"), Some(28.5));
    assert!(value("duration.test_read_10.mean").is_some_and(|mean| (mean - 0.0355).abs() < 1e-9));
}
