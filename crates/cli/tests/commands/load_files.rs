//! What `load` reads and writes: traces, and the result files of other clients.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use crate::bench::Bench;

/// A calibration endpoint that is slow enough for a busy machine.
const MOCK: &str = "ttft=40ms,itl=1ms,tokens=10";

fn parsed(place: &Bench, path: &str) -> Value {
    serde_json::from_str(&place.read(path)).unwrap()
}

#[test]
fn a_trace_is_sent_as_it_is_or_refused_with_the_reason() {
    let lines = concat!(
        "{\"timestamp\": 0, \"input_length\": 300, \"output_length\": 7, \"hash_ids\": [1], \"session_id\": 4}\n",
        "{\"timestamp\": 100, \"input_length\": 700, \"output_length\": 9, \"hash_ids\": [1, 2], \"session_id\": 4}\n",
        "{\"timestamp\": 150, \"input_length\": 20, \"output_length\": 3, \"hash_ids\": [9], \"session_id\": 5}\n",
    );
    let table =
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00.5,30,4\n2024-05-10 00:00:00.7,50,5\n";
    let place = Bench::new().file("mooncake.jsonl", lines).file("azure.csv", table);
    let stated = place.run(&["load", "--mock", MOCK, "--trace", "mooncake.jsonl", "-o", "m.csv"]);
    let words = stated.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("2 sessions") && words.contains("shared blocks"), "{stated}");
    let rows: Vec<BTreeMap<String, String>> = {
        let text = place.read("m.csv");
        let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        let names = lines.next().unwrap();
        lines.map(|row| names.iter().cloned().zip(row).collect()).collect()
    };
    let column = |name: &str| {
        let mut measured: Vec<_> =
            rows.iter().filter(|row| row["warm_up"] == "false" || row["warm_up"] == "0").collect();
        measured.sort_by_key(|row| row["index"].parse::<u64>().unwrap());
        measured.iter().map(|row| row[name].clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        (column("prompt_tokens"), column("output_tokens")),
        (strings(["300", "700", "20"]), strings(["7", "9", "3"]))
    );
    assert_eq!(
        (column("conversation"), column("turn")),
        (strings(["0", "0", "1"]), strings(["0", "1", "0"]))
    );
    let stated = place.run(&["load", "--mock", MOCK, "--trace", "azure.csv", "--json"]);
    assert!(stated.contains("\"prompt\": 80"), "{stated}");
    for (arguments, part) in [
        (&["--trace", "azure.csv", "--prompt-tokens", "9"][..], "the trace has prompt lengths"),
        (&["--trace", "azure.csv", "--output-tokens", "9"][..], "the trace has output lengths"),
        (&["--trace", "azure.csv", "--turns", "3"][..], "`turns` and `trace`"),
    ] {
        let stated = place.run(&[&["load", "--mock", MOCK][..], arguments].concat());
        assert!(stated.contains(part), "{part}: {stated}");
    }
}

fn strings<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

#[test]
fn conversations_of_made_up_prompts_have_all_their_turns() {
    let place = Bench::new();
    let stated =
        place.run(&["load", "--mock", MOCK, "--turns", "3", "--requests", "2", "--warm-up", "0", "--json"]);
    // -n counts conversations here, and the requests are those of all turns.
    assert!(
        stated.contains("\"requests\": 6") && stated.contains("2 conversations of up to 3 turns"),
        "{stated}"
    );
}

/// Loads in the format of another client; every tenth stream is cut.
fn written(place: &Bench, client: &str, file: &str) {
    let mock = format!("{MOCK},cut=0.1");
    let arguments =
        ["load", "--mock", &mock, "--requests", "40", "--streams", "4", "--format", client, "-o", file];
    let stated = place.run(&arguments);
    assert!(stated.contains("exit code 3"), "{stated}");
}

#[test]
fn the_file_of_vllm_has_its_keys_and_types() {
    let place = Bench::new();
    written(&place, "vllm", "vllm.json");
    let file = parsed(&place, "vllm.json");
    for key in ["date", "endpoint_type", "backend", "label", "model_id", "tokenizer_id"] {
        assert!(file[key].is_string(), "{key}: {file}");
    }
    for key in
        ["num_prompts", "completed", "failed", "total_input_tokens", "total_output_tokens", "max_concurrency"]
    {
        assert!(file[key].is_u64(), "{key}: {file}");
    }
    for key in ["duration", "request_throughput", "output_throughput", "total_token_throughput", "burstiness"]
    {
        assert!(file[key].is_f64(), "{key}: {file}");
    }
    for metric in ["ttft", "tpot", "itl", "e2el"] {
        for statistic in ["mean", "median", "std", "p99"] {
            assert!(file[format!("{statistic}_{metric}_ms")].is_f64(), "{statistic} {metric}: {file}");
        }
    }
    let lists = ["input_lens", "output_lens", "ttfts", "itls", "generated_texts", "errors"];
    assert!(lists.iter().all(|key| file[key].as_array().is_some_and(|list| list.len() == 40)), "{file}");
    assert!(file["itls"][0].is_array() && file["request_rate"] == "inf" && file["request_goodput"].is_null());
    let failed = file["errors"].as_array().unwrap().iter().filter(|error| **error != "").count() as u64;
    assert_eq!((file["failed"].as_u64(), file["completed"].as_u64()), (Some(failed), Some(40 - failed)));
    let stated = place.run(&["load", "--mock", MOCK, "--format", "vllm"]);
    assert!(stated.contains("exit code 2") && stated.contains("--output"), "{stated}");
}

#[test]
fn the_files_of_aiperf_and_guidellm_have_what_their_loaders_need() {
    let place = Bench::new();
    written(&place, "aiperf", "profile_export_aiperf.json");
    let summary = parsed(&place, "profile_export_aiperf.json");
    let first = &summary["time_to_first_token"];
    assert!(first["unit"] == "ms" && first["p99"].as_f64() >= first["p50"].as_f64(), "{summary}");
    assert_eq!(place.read("profile_export.jsonl").lines().count(), 40);
    written(&place, "guidellm", "benchmarks.json");
    let report = parsed(&place, "benchmarks.json");
    assert_eq!(
        (report["metadata"]["version"].as_u64(), report["benchmarks"].as_array().map(Vec::len)),
        (Some(2), Some(1))
    );
}

/// Installed by `./dev rivals install`; heavy, so not part of the usual tests.
#[test]
#[ignore = "needs aiperf and guidellm in target/rivals: ./dev rivals"]
fn their_own_packages_load_our_files() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/rivals");
    let place = Bench::new();
    written(&place, "aiperf", "profile_export_aiperf.json");
    written(&place, "guidellm", "benchmarks.json");
    let aiperf = "import pathlib\n\
        from aiperf.common.models.export_models import JsonExportData\n\
        from aiperf.common.models.record_models import MetricRecordInfo\n\
        from aiperf.plot.core.data_loader import DataLoader\n\
        here = pathlib.Path('.')\n\
        data = JsonExportData.model_validate_json((here / 'profile_export_aiperf.json').read_bytes())\n\
        rows = [MetricRecordInfo.model_validate_json(line) for line in open('profile_export.jsonl')]\n\
        run = DataLoader().load_run(here)\n\
        print('loaded', len(rows), len(run.requests), data.time_to_first_token.avg > 30)";
    let guidellm = "from guidellm.benchmark.schemas.report import GenerativeBenchmarksReport\n\
        report = GenerativeBenchmarksReport.load_file('benchmarks.json')\n\
        metrics = report.benchmarks[0].metrics\n\
        print('loaded', metrics.request_totals.total, 40, metrics.time_to_first_token_ms.successful.mean > 30)";
    for (client, script) in [("aiperf", aiperf), ("guidellm", guidellm)] {
        let python = root.join(client).join("bin/python");
        assert!(python.exists(), "{client} is not installed: ./dev rivals install");
        let output = Command::new(python).args(["-c", script]).current_dir(place.path(".")).output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(
            shown.contains("loaded 40 40 True"),
            "{client}: {shown}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
