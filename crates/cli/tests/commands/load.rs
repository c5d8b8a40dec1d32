//! `load` against `serve-mock`, each a process of its own.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::bench::Bench;

/// An endpoint that ends with the test.
struct Endpoint {
    child: Child,
    url: String,
}

impl Endpoint {
    fn start(place: &Bench, options: &[&str]) -> Endpoint {
        let mut command = place.command(&["serve-mock", "--listen", "127.0.0.1:0"]);
        command.args(options).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Endpoint { child, url: url.trim().to_owned() }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn json(place: &Bench, arguments: &[&str]) -> Value {
    let output = place.command(arguments).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn several_sizes_make_a_curve_with_intervals_and_a_page() {
    let place = Bench::new();
    let endpoint =
        Endpoint::start(&place, &["--first-token", "5", "--gap", "20", "--tokens", "3", "--slots", "2"]);
    let told = place.run(&[
        "load",
        &endpoint.url,
        "--streams",
        "1,8",
        "--rounds",
        "6",
        "--requests",
        "8",
        "--warm-up",
        "0",
        "--html",
        "curve.html",
        "--export",
        "all.csv",
    ]);
    assert!(told.starts_with("exit code 0"), "{told}");
    for part in
        ["1 stream ", "8 streams", "total output [tokens/s]", "first token p50 [ms]", "confidence", "[12/12]"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    let page = place.read("curve.html");
    assert!(page.contains("<svg") && page.contains("Latency over throughput"), "{page}");
    // A line of names, and 6 rounds of 8 requests for both sizes; a role, 3 tokens, an end and what else a stream has.
    assert_eq!(place.read("all.csv").lines().count(), 1 + 2 * 6 * 8);
    assert!(place.read("all.chunks.csv").lines().count() > 4 * 2 * 6 * 8);
    let again = json(&place, &["load", "--show", "load.assay", "--json", "--export", "all.parquet"]);
    assert_eq!(
        (again["parts"].as_array().unwrap().len(), again["points"][1]["streams"].as_u64()),
        (12, Some(8))
    );
    let point = &again["points"][0]["first_token_p50_s"];
    assert!(point["low"].as_f64().unwrap() >= 0.005, "{point}");
    assert!(std::fs::read(place.path("all.parquet")).unwrap().starts_with(b"PAR1"));
}

#[test]
fn capacity_is_found_where_it_is() {
    // Two at a time, 5 ms each: 400 requests a second, and less where a machine is busy. The bound is far above the time
    // of a request, so that a machine that stands still now and then does not look like an endpoint that is full.
    let place = Bench::new();
    let endpoint =
        Endpoint::start(&place, &["--first-token", "5", "--gap", "0", "--tokens", "1", "--slots", "2"]);
    let search = ["--find-capacity", "--slo-end-to-end", "200", "--precision", "0.2", "--json"];
    let mut arguments =
        vec!["load", &endpoint.url, "--rate", "50", "--gaps", "constant", "--duration", "0.5"];
    arguments.extend(search);
    let found = json(&place, &arguments);
    let capacity = &found["capacity"];
    let (low, high) = (capacity["low"].as_f64().unwrap(), capacity["high"].as_f64().unwrap());
    assert_eq!(capacity["result"], "found", "{found}");
    assert!(low > 20.0 && low < high && high < 900.0 && high <= low * 1.2001, "{found}");
    // The same record tells the same again.
    let mut arguments = vec!["load", "--show", "load.assay", "--rate", "50"];
    arguments.extend(search);
    let again = json(&place, &arguments);
    assert_eq!(again["capacity"], found["capacity"]);
    assert_eq!(again["probes"], found["probes"]);
}

#[test]
fn a_capacity_that_is_not_there_is_told() {
    let place = Bench::new();
    let endpoint = Endpoint::start(&place, &["--first-token", "1", "--gap", "0", "--tokens", "1"]);
    let found = json(
        &place,
        &[
            "load",
            &endpoint.url,
            "--find-capacity",
            "--slo-end-to-end",
            "5000",
            "--rate",
            "200",
            "--most-rate",
            "300",
            "--duration",
            "0.3",
            "--json",
        ],
    );
    assert_eq!(found["capacity"]["result"], "not_reached");
    assert_eq!(found["capacity"]["low"], 300.0);
    let told = place.run(&["load", &endpoint.url, "--find-capacity"]);
    assert!(told.contains("exit code 2") && told.contains("--slo-first-token"), "{told}");
}

#[test]
fn answers_are_scored_and_what_the_server_counts_is_shown() {
    let place =
        Bench::new().file("asked.jsonl", "{\"prompt\": \"what?\", \"answers\": [\"no such word\"]}\n");
    let endpoint = Endpoint::start(&place, &["--first-token", "1", "--gap", "0", "--tokens", "3"]);
    let told = json(
        &place,
        &["load", &endpoint.url, "--prompts", "asked.jsonl", "--requests", "4", "--warm-up", "0", "--json"],
    );
    let result = &told["endpoints"][0];
    // Made-up words are no answer, but they are an answer that could be scored.
    assert_eq!((result["exact_match"].as_f64(), result["f1"].as_f64()), (Some(0.0), Some(0.0)), "{result}");
    assert_eq!(result["server_counters"]["assay_calibration_requests_total"], 4.0, "{result}");
    let told = place.run(&["load", "--show", "load.assay"]);
    assert!(told.contains("answers: 0 of 4 exactly right") && told.contains("the server counts"), "{told}");
}

#[test]
fn mistakes_are_told_before_anything_is_asked() {
    let place = Bench::new();
    for (arguments, part) in [
        (&["http://no-such-host.invalid/v1"][..], "cannot be found"),
        (&["http://127.0.0.1:9/v1", "--export", "a.xls"][..], ".parquet"),
        (&["http://127.0.0.1:9/v1", "--metrics-url", "http://127.0.0.1:9/metrics"][..], "Prometheus"),
        (&["http://127.0.0.1:9/v1", "--rate", "1,2", "--ramp-from", "1", "--ramp-over", "1"][..], "ramp"),
        (&["http://127.0.0.1:9/v1", "--streams", "1,0"][..], "0"),
    ] {
        let told = place.run(&[&["load"][..], arguments].concat());
        assert!(told.contains("exit code 2") && told.contains(part), "{part}: {told}");
    }
}
