//! `bench/abuse`: whether deliberate abuse loses, leaks, hangs, swells or steers anything.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use assay_bench::abuse::trial::{AbuseGroup, Trials};
use assay_bench::abuse::{
    damage, disk, growth, injection, reading, runs, secrets, server, storm, surroundings, usage,
};
use assay_bench::goal::{GoalBound, Goals};
use assay_bench::place::{BenchOptions, Place, heading};
use clap::Parser;

/// Attacks the binary: damaged records, hostile files and servers, misbehaving runs, full disks, kills, and inputs that
/// grow.
#[derive(Debug, Parser)]
#[command(name = "abuse")]
struct Arguments {
    #[command(flatten)]
    common: BenchOptions,
    /// The seed of damages and kills.
    #[arg(long, default_value_t = 20_261_118)]
    seed: u64,
    /// Only the groups whose names contain this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

const DAMAGES: usize = 10_000;
const KILLS: usize = 200;

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let place = Place::new(&arguments.common)?;
    println!("{}", heading("abuse", &arguments.common, &place));
    let (quick, seed) = (arguments.common.quick, arguments.seed);
    let (damages, kills) = if quick { (1000, 10) } else { (DAMAGES, KILLS) };
    let groups: [(&str, &dyn Fn() -> anyhow::Result<AbuseGroup>); 11] = [
        ("damaged journals and indexes", &|| damaged(&place, damages, seed)),
        ("wrong use", &|| usage::misuse(&place)),
        ("secrets", &|| secrets::secrets(&place)),
        ("injection", &|| injection::inject(&place)),
        ("hostile files", &|| reading::read(&place, quick)),
        ("misbehaving runs", &|| runs::misbehave(&place)),
        ("malicious servers", &|| server::serve_malice(&place, quick)),
        ("surroundings of a record", &|| surroundings::surround(&place, seed)),
        ("disks that fill up", &|| disk::fill(&place, quick)),
        ("kills of a campaign under way", &|| storm::storm(&place, kills, seed)),
        ("inputs that grow", &|| growth::grow(&place, quick)),
    ];
    let mut trials = Trials::default();
    let mut goals = Goals::default();
    for (name, group) in groups {
        if arguments.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let began = Instant::now();
        let group = group().unwrap_or_else(|error| {
            let mut group = AbuseGroup::new(name);
            group.attempt("the whole group", Err(error));
            group
        });
        println!("{name}: {} tried in {:.1} s", group.tried, began.elapsed().as_secs_f64());
        let wanted = match name {
            "damaged journals and indexes" => Some(damages),
            "kills of a campaign under way" => Some(kills),
            _ => None,
        };
        if let Some(wanted) = wanted {
            goals.add(
                format!("attempts of {name}"),
                group.tried as f64,
                "",
                GoalBound::AtLeast(wanted as f64),
            );
        }
        trials.add(group);
    }
    println!("\n{trials}");
    trials.judge(&mut goals);
    println!("{goals}");
    Ok(goals.exit())
}

/// The disk is not what is tried here, so it only has to be fast.
fn damaged(place: &Place, damages: usize, seed: u64) -> anyhow::Result<AbuseGroup> {
    let memory = Path::new("/dev/shm");
    let fast = if memory.is_dir() { tempfile::tempdir_in(memory).ok() } else { None };
    let slow = place.fresh("damage")?;
    damage::damage(fast.as_ref().map_or(slow.as_path(), |fast| fast.path()), damages, seed)
}
