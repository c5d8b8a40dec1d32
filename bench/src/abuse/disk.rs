//! A disk that fills up at every page and at every file in turn. Whatever was acknowledged must be there when there is
//! space again, and the campaign goes on.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

use super::attack::AttackScene;
use super::trial::AbuseGroup;
use crate::place::Place;

const RUNS: usize = 6;
const CAMPAIGN: &str = "name = \"full\"\n[workload]\ncommand = \"head -c 6000 /dev/zero | tr '\\\\0' x; echo; echo metric=1\"\n\
                        [repeats]\nat_least = 6\n";
/// Beyond this a campaign fits as a whole.
const MOST_PAGES: usize = 64;
const MOST_FILES: usize = 48;

pub fn fill(place: &Place, quick: bool) -> anyhow::Result<AbuseGroup> {
    let mut group = AbuseGroup::new("disks that fill up");
    let step = if quick { 8 } else { 1 };
    let pages = (1..MOST_PAGES).step_by(step).map(|pages| format!("size={}k", 4 * pages));
    let files = (2..MOST_FILES).step_by(step).map(|files| format!("size=4m,nr_inodes={files}"));
    for options in pages.chain(files) {
        let scene = AttackScene::new(place)?;
        scene.file("campaign.toml", CAMPAIGN)?;
        let disk = scene.path("disk");
        std::fs::create_dir(&disk)?;
        let mounted = match Mount::new(&disk, &options) {
            Ok(mounted) => mounted,
            Err(error) => {
                group
                    .skipped
                    .push(format!("{error:#}; run as root, or in `unshare --map-root-user --mount`"));
                break;
            }
        };
        group.attempt(&options, fill_once(&scene, &mounted));
    }
    Ok(group)
}

fn fill_once(scene: &AttackScene<'_>, disk: &Mount<'_>) -> anyhow::Result<()> {
    let arguments = ["run", "campaign.toml", "--record", "disk/record"];
    let full = scene.assay(&arguments)?;
    full.expect(&[0, 1, 2])?;
    let acknowledged = full.messages.lines().filter(|line| line.starts_with('[')).count();
    if full.code != Some(0) {
        full.says("hint: ")?;
        full.says("No space left on device")?;
        let shown = scene.assay(&["show", "disk/record"])?;
        shown.expect(&[0, 2])?;
    }
    disk.enlarge()?;
    let after = scene.assay(&arguments)?;
    after.expect(&[0])?;
    let kept = after.messages.lines().find_map(|line| line.split_once(" already in the record"));
    let kept: usize = kept
        .map_or(Ok(0), |(count, _)| count.trim_end_matches(" runs").trim_end_matches(" run").parse())
        .context("no count of kept runs")?;
    ensure!(kept >= acknowledged, "{acknowledged} runs were acknowledged and {kept} were kept");
    let count = scene.assay(&["query", "select count(*) from run where current", "disk/record", "--csv"])?;
    ensure!(count.out.lines().last() == Some(&RUNS.to_string()), "the record has {} runs", count.out.trim());
    Ok(())
}

/// A small disk in memory, unmounted when dropped.
struct Mount<'a>(&'a Path);

impl Mount<'_> {
    fn new<'a>(path: &'a Path, options: &str) -> anyhow::Result<Mount<'a>> {
        mount(path, options)?;
        Ok(Mount(path))
    }

    fn enlarge(&self) -> anyhow::Result<()> {
        mount(self.0, "size=8m,nr_inodes=4096,remount")
    }
}

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

fn mount(path: &Path, options: &str) -> anyhow::Result<()> {
    let output = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(path).output()?;
    ensure!(
        output.status.success(),
        "cannot mount a small disk: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}
