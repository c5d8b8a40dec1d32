//! Clients as processes on their core: what they cost and what they say.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::Value;

use super::CLIENT_CORE;
use super::server::pinned;
use crate::measure::{children_cpu_s, children_kernel_s};
use crate::place::Place;
use crate::rivals::find;

/// What is asked of every client.
#[derive(Debug, Clone, Copy)]
pub struct ClientWork {
    /// Requests in flight.
    pub streams: u32,
    /// Requests in all.
    pub requests: u32,
    /// Tokens of an answer.
    pub tokens: u32,
}

impl ClientWork {
    /// Tokens in all.
    pub fn all_tokens(&self) -> f64 {
        f64::from(self.requests) * f64::from(self.tokens)
    }
}

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// This program.
    Assay,
    /// A plain loop over reqwest.
    Reqwest,
    /// A loop over aiohttp, as vLLM's and SGLang's clients are written.
    Aiohttp,
    /// The same over httpx, as OpenAI's library is written.
    Httpx,
    /// NVIDIA's aiperf.
    Aiperf,
    /// Guidellm.
    Guidellm,
}

impl Client {
    /// All of them.
    pub const ALL: [Client; 6] =
        [Client::Assay, Client::Reqwest, Client::Aiohttp, Client::Httpx, Client::Aiperf, Client::Guidellm];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Client::Assay => "assay load",
            Client::Reqwest => "reqwest loop",
            Client::Aiohttp => "aiohttp loop",
            Client::Httpx => "httpx loop",
            Client::Aiperf => "aiperf",
            Client::Guidellm => "guidellm",
        }
    }

    /// The program that is started; an error says what is missing.
    pub fn program(self, place: &Place) -> Result<PathBuf, String> {
        let program = match self {
            Client::Assay => Some(place.assay.clone()),
            // `bench/load` builds it there.
            Client::Reqwest => Some(place.lasting.join("reqwest-loop")).filter(|program| program.is_file()),
            Client::Aiohttp | Client::Httpx => {
                find("python3", place).filter(|python| self.is_importable(python))
            }
            Client::Aiperf | Client::Guidellm => {
                tokenizer()?;
                find(self.name(), place)
            }
        };
        program.ok_or_else(|| "it is not installed".to_owned())
    }

    fn is_importable(self, python: &Path) -> bool {
        let library = if self == Client::Aiohttp { "import aiohttp" } else { "import httpx" };
        Command::new(python).args(["-c", library]).output().is_ok_and(|output| output.status.success())
    }

    /// The command that does the work.
    fn command(
        self,
        program: &Path,
        url: &str,
        work: ClientWork,
        directory: &Path,
    ) -> anyhow::Result<Command> {
        let mut command = pinned(CLIENT_CORE, program);
        command.current_dir(directory);
        let [streams, requests, tokens] =
            [work.streams, work.requests, work.tokens].map(|number| number.to_string());
        match self {
            Client::Assay => {
                command.args(["load", url, "--model", "calibration", "--json", "--quiet", "--warm-up", "0"]);
                command.args(["--streams", &streams, "--requests", &requests, "--output-tokens", &tokens]);
            }
            Client::Reqwest => {
                command.args([url, &streams, &requests, &tokens]);
            }
            Client::Aiohttp | Client::Httpx => {
                fs::write(directory.join("client.py"), include_str!("../../rivals/load_client.py"))?;
                let library = if self == Client::Aiohttp { "aiohttp" } else { "httpx" };
                command.args(["client.py", library, url, &streams, &requests, &tokens]);
            }
            Client::Aiperf => {
                let base = url.trim_end_matches("/v1");
                command.args(["profile", "--model", "calibration", "--url", base, "--endpoint-type", "chat"]);
                command.args(["--streaming", "--concurrency", &streams, "--request-count", &requests]);
                command.args(["--output-tokens-mean", &tokens, "--use-server-token-count"]);
                command.args(["--ui-type", "none", "--artifact-dir", "artifacts", "--tokenizer"]);
                command.arg(tokenizer().map_err(anyhow::Error::msg)?);
            }
            Client::Guidellm => {
                let tokenizer = tokenizer().map_err(anyhow::Error::msg)?;
                let base = url.trim_end_matches("/v1");
                command.args(["run", "--disable-progress", "--output", "kind=json,path=result.json"]);
                command.arg("--backend").arg(format!("kind=openai_http,target={base},model=calibration"));
                command.arg("--profile").arg(format!("kind=concurrent,streams={streams}"));
                command.arg("--constraint").arg(format!("kind=max_requests,count={requests}"));
                command
                    .arg("--tokenizer")
                    .arg(format!("kind=huggingface_auto,model={}", tokenizer.display()));
                let data = format!("kind=synthetic_text,prompt_tokens=16,output_tokens={tokens}");
                command.arg("--data").arg(data);
            }
        }
        Ok(command)
    }

    /// The time to first token that it reports, in seconds: the median and the 99th percentile.
    fn first_token(self, directory: &Path, printed: &Value) -> Option<(f64, f64)> {
        let file = |name: &str| serde_json::from_slice(&fs::read(directory.join(name)).ok()?).ok();
        let (said, place, unit): (Value, &str, f64) = match self {
            Client::Assay => (printed.clone(), "/endpoints/0/ttft_s", 1.0),
            Client::Reqwest | Client::Aiohttp | Client::Httpx => (printed.clone(), "/first_token_s", 1.0),
            Client::Aiperf => (file("artifacts/profile_export_aiperf.json")?, "/time_to_first_token", 1e-3),
            Client::Guidellm => {
                let place = "/benchmarks/0/metrics/time_to_first_token_ms/successful/percentiles";
                (file("result.json")?, place, 1e-3)
            }
        };
        let at = |rank: &str| Some(said.pointer(place)?.get(rank)?.as_f64()? * unit);
        at("p50").zip(at("p99"))
    }
}

/// The folder with a tokenizer that some rivals cannot do without.
fn tokenizer() -> Result<PathBuf, String> {
    let folder = std::env::var_os("ASSAY_BENCH_TOKENIZER").map(PathBuf::from).filter(|path| path.is_dir());
    folder.ok_or_else(|| "ASSAY_BENCH_TOKENIZER names no folder with a tokenizer".to_owned())
}

/// What a client did.
#[derive(Debug, Clone)]
pub struct Said {
    /// CPU seconds.
    pub cpu_s: f64,
    /// Those of them that the kernel worked.
    pub kernel_s: f64,
    /// Wall-clock seconds.
    pub wall_s: f64,
    /// The largest memory in bytes of the process and its children at one time, looked at every few milliseconds.
    /// Pages that several of them share, such as those of the program itself, count once.
    pub peak_bytes: f64,
    /// What it printed, where that is JSON.
    pub printed: Value,
    /// The time to first token that it reported, in seconds: the median and the 99th percentile.
    pub ttft_s: Option<(f64, f64)>,
}

/// Lets a client do its work.
pub fn run(client: Client, place: &Place, url: &str, work: ClientWork) -> anyhow::Result<Said> {
    let program = client.program(place).map_err(anyhow::Error::msg)?;
    let directory = place.fresh("client")?;
    let said = run_all(&mut client.command(&program, url, work, &directory)?)?;
    let ttft_s = client.first_token(&directory, &said.printed);
    Ok(Said { ttft_s, ..said })
}

/// This program with options of its own.
pub fn load(place: &Place, url: &str, options: &[&str]) -> anyhow::Result<Said> {
    load_with(place, url, options, &[0])
}

/// The same where some other exit codes are no failures.
pub fn load_with(place: &Place, url: &str, options: &[&str], exits: &[i32]) -> anyhow::Result<Said> {
    let mut command = pinned(CLIENT_CORE, &place.assay);
    command.current_dir(place.fresh("client")?);
    command.args(["load", url, "--model", "calibration", "--json", "--quiet"]).args(options);
    run_to_end(&mut command, exits)
}

/// Runs a command to its end; only one may be measured at a time.
pub fn run_all(command: &mut Command) -> anyhow::Result<Said> {
    run_to_end(command, &[0])
}

/// The same where some other exit codes are no failures.
pub fn run_to_end(command: &mut Command, exits: &[i32]) -> anyhow::Result<Said> {
    let directory = command.get_current_dir().unwrap_or(Path::new(".")).to_owned();
    let (out, errors) = (directory.join("stdout"), directory.join("stderr"));
    command.stdin(Stdio::null()).stdout(fs::File::create(&out)?).stderr(fs::File::create(&errors)?);
    let (before, kernel_before, began) = (children_cpu_s()?, children_kernel_s()?, Instant::now());
    let mut child = command.spawn().context("cannot start `taskset`, which binds programs to cores")?;
    let mut peak_bytes: f64 = 0.0;
    let status = loop {
        peak_bytes = peak_bytes.max(memory_of(child.id()).unwrap_or(0.0));
        match child.try_wait()? {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let wall_s = began.elapsed().as_secs_f64();
    if !status.code().is_some_and(|code| exits.contains(&code)) {
        let printed = fs::read_to_string(&errors).unwrap_or_default();
        bail!("it ended with {status}: {}", printed.lines().last().unwrap_or("no reason given"));
    }
    let printed = serde_json::from_slice(&fs::read(&out)?).unwrap_or(Value::Null);
    let kernel_s = children_kernel_s()? - kernel_before;
    Ok(Said { cpu_s: children_cpu_s()? - before, kernel_s, wall_s, peak_bytes, printed, ttft_s: None })
}

/// The memory of a process and its children now: their proportional set sizes.
fn memory_of(pid: u32) -> Option<f64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let own = line.split_whitespace().next()?.parse::<f64>().ok()? * 1024.0;
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let children = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let children: Vec<u32> = children
        .flat_map(|all| all.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect();
    Some(own + children.into_iter().filter_map(memory_of).sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_measured_and_its_output_read() {
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.current_dir(directory.path()).args(["-c", "sleep 0.05; echo '{\"a\": 2}'"]);
        let said = run_all(&mut command).unwrap();
        assert_eq!(said.printed["a"], 2);
        assert!(said.wall_s > 0.04 && said.peak_bytes > 1e5, "{said:?}");
        let mut failing = Command::new("sh");
        failing.current_dir(directory.path()).args(["-c", "echo oh no >&2; exit 3"]);
        assert!(run_all(&mut failing).unwrap_err().to_string().contains("oh no"));
    }
}
