//! The newest of many records against the noise of those before it, as a table.

use assay_judge::History;
use assay_judge::history::HistoryRow;
use assay_model::Verdict;

use crate::answer::{estimate_cells, marked, metric_title, scale};
use crate::table::{Cell, Column, Table, Tone};

/// One row a cell: the newest median, its change, and what change is usual.
pub fn table(history: &History) -> Table {
    let (newest, earlier) = match history.records.split_last() {
        Some((newest, earlier)) => (newest.as_str(), earlier.len()),
        None => ("", 0),
    };
    let mut table = Table {
        heading: vec![format!("{newest} vs the {earlier} records before it"), metric_title(&history.metric)],
        ..Table::default()
    };
    let scale = scale(&history.metric, history.rows.iter().map(|row| &row.latest));
    table.columns = history.varied.iter().map(Column::right).collect();
    table.columns.extend([
        Column::right(scale.titled("median")),
        Column::left("interval"),
        Column::right("runs"),
        Column::right("change"),
        Column::right("usual"),
        Column::left("verdict"),
        Column::left("level changed at").secondary(),
    ]);
    for row in &history.rows {
        let setting = |name: &String| row.settings.get(name).map(ToString::to_string).unwrap_or_default();
        let mut cells: Vec<Cell> = history.varied.iter().map(|name| Cell::new(setting(name))).collect();
        let [median, interval] = estimate_cells(Some(&row.latest), &scale);
        cells.extend([marked(median, Some(&row.latest), &mut table), interval]);
        cells.push(Cell::new(row.latest.samples.to_string()));
        cells.push(Cell::new(change(row)));
        cells.push(Cell::new(row.usual.map(|usual| format!("± {:.1} %", 100.0 * usual)).unwrap_or_default()));
        let times = row.severity.map(|times| format!(" ({times:.1}× the usual)")).unwrap_or_default();
        let (word, tone) = match row.verdict {
            Verdict::Worse => (format!("worse{times}"), Tone::Bad),
            Verdict::Better => (format!("better{times}"), Tone::Good),
            Verdict::Same => ("usual".to_owned(), Tone::Plain),
            Verdict::Unclear => ("?".to_owned(), Tone::Doubt),
        };
        let mark = row.reason.as_ref().map(|reason| {
            table
                .footnote(reason, "name more records, oldest first, or compare two with several repeats each")
        });
        cells.push(Cell::toned(
            format!("{word}{}", mark.map(|mark| format!(" {mark}")).unwrap_or_default()),
            tone,
        ));
        cells.push(Cell::toned(row.shifts.join(", "), Tone::Faint));
        table.rows.push(cells);
    }
    table.notes.push(
        "change: newest median over the one before it, with the 95 % interval of the ratio of their runs where both \
         have 4 or more"
            .to_owned(),
    );
    table.notes.push("usual: Q3 + 3·IQR of the sizes of the last 30 changes between neighbors".to_owned());
    table
}

/// The newest change with its interval.
fn change(row: &HistoryRow) -> String {
    let show = |change: f64| format!("{:+.1}", 100.0 * change);
    let ends = row.change_interval.map(|(low, high)| format!(" ({} – {})", show(low), show(high)));
    row.change
        .map_or_else(|| "-".to_owned(), |change| format!("{} %{}", show(change), ends.unwrap_or_default()))
}
