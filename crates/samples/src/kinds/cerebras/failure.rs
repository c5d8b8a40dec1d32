//! How a fit ends when it does not come to its end. The line about processed samples comes in any case.

use crate::log::say;

use super::{FitLog, TrainingState};

impl FitLog<'_, '_> {
    pub(super) fn fail(&mut self, reason: &str, done: &TrainingState) {
        let job = self.job(1);
        let (error, message) = match reason {
            "pod" => {
                ("ApplianceUnknownError", "Lost an output tensor while the run was under way".to_owned())
            }
            "nan" => ("ApplianceNanError", format!("NaN found in the loss at step {}", done.steps)),
            "cancelled" => ("ClusterJobCancelledByCsctl", format!("Job {job} was cancelled by csctl")),
            _ => ("ApplianceRuntimeJobTimeoutError", format!("Job {job} has exceeded its job_time_sec")),
        };
        self.clock.pass(31.0);
        self.error(&format!("Initiating shutdown sequence due to Appliance error: {message}"));
        if reason == "pod" {
            self.pod(&job);
        }
        self.clock.pass(3.3);
        self.processed(done);
        self.log.lines(
            "Traceback (most recent call last):\n  File \"run.py\", line 27, in <module>\n    run()\n  \
             File \"sample/run_utils.py\", line 65, in run\n    main(",
        );
        say!(self.log, "cerebras.appliance.errors.{error}: {message}");
    }

    fn error(&mut self, text: &str) {
        self.log.stamp(self.clock).text(" ERROR:   ").text(text).end();
    }

    /// Which pod died, as the cluster reports it. Its events carry a time of their own, in UTC.
    fn pod(&mut self, job: &str) {
        let pod = format!("{job}-weight-{}", self.random.below(16));
        self.info(&format!(
            "Trying to fetch failure info from the cluster for job {job}. This may take up to 60 seconds."
        ));
        self.clock.pass(0.1);
        self.error(&format!(
            "Job {job} failed due to: job has failed because total 1 replica(s) failed, first failed pods: [{pod}]"
        ));
        let event = self.clock.plain();
        self.log.stamp(self.clock).text(" WARNING:   ");
        say!(
            self.log,
            "Event {event} +0000 UTC reason=Error object={pod} message='Pod: job-operator.{pod} exited with code 250'"
        );
    }
}
