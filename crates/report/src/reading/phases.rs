//! The phases of a run as an aligned list with a bar for each on one time axis.

use assay_model::{KnownBy, ReadRun};

use crate::block::TerminalBlock;
use crate::number::{percent, seconds};
use crate::table::{Cell, Column, Table, Tone};
use crate::text::{plain, render};
use crate::timeline::{Lane, PhaseSpan, Timeline, bar, timeline};
use crate::words::{clean, together};

/// What stands beside the bars: margins, names, seconds, shares.
const BESIDE: usize = 38;

/// The phases as a table; none where nothing is known of their lengths.
pub fn table(run: &ReadRun, full: bool, width: usize) -> Option<TerminalBlock> {
    let timeline = timeline(run)?;
    Some(TerminalBlock::Table { indent: 2, table: bars(&timeline, full, width) })
}

/// Phases named in one line.
const FEW_PHASES: usize = 4;
/// Columns of the bar of a phase that takes all the time, in one line.
const LINE_BAR: f64 = 16.0;

/// The longest phases in one line, with a bar for each: `queue ██████████████ 86 %`.
pub fn line(run: &ReadRun) -> Option<TerminalBlock> {
    let timeline = timeline(run)?;
    let mut lanes: Vec<&Lane> = timeline.lanes.iter().collect();
    // Training is always among them, since all else is held against it.
    lanes.sort_by(|a, b| {
        let rank = |lane: &Lane| if lane.name == "train" { f64::INFINITY } else { lane.share.unwrap_or(0.0) };
        rank(b).total_cmp(&rank(a))
    });
    lanes.truncate(FEW_PHASES);
    lanes.sort_by(|a, b| b.share.unwrap_or(0.0).total_cmp(&a.share.unwrap_or(0.0)));
    let pieces = lanes.iter().enumerate().map(|(index, lane)| {
        let length = lane.share.map_or_else(|| "not ended".to_owned(), percent);
        let whole = Lane {
            intervals: vec![PhaseSpan { start_s: 0.0, end_s: Some(lane.seconds.unwrap_or(0.0)) }],
            ..(*lane).clone()
        };
        let width = (LINE_BAR * lane.share.unwrap_or(0.0)).ceil().clamp(1.0, LINE_BAR);
        let bar = bar(&whole, timeline.total_s * width / LINE_BAR, width as usize);
        let end = if index + 1 < lanes.len() { "," } else { "" };
        Cell::toned(together(&clean(&format!("{} {bar} {length}{end}", name(lane)))), tone(&lane.name))
    });
    let lead = Cell::new(format!("{} s:", seconds(timeline.total_s)));
    Some(TerminalBlock::labelled(4, lead, pieces.collect()))
}

/// The timeline of a run as plain lines, for formats that have no figures.
pub fn lines(run: &ReadRun, width: usize) -> Option<String> {
    Some(render(&bars(&timeline(run)?, true, width), &plain))
}

fn bars(timeline: &Timeline, full: bool, width: usize) -> Table {
    let known_width = if full { 12 } else { 0 };
    let bar_width = width.saturating_sub(BESIDE + known_width).clamp(8, 60);
    let mut table = Table {
        columns: vec![
            Column::left("phase"),
            Column::right("seconds"),
            Column::right("share"),
            Column::left(""),
        ],
        ..Table::default()
    };
    if full {
        table.columns.push(Column::left("known by"));
    }
    for lane in &timeline.lanes {
        let mut row = vec![
            Cell::new(name(lane)),
            Cell::new(lane.seconds.map_or_else(|| "not ended".to_owned(), seconds)),
            Cell::new(lane.share.map(percent).unwrap_or_default()),
            Cell::toned(bar(lane, timeline.total_s, bar_width), tone(&lane.name)),
        ];
        if full {
            row.push(Cell::toned(known_by(lane.known_by), Tone::Faint));
        }
        table.rows.push(row);
    }
    for (name, length) in [("between them", timeline.uncovered_s), ("in all", timeline.total_s)] {
        let share = length / timeline.total_s;
        if share >= 0.005 {
            let mut row = vec![
                Cell::toned(name, Tone::Faint),
                Cell::toned(seconds(length), Tone::Faint),
                Cell::toned(percent(share), Tone::Faint),
            ];
            row.resize(table.columns.len(), Cell::default());
            table.rows.push(row);
        }
    }
    table
}

/// Phases in which the accelerator works for the user stand out; all others are plain.
fn tone(name: &str) -> Tone {
    match name {
        "train" | "eval" => Tone::Good,
        "queue" => Tone::Doubt,
        _ => Tone::Plain,
    }
}

fn name(lane: &Lane) -> String {
    let times = if lane.intervals.len() > 1 { format!(" ×{}", lane.intervals.len()) } else { String::new() };
    clean(&format!("{}{times}", lane.name))
}

fn known_by(known_by: KnownBy) -> &'static str {
    match known_by {
        KnownBy::Timestamp => "timestamps",
        KnownBy::Bar => "bar",
        KnownBy::Script => "script",
        KnownBy::Derived => "derived",
    }
}
