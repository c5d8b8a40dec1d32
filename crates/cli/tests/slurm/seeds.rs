//! The accelerator experiments, submitted to the test Slurm with a stand-in for the vendor's program that prints its log. The
//! option `--ipus` is a plug-in of the site: here it is `--gres=ipu`.

use std::fs;
use std::path::Path;

use super::harness::{Place, Slurm};

/// An experiment on its platform.
struct Seed {
    name: &'static str,
    platform: &'static str,
    /// What starts the vendor's program there, and what is written in its place.
    changes: &'static [(&'static str, &'static str)],
    /// The vendor's program, and the arguments of the log that it prints: words of its command line by position.
    program: &'static str,
    log: &'static str,
    /// A line that the submitted script has, and a word that the answer has.
    script: &'static str,
    answer: &'static str,
}

/// Where the site has no plug-in for `--ipus`.
const IPUS: &str =
    "account = \"your-project\"\ndevices = \"--gres=ipu:{devices}\"\nstart = \"srun --gres=ipu:{devices}\"";

const SEEDS: [Seed; 3] = [
    Seed {
        name: "graphcore-batch",
        platform: "graphcore-pod64",
        changes: &[("account = \"your-project\"", IPUS), (". ~/poptorch/bin/activate", "true")],
        program: "python",
        log: "poptorch --set batch-size=$3 --set epochs=$5 --set learning-rate=$7",
        script: "#SBATCH --gres=ipu:1",
        answer: "accuracy",
    },
    Seed {
        name: "graphcore-epochs",
        platform: "graphcore-pod64",
        changes: &[("account = \"your-project\"", IPUS), (". ~/poptorch/bin/activate", "true")],
        program: "python",
        log: "poptorch --set batch-size=$3 --set epochs=$5 --set learning-rate=$7",
        script: "#SBATCH --time=01:05:00",
        answer: "accuracy",
    },
    Seed {
        name: "sambanova-tasks",
        platform: "sambanova-sn30",
        // A node of the test Slurm has 16 CPUs.
        changes: &[
            ("cpus_per_task = 8", "cpus_per_task = 1"),
            ("account = \"your-project\"", "start = \"\""),
        ],
        program: "python",
        log: "sambanova --set tasks=${SLURM_NTASKS:-1} --set steps=50",
        script: "#SBATCH --gres=rdu:8",
        answer: "samples_per_s.loop",
    },
];

/// Every experiment of a platform with Slurm is submitted, and replayed.
pub fn are_submitted(slurm: &Slurm) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../campaigns/seeds");
    for seed in &SEEDS {
        let place = Place::new(slurm, "", "");
        let directory = place.directory.path();
        let mut text = fs::read_to_string(folder.join(format!("{}.toml", seed.name))).unwrap();
        for (from, to) in seed.changes {
            assert!(text.contains(from), "{}: no `{from}`", seed.name);
            text = text.replace(from, to);
        }
        let table = format!("[platform.{}]\n", seed.platform);
        text = text.replace(&table, &format!("{table}poll = \"100 ms\"\n"));
        text = text.replace("at_least = 6", "at_least = 2").replace("at_least = 4", "at_least = 3");
        stand_in(directory, seed);
        fs::write(directory.join("seed.toml"), text).unwrap();
        let path =
            format!("{}:{}", directory.join("bin").display(), std::env::var("PATH").unwrap_or_default());
        let assay = |words: &[&str]| {
            let output = place.command(words).env("PATH", &path).output().unwrap();
            let text = [output.stdout, output.stderr].concat();
            (output.status.code(), String::from_utf8_lossy(&text).into_owned())
        };
        let (code, scripts) = assay(&["plan", "seed.toml", "--on", seed.platform, "--scripts"]);
        let script = seed.script;
        assert!(code == Some(0) && scripts.contains(script), "{scripts}");
        let (code, text) = assay(&["run", "seed.toml", "--on", seed.platform]);
        assert!(code == Some(0) && text.contains(seed.answer), "{}: {text}", seed.name);
        let compiles = fs::read_to_string(directory.join("pef/compiles"));
        assert_eq!(compiles.ok().as_deref(), seed.name.starts_with("sambanova").then_some("x\n"));
        let (code, text) = assay(&["run", "seed.toml", "--on", "replay"]);
        assert!(code == Some(0) && text.contains("nobody measured these numbers"), "{}: {text}", seed.name);
    }
}

/// What the stand-in does first: it is started beside the campaign file, and compiles where it has to.
const COMPILE: &str = "[ -e seed.toml ] || { echo \"started in $PWD\" >&2; exit 8; }\n\
    for word; do case $word in --output-folder=*) folder=${word#*=} ;; --pef-name=*) name=${word#*=} ;; esac; done\n\
    if [ \"$2\" = compile ]; then\n\
        echo x >>\"$folder/compiles\"; sleep 1; mkdir -p \"$folder/$name\"; : >\"$folder/$name/$name.pef\"; exit 0\n\
    fi\n";

/// Writes a program that prints a generated log in the vendor's place.
fn stand_in(directory: &Path, seed: &Seed) {
    let bin = directory.join("bin");
    fs::create_dir(&bin).unwrap();
    let assay = env!("CARGO_BIN_EXE_assay");
    let text = format!("#!/bin/sh\n{COMPILE}exec '{assay}' sample {} --seed $$\n", seed.log);
    let program = bin.join(seed.program);
    fs::write(&program, text).unwrap();
    std::process::Command::new("chmod").arg("755").arg(&program).status().unwrap();
}
