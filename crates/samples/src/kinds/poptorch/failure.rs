//! How a PopTorch run fails.

use crate::bar::Bar;
use crate::log::say;

use super::{PopTorchRun, WorkloadEvent};

impl WorkloadEvent<'_, '_> {
    pub(super) fn fail(&mut self, reason: &str) {
        match reason {
            "execve" => self.variable_after_srun(),
            "no-ipu" => {
                self.log.line("(poptorch_env) sample-user@sample-login-02:~/mnist$ python mnist_sample.py");
                self.raise(
                    "poptorch.poptorch_core.Error",
                    &format!(
                        "In poptorch/popart_compiler/source/CompilerImpl.cpp:725: 'poptorch_cpp_error': Failed to \
                         acquire {} IPU(s)",
                        self.settings.whole("ipus")
                    ),
                    "No IPU detected in the system.",
                );
            }
            "oom" => {
                self.submit();
                self.broken_off();
                self.raise(
                    "poptorch.poptorch_core.Error",
                    "In unknown:0: 'poplar_stream_memory_allocation_error': Out of memory on the host stream buffer",
                    "Sample buffer of 268435456 bytes was refused.",
                );
            }
            _ => {
                self.submit();
                self.broken_off();
                let now = self.clock.iso();
                self.raise(
                    "poptorch.poptorch_core.UnrecoverableError",
                    &format!(
                        "In unknown:0: 'poplar_unrecoverable_runtime_error': Could not complete operation. Fabric \
                         error: connection not established, device 1, IP 192.0.2.17:50052. IPUoF Server unreachable \
                         at {now}"
                    ),
                    "Sample partition sample-p64 is affected.",
                );
            }
        }
    }

    /// The bars of a run that ends after a third of its epochs.
    fn broken_off(&mut self) {
        self.compile_bars();
        let PopTorchRun { epochs, compile, seconds, .. } = self.run;
        let done = (epochs / 3).max(1);
        let elapsed = compile + (seconds - compile) * done as f64 / epochs as f64;
        self.clock.pass(elapsed - compile);
        Bar { done, elapsed, ..self.epochs() }.draw(self.log);
        self.log.end();
    }

    /// What is thrown, as the library logs it and as Python prints it.
    fn raise(&mut self, error: &str, message: &str, more: &str) {
        self.clock.pass(2.0);
        say!(self.log, "[{}] [poptorch::python] [critical] {error}: {message}", self.clock.time_of_day());
        self.log.line(more);
        self.log.lines("Error raised in:\n  [0] Compiler::initSession\n  [1] LowerToPopart::compile");
        self.log.line("");
        self.log.lines(
            "Traceback (most recent call last):\n  File \"mnist_sample.py\", line 41, in <module>\n    \
             predictions, losses = training_model(data, labels)",
        );
        say!(self.log, "{error}: {message}");
        self.log.line(more);
    }

    /// A variable after `srun` is taken for the program.
    fn variable_after_srun(&mut self) {
        const VARIABLE: &str = "POPLAR_ENGINE_OPTIONS={\"autoReport.all\":\"true\"}";
        say!(
            self.log,
            "(poptorch_env) sample-user@sample-login-02:~/mnist$ srun --ipus={} {VARIABLE} python mnist_sample.py",
            self.settings.whole("ipus")
        );
        self.allocate();
        say!(self.log, "slurmstepd: error: execve(): {VARIABLE}: No such file or directory");
        self.log.line("srun: error: sample-node-03: task 0: Exited with exit code 2");
    }
}
