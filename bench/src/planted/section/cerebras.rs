//! Logs and tables of a wafer-scale machine.

use anyhow::Context;

use super::super::fault::Fault;
use super::super::log::{diverged, last_number, replace_last, sample};
use super::super::page::{Block, WriteUpTable};
use super::{SectionData, fixed, heading, rounded, text, with_interval};

pub(super) const FAULTS: &[Fault] = &[
    Fault::SettingNotInForce,
    Fault::DerivedColumn,
    Fault::RateScope,
    Fault::WaitingInside,
    Fault::UnequalWork,
    Fault::RateAgainstLearning,
    Fault::Resolution,
    Fault::Divergence,
    Fault::Gate,
    Fault::NoRepeats,
];

pub(super) fn write(scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
    let title = scene.random.pick(["Cerebras", "Cerebras CS-2: BERT", "BERT large on Cerebras"]);
    let mut blocks = vec![heading(title)];
    blocks.extend(match scene.focus {
        Fault::SettingNotInForce => declared(scene)?,
        Fault::WaitingInside => waiting(scene)?,
        Fault::Divergence | Fault::Gate => failing(scene)?,
        Fault::RateAgainstLearning => learning(scene)?,
        Fault::Resolution => resolution(scene)?,
        Fault::RateScope => scopes(scene),
        Fault::NoRepeats => once(scene),
        _ => batches(scene),
    });
    Ok(blocks)
}

/// What a run at a batch size reaches: a rate that saturates.
fn rate_at(batch: u64) -> f64 {
    let batch = batch as f64;
    10_900.0 * batch / (batch + 1390.0)
}

struct Run {
    log: String,
    samples: f64,
    seconds: f64,
    rate: f64,
}

/// A run with the scatter of real ones.
fn run(scene: &mut SectionData<'_>, batch: u64, options: &[(&str, String)]) -> anyhow::Result<Run> {
    let rate = scene.repeats(rate_at(batch), 0.004, 1).pop().unwrap_or_default();
    let mut all =
        vec![("batch-size", batch.to_string()), ("rate", fixed(rate, 2)), ("spread", "0".to_owned())];
    all.extend(options.iter().cloned());
    let log = sample("cerebras", &all, scene.random.next_number())?;
    Ok(Run {
        samples: last_number(&log, "Processed ")?,
        seconds: last_number(&log, "sample(s) in ")?,
        rate: last_number(&log, "GlobalRate=")?,
        log,
    })
}

fn declared(scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
    let batch = scene.random.pick([256_u64, 512, 1024]);
    let run = run(scene, batch, &[])?;
    let claimed = if scene.plants(Fault::SettingNotInForce) { batch * 2 } else { batch };
    let words = scene.random.pick(["This is with batch size of", "The log of the run with a batch size of"]);
    Ok(vec![Block::Text(format!("{words} {claimed}:")), Block::Output(run.log)])
}

fn waiting(scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
    let batch = scene.random.pick([512_u64, 1024, 2048]);
    let queue = 900 + scene.random.below(5000);
    let run = run(scene, batch, &[("queue-s", queue.to_string())])?;
    let whole = whole_seconds(&run.log).context("a generated log has no clock")?;
    let (samples, seconds) = (run.samples, run.seconds);
    let verdict = scene.random.pick(["That is the speed of the machine.", "So much for this batch size."]);
    let stated = scene.say(
        format!(
            "Training on {samples:.0} samples took {seconds:.1} s, that is {:.1} samples/s. The whole job took \
             {whole:.0} s, most of them in the queue, and they are not in that rate.",
            samples / seconds
        ),
        format!(
            "Training on {samples:.0} samples took {whole:.0} seconds, that is {:.1} samples/s. {verdict}",
            samples / whole
        ),
    );
    Ok(vec![Block::Text(format!("One run with a batch size of {batch}.")), Block::Output(run.log), stated])
}

/// Seconds from the first timestamp of a log to the last: the time that somebody with a watch would give.
fn whole_seconds(log: &str) -> Option<f64> {
    let mut stamps = log.lines().filter_map(|line| seconds_of_day(line.get(11..19)?));
    let first = stamps.next()?;
    Some((stamps.next_back()? - first).rem_euclid(86_400.0))
}

/// The seconds since midnight of a time such as 15:16:33.
fn seconds_of_day(time: &str) -> Option<f64> {
    let mut parts = time.split(':').map(str::parse::<f64>);
    let mut next = || parts.next()?.ok();
    Some((next()? * 60.0 + next()?) * 60.0 + next()?)
}

/// A loss that becomes no number, or a crash after which the numbers of a good run are printed.
fn failing(scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
    let batch = scene.random.pick([256_u64, 512, 1024]);
    let fails = if scene.plants(Fault::Gate) { "pod" } else { "none" };
    let mut run = run(scene, batch, &[("fail", fails.to_owned())])?;
    let from = scene.random.between(0.3, 0.8);
    if scene.plants(Fault::Divergence) {
        run.log = diverged(&run.log, ", Loss=", from);
    }
    let words =
        scene.random.pick(["The run was successful", "The run completed", "The benchmark went through"]);
    let stated =
        format!("{words}: a rate of {:.2} samples/s over the loop, with a batch size of {batch}.", run.rate);
    Ok(vec![Block::Output(run.log), Block::Text(stated)])
}

/// Two batch sizes, three runs of each: the larger has the higher rate and reaches the same loss later.
fn learning(scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
    let (small, large) = scene.random.pick([(512_u64, 2048_u64), (256, 1024), (512, 1024)]);
    let mut blocks = Vec::new();
    let mut rates = Vec::new();
    for batch in [small, large] {
        blocks.push(Block::Heading(3, format!("Batch size {batch}")));
        let runs: Vec<Run> = (0..3).map(|_| run(scene, batch, &[])).collect::<anyhow::Result<_>>()?;
        rates.push(runs.iter().map(|run| run.rate).sum::<f64>() / 3.0);
        blocks.extend(runs.into_iter().map(|run| Block::Output(run.log)));
    }
    let factor = rates.last().zip(rates.first()).map_or(0.0, |(large, small)| large / small);
    let claim = scene.random.pick([
        "so the larger batch trains faster and should be preferred",
        "so training is that much faster with the larger batch",
        "so the model learns faster with it",
    ]);
    blocks.push(Block::Heading(3, "Rate and learning".to_owned()));
    blocks.push(scene.say(
        format!(
            "A batch of {large} has {factor:.2} times the rate of {small}. A rate is not learning: at the same loss the \
             smaller batch is ahead in time."
        ),
        format!("A batch of {large} has {factor:.2} times the rate of {small}, {claim}."),
    ));
    Ok(blocks)
}

/// Two logs whose last losses differ by one or two steps of the number format.
fn resolution(scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
    let batch = scene.random.pick([512_u64, 1024]);
    let first = run(scene, batch, &[])?;
    let second = run(scene, batch, &[])?;
    let quanta = 1.0 + scene.random.below(2) as f64;
    let own = last_number(&first.log, ", Loss=")?;
    let other = own + quanta / 128.0;
    let second = replace_last(&second.log, ", Loss=", &fixed(other, 5))?;
    let claim = scene.random.pick(["is the better one", "learns better", "converges to a lower loss"]);
    let stated = scene.say(
        format!(
            "Losses come in steps of 1/128, and {own:.5} and {other:.5} are {quanta:.0} of them apart: no difference \
             can be read from that."
        ),
        format!("With {own:.5} against {other:.5} the first initialisation {claim}: its final loss is lower."),
    );
    Ok(vec![
        Block::Text(format!(
            "Two runs with a batch size of {batch} from two random initialisations. The first:"
        )),
        Block::Output(first.log),
        text("The second:"),
        Block::Output(second),
        stated,
    ])
}

/// The loop's rate beside a throughput, which is that of the whole job where the error is planted.
fn scopes(scene: &mut SectionData<'_>) -> Vec<Block> {
    let steps = scene.random.pick([200_u64, 400, 1000]);
    let base = scene.random.between(28.0, 60.0);
    let mut table = WriteUpTable::new(&[
        "Batch size",
        "Runs",
        "Global rate (samples/s)",
        "Total time (s)",
        "Throughput (samples/s)",
    ]);
    let first = scene.random.pick([128_u64, 256]);
    for power in 0..4_u32 {
        let batch = first << power;
        let rates = scene.repeats(base, 0.006, 3);
        let samples = (batch * steps) as f64;
        let mean = rates.iter().sum::<f64>() / 3.0;
        let around = scene.random.between(0.25, 2.5) * samples / mean;
        let total = samples / mean + if scene.plants(Fault::RateScope) { around } else { 0.0 };
        let total = total.round();
        table.row(vec![
            batch.to_string(),
            "3".to_owned(),
            with_interval(&rates, 2),
            fixed(total, 0),
            fixed(samples / total, 2),
        ]);
    }
    vec![
        Block::Text(format!(
            "The same model for {steps} training steps at four batch sizes; means of three runs."
        )),
        Block::WriteUpTable(table),
        text("The rate does not depend on the batch size."),
    ]
}

const HEADERS: [[&str; 4]; 3] = [
    ["Batch size", "Samples", "Time (s)", "Rate (samples/s)"],
    ["batch size", "Number of samples processed", "Processing time (s)", "Processing rate (samples/s)"],
    ["Batch Size", "Samples Processed", "Seconds", "Samples/sec"],
];

struct Row {
    batch: u64,
    samples: u64,
    seconds: f64,
}

impl Row {
    fn cells(&self) -> Vec<String> {
        vec![
            self.batch.to_string(),
            self.samples.to_string(),
            fixed(self.seconds, 3),
            fixed(self.samples as f64 / rounded(self.seconds, 3), 2),
        ]
    }
}

fn rows(scene: &mut SectionData<'_>, batches: &[u64], repeats: usize) -> Vec<Row> {
    let steps = scene.random.pick([500_u64, 1000, 2000]);
    let mut rows = Vec::new();
    for &batch in batches {
        let samples = batch * steps;
        let times = scene.repeats(samples as f64 / rate_at(batch), 0.0035, repeats);
        rows.extend(times.into_iter().map(|seconds| Row { batch, samples, seconds }));
    }
    rows
}

/// One row a run, three runs a batch size, all of the same number of steps.
fn batches(scene: &mut SectionData<'_>) -> Vec<Block> {
    let batches = scene.random.pick([[512, 1024, 2048], [256, 512, 1024], [512, 2048, 4096]]);
    let rows = rows(scene, &batches, 3);
    let mut table = WriteUpTable::new(&scene.random.pick(HEADERS));
    for row in &rows {
        table.row(row.cells());
    }
    let wrong = scene.random.below(rows.len());
    let factor = scene.random.pick([0.5, 0.9, 1.06, 1.25, 2.0]);
    if scene.plants(Fault::DerivedColumn)
        && let Some(cell) = table.cell(wrong, 3)
    {
        *cell = fixed(cell.parse::<f64>().unwrap_or_default() * factor, 2);
    }
    let mean = |batch: u64| {
        let own: Vec<f64> = rows.iter().filter(|row| row.batch == batch).map(|row| row.seconds).collect();
        own.iter().sum::<f64>() / own.len().max(1) as f64
    };
    let [small, _, large] = batches;
    let (short, long) = (mean(small), mean(large));
    let work = large as f64 / small as f64;
    let claim = scene.random.pick([
        "so a larger batch makes training slower",
        "which shows that the larger batch is slower",
        "so the small batch is the faster one",
    ]);
    let words = if scene.plants(Fault::UnequalWork) {
        format!(
            "Going from batch size {small} to {large}, the time went from {short:.0} s to {long:.0} s, {claim}."
        )
    } else {
        format!(
            "Every run has the same number of steps. From {small} to {large} that is {work:.0} times the samples in \
             {:.2} times the time: {:.2} times the rate.",
            long / short,
            work * short / long
        )
    };
    vec![text("Three runs of each batch size, a row each."), Block::WriteUpTable(table), Block::Text(words)]
}

/// Batch sizes against each other: three runs of each in the sound twin, one where the error is planted.
fn once(scene: &mut SectionData<'_>) -> Vec<Block> {
    let planted = scene.plants(Fault::NoRepeats);
    let batches = scene.random.pick([[512, 1024, 2048], [256, 512, 1024]]);
    let all = rows(scene, &batches, 3);
    let mut table = WriteUpTable::new(&scene.random.pick(HEADERS));
    for row in all.iter().step_by(if planted { 3 } else { 1 }) {
        table.row(row.cells());
    }
    let [small, _, large] = batches;
    let introduction =
        if planted { "The batch size was varied." } else { "The batch size was varied, three runs each." };
    vec![
        text(introduction),
        Block::WriteUpTable(table),
        Block::Text(format!(
            "The rate grows with the batch size: {large} has the highest rate, {small} the lowest."
        )),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::super::{log::numbers, measured};
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_larger_batch_reaches_the_same_loss_later() {
        let measured = measured::sample();
        let mut scene = SectionData {
            measured: &measured,
            random: Random::new(1),
            focus: Fault::RateAgainstLearning,
            planted: true,
        };
        for _ in 0..6 {
            let reached = |run: &Run, batch: u64, loss: f64| {
                let losses = numbers(&run.log, ", Loss=");
                let steps = numbers(&run.log, " Step=");
                let at = losses.iter().position(|&own| own <= loss)?;
                Some(steps.get(at)? * batch as f64 / run.rate)
            };
            let small = run(&mut scene, 512, &[]).unwrap();
            let large = run(&mut scene, 2048, &[]).unwrap();
            let goal = numbers(&large.log, ", Loss=")
                .into_iter()
                .fold(f64::MAX, f64::min)
                .max(numbers(&small.log, ", Loss=").into_iter().fold(f64::MAX, f64::min));
            assert!(reached(&small, 512, goal) < reached(&large, 2048, goal));
        }
    }

    #[test]
    fn the_whole_time_goes_past_midnight() {
        let log = "2025-01-15 23:59:50,000 INFO:   a\nno clock\n2025-01-16 00:00:20,500 INFO:   b\n";
        assert_eq!(whole_seconds(log), Some(30.0));
        assert_eq!(whole_seconds("nothing"), None);
    }

    #[test]
    fn rates_follow_from_what_is_written() {
        let row = Row { batch: 512, samples: 512_000, seconds: 174.285_041 };
        let cells = row.cells();
        let rate: f64 = cells[3].parse().unwrap();
        assert!((512_000.0 / cells[2].parse::<f64>().unwrap() - rate).abs() <= 0.005, "{cells:?}");
    }
}
