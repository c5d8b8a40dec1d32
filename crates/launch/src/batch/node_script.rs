//! The script that makes one run inside a job. It is plain `sh`, so that nodes need nothing of this program, and it
//! writes only into the run directory: `claim` (the job that makes the run), `trace` (where and when it began), the logs,
//! and last `end` with the exit code. The exit code of the job or of srun is never relied on: a run has ended well only
//! if its own `end` says so. Every program that it starts costs a short run a millisecond or more, so there are few.

use std::fmt::Write;
use std::path::Path;

use assay_campaign::shell::quoted;

use crate::orphan;
use crate::script::SCRIPT;
use crate::worker::RunJob;

/// The file name of the script in a run directory.
pub const NODE_SCRIPT: &str = "batch.sh";
/// A link whose target names the job that makes the run. Making it is atomic, so a run has one maker at most.
pub const CLAIM: &str = "claim";
/// The claim of a coordinator that gave the run up before a job had begun it.
pub const GIVEN_UP: &str = "given-up";
/// When and where the run began.
pub const TRACE: &str = "trace";
/// What the shell counted of its children.
pub const TIMES: &str = "times";
/// What the end marker says where the disk was full when the run ended.
pub const FULL: &str = "full";
/// How the run ended.
pub const END: &str = "end";

/// The beginning that all such scripts have in common.
const HEAD: &str = r#"cd "$directory" || exit 0
job=${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID}
job=${job:-${SLURM_JOB_ID:-${PBS_JOBID:-$ASSAY_JOB}}}
# One job makes this run, even if two were submitted for it.
ln -s "$job" claim 2>/dev/null || [ "$(readlink claim)" = "$job" ] || exit 0
[ -e end ] && exit 0
# The end marker gets its space on the disk now: the run may fill it up. Where there is none, another job may try later.
printf '%512s\n' '' >end.new || { rm -f claim; exit 1; }
# The scheduler began the job again: what the run left is kept aside.
if [ -e trace ]; then
    restart=1
    while ! mkdir "requeued-$restart" 2>/dev/null; do restart=$((restart + 1)); [ "$restart" -gt 1000 ] && exit 0; done
    for file in trace stdout.log stderr.log; do [ -e "$file" ] && mv "$file" "requeued-$restart/"; done
fi
{
    read -r host </proc/sys/kernel/hostname || host=$(hostname)
    echo "host $host"
    for name in SLURM_JOB_ID SLURM_JOB_NODELIST SLURM_JOB_NUM_NODES SLURM_NTASKS SLURM_TASKS_PER_NODE \
        SLURM_CPUS_PER_TASK SLURM_JOB_CPUS_PER_NODE SLURM_RESTART_COUNT SLURM_JOB_GPUS SLURM_JOB_PARTITION \
        PBS_JOBID PBS_QUEUE PBS_NODEFILE; do
        eval "value=\${$name-}"
        [ -n "$value" ] && echo "$name $value"
    done
    [ -r "${PBS_NODEFILE-}" ] && echo "PBS_NODES $(sort "$PBS_NODEFILE" | uniq -c | awk '{printf "%s%s:%s", s, $2, $1; s=","}')"
    [ -n "${ASSAY_DEVICES_ASKED-}" ] && command -v scontrol >/dev/null && [ -n "${SLURM_JOB_ID-}" ] &&
        scontrol show -d -o job "$SLURM_JOB_ID" | tr ' ' '\n' | sed -n 's/^GRES=/GRES /p'
} >trace 2>/dev/null
# srun inside of a job does not take this over by itself since Slurm 22.05.
[ -n "${SLURM_CPUS_PER_TASK-}" ] && export SRUN_CPUS_PER_TASK="$SLURM_CPUS_PER_TASK"
code=0
full=
# Reads the clock, and the time since the boot around it, which does not change when the clock is set.
clock() {
    clock_before=0 clock_after=0
    read -r clock_before clock_rest </proc/uptime
    clock_now=$(date +%s.%N)
    read -r clock_after clock_rest </proc/uptime
    clock_uptimes="$clock_uptimes ${clock_before:-0} ${clock_after:-0}"
} 2>/dev/null
clock_uptimes=
"#;

/// The end that all such scripts have in common.
const TAIL: &str = r#"# Whoever ends a job signals its processes one after the other: this one may be next, and then the run has no end.
case $code in 137 | 143) sleep 1 ;; esac
[ "$code" = 0 ] || echo "code $code" >>trace
printf '%s %s %s%s %s\n' "$code" "${ended:-0}" "${started:-0}" "$clock_uptimes" "$full" 1<>end.new && mv end.new end
"#;

/// Whether a job has begun a run.
pub fn has_begun(directory: &Path) -> bool {
    let claim = std::fs::read_link(directory.join(CLAIM));
    claim.is_ok_and(|job| job.as_os_str() != GIVEN_UP)
}

/// The text of the script. `start` is what starts the run's own script, for example `srun`.
pub fn text(job: &RunJob, start: &str) -> String {
    let directory = job.there.as_ref().unwrap_or(&job.directory).display().to_string();
    let invocation = &job.invocation;
    let mut script = String::with_capacity(2048);
    // Writing to a String cannot fail.
    let _ = writeln!(script, "#!/bin/sh\n# Makes run {} inside a job; `run.sh` is what it runs.", job.run);
    let _ = writeln!(script, "umask 077\ndirectory={}", quoted(&directory));
    let _ =
        writeln!(script, "export {}={}", orphan::RUN_VARIABLE, quoted(&orphan::token(&job.record, &job.run)));
    if job.resources.devices.is_some_and(|devices| devices > 0) {
        script.push_str("ASSAY_DEVICES_ASKED=1\n");
    }
    script.push_str(HEAD);
    let mut words = String::new();
    if let Some(timeout) = invocation.timeout {
        let grace = invocation.grace.as_secs_f64();
        let _ = write!(words, "timeout --kill-after={grace} {} ", timeout.as_secs_f64());
    }
    if !invocation.pin.is_empty() {
        let cpus: Vec<String> = invocation.pin.iter().map(ToString::to_string).collect();
        let _ = write!(words, "taskset -c {} ", cpus.join(","));
    }
    if !start.is_empty() {
        let _ = write!(words, "{start} ");
    }
    let interpreter = if invocation.shell == assay_campaign::Shell::Bash { "bash" } else { "sh" };
    let run = format!("{words}{interpreter} \"$directory/{SCRIPT}\" </dev/null");
    // What is run around a run has its directory and its variables.
    let around = |command: &str| {
        let place = quoted(&invocation.directory.display().to_string());
        let variables = crate::script::environment(job);
        format!(
            "(\ncd {place} || exit 125\n{variables}sh -c {}\n) >>steps.log 2>&1 </dev/null",
            quoted(command)
        )
    };
    let step = |name: &str, command: &Option<String>| {
        let command = around(command.as_deref()?);
        Some(format!(
            "[ \"$code\" = 0 ] && {{ {command} || {{ code=$?; echo \"failed {name}\" >>trace; }}; }}\n"
        ))
    };
    let prepare = step("prepare", &invocation.prepare).unwrap_or_default();
    let cleanup = step("cleanup", &invocation.cleanup).unwrap_or_default();
    for _ in 0..job.warmup {
        script.push_str(&prepare);
        let _ = writeln!(
            script,
            "[ \"$code\" = 0 ] && {{ {run} >>steps.log 2>&1 || {{ code=$?; echo \"failed warm-up\" >>trace; }}; }}"
        );
        script.push_str(&cleanup);
    }
    script.push_str(&prepare);
    let _ = writeln!(
        script,
        "clock\nstarted=$clock_now\necho \"start $started\" >>trace\nif [ \"$code\" = 0 ]; then\n    (\n        {run} >stdout.log 2>stderr.log\n        \
         code=$?\n        times >times\n        exit \"$code\"\n    )\n    code=$?\n    \
         # What could not be written is missing in the logs, too.\n    [ -s times ] || full={FULL}\nfi\nclock\nended=$clock_now"
    );
    if let Some(command) = invocation.cleanup.as_deref() {
        let _ = writeln!(script, "{} || echo \"failed cleanup\" >>trace", around(command));
    }
    script.push_str(TAIL);
    script
}
