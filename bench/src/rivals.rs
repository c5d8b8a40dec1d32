//! Other programs that run commands: the same 200 runs of `echo metric=1.0`, each as its users would write it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::campaign::{matrix, values};
use crate::place::Place;

/// The runs of the comparison are a matrix of this many values ...
pub const A: usize = 10;
/// ... times this many.
pub const B: usize = 20;
/// How many runs that makes.
pub const RUNS: usize = A * B;

/// The variable that names a Python environment in which to look for rivals too.
const ENVIRONMENT: &str = "ASSAY_BENCH_VENV";

/// One way to make the runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contender {
    /// The program that is measured.
    Assay,
    /// The same program, with commands and without a campaign file.
    AssayBench,
    /// A shell loop that throws the output away.
    Loop,
    /// A shell loop that keeps a directory, a script and the output of every run.
    KeepingLoop,
    /// Two commands in hyperfine's own shell, as its users write them.
    HyperfineShell,
    /// One hyperfine benchmark of all runs.
    Hyperfine,
    /// One hyperfine benchmark a run.
    HyperfineMatrix,
    /// GNU parallel, one job at a time, results kept.
    Parallel,
    /// JUBE.
    Jube,
    /// ReFrame.
    Reframe,
}

/// All of them, in the order of the table.
pub const ALL: [Contender; 10] = [
    Contender::Assay,
    Contender::AssayBench,
    Contender::HyperfineShell,
    Contender::Loop,
    Contender::KeepingLoop,
    Contender::Hyperfine,
    Contender::HyperfineMatrix,
    Contender::Parallel,
    Contender::Jube,
    Contender::Reframe,
];

impl Contender {
    /// The name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Contender::Assay => "assay run",
            Contender::AssayBench => "assay bench, 2 commands",
            Contender::HyperfineShell => "hyperfine, 2 commands",
            Contender::Loop => "sh loop, output thrown away",
            Contender::KeepingLoop => "sh loop, a directory a run",
            Contender::Hyperfine => "hyperfine -N --runs 200",
            Contender::HyperfineMatrix => "hyperfine -N, 200 commands",
            Contender::Parallel => "parallel -j 1 --results",
            Contender::Jube => "jube run",
            Contender::Reframe => "reframe -r",
        }
    }

    /// How many of the rounds to measure: programs that take seconds to start are measured less often.
    pub fn rounds(self, rounds: usize) -> usize {
        if matches!(self, Contender::Jube | Contender::Reframe) { rounds.div_ceil(4) } else { rounds }
    }

    /// Whether one round of it alone takes most of a minute.
    pub fn is_slow(self) -> bool {
        self == Contender::Reframe
    }

    /// How to install it where it is missing.
    pub fn installation(self) -> &'static str {
        match self {
            Contender::Assay | Contender::AssayBench => "cargo build --release -p assay",
            Contender::Loop | Contender::KeepingLoop => "apt-get install dash",
            Contender::Hyperfine | Contender::HyperfineMatrix | Contender::HyperfineShell => {
                "apt-get install hyperfine"
            }
            Contender::Parallel => "apt-get install parallel",
            Contender::Jube => "apt-get install jube",
            Contender::Reframe => {
                "python3 -m venv VENV && VENV/bin/pip install ReFrame-HPC, then ASSAY_BENCH_VENV=VENV"
            }
        }
    }

    /// The program; none where it is not installed.
    pub fn program(self, place: &Place) -> Option<PathBuf> {
        match self {
            Contender::Assay | Contender::AssayBench => Some(place.assay.clone()),
            Contender::Loop | Contender::KeepingLoop => find("sh", place),
            Contender::Hyperfine | Contender::HyperfineMatrix | Contender::HyperfineShell => {
                find("hyperfine", place)
            }
            Contender::Parallel => find("parallel", place),
            Contender::Jube => find("jube", place),
            Contender::Reframe => find("reframe", place),
        }
    }

    /// The command that makes all runs in a fresh directory.
    pub fn command(self, place: &Place, directory: &Path) -> anyhow::Result<Command> {
        let program = self.program(place).with_context(|| format!("{} is not installed", self.name()))?;
        let write = |name: &str, text: String| {
            let path = directory.join(name);
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
        };
        let mut command = Command::new(program);
        command.current_dir(directory);
        let (a, b) = (values(A), values(B));
        match self {
            Contender::Assay => {
                write("campaign.toml", matrix("overhead", "echo metric=1.0", A, B, 1))?;
                command.args(["run", "campaign.toml"]);
            }
            Contender::AssayBench => {
                let runs = (RUNS / 2).to_string();
                command.args(["bench", "--repeats", &runs, "-o", "results.json"]).args(COMMANDS);
            }
            Contender::HyperfineShell => {
                let runs = (RUNS / 2).to_string();
                command.args(["--runs", &runs, "--export-json", "results.json"]).args(COMMANDS);
            }
            Contender::Loop => {
                write("loop.sh", shell_loop("/bin/echo metric=1.0 > /dev/null"))?;
                command.arg("loop.sh");
            }
            Contender::KeepingLoop => {
                write("loop.sh", shell_loop(KEEP))?;
                command.arg("loop.sh");
            }
            Contender::Hyperfine => {
                let runs = RUNS.to_string();
                command.args([
                    "-N",
                    "--runs",
                    &runs,
                    "--export-json",
                    "results.json",
                    "/bin/echo metric=1.0",
                ]);
            }
            Contender::HyperfineMatrix => {
                let (a, b) = (a.replace(' ', ""), b.replace(' ', ""));
                command.args(["-N", "--runs", "1", "--export-json", "results.json"]);
                command.args(["-L", "a", &a, "-L", "b", &b, "/bin/echo metric=1.0 {a} {b}"]);
            }
            Contender::Parallel => {
                command.args([
                    "--will-cite",
                    "-j",
                    "1",
                    "--results",
                    "results",
                    "echo metric=1.0 '#' {1} {2}",
                ]);
                command.arg(":::").args(a.split(", ")).arg(":::").args(b.split(", "));
            }
            Contender::Jube => {
                write("jube.xml", jube_file(&a, &b))?;
                command.args(["run", "jube.xml"]);
            }
            Contender::Reframe => {
                write("check.py", reframe_file())?;
                // It leaves a log in the directory for temporary files.
                command.env("TMPDIR", directory).args(["--prefix", "reframe", "-c", "check.py", "-r"]);
            }
        }
        Ok(command)
    }
}

/// The two commands that are compared without a campaign file.
const COMMANDS: [&str; 2] = ["echo metric=1.0", "echo metric=2.0"];

/// What people write by hand to have the script and the output of every run.
const KEEP: &str =
    "d=runs/$a-$b; mkdir -p $d; echo 'echo metric=1.0' > $d/run.sh; sh $d/run.sh > $d/stdout 2> $d/stderr";

fn shell_loop(body: &str) -> String {
    let words = |most| values(most).replace(',', "");
    format!("for a in {}; do for b in {}; do {body}; done; done\n", words(A), words(B))
}

fn jube_file(a: &str, b: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<jube>\n<benchmark name=\"overhead\" outpath=\"jube\">\n\
         <parameterset name=\"settings\">\n<parameter name=\"a\">{}</parameter>\n<parameter name=\"b\">{}</parameter>\n\
         </parameterset>\n<step name=\"run\"><use>settings</use><do>echo metric=1.0</do></step>\n\
         </benchmark>\n</jube>\n",
        a.replace(' ', ""),
        b.replace(' ', "")
    )
}

fn reframe_file() -> String {
    format!(
        "import reframe as rfm\nimport reframe.utility.sanity as sn\n\n\n@rfm.simple_test\n\
         class Overhead(rfm.RunOnlyRegressionTest):\n    a = parameter(range({A}))\n    b = parameter(range({B}))\n    \
         valid_systems = ['*']\n    valid_prog_environs = ['*']\n    executable = 'echo'\n    \
         executable_opts = ['metric=1.0']\n\n    @sanity_function\n    def said(self):\n        \
         return sn.assert_found('metric=1.0', self.stdout)\n"
    )
}

/// Finds a program: in the Python environments first, then where the shell would.
pub fn find(name: &str, place: &Place) -> Option<PathBuf> {
    let named = env::var_os(ENVIRONMENT).map(|path| PathBuf::from(path).join("bin"));
    let installed = python_environment(place).join("bin");
    let path = env::var_os("PATH").unwrap_or_default();
    let directories = named.into_iter().chain([installed]).chain(env::split_paths(&path));
    directories.map(|directory| directory.join(name)).find(|file| file.is_file())
}

fn python_environment(place: &Place) -> PathBuf {
    place.lasting.join("venv")
}

/// Installs what is missing. Gives what could not be installed, with the reason.
pub fn install(place: &Place) -> Vec<String> {
    let step = |program: &Path, words: &[&str]| -> anyhow::Result<()> {
        let output = Command::new(program).args(words).env("DEBIAN_FRONTEND", "noninteractive").output()?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}", stderr.lines().last().unwrap_or("no reason given"));
        Ok(())
    };
    let missing = |contender: Contender| contender.program(place).is_none();
    let mut troubles = Vec::new();
    for (contender, package) in
        [(Contender::Hyperfine, "hyperfine"), (Contender::Parallel, "parallel"), (Contender::Jube, "jube")]
    {
        if missing(contender)
            && let Err(error) = step(Path::new("apt-get"), &["install", "-y", "-q", package])
        {
            troubles.push(format!("{package} could not be installed: {error}"));
        }
    }
    if missing(Contender::Reframe) {
        let environment = python_environment(place);
        let path = environment.display().to_string();
        let done = step(Path::new("python3"), &["-m", "venv", &path])
            .and_then(|()| step(&environment.join("bin/pip"), &["install", "-q", "ReFrame-HPC"]));
        if let Err(error) = done {
            troubles.push(format!("ReFrame could not be installed: {error}"));
        }
    }
    troubles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_makes_every_run_once() {
        let counted = shell_loop("echo x").replace("do echo", "do printf '%s\\n' $a-$b; : echo");
        let output = Command::new("sh").args(["-c", &counted]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: std::collections::BTreeSet<&str> = text.lines().collect();
        assert_eq!((lines.len(), text.lines().count()), (RUNS, RUNS));
    }

    #[test]
    fn every_contender_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<&str> = ALL.iter().map(|contender| contender.name()).collect();
        assert_eq!(names.len(), ALL.len());
    }
}
