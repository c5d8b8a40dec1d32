//! Error texts of accelerator stacks and schedulers, and what to do about them.

use crate::facts::Facts;

/// An error text and its advice.
pub struct ErrorText {
    /// All of these must be on the line.
    pub texts: &'static [&'static str],
    /// What to do.
    pub advice: &'static str,
}

/// All known error texts. The first that fits a line counts.
pub const ERRORS: &[ErrorText] = &[
    error(
        &["No IPU detected"],
        "start the program through the scheduler: srun --ipus=N … or sbatch --ipus=N …",
    ),
    error(
        &["Failed to acquire", "IPU(s)"],
        "without any IPU: start through srun --ipus=N; after a training that ran: detach the training model before \
         the inference model is made, or ask for more IPUs",
    ),
    error(&["poplar_stream_memory_allocation_error"], "send fewer outputs to the host, or smaller ones"),
    error(&["IPUoF", "unreachable"], "a fault of the machine: try again on another partition"),
    error(
        &["execve():", "No such file or directory"],
        "put the variable before srun (VAR=… srun …), or pass it with --export; after srun it is taken for the program",
    ),
    error(
        &["Requested node configuration is not available"],
        "tasks × CPUs per task (or devices) exceed a node: lower them or add --nodes; what was compiled is kept",
    ),
    error(
        &["Expected throughput to be at"],
        "an acceptance gate for the default configuration: the metrics are valid; drop --min_throughput and \
         --max_throughput, or set them for this configuration",
    ),
    error(&[".pef does not exist"], "compile first, into the same output folder"),
    error(
        &["current job status: Queueing"],
        "the job waits in the queue and does not hang: csctl get jobs shows what runs before it",
    ),
    error(
        &["reason=InconsistentVersion"],
        "the client's release differs from the cluster's: a warning, but check that both agree before comparing runs",
    ),
    error(
        &["ApplianceNanError"],
        "a loss or gradient is not a number: lower the learning rate, or look for a fault in the data",
    ),
    error(&["ApplianceRuntimeJobTimeoutError"], "the job ran into its time limit: raise job_time_sec"),
    error(
        &["ClusterJobCancelledByCsctl"],
        "somebody cancelled the job with csctl; nothing is wrong with the run itself",
    ),
    error(
        &["wsjob-", "failed due to:"],
        "export the logs of the job (csctl log-export) and look at the replica and exit code that the line names",
    ),
    error(
        &["Appliance", "Error"],
        "export the logs of the job (csctl log-export); a deadlock or stall is worth one retry",
    ),
    error(
        &["ApplianceResourceExhausted"],
        "the model does not fit: lower the batch size or set a micro batch size",
    ),
    error(&["No module named 'transformers.modeling_layers'"], "pin peft to 0.17.1"),
    error(
        &["TqdmSynchronisationWarning"],
        "if nothing follows, the program died in a thread: this run is not a result",
    ),
    error(
        &["build_model()", "decided to rebuild"],
        "the model's shape changed since the cached build: this time includes compilation",
    ),
    error(
        &["No inputs received for benchmark"],
        "the benchmark ran on the inputs given at compile time: inputs of your own never entered it",
    ),
    error(&["oom_kill event"], "the job ran out of memory: ask for more (--mem), or lower the batch size"),
    error(&["oom-kill event"], "the job ran out of memory: ask for more (--mem), or lower the batch size"),
    error(&["CUDA out of memory"], "lower the batch size or the sequence length, or checkpoint activations"),
    error(&["ChildFailedError"], "read the first traceback above it: that one names the fault"),
    error(&["DUE TO TIME LIMIT"], "the job ran into its time limit: ask for more time (--time), or do less"),
    error(
        &["PBS: job killed: walltime"],
        "the job ran into its time limit: ask for more time (-l walltime=…), or do less",
    ),
    error(
        &["error code: 404"],
        "check the base URL of the endpoint and the model's name: the same model has different names at different \
         endpoints",
    ),
    error(
        &["404 Client Error"],
        "check the base URL of the endpoint and the model's name: the same model has different names at different \
         endpoints",
    ),
    error(&["403 Client Error"], "the token may have expired or lack permission: log in again"),
    error(&["401 Client Error"], "the token is missing or has expired: log in again"),
    error(&["Permission denied", "endpoint"], "force a new login: the token may have expired"),
];

const fn error(texts: &'static [&'static str], advice: &'static str) -> ErrorText {
    ErrorText { texts, advice }
}

/// A line that holds none of these has no hint.
pub(crate) fn needles() -> impl Iterator<Item = &'static str> {
    ERRORS.iter().filter_map(|error| error.texts.first().copied())
}

/// Adds the hint for a line, if there is one.
pub(crate) fn look(text: &str, facts: &mut Facts<'_>) {
    if let Some(advice) = advice(text) {
        facts.hint(&seen(text), advice);
    }
}

/// The advice for a line.
pub fn advice(text: &str) -> Option<&'static str> {
    ERRORS.iter().find(|error| error.texts.iter().all(|key| text.contains(key))).map(|error| error.advice)
}

/// What the user should see of the line: without timestamps and module names where they can be recognized.
fn seen(text: &str) -> String {
    let stated = text.split_once("INFO:").or_else(|| text.split_once("error:"));
    stated.map_or(text, |(_, rest)| rest).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_errors_have_advice_and_others_do_not() {
        let advice_of = |text: &str| advice(text).unwrap_or_default();
        assert!(
            advice_of("slurmstepd: error: execve(): A=1: No such file or directory").contains("before srun")
        );
        assert!(advice_of("slurmstepd: error: Detected 1 oom_kill event in StepId=5.0").contains("memory"));
        assert!(advice_of("x ApplianceNanError y").contains("learning rate"));
        assert_eq!(advice("all is well"), None);
    }

    #[test]
    fn every_error_text_leads_to_its_own_advice() {
        for error in ERRORS {
            let found = advice(&error.texts.join(" … "));
            assert!(found.is_some(), "{:?}", error.texts);
        }
    }
}
