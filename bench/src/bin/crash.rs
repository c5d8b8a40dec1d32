//! `bench/crash`: whether a killed coordinator or a loss of power costs anything.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use assay_bench::campaign::TROUBLED_RUNS;
use assay_bench::crash::audit::Audit;
use assay_bench::crash::groups;
use assay_bench::crash::power::lose_power;
use assay_bench::crash::scene::{CrashScene, SceneOutcome, Step};
use assay_bench::crash::session::{Calls, Kill, tracer};
use assay_bench::figures::table;
use assay_bench::goal::{GoalBound, Goals};
use assay_bench::place::{BenchOptions, Place, heading};
use assay_bench::random::Random;
use clap::Parser;

/// Kills `assay run` at random instants and inside system calls, and takes the power away from a simulated disk.
#[derive(Debug, Parser)]
#[command(name = "crash")]
struct Arguments {
    #[command(flatten)]
    common: BenchOptions,
    /// The seed of all instants; the same seed kills at the same instants, as far as the machine's noise allows.
    #[arg(long, default_value_t = 20_260_314)]
    seed: u64,
}

/// Kills and images that count as proof, and how many are made so that a few misses do not matter.
const KILLS: usize = 200;
const KILLS_MADE: usize = 240;
/// With fewer runs left than this a campaign is left alone.
const LITTLE: usize = TROUBLED_RUNS / 10;
const IMAGES: usize = 2000;
const IMAGES_MADE: usize = 8000;

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let place = Place::new(&arguments.common)?;
    println!("{}", heading("crash", &arguments.common, &place));
    let quick = arguments.common.quick;
    let (kills, images) = if quick { (40, 300) } else { (KILLS_MADE, IMAGES_MADE) };
    let mut goals = Goals::default();
    let mut random = Random::new(arguments.seed);
    let before = groups::abandoned();
    let mut bench = Bench::new(&place)?;
    while bench.kills() < kills {
        bench.scene(kills, &mut random)?;
    }
    bench.report();
    let left = groups::remove(&groups::abandoned().difference(&before).cloned().collect());
    println!("{left} empty control groups were left behind by the kills, and are removed now\n");
    bench.judge(if quick { kills } else { KILLS }, &mut goals);
    power(&place, images, if quick { images } else { IMAGES }, arguments.seed, &mut goals)?;
    println!("{goals}");
    Ok(goals.exit())
}

/// The kinds of kills, and how many of them are made in eight.
const MIX: [Aim; 8] =
    [Aim::Time, Aim::Time, Aim::Time, Aim::Time, Aim::Call, Aim::Call, Aim::Call, Aim::Spawning];

#[derive(Debug, Clone, Copy)]
enum Aim {
    Time,
    Call,
    Spawning,
}

struct Bench<'a> {
    place: &'a Place,
    /// Seconds that a whole campaign takes when nobody kills it.
    life_s: f64,
    traced: bool,
    /// Kills by kind, and how many of them hit runs under way.
    made: BTreeMap<String, (usize, usize)>,
    scenes: usize,
    refused: usize,
    total: SceneOutcome,
    /// What was wrong right after a kill, though it may look repaired at the end.
    worst: Audit,
}

impl<'a> Bench<'a> {
    /// Sees how long a campaign takes that nobody kills.
    fn new(place: &'a Place) -> anyhow::Result<Bench<'a>> {
        let mut scene = CrashScene::new(place)?;
        let began = Instant::now();
        scene.step(None)?;
        let life_s = began.elapsed().as_secs_f64();
        let outcome = scene.conclude()?;
        println!(
            "left alone, {TROUBLED_RUNS} runs with --jobs 4 take {life_s:.2} s; {} acknowledged, {} processes left",
            outcome.acknowledged, outcome.orphans
        );
        let traced = tracer().is_some();
        if !traced {
            println!("missing: strace, for kills inside system calls; to install: apt-get install strace");
        }
        let (made, total, worst) = (BTreeMap::new(), outcome, Audit::default());
        Ok(Bench { place, life_s, traced, made, scenes: 1, refused: 0, total, worst })
    }

    fn kills(&self) -> usize {
        self.made.values().map(|(kills, _)| kills).sum()
    }

    /// Kills one campaign until little is left of it, and lets it end. A coordinator with nothing left to do has
    /// nothing to lose, so killing it again and again would prove nothing.
    fn scene(&mut self, kills: usize, random: &mut Random) -> anyhow::Result<()> {
        let mut scene = CrashScene::new(self.place)?;
        loop {
            let worthwhile = self.kills() < kills && scene.missing() >= LITTLE;
            let kill = worthwhile.then(|| self.aim(scene.missing(), random));
            let (step, audit) = scene.step(kill)?;
            self.worst.lost = self.worst.lost.max(audit.lost);
            self.worst.duplicated = self.worst.duplicated.max(audit.duplicated);
            if step == Step::Complete {
                break;
            }
            if let Some(kill) = kill {
                let (kills, under_way) = self.made.entry(kind(kill)).or_default();
                *kills += 1;
                *under_way += usize::from(audit.open > 0);
            }
        }
        self.refused += scene.refused;
        let outcome = scene.conclude()?;
        self.scenes += 1;
        self.total.audit.add(&outcome.audit);
        self.total.orphans += outcome.orphans;
        self.total.outliving += outcome.outliving;
        self.total.overlaps += outcome.overlaps;
        self.total.missing += outcome.missing;
        self.total.acknowledged += outcome.acknowledged;
        println!("campaign {}: complete, {} of {kills} kills", self.scenes, self.kills());
        Ok(())
    }

    /// Chooses the next instant: uniform over what is left of the campaign's life, or inside a system call.
    fn aim(&self, missing: usize, random: &mut Random) -> Kill {
        let left_s = 0.02 + self.life_s * missing as f64 / TROUBLED_RUNS as f64;
        let delay = |seconds: f64| Duration::from_secs_f64(seconds.max(0.0));
        let aim = MIX.get(random.below(MIX.len())).copied().filter(|_| self.traced);
        match aim.unwrap_or(Aim::Time) {
            Aim::Time => Kill::After(delay(left_s * random.share())),
            Aim::Call => {
                let calls = Calls::ALL.get(random.below(Calls::ALL.len())).copied().unwrap_or(Calls::Write);
                Kill::Call(calls, random.magnitude(calls.usual()))
            }
            // Everything that is started is held, so the campaign's life is longer.
            Aim::Spawning => Kill::Spawning(delay(0.1 + 2.0 * left_s * random.share())),
        }
    }

    fn report(&self) {
        let row = |(kind, (kills, under_way)): (&String, &(usize, usize))| {
            vec![kind.clone(), kills.to_string(), under_way.to_string()]
        };
        let rows: Vec<Vec<String>> = self.made.iter().map(row).collect();
        println!("\n{}", table(&["killed", "times", "with runs under way"], &rows));
        println!(
            "{} campaigns of {TROUBLED_RUNS} runs, {} runs acknowledged; {} times a successor was refused because \
             a process that had not become its program yet still held the lock",
            self.scenes, self.total.acknowledged, self.refused
        );
        println!(
            "{} processes of killed runs were alive after the end, and {} of runs that had ended by themselves",
            self.total.orphans - self.total.outliving,
            self.total.outliving
        );
    }

    fn judge(&self, kills: usize, goals: &mut Goals) {
        let count = |count: usize| count as f64;
        let audit = &self.total.audit;
        goals.add("kills", count(self.kills()), "", GoalBound::AtLeast(count(kills)));
        let under_way = self.made.values().map(|(_, under_way)| under_way).sum::<usize>();
        goals.add("kills with runs under way", count(under_way), "", GoalBound::AtLeast(count(kills / 2)));
        goals.add(
            "lost acknowledged runs",
            count(audit.lost.max(self.worst.lost)),
            "",
            GoalBound::AtMost(0.0),
        );
        goals.add("missing planned runs", count(self.total.missing), "", GoalBound::AtMost(0.0));
        goals.add(
            "duplicated runs",
            count(audit.duplicated.max(self.worst.duplicated)),
            "",
            GoalBound::AtMost(0.0),
        );
        goals.add("runs failed by a kill", count(audit.failed), "", GoalBound::AtMost(0.0));
        goals.add("damaged journal lines", count(audit.damaged), "", GoalBound::AtMost(0.0));
        goals.add("orphans", count(self.total.orphans), "", GoalBound::AtMost(0.0));
        goals.add("overlaps", count(self.total.overlaps), "", GoalBound::AtMost(0.0));
    }
}

fn kind(kill: Kill) -> String {
    match kill {
        Kill::After(_) => "at a random instant".to_owned(),
        Kill::Call(calls, _) => format!("at a call: {}", calls.word()),
        Kill::Spawning(_) => "while starting runs are held before exec".to_owned(),
    }
}

fn power(place: &Place, made: usize, wanted: usize, seed: u64, goals: &mut Goals) -> anyhow::Result<()> {
    // The disk is simulated, so the real one only has to be fast.
    let memory = Path::new("/dev/shm");
    let fast = if memory.is_dir() { tempfile::tempdir_in(memory).ok() } else { None };
    let slow = place.fresh("power")?;
    let tally = lose_power(fast.as_ref().map_or(slow.as_path(), |fast| fast.path()), made, seed)?;
    println!(
        "{} images of a loss of power, {} of them torn or damaged; {} times a committed entry was looked for\n",
        tally.images, tally.torn, tally.committed
    );
    let count = |count: usize| count as f64;
    goals.add("power-loss images", count(tally.images), "", GoalBound::AtLeast(count(wanted)));
    goals.add("entries lost by a loss of power", count(tally.lost), "", GoalBound::AtMost(0.0));
    goals.add("entries duplicated by a loss of power", count(tally.duplicated), "", GoalBound::AtMost(0.0));
    goals.add("entries invented by a loss of power", count(tally.invented), "", GoalBound::AtMost(0.0));
    Ok(())
}
