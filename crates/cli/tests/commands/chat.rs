//! `chat`: load on an endpoint by campaigns.

use crate::bench::Bench;

fn campaign(settings: &str) -> String {
    format!(
        "name = \"chat\"\nworkload = \"chat\"\n[fixed]\nrequests = 6\nstreams = 2\n{settings}\n\
         [repeats]\nat_least = 6\n[report]\ncolumns = [\"ttft.p50\", \"output_throughput\"]\n"
    )
}

fn run(settings: &str) -> (Bench, String) {
    let place = Bench::new().file("chat.toml", &campaign(settings));
    let printed = place.run(&["run", "chat.toml"]);
    (place, printed)
}

#[test]
fn two_endpoints_are_compared() {
    // Long beside the moments in which a busy machine stands still: those would make the client's results invalid.
    let (place, printed) = run("[[zip]]\nendpoint = [\"slow\", \"fast\"]\n\
        mock = [\"ttft=300ms,itl=20ms,tokens=3\", \"ttft=150ms,itl=20ms,tokens=3\"]");
    assert!(printed.starts_with("exit code 0"), "{printed}");
    for part in ["slow", "fast", "ttft.p50", "slower"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    // Requests and chunks are tables in the directory of their run.
    for (file, count) in
        [("requests.parquet", 12), ("chunks.parquet", 12), ("load.json", 12), ("load.assay", 0)]
    {
        assert_eq!(place.count("records/chat/runs", file), count, "{file}");
    }
}

#[test]
fn loads_on_different_calibration_endpoints_are_no_repeats_of_each_other() {
    let mocks = "[vary]\nmock = [\"ttft=300ms,itl=20ms,tokens=3\", \"ttft=150ms,itl=20ms,tokens=3\"]";
    let (place, _) = run(mocks);
    let shown = place.run(&["show", "records/chat"]);
    for part in ["mock ttft=150ms", "mock ttft=300ms"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn an_invalid_result_is_kept_and_never_ranked() {
    let (_, printed) = run("[[zip]]\nendpoint = [\"broken\", \"well\"]\n\
        mock = [\"busy=1\", \"ttft=5ms,itl=20ms,tokens=3\"]");
    assert!(printed.contains("exit code 3"), "{printed}");
    assert!(printed.contains("no request succeeded"), "{printed}");
    assert!(!printed.contains("slower") && !printed.contains("faster"), "{printed}");
}

#[test]
fn what_cannot_be_is_told_before_anything_runs() {
    for (settings, part) in [
        ("", "no endpoint"),
        ("mock = \"first=3\"", "first"),
        ("mock = \"itl=-1\"", "duration"),
        ("url = \"http://localhost/v1\"\nrate = 2", "`streams` and `rate`"),
        ("url = \"http://me:canary@localhost/v1\"", "user name or password"),
        ("url = \"http://localhost/v1?api_key=canary\"", "a key or token"),
        ("url = \"http://localhost/v1?v=2&sig=canary\"", "a key or token"),
        ("url = \"http://localhost/v1#token=canary\"", "never sent"),
        ("url = \"http://localhost/v1\"\nduration = \"5\"", "no unit"),
        ("url = \"http://localhost/v1\"\nsteams = 2", "streams"),
    ] {
        let (_, printed) = run(settings);
        assert!(printed.contains("exit code 2") && printed.contains("hint:"), "{part}: {printed}");
        assert!(printed.contains(part) && !printed.contains("[1/"), "{part}: {printed}");
        assert!(!printed.contains("canary"), "{printed}");
    }
}
