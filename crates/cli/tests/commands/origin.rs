//! What is around a run: the program it starts, versions, load, GPUs.

use std::os::unix::fs::PermissionsExt;

use crate::bench::Bench;

fn campaign(repeats: u32) -> String {
    format!(
        "name = \"solve\"\n\n[workload]\ncommand = \"sh work.sh {{size}}\"\n\n[vary]\nsize = [1, 2]\n\n\
         [repeats]\nat_least = {repeats}\n"
    )
}

#[test]
fn a_changed_program_is_a_caveat_at_the_number() {
    let bench = Bench::new().file("work.sh", "echo old > /dev/null\n").file("solve.toml", &campaign(3));
    let first = bench.run(&["run", "solve.toml"]);
    assert!(first.contains("exit code 0") && !first.contains("changed between"), "{first}");
    let bench = bench.file("work.sh", "echo another text > /dev/null\n").file("solve.toml", &campaign(6));
    let second = bench.run(&["run", "solve.toml"]);
    let caveat = "`work.sh` changed between the runs: repeats 1 to 3 used";
    assert!(second.replace("\n  ", " ").contains(caveat), "{second}");
    let files = bench.run(&["query", "select distinct files from run where repeat = 1", "solve"]);
    assert!(files.contains("work.sh"), "{files}");
}

/// What stands in for the tool of a GPU: two cards that draw 100 and 50 W, as its CSV says it.
const STAND_IN: &str = "#!/bin/sh\nwhile :; do\n\
    echo '0, 100.00, 90, 1400, 1000'\necho '1, 50.00, 70, 1200, [N/A]'\nsleep 0.05\ndone\n";

#[test]
fn gpus_are_sampled_where_their_tool_is_installed_and_absent_otherwise() {
    let bench = Bench::new();
    let metrics = "select metric, avg(value) as value from observation where metric like 'gpu.%' group by 1";
    bench.run(&["bench", "-r", "1", "sleep 0.6"]);
    assert!(!bench.run(&["query", metrics, "records/bench-1"]).contains("gpu."));
    let bench = bench.file("tools/nvidia-smi", STAND_IN);
    let tool = bench.path("tools/nvidia-smi");
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", bench.path("tools").display());
    let output = bench.command(&["bench", "-r", "1", "sleep 0.6"]).env("PATH", path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let shown = bench.run(&["query", metrics, "records/bench-2"]);
    for (metric, value) in [("gpu.power", 150.0), ("gpu.utilization", 0.8), ("gpu.clock", 1.3e9)] {
        let line = shown.lines().find(|line| line.contains(metric)).unwrap_or_default();
        let found: f64 = line.split_whitespace().last().unwrap_or_default().parse().unwrap();
        assert!((found / value - 1.0).abs() < 1e-9, "{metric}: {shown}");
    }
    let energy = shown.lines().find(|line| line.contains("gpu.energy")).unwrap();
    let joules: f64 = energy.split_whitespace().last().unwrap().parse().unwrap();
    assert!((85.0..300.0).contains(&joules), "150 W over 0.6 s: {energy}");
}
