//! Everything that is printed goes through here. Standard output is data, standard error is talk.

mod letters;
mod progress;
mod view;

use std::io::{IsTerminal, Write};

use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};
use assay_campaign::catalog::CatalogError;
use assay_campaign::{CampaignError, Problems};
use assay_model::untrusted;
use assay_report::block::{self, TerminalBlock};
use assay_report::{Table, Tone, text};

use crate::failure;
use crate::options::Color;
pub use progress::Progress;

/// The version of all JSON that this program prints; docs/json.md describes it.
pub const JSON_SCHEMA: u32 = 1;

/// Paragraphs wider than this are hard to read.
const WIDEST: usize = 120;
/// Nothing is fitted to fewer columns than this.
const NARROWEST: usize = 40;

/// Where everything is printed.
pub struct Screen {
    out: anstream::AutoStream<std::io::Stdout>,
    talk: anstream::AutoStream<std::io::Stderr>,
    /// Whether talk is kept back.
    silent: bool,
    /// Whether data and talk go to a terminal that shows no UTF-8.
    plain_letters: (bool, bool),
}

impl Screen {
    /// Respects `NO_COLOR` and pipes unless the user chooses otherwise.
    pub fn new(color: Color) -> Screen {
        let choice = match color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        choice.write_global();
        let plain = letters::is_plain_locale();
        Screen {
            out: anstream::AutoStream::new(std::io::stdout(), resolved(choice, &std::io::stdout())),
            talk: anstream::AutoStream::new(std::io::stderr(), resolved(choice, &std::io::stderr())),
            silent: false,
            plain_letters: (
                plain && std::io::stdout().is_terminal(),
                plain && std::io::stderr().is_terminal(),
            ),
        }
    }

    /// A screen that nobody looks at: talk is kept back.
    pub fn silent() -> Screen {
        Screen { silent: true, ..Screen::new(Color::Never) }
    }

    /// Whether a person watches standard error.
    pub fn is_watched(&self) -> bool {
        std::io::stderr().is_terminal()
    }

    /// Whether a person reads standard output.
    pub fn has_terminal(&self) -> bool {
        std::io::stdout().is_terminal()
    }

    /// The columns that there are for data.
    pub fn width(&self) -> usize {
        width()
    }

    /// Prints data.
    pub fn data(&mut self, text: &str) -> std::io::Result<()> {
        let text = untrusted::for_terminal(text);
        let text = if self.plain_letters.0 { letters::plain(&text) } else { text };
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Prints a value as JSON.
    pub fn json(&mut self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(value)?;
        Ok(self.json_text(&format!("{text}\n"))?)
    }

    /// Prints JSON that is text already: one value, or one a line.
    pub fn json_text(&mut self, text: &str) -> std::io::Result<()> {
        self.data(&untrusted::json(text))
    }

    /// Prints a table that fits the terminal.
    pub fn table(&mut self, table: &Table) -> std::io::Result<()> {
        self.data(&text::render_within(table, width(), &paint))
    }

    /// Prints a table that fits the terminal; one that goes to a file or another program is not wrapped.
    pub fn wide_table(&mut self, table: &Table) -> std::io::Result<()> {
        match std::io::stdout().is_terminal() {
            true => self.table(table),
            false => self.data(&text::render(table, &paint)),
        }
    }

    /// Prints blocks of text and tables, as wide as the terminal allows.
    pub fn blocks(
        &mut self,
        make: impl FnOnce(block::LayoutOptions) -> Vec<TerminalBlock>,
    ) -> std::io::Result<()> {
        let width = width().min(WIDEST);
        let blocks = make(block::LayoutOptions { width, ..block::LayoutOptions::default() });
        self.data(&block::text(&blocks, width, &paint))
    }

    /// Says something.
    pub fn say(&mut self, text: &str) {
        if self.silent {
            return;
        }
        let text = untrusted::for_terminal(text);
        let text = if self.plain_letters.1 { letters::plain(&text) } else { text };
        // Talk that nobody can hear is no reason to stop.
        let _ = writeln!(self.talk, "{text}");
    }

    /// Says that something is doubtful.
    pub fn warn(&mut self, text: &str) {
        self.say(&format!("{} {text}", paint(Tone::Doubt, "warning:")));
    }

    /// Says what to do.
    pub fn hint(&mut self, text: &str) {
        self.say(&hint_line(text));
    }

    /// Says what is wrong with a file, and where.
    pub fn problems(&mut self, problems: &Problems) {
        if !problems.is_empty() {
            // The stream removes color where it is not wanted.
            self.say(problems.render(true).trim_end());
        }
    }

    /// Says what went wrong and what to do about it.
    pub fn error(&mut self, error: &anyhow::Error) {
        if let Some(CampaignError::Problems(problems)) = error.downcast_ref() {
            return self.problems(problems);
        }
        if let Some(CatalogError::Problems(files)) = error.downcast_ref() {
            return files.iter().for_each(|problems| self.problems(problems));
        }
        self.say(&format!("{} {}", paint(Tone::Bad, "error:"), failure::text(error)));
        if let Some(hint) = failure::hint(error) {
            self.hint(&hint);
        }
    }
}

/// The columns of the terminal; 80 where standard output is none.
fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(std::io::stdout());
    terminal.map_or(block::WIDTH, |(width, _)| usize::from(width.0).max(NARROWEST))
}

fn resolved(choice: ColorChoice, stream: &impl anstream::stream::RawStream) -> ColorChoice {
    match choice {
        ColorChoice::Auto => anstream::AutoStream::choice(stream),
        other => other,
    }
}

/// A line that says what to do.
pub fn hint_line(text: &str) -> String {
    let style = AnsiColor::Cyan.on_default();
    format!("{style}hint:{style:#} {text}")
}

/// Paints a piece of text in its tone.
pub fn paint(tone: Tone, text: &str) -> String {
    let style: Style = match tone {
        Tone::Plain => return text.to_owned(),
        Tone::Good => AnsiColor::Green.on_default(),
        Tone::Bad => AnsiColor::Red.on_default().bold(),
        Tone::Doubt => AnsiColor::Yellow.on_default(),
        Tone::Faint => Style::new().dimmed(),
        Tone::Strong => Style::new().bold(),
    };
    if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
}
