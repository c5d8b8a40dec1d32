//! A campaign on a whole screen, for `--view`. Its state is a fold over the same events that the plain lines are made from;
//! what is drawn is a function of that state and the size of the terminal.
//!
//! | file | holds |
//! |---|---|
//! | `view/state.rs` | events to state |
//! | `view/draw.rs` | state to lines |
//! | `view/terminal.rs` | the terminal: its other screen, its keys, and putting it back |

mod draw;
mod state;
mod terminal;

use std::time::{Duration, Instant};

use assay_campaign::Plan;
use assay_launch::LaunchEvent;
use assay_report::Cell;

use self::state::ViewState;
use self::terminal::{KeyPress, Terminal};
use super::{letters, paint};

/// Redraws are at least this far apart; more would only flicker.
const APART: Duration = Duration::from_millis(200);

/// The view while it is open.
pub struct View {
    state: ViewState,
    terminal: Terminal<std::io::Stderr>,
    began: Instant,
    drawn: Option<Instant>,
    /// The first cell in sight.
    first: usize,
    colored: bool,
}

impl View {
    /// Opens the view; none where the terminal cannot be used for it.
    pub fn open() -> Option<View> {
        let colored = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
        let terminal = Terminal::enter(std::io::stderr()).ok()?;
        Some(View {
            state: ViewState::default(),
            terminal,
            began: Instant::now(),
            drawn: None,
            first: 0,
            colored,
        })
    }

    /// Takes in an event. Gives false when the reader wants the view closed.
    pub fn show(&mut self, plan: &Plan, event: &LaunchEvent<'_>) -> bool {
        self.state.take(plan, event, self.began.elapsed());
        for key in self.terminal.keys() {
            match key {
                KeyPress::Quit => return false,
                KeyPress::Down => self.first = (self.first + 1).min(plan.cells.len().saturating_sub(1)),
                KeyPress::Up => self.first = self.first.saturating_sub(1),
            }
        }
        if self.drawn.is_none_or(|drawn| drawn.elapsed() >= APART) {
            self.draw(plan);
        }
        true
    }

    /// The messages that were shown, so that they can be printed when the view is gone.
    pub fn messages(&self) -> &[String] {
        &self.state.messages
    }

    fn draw(&mut self, plan: &Plan) {
        let size = Terminal::<std::io::Stderr>::size();
        let lines = draw::lines(plan, &self.state, self.first, self.began.elapsed(), size);
        let plain_letters = letters::is_plain_locale();
        let painted = lines.into_iter().map(|line| {
            let line = if plain_letters { in_plain_letters(line, size.0) } else { line };
            line.into_iter()
                .map(|cell| if self.colored { paint(cell.tone, &cell.text) } else { cell.text })
                .collect::<String>()
        });
        self.terminal.draw(painted, size);
        self.drawn = Some(Instant::now());
    }
}

/// A line in ASCII. What stands for a sign may be wider than it: the end of a line that no longer fits is cut off.
fn in_plain_letters(line: Vec<Cell>, width: usize) -> Vec<Cell> {
    let mut left = width;
    line.into_iter()
        .map(|cell| {
            let mut text = letters::plain(&cell.text).into_owned();
            text.truncate(left);
            left -= text.len();
            Cell { text, ..cell }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use assay_model::{Observation, Origin, RunId, RunResult, Status, Unit};
    use assay_report::words::clean;

    use super::*;

    const CAMPAIGN: &str = "name = \"view\"\nquestion = \"Which?\"\n[workload]\ncommand = \"echo rate={n}\"\n\
        [vary]\nn = [1, 2]\n[repeats]\nat_least = 3\n[read]\nheadline = \"rate\"\n\
        [[read.metric]]\nname = \"rate\"\nunit = \"samples/s\"\n";

    fn plan() -> Plan {
        let campaign = crate::records::parse(&PathBuf::from("view.toml"), CAMPAIGN).unwrap();
        crate::execute::assemble(&campaign, PathBuf::from("no-such-record")).unwrap().plan
    }

    fn result(value: f64, status: Status) -> RunResult {
        let found = Observation {
            metric: "rate".to_owned(),
            value,
            unit: Unit::parse("samples/s").0,
            scope: None,
            origin: Origin::Measured,
            source: None,
            count: None,
            seconds: None,
            written: None,
            inferred: None,
        };
        RunResult { observations: vec![found], ..RunResult::bare(status, 0.0) }
    }

    #[test]
    fn lines_in_plain_letters_fit_too() {
        let line = vec![Cell::new("rate ▁▂"), Cell::new(" · cut off…")];
        let text: String = in_plain_letters(line, 17).into_iter().map(|cell| cell.text).collect();
        assert_eq!(text, "rate _. . cut off");
    }

    #[test]
    fn the_same_events_give_the_same_lines_and_they_fit() {
        let plan = plan();
        let draw = |size: (usize, usize)| -> Vec<String> {
            let mut state = ViewState::default();
            let at = Duration::from_secs;
            state.take(&plan, &LaunchEvent::Began { finished_before: 0, certain: 6, orphans: 0 }, at(0));
            for (index, cell) in plan.cells.iter().enumerate() {
                let run = |repeat| RunId { cell: cell.cell.clone(), repeat, attempt: 1 };
                for repeat in 1..=2 {
                    let value = (index * 10 + repeat as usize) as f64;
                    let finished = result(value, Status::Succeeded);
                    let event = LaunchEvent::Finished { run: &run(repeat), cell: index, result: &finished };
                    state.take(&plan, &event, at(u64::from(repeat)));
                }
                let run = run(3);
                let event = LaunchEvent::Started { run: &run, cell: index, first_metric_in_s: None };
                state.take(&plan, &event, at(3));
            }
            state.take(&plan, &LaunchEvent::Warning("a\u{1b}[2Jb".to_owned()), at(4));
            let lines = draw::lines(&plan, &state, 0, at(5), size);
            lines.iter().map(|line| line.iter().map(|cell| cell.text.as_str()).collect()).collect()
        };
        for size in [(80, 24), (120, 40), (40, 12), (20, 5), (200, 60)] {
            let lines = draw(size);
            assert_eq!(lines, draw(size));
            assert!(lines.len() <= size.1, "{size:?}: {lines:#?}");
            assert!(
                lines.iter().all(|line| line.chars().count() <= size.0 && clean(line) == *line),
                "{size:?}: {lines:#?}"
            );
        }
        let text = draw((80, 24)).join("\n");
        for part in ["view: Which?", "4/6 runs", "▸ n=1", "n = 2", "median 1.500 samples/s", "warning: a"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
