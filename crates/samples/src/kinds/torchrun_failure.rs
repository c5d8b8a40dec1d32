//! torchrun when a child died: the child's own traceback first, then the summary that hides it.

use crate::calendar::Clock;
use crate::kind::{OptionValues, SampleJob, SampleKind, log_options};
use crate::log::say;

pub(crate) const KIND: SampleKind = SampleKind {
    name: "torchrun-failure",
    summary: "torchrun: a child's traceback, the elastic error, the ChildFailedError block",
    options: log_options![
        ("cause", "memory", OptionValues::Words(&["memory", "value", "signal"]), "why the child died"),
        ("steps", "4", OptionValues::Whole(1, 1 << 32), "steps before it died"),
    ],
    compose,
};

fn compose(job: &mut SampleJob<'_, '_>) {
    let mut clock = Clock::some(&mut job.random);
    let (rank, process) = (job.random.below(4), job.random.whole(4000, 9000));
    for step in 1..=job.units.unwrap_or(job.settings.whole("steps")) {
        clock.pass(1.2);
        say!(job.log, "step {step} loss {:.4}", 6.0 + 0.1 * job.random.bounded_normal());
    }
    let (code, error) = match job.settings.word("cause") {
        "memory" => (1, Some("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.")),
        "value" => (1, Some("ValueError: sample loss is not finite")),
        _ => (-9, None),
    };
    let log = &mut *job.log;
    if let Some(error) = error {
        log.lines(
            "Traceback (most recent call last):\n  File \"sample_train.py\", line 88, in <module>\n    main()\n  \
             File \"sample_train.py\", line 61, in main\n    loss.backward()",
        );
        log.line(error);
    }
    let moment = clock.moment();
    say!(
        log,
        "E{:02}{:02} {}000 {} torch/distributed/elastic/multiprocessing/api.py:826] failed (exitcode: {code}) \
         local_rank: {rank} (pid: {process}) of binary: /opt/sample/bin/python",
        moment.month,
        moment.day,
        clock.time_of_day(),
        process - 12
    );
    log.lines(
        "Traceback (most recent call last):\n  File \"/opt/sample/bin/torchrun\", line 8, in <module>\n    \
         sys.exit(main())",
    );
    log.line("torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ");
    let (double, single) = ("=".repeat(60), "-".repeat(60));
    log.line(&double);
    log.line("sample_train.py FAILED");
    log.line(&single);
    log.lines("Failures:\n  <NO_OTHER_FAILURES>");
    log.line(&single);
    log.line("Root Cause (first observed failure):");
    log.line("[0]:");
    say!(log, "  time      : {}", clock.plain().replacen(' ', "_", 1));
    log.line("  host      : sample-node-01");
    say!(log, "  rank      : {rank} (local_rank: {rank})");
    say!(log, "  exitcode  : {code} (pid: {process})");
    log.line("  error_file: <N/A>");
    match error {
        Some(_) => log.line(
            "  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html",
        ),
        None => say!(log, "  traceback : Signal 9 (SIGKILL) received by PID {process}"),
    }
    log.line(&double);
}
