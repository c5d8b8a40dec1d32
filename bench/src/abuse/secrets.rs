//! Secrets in the environment and in campaign files reach no file of a record, and a record is its owner's alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use super::attack::AttackScene;
use super::trial::AbuseGroup;
use crate::place::Place;

const CAMPAIGN: &str = "name = \"quiet\"\n[workload]\ncommand = \"echo metric=1\"\n";

/// Variables that hold secrets in the wild. Each gets a value of its own that is looked for.
const VARIABLES: &[&str] = &[
    "AUTHORIZATION",
    "DATABASE_URL",
    "REDIS_URL",
    "HTTP_PROXY",
    "https_proxy",
    "GH_PAT",
    "GITHUB_TOKEN",
    "PGPASS",
    "PGPASSWORD",
    "MYSQL_PWD",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "HF_AUTH",
    "HF_TOKEN",
    "OPENAI_API_KEY",
    "WANDB_API_KEY",
    "SLACK_WEBHOOK",
    "SENTRY_DSN",
    "NPM_CONFIG__AUTH",
    "KUBECONFIG_DATA",
    "VAULT_ADDR_CREDS",
    "SSH_AUTH_SOCK",
    "SLURM_JWT",
    "SLURM_DB_PASS",
    "OMP_SECRET_THING",
    "ASSAY_TEST_TOKEN",
    "NVIDIA_API_KEY",
    "TF_VAR_password",
    "TORCH_HUB_AUTH",
    "JAX_COORDINATOR_KEY",
    "CUDA_LICENSE",
    "MY_PASSPHRASE",
    "CONNECTION_STRING",
    "COOKIE",
    "GCP_SERVICE_ACCOUNT",
    "X",
];

pub fn secrets(place: &Place) -> anyhow::Result<AbuseGroup> {
    let mut group = AbuseGroup::new("secrets");
    let scene = AttackScene::new(place)?;
    let file = format!(
        "{CAMPAIGN}[workload.environment]\nMY_TOKEN = \"canary-in-file\"\nINNOCENT = \"canary-from-{{x}}\"\n[fixed]\nx = 1\n"
    );
    scene.file("campaign.toml", file.replace("canary-from-{x}", "canary-AUTHORIZATION"))?;
    let mut command =
        scene.command(&["run", "campaign.toml", "--keep-env", "GH_PAT", "--keep-env", "DATABASE_URL"]);
    for name in VARIABLES {
        command.env(name, value(name));
    }
    let ended = scene.attack(&mut command)?;
    group.attempt("a run with secrets", ended.expect(&[0]).map(drop));
    let record = scene.path("records/quiet");
    for name in VARIABLES.iter().copied().chain(["in-file"]) {
        group.attempt(name, absent(&record, &format!("canary-{name}")));
    }
    group.attempt("permissions", private(&record));
    group.attempt("what counts is kept", kept(place));
    group.attempt("scrub of a record that has secrets", scrub(place));
    Ok(group)
}

fn value(name: &str) -> String {
    if name.ends_with("URL") || name.to_uppercase().ends_with("PROXY") {
        format!("http://user:canary-{name}@host/db")
    } else {
        format!("canary-{name}")
    }
}

fn files(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = vec![directory.to_owned()];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        next += 1;
        if path.is_dir() {
            for entry in fs::read_dir(&path)? {
                found.push(entry?.path());
            }
        }
    }
    Ok(found)
}

fn absent(record: &Path, text: &str) -> anyhow::Result<()> {
    for path in files(record)?.iter().filter(|path| path.is_file()) {
        let bytes = fs::read(path)?;
        ensure!(memchr::memmem::find(&bytes, text.as_bytes()).is_none(), "`{text}` is in {}", path.display());
    }
    Ok(())
}

fn private(record: &Path) -> anyhow::Result<()> {
    for path in files(record)? {
        let mode = fs::metadata(&path)?.permissions().mode();
        ensure!(mode & 0o077 == 0, "{} has mode {mode:o}", path.display());
    }
    Ok(())
}

fn kept(place: &Place) -> anyhow::Result<()> {
    let scene = AttackScene::new(place)?;
    scene.file("campaign.toml", CAMPAIGN)?;
    let mut command = scene.command(&["run", "campaign.toml", "--keep-env", "MY_MODE"]);
    command.env("OMP_NUM_THREADS", "3-kept").env("MY_MODE", "fast-kept");
    scene.attack(&mut command)?.expect(&[0])?;
    let journal = fs::read_to_string(scene.path("records/quiet/journal.jsonl"))?;
    ensure!(
        journal.contains("3-kept") && journal.contains("fast-kept"),
        "the journal lacks what was asked for"
    );
    Ok(())
}

/// A record with a secret in its journal and its script, as an early version left it.
fn scrub(place: &Place) -> anyhow::Result<()> {
    let scene = AttackScene::new(place)?;
    let named = "canary-in-script";
    scene.file("campaign.toml", CAMPAIGN.replace("echo metric=1", &format!("echo metric=1 {named}")))?;
    scene.assay(&["run", "campaign.toml"])?.expect(&[0])?;
    let record = scene.path("records/quiet");
    let path = record.join("journal.jsonl");
    let stored = format!("\"environment\":{{\"DEPLOY_TOKEN\":\"{named}\",");
    let mut old = String::new();
    for line in fs::read_to_string(&path)?.lines() {
        let json = line.get(line.find('{').context("a line without JSON")?..).unwrap_or_default();
        let json = json.replacen("\"environment\":{", &stored, 1);
        old += &format!("{:08x} {json}\n", checksum(json.as_bytes()));
    }
    ensure!(old.contains(named), "no session");
    fs::write(&path, old)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
    scene.assay(&["scrub", "records/quiet"])?.expect(&[0])?;
    for path in files(&record)?.iter().filter(|path| path.is_file() && !path.ends_with("stdout.log")) {
        ensure!(
            !String::from_utf8_lossy(&fs::read(path)?).contains(named),
            "it is still in {}",
            path.display()
        );
    }
    ensure!(fs::read_to_string(&path)?.contains("scrubbed"), "the journal does not note the scrub");
    private(&record)
}

/// CRC-32 as the journal has it, bit by bit.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg()))
    })
}
