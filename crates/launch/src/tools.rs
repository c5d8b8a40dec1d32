//! Which launchers, tools and data sets are present.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_evidence::Stream;
use assay_model::Status;

use crate::process::{self, Spec, Stop, Watch};

/// Something that may be installed.
#[derive(Debug, Clone)]
pub struct Tool {
    /// What kind of thing it is.
    pub kind: ToolKind,
    /// Its name.
    pub name: &'static str,
    /// What it is good for here.
    pub purpose: &'static str,
    /// Where it was found.
    pub path: Option<PathBuf>,
    /// What it says of its version.
    pub version: Option<String>,
}

/// Kinds of things that may be installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// Starts runs.
    Launcher,
    /// Helps.
    Tool,
    /// Data that workloads use.
    Data,
}

const PROGRAMS: [(ToolKind, &str, &str); 14] = [
    (ToolKind::Launcher, "sh", "runs on this machine"),
    (ToolKind::Launcher, "sbatch", "jobs through Slurm"),
    (ToolKind::Launcher, "srun", "tasks through Slurm"),
    (ToolKind::Launcher, "qsub", "jobs through PBS"),
    (ToolKind::Launcher, "mpirun", "tasks through MPI"),
    (ToolKind::Launcher, "ssh", "runs on other machines"),
    (ToolKind::Tool, "python3", "scripts and other engines"),
    (ToolKind::Tool, "taskset", "redoing a pinned run by hand"),
    (ToolKind::Tool, "numactl", "memory placement"),
    (ToolKind::Tool, "perf", "counters and profiles"),
    (ToolKind::Tool, "nvidia-smi", "NVIDIA GPUs"),
    (ToolKind::Tool, "rocm-smi", "AMD GPUs"),
    (ToolKind::Tool, "gc-monitor", "Graphcore IPUs"),
    (ToolKind::Tool, "csctl", "Cerebras clusters"),
];

const DATA: [(&str, &str, &[&str]); 2] = [
    ("MNIST", "train-images-idx3-ubyte", &["mnist"]),
    ("Fashion-MNIST", "train-images-idx3-ubyte", &["fashion-mnist"]),
];

/// Looks for everything that is known.
pub fn find() -> Vec<Tool> {
    let programs = PROGRAMS.iter().map(|(kind, name, purpose)| {
        let path = program(name);
        let version = path.as_deref().and_then(version);
        Tool { kind: *kind, name, purpose, path, version }
    });
    let data = DATA.iter().map(|(name, file, folders)| Tool {
        kind: ToolKind::Data,
        name,
        purpose: "images for training",
        path: data_set(file, folders),
        version: None,
    });
    programs.chain(data).collect()
}

/// A program on the search path.
pub fn program(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|directory| directory.join(name)).find(|path| path.is_file())
}

/// The first line that a program prints when it is asked for its version; none if it prints none in time.
fn version(path: &Path) -> Option<String> {
    // ssh knows only the short form, and a plain sh knows none.
    let ask = if path.ends_with("ssh") { "-V" } else { "--version" };
    let line = first_line(&[path.display().to_string(), ask.to_owned()], Path::new("/"))?;
    Some(line.chars().take(60).collect())
}

/// The first line that a command prints; none if it fails or takes more than three seconds.
pub(crate) fn first_line(words: &[String], directory: &Path) -> Option<String> {
    let text = printed(words, &[], directory)?;
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// What a command prints; none if it fails or takes more than three seconds. Of more than [`MOST_HEARD`] bytes, the
/// beginning.
pub(crate) fn printed(words: &[String], environment: &[(&str, &str)], directory: &Path) -> Option<String> {
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let spec = Spec {
        words: words.to_vec(),
        directory: directory.to_owned(),
        environment: environment.collect(),
        timeout: Some(Duration::from_secs(3)),
        grace: Duration::from_millis(100),
        pin: Vec::new(),
        run: None,
        group_memory: false,
    };
    let mut listener = Listener::default();
    let ended = process::run(&spec, &mut listener);
    (ended.status == Status::Succeeded).then(|| String::from_utf8_lossy(&listener.heard).into_owned())
}

/// What is kept of a command's output.
pub(crate) const MOST_HEARD: usize = 65_536;

/// Keeps what a program says about itself.
#[derive(Default)]
struct Listener {
    heard: Vec<u8>,
}

impl Watch for Listener {
    fn started(&mut self, _: u32) {}

    fn output(&mut self, _: Stream, _: f64, bytes: &[u8]) -> io::Result<()> {
        if self.heard.len() < MOST_HEARD {
            self.heard.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn stop(&self) -> Option<Stop> {
        None
    }
}

/// The directories that data sets are looked for in: `ASSAY_DATA`, the user's data directory, the system's.
pub fn data_directories() -> Vec<PathBuf> {
    let own = std::env::var_os("ASSAY_DATA").map(PathBuf::from);
    let user = std::env::var_os("XDG_DATA_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/share")))
        .map(|directory| directory.join("assay/data"));
    own.into_iter().chain(user).chain([PathBuf::from("/usr/share/datasets")]).collect()
}

fn data_set(file: &str, folders: &[&str]) -> Option<PathBuf> {
    let exists = |folder: &Path| folder.join(file).is_file() || folder.join(format!("{file}.gz")).is_file();
    let candidates = data_directories()
        .into_iter()
        .flat_map(|directory| folders.iter().map(move |folder| directory.join(folder)).collect::<Vec<_>>());
    candidates.into_iter().find(|folder| exists(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_is_found_and_nonsense_is_not() {
        assert!(program("sh").is_some());
        assert!(program("no-such-program-anywhere").is_none());
        assert!(find().iter().any(|tool| tool.name == "sh" && tool.path.is_some()));
    }
}
