//! Listings of jobs: a line of column names, then a line a job or step.

use super::job::Job;
use crate::clock::leading;
use crate::facts::Facts;
use crate::text::{clock_seconds, number};

/// How the columns of a listing are distinguished.
#[derive(Debug, PartialEq)]
enum Columns {
    /// By bars, as `--parsable` does.
    Bars,
    /// By the right edge of each column, as `sacct` does.
    Edges(Vec<usize>),
    /// By blanks, as `squeue` does.
    Blanks,
    /// The names were not seen: cells are recognized by their forms.
    Forms,
}

/// A listing that is open.
#[derive(Debug)]
pub(super) struct Listing {
    names: Vec<String>,
    columns: Columns,
    last: u64,
    /// The job of the row before, without its step.
    id: String,
    job: Job,
}

type Fields = Vec<(String, String)>;

impl Listing {
    /// The listing that a line of column names opens.
    pub(super) fn open(text: &str, line: u64) -> Option<Listing> {
        let bars = text.contains('|');
        let separator = |letter: char| if bars { letter == '|' } else { letter.is_whitespace() };
        let names: Vec<String> = text
            .trim()
            .split(separator)
            .filter(|name| !name.is_empty())
            .map(|name| name.trim().to_owned())
            .collect();
        let queue =
            names.first().is_some_and(|name| name == "JOBID") && names.iter().any(|name| name == "ST");
        let accounting = names.iter().any(|name| matches!(name.as_str(), "JobID" | "JobIDRaw"))
            && names.len() > 1
            && names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        let columns = match (bars, queue, accounting) {
            (true, _, true) => Columns::Bars,
            (false, true, _) => Columns::Blanks,
            (false, false, true) => Columns::Edges(edges(text)),
            _ => return None,
        };
        Some(Listing { names, columns, last: line, id: String::new(), job: Job::default() })
    }

    /// The listing that a row belongs to whose column names were not seen.
    pub(super) fn of_row(text: &str, line: u64) -> Option<Listing> {
        by_form(text)?;
        Some(Listing {
            names: Vec::new(),
            columns: Columns::Forms,
            last: line,
            id: String::new(),
            job: Job::default(),
        })
    }

    /// Takes the next line, if it belongs to the listing.
    pub(super) fn take(&mut self, text: &str, line: u64, facts: &mut Facts<'_>) -> bool {
        // Rows without a word that is looked for, such as those of odd states, may lie between.
        if line > self.last + 50 {
            return false;
        }
        facts.stamp = Some(None);
        self.last = line;
        if text.bytes().all(|byte| matches!(byte, b'-' | b' ')) {
            return true;
        }
        let Some(fields) = self.fields(text) else { return false };
        if fields.iter().any(|(name, _)| name == "ST") {
            return queued(&fields, facts);
        }
        let Some((_, id)) = fields.iter().find(|(name, _)| name == "JobID" || name == "JobIDRaw") else {
            return false;
        };
        if !id.starts_with(|first: char| first.is_ascii_digit()) {
            return false;
        }
        let (whole, step) =
            id.split_once('.').map_or((id.as_str(), None), |(whole, step)| (whole, Some(step)));
        if whole == self.id {
            self.job.step = step.is_some();
        } else {
            // A step whose job is not listed stands for it.
            facts.begin();
            facts.stamp = Some(None);
            self.id = whole.to_owned();
            self.job = Job::default();
        }
        // The state comes last: times and exit code are part of how a job ended.
        let late = |name: &str| matches!(name, "State" | "End");
        let helper = matches!(step, Some("batch" | "extern"));
        let (last, first): (Vec<_>, Vec<_>) = fields.iter().partition(|(name, _)| late(name));
        for (name, value) in first.into_iter().chain(last) {
            // The scripts around a job's steps are always one task.
            if !(helper && name == "NTasks") {
                self.job.field(name, value, facts);
            }
        }
        true
    }

    fn fields(&self, text: &str) -> Option<Fields> {
        let cells: Vec<String> = match &self.columns {
            Columns::Forms => return by_form(text),
            Columns::Bars => text.trim().split('|').map(|cell| cell.trim().to_owned()).collect(),
            Columns::Blanks => text.split_whitespace().map(str::to_owned).collect(),
            Columns::Edges(edges) => cells_to_edges(text, edges)?,
        };
        (cells.len() >= self.names.len()).then(|| self.names.iter().cloned().zip(cells).collect())
    }
}

/// Where each column name ends. Columns are set to the right, all but the first.
fn edges(text: &str) -> Vec<usize> {
    let letters: Vec<char> = text.trim_end().chars().chain([' ']).collect();
    let ends =
        letters.windows(2).enumerate().filter(|(_, pair)| matches!(pair, [a, b] if *a != ' ' && *b == ' '));
    ends.map(|(place, _)| place + 1).collect()
}

fn cells_to_edges(text: &str, edges: &[usize]) -> Option<Vec<String>> {
    let letters: Vec<char> = text.chars().collect();
    let cut = |from: usize, to: usize| {
        let to = to.min(letters.len());
        letters.get(from.min(to)..to).map(|cell| cell.iter().collect::<String>())
    };
    // The job's number is set to the left, so what follows it up to the second edge is the second column.
    let (id, second) = match edges.get(1) {
        Some(edge) => {
            let both = cut(0, *edge)?;
            let (id, second) = both.trim().split_once(' ').unwrap_or((both.trim(), ""));
            (id.to_owned(), Some(second.trim().to_owned()))
        }
        None => (cut(0, usize::MAX)?.trim().to_owned(), None),
    };
    let mut cells = vec![id];
    cells.extend(second);
    for pair in edges.get(1..).unwrap_or_default().windows(2) {
        if let [from, to] = pair {
            cells.push(cut(*from, *to)?.trim().to_owned());
        }
    }
    Some(cells)
}

/// The cells of a row that can be recognized without their names. Where two columns have the same form, neither is taken.
fn by_form(text: &str) -> Option<Fields> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let id = words.first().filter(|id| is_id(id))?;
    if let [_, _, name, _, state, time, nodes, .., place] = words.as_slice()
        && matches!(*state, "PD" | "R" | "CG")
        && clock_seconds(time).is_some()
        && nodes.bytes().all(|byte| byte.is_ascii_digit())
    {
        let fields = [
            ("JOBID", *id),
            ("NAME", *name),
            ("ST", *state),
            ("TIME", *time),
            ("NODES", *nodes),
            ("PLACE", *place),
        ];
        return Some(fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect());
    }
    let state = words.iter().position(|word| is_state(word))?;
    let mut fields =
        vec![("JobID".to_owned(), (*id).to_owned()), ("State".to_owned(), words.get(state)?.to_string())];
    let mut only = |names: &[&str], fits: &dyn Fn(&str) -> bool| {
        let found: Vec<&&str> = words.iter().skip(1).filter(|word| fits(word)).collect();
        if found.len() == names.len() {
            fields.extend(
                names.iter().zip(found).map(|(name, word)| ((*name).to_owned(), (*word).to_string())),
            );
        }
    };
    only(&["Submit", "Start", "End"], &|word| leading(word.as_bytes()).is_some_and(|stamp| stamp.dated));
    only(&["Elapsed"], &|word| {
        word.bytes().filter(|byte| *byte == b':').count() == 2 && clock_seconds(word).is_some()
    });
    only(&["ExitCode"], &|word| {
        word.split_once(':').is_some_and(|(code, signal)| is_small(code) && is_small(signal))
    });
    only(&["MaxRSS"], &|word| number(word).is_some_and(|(_, rest)| matches!(rest, "K" | "M" | "G")));
    Some(fields)
}

fn is_id(word: &str) -> bool {
    let digits = word.split(['.', '_']).next().unwrap_or_default();
    !digits.is_empty() && digits.len() <= 12 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_small(word: &str) -> bool {
    (1..=3).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_state(word: &str) -> bool {
    let states = [
        "COMPLETED",
        "FAILED",
        "CANCELLED",
        "TIMEOUT",
        "OUT_OF_ME",
        "OUT_OF_MEMORY",
        "NODE_FAIL",
        "PREEMPTED",
        "RUNNING",
        "PENDING",
    ];
    states.contains(&word.trim_end_matches('+'))
}

/// A row of `squeue`.
fn queued(fields: &[(String, String)], facts: &mut Facts<'_>) -> bool {
    let field =
        |wanted: &str| fields.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let Some(id) = field("JOBID").filter(|id| is_id(id)) else { return false };
    let state = field("ST").unwrap_or_default();
    if !(1..=2).contains(&state.len()) || !state.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return false;
    }
    facts.begin();
    facts.stamp = Some(None);
    let mut job = Job::default();
    job.field("JobName", field("NAME").unwrap_or_default(), facts);
    job.field("NODES", field("NODES").unwrap_or_default(), facts);
    if state == "PD" {
        facts.start("queue");
        let reason = fields.last().map(|(_, value)| value.trim_matches(['(', ')'])).unwrap_or_default();
        facts.hint(
            &format!("job {id} is pending: {reason}"),
            "the job waits in the queue and does not hang: squeue --start shows when it may begin",
        );
    } else {
        job.field("Elapsed", field("TIME").unwrap_or_default(), facts);
    }
    true
}
