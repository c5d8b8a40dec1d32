//! Rates of the real campaign: checksums over blocks of several sizes, every run as it was measured.

use anyhow::Context;

use super::super::fault::Fault;
use super::super::measured::MeasuredCell;
use super::super::page::{Block, WriteUpTable};
use super::{SectionData, array, corrupted, fixed, heading, listed, rounded, summary, text, with_interval};

pub(super) const FAULTS: &[Fault] = &[
    Fault::DerivedColumn,
    Fault::Identity,
    Fault::BadCell,
    Fault::SummaryOutside,
    Fault::Outlier,
    Fault::NoiseAsEffect,
    Fault::NoRepeats,
];

pub(super) fn write(scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
    let title = scene.random.pick(["Checksum throughput", "Block sizes", "How fast blocks are checksummed"]);
    let mut blocks = vec![heading(title)];
    blocks.extend(match scene.focus {
        Fault::Identity | Fault::BadCell => every_run(scene),
        Fault::NoiseAsEffect => pair(scene)?,
        Fault::NoRepeats => single(scene),
        Fault::DerivedColumn => speed_up(scene)?,
        _ => samples(scene)?,
    });
    Ok(blocks)
}

/// Three or four cells of the campaign with some of their runs.
fn cells(scene: &mut SectionData<'_>) -> Vec<MeasuredCell> {
    let runs = 5 + scene.random.below(3);
    let mut cells = scene.measured.cells.clone();
    if scene.random.below(2) == 0 {
        cells.remove(scene.random.below(cells.len()));
    }
    for cell in &mut cells {
        scene.random.shuffle(&mut cell.rates);
        cell.rates.truncate(runs);
    }
    cells
}

fn introduction(scene: &mut SectionData<'_>) -> Block {
    let megabytes = scene.measured.megabytes;
    let sentences = [
        format!(
            "Every run checksums {megabytes} MB, a block at a time, in a fresh process; runs are in random order."
        ),
        format!("A run is one process that goes over {megabytes} MB in blocks. All sizes took turns."),
        format!(
            "I measured the same {megabytes} MB with several block sizes, each several times and in shuffled order."
        ),
    ];
    Block::Text(sentences[scene.random.below(sentences.len())].clone())
}

/// One row a run: the rate follows from the data and the time.
fn every_run(scene: &mut SectionData<'_>) -> Vec<Block> {
    let introduction = introduction(scene);
    let cells = cells(scene);
    let header = scene.random.pick([
        ["Block (bytes)", "Run", "Data (MB)", "Time (s)", "Throughput (MB/s)"],
        ["Block size", "Repeat", "Megabytes", "Seconds", "Rate (MB/s)"],
        ["block", "run", "size (MB)", "elapsed (s)", "MB/s"],
    ]);
    let mut table = WriteUpTable::new(&header);
    let megabytes = scene.measured.megabytes;
    for cell in &cells {
        for (run, &rate) in cell.rates.iter().take(4).enumerate() {
            let seconds = megabytes as f64 / rate;
            table.row(vec![
                cell.block.to_string(),
                (run + 1).to_string(),
                megabytes.to_string(),
                fixed(seconds, 6),
                fixed(megabytes as f64 / rounded(seconds, 6), 1),
            ]);
        }
    }
    let row = scene.random.below(table.rows.len());
    let factor = scene.random.pick([0.5, 0.8, 1.12, 1.3, 2.0, 10.0]);
    let mut fork = scene.random.clone();
    if let Some(cell) = table.cell(row, 4) {
        if scene.plants(Fault::Identity) {
            *cell = fixed(cell.parse::<f64>().unwrap_or_default() * factor, 1);
        } else if scene.plants(Fault::BadCell) {
            *cell = corrupted(&mut fork, cell);
        }
    }
    vec![introduction, Block::WriteUpTable(table)]
}

/// Means with their intervals, and how many times the first row each is.
fn speed_up(scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
    let introduction = introduction(scene);
    let cells = cells(scene);
    let runs = cells.first().context("no cells")?.rates.len();
    let mut table =
        WriteUpTable::new(&["Block (bytes)", "Runs", "Mean rate (MB/s)", "95 % interval (MB/s)", "Speedup"]);
    let base = rounded(summary(&cells.first().context("no cells")?.rates).0, 1);
    for cell in &cells {
        let (mean, half) = summary(&cell.rates);
        table.row(vec![
            cell.block.to_string(),
            runs.to_string(),
            fixed(mean, 1),
            format!("± {half:.1}"),
            format!("{:.2}x", rounded(mean, 1) / base),
        ]);
    }
    let row = 1 + scene.random.below(cells.len() - 1);
    let factor = scene.random.pick([0.75, 0.9, 1.08, 1.2, 1.5]);
    if scene.plants(Fault::DerivedColumn)
        && let Some(cell) = table.cell(row, 4)
    {
        *cell = format!("{:.2}x", cell.trim_end_matches('x').parse::<f64>().unwrap_or_default() * factor);
    }
    let words = text("Speedup is the mean rate over that of the first row; the interval is Student's.");
    Ok(vec![introduction, Block::WriteUpTable(table), words])
}

/// Means beside all the runs they are means of.
fn samples(scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
    let introduction = introduction(scene);
    let mut cells = cells(scene);
    let row = scene.random.below(cells.len());
    let position = scene.random.below(cells.first().context("no cells")?.rates.len());
    let fall = scene.random.between(0.72, 0.88);
    let beyond = scene.random.between(1.02, 1.1);
    let upward = scene.random.below(2) == 0;
    if scene.plants(Fault::Outlier)
        && let Some(rate) = cells.get_mut(row).and_then(|cell| cell.rates.get_mut(position))
    {
        *rate *= 1.0 - fall;
    }
    let mut means: Vec<f64> = cells.iter().map(|cell| summary(&cell.rates).0).collect();
    if scene.plants(Fault::SummaryOutside)
        && let (Some(mean), Some(cell)) = (means.get_mut(row), cells.get(row))
    {
        let ends = cell
            .rates
            .iter()
            .fold((f64::MAX, f64::MIN), |(low, high), &rate| (low.min(rate), high.max(rate)));
        *mean = if upward { ends.1 * beyond } else { ends.0 / beyond };
    }
    let mut blocks = vec![introduction];
    if scene.random.below(2) == 0 {
        let runs = cells.first().context("no cells")?.rates.len();
        let names: Vec<String> = (1..=runs).map(|run| format!("Run {run} (MB/s)")).collect();
        let mut header = vec!["Block (bytes)"];
        header.extend(names.iter().map(String::as_str));
        header.push("Mean (MB/s)");
        let mut table = WriteUpTable::new(&header);
        for (cell, mean) in cells.iter().zip(&means) {
            let mut row = vec![cell.block.to_string()];
            row.extend(cell.rates.iter().map(|&rate| fixed(rate, 1)));
            row.push(fixed(*mean, 1));
            table.row(row);
        }
        blocks.push(Block::WriteUpTable(table));
    } else {
        let mut table = WriteUpTable::new(&["Block (bytes)", "Runs", "Mean rate (MB/s)"]);
        let mut output = String::new();
        for (cell, mean) in cells.iter().zip(&means) {
            table.row(vec![cell.block.to_string(), cell.rates.len().to_string(), fixed(*mean, 1)]);
            output.push_str(&array(&format!("block {} rate", cell.block), &cell.rates));
        }
        blocks.extend([Block::WriteUpTable(table), text("All runs in MB/s:"), Block::Output(output)]);
    }
    Ok(blocks)
}

/// Two settings that are the same runs of one cell, dealt to both sides: no difference but noise.
fn pair(scene: &mut SectionData<'_>) -> anyhow::Result<Vec<Block>> {
    let introduction = introduction(scene);
    let index = scene.random.below(scene.measured.cells.len());
    let mut rates = scene.measured.cells.get(index).context("no cells")?.rates.clone();
    rates.sort_by(f64::total_cmp);
    rates.truncate(rates.len() / 4 * 4);
    let side = |wanted: usize| -> Vec<f64> {
        // Dealt as 0 1 1 0, so that neither side has the larger value of every pair.
        let own = rates.iter().enumerate().filter(|(position, _)| [0, 1, 1, 0][position % 4] == wanted);
        own.map(|(_, &rate)| rate).collect()
    };
    let (mut first, mut second) = (side(0), side(1));
    scene.random.shuffle(&mut first);
    scene.random.shuffle(&mut second);
    let (setting, names) = scene.random.pick([
        ("Pinned to a core", ["no", "yes"]),
        ("Buffer alignment (bytes)", ["16", "64"]),
        ("Prefetch distance", ["2", "8"]),
        ("Priority", ["0", "5"]),
    ]);
    let mut table = WriteUpTable::new(&[setting, "Runs", "Mean rate (MB/s)", "Rates (MB/s)"]);
    for (name, rates) in names.iter().zip([&first, &second]) {
        table.row(vec![
            (*name).to_owned(),
            rates.len().to_string(),
            with_interval(rates, 1),
            listed(rates, 1, ", "),
        ]);
    }
    let (one, other) = (summary(&first).0, summary(&second).0);
    let (better, gain) = if one > other { (names[0], one / other) } else { (names[1], other / one) };
    let setting = setting.to_lowercase();
    let claim = scene.random.pick([
        "clearly improves the throughput and should be the default",
        "gives the best throughput",
        "is faster, so the setting matters",
    ]);
    let verdict = scene.say(
        format!("The two means lie inside each other's intervals: no effect of `{setting}` can be seen in these runs."),
        format!("`{setting}` = {better} {claim}: {:.2} % more than the other.", (gain - 1.0) * 100.0),
    );
    Ok(vec![introduction, Block::WriteUpTable(table), verdict])
}

/// Sizes against each other: all their runs in the sound twin, one run of each where the error is planted.
fn single(scene: &mut SectionData<'_>) -> Vec<Block> {
    let introduction = introduction(scene);
    let cells = cells(scene);
    let planted = scene.plants(Fault::NoRepeats);
    let mut table = if planted {
        WriteUpTable::new(&["Block (bytes)", "Rate (MB/s)"])
    } else {
        WriteUpTable::new(&["Block (bytes)", "Runs", "Rate (MB/s)", "All runs (MB/s)"])
    };
    for cell in &cells {
        let first = cell.rates.first().copied().unwrap_or_default();
        table.row(if planted {
            vec![cell.block.to_string(), fixed(first, 1)]
        } else {
            vec![
                cell.block.to_string(),
                cell.rates.len().to_string(),
                with_interval(&cell.rates, 1),
                listed(&cell.rates, 1, ", "),
            ]
        });
    }
    let introduction = if planted { text("I ran each block size once.") } else { introduction };
    let best = cells.iter().max_by(|one, other| summary(&one.rates).0.total_cmp(&summary(&other.rates).0));
    let least = cells.iter().min_by(|one, other| summary(&one.rates).0.total_cmp(&summary(&other.rates).0));
    let (best, least) = (best.map_or(0, |cell| cell.block), least.map_or(0, |cell| cell.block));
    let verdict = scene.say(
        format!("Blocks of {least} bytes are the slowest by far, beyond the spread of the runs."),
        format!("Blocks of {best} bytes give the best throughput and blocks of {least} the worst."),
    );
    vec![introduction, Block::WriteUpTable(table), verdict]
}
