//! The surface of LaTeX: comments, groups in braces, and macros that stand for plain text.

use std::collections::HashMap;

use crate::document::line_index::LineIndex;

/// Macros are replaced this many times over, so that macros that use macros work and circles end.
const DEEPEST_MACRO: usize = 3;
/// The longest text that a macro may stand for.
const LONGEST_MACRO: usize = 200;

/// The text with comments blanked out; every byte keeps its place and every line its number.
pub(super) fn without_comments(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut verbatim = false;
    for line in text.split_inclusive('\n') {
        verbatim = match verbatim {
            true => !ends_verbatim(line, "\\end{"),
            false => ends_verbatim(line, "\\begin{"),
        };
        let end = if verbatim { line.len() } else { comment(line).unwrap_or(line.len()) };
        clean.push_str(line.get(..end).unwrap_or_default());
        if end < line.len() {
            // A line that is a comment alone does not end a paragraph, so it must not look blank.
            let mark = if end == 0 || line.get(..end).is_some_and(|start| start.trim().is_empty()) {
                "{}"
            } else {
                ""
            };
            clean.push_str(mark);
            clean.extend(std::iter::repeat_n(
                ' ',
                line.trim_end_matches(['\n', '\r']).len().saturating_sub(end + mark.len()),
            ));
            if line.ends_with('\n') {
                clean.push('\n');
            }
        }
    }
    clean
}

/// Whether a line begins or ends an environment whose text stands as it is.
fn ends_verbatim(line: &str, command: &str) -> bool {
    let names = line.match_indices(command).filter_map(|(at, _)| line.get(at + command.len()..));
    let mut names = names.filter_map(|rest| rest.split_once('}'));
    names.any(|(name, _)| super::LISTINGS.contains(&name))
}

fn comment(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    memchr::memchr_iter(b'%', bytes).find(|at| {
        let backslashes =
            bytes.get(..*at).unwrap_or_default().iter().rev().take_while(|byte| **byte == b'\\').count();
        backslashes % 2 == 0
    })
}

/// The letters of the command at a backslash, or the one sign behind it.
pub(super) fn command_name(text: &str, at: usize) -> &str {
    let rest = text.get(at + 1..).unwrap_or_default();
    let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    match letters {
        0 => rest.get(..rest.chars().next().map_or(0, char::len_utf8)).unwrap_or_default(),
        _ => rest.get(..letters).unwrap_or_default(),
    }
}

/// The group in braces at a place, spaces before it allowed, and where it ends.
pub(super) fn group(text: &str, at: usize) -> Option<(&str, usize)> {
    bracketed(text, at, b'{', b'}')
}

/// The longest group that is looked for; an unclosed brace must not cost a search to the end each time.
const LONGEST_GROUP: usize = 8 << 10;

fn bracketed(text: &str, at: usize, open: u8, close: u8) -> Option<(&str, usize)> {
    let rest = text.get(at..)?;
    let start = at + rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    let bytes = text.as_bytes();
    if bytes.get(start) != Some(&open) {
        return None;
    }
    let mut depth = 0_usize;
    let mut place = start;
    let last = bytes.len().min(start + LONGEST_GROUP);
    while place < last {
        match bytes.get(place) {
            Some(b'\\') => place += 1,
            Some(byte) if *byte == open => depth += 1,
            Some(byte) if *byte == close => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some((text.get(start + 1..place)?, place + 1));
                }
            }
            _ => {}
        }
        place += 1;
    }
    None
}

/// Where the options in square brackets behind a place end.
pub(super) fn after_options(text: &str, at: usize) -> usize {
    let mut end = at;
    while text.as_bytes().get(end) == Some(&b'[')
        && let Some((_, behind)) = bracketed(text, end, b'[', b']')
    {
        end = behind;
    }
    end
}

/// Where all options and groups directly behind a place end.
pub(super) fn after_arguments(text: &str, at: usize) -> usize {
    let mut end = at;
    loop {
        let found = match text.as_bytes().get(end) {
            Some(b'[') => bracketed(text, end, b'[', b']'),
            Some(b'{') => group(text, end),
            _ => None,
        };
        match found {
            Some((_, behind)) => end = behind,
            None => return end,
        }
    }
}

/// Where the body of each environment ends, by the place behind its `\begin`.
pub(super) struct Environments {
    ends: HashMap<usize, (usize, usize)>,
    text: usize,
}

impl Environments {
    /// Matches all environments of a text in one pass.
    pub fn of(text: &str) -> Environments {
        let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut ends = HashMap::new();
        for at in memchr::memchr_iter(b'\\', text.as_bytes()) {
            let rest = text.get(at + 1..).unwrap_or_default();
            let (inside, begins) = match (rest.strip_prefix("begin{"), rest.strip_prefix("end{")) {
                (Some(inside), _) => (inside, true),
                (_, Some(inside)) => (inside, false),
                _ => continue,
            };
            let Some(length) = inside.bytes().take(LONGEST_NAME).position(|byte| byte == b'}') else {
                continue;
            };
            let Some(name) = inside.get(..length) else { continue };
            let behind = text.len() - inside.len() + length + 1;
            if begins {
                open.entry(name).or_default().push(behind);
            } else if let Some(begin) = open.get_mut(name).and_then(Vec::pop) {
                ends.insert(begin, (at, behind));
            }
        }
        Environments { ends, text: text.len() }
    }

    /// Where the environment that begins before this place ends, and where its `\end` ends; one that is never closed
    /// ends with the text.
    pub fn end(&self, behind: usize) -> (usize, usize) {
        self.ends.get(&behind).copied().unwrap_or((self.text, self.text))
    }
}

const LONGEST_NAME: usize = 64;

/// Macros without arguments that stand for plain text or a number: `\newcommand{\speed}{3.5}`.
pub(super) fn macros(text: &str) -> HashMap<String, String> {
    let mut found = HashMap::new();
    for define in ["\\newcommand", "\\renewcommand", "\\providecommand", "\\def"] {
        for (at, _) in text.match_indices(define) {
            let mut behind = at + define.len();
            if text.as_bytes().get(behind) == Some(&b'*') {
                behind += 1;
            }
            let named = match group(text, behind) {
                Some((name, end)) if name.trim().starts_with('\\') => Some((name.trim(), end)),
                _ => {
                    let is_command = text.as_bytes().get(behind) == Some(&b'\\');
                    let end = behind + 1 + command_name(text, behind).len();
                    text.get(behind..end).filter(|_| is_command).map(|name| (name, end))
                }
            };
            // A macro with arguments is left to the reader of inline commands.
            if let Some((name, end)) = named
                && let Some((body, _)) = group(text, end)
                && body.len() <= LONGEST_MACRO
                && !body.contains('#')
            {
                found.insert(name.trim_start_matches('\\').to_owned(), body.to_owned());
            }
        }
    }
    found
}

/// A text whose macros were replaced, and the lines of the original.
pub(super) struct Expanded {
    pub text: String,
    pub lines: LineIndex,
}

/// Replaces macros where they are used.
pub(super) fn with_macros(text: &str, macros: &HashMap<String, String>, lines: &LineIndex) -> Expanded {
    if macros.is_empty() {
        return Expanded { text: text.to_owned(), lines: lines.clone() };
    }
    let mut expanded = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut current = line.to_owned();
        let defines = line.contains("command") || line.contains("\\def");
        for _ in 0..DEEPEST_MACRO {
            if defines || !current.contains('\\') {
                break;
            }
            match replaced(&current, macros) {
                Some(next) => current = next,
                None => break,
            }
        }
        expanded.push_str(&current);
    }
    // Bodies hold no line ends, so that the lines keep their numbers.
    let lines = LineIndex::from(&expanded, 1);
    Expanded { text: expanded, lines }
}

fn replaced(line: &str, macros: &HashMap<String, String>) -> Option<String> {
    let mut changed = false;
    let mut kept = String::with_capacity(line.len());
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', line.as_bytes().get(at..).unwrap_or_default()) {
        let place = at + found;
        kept.push_str(line.get(at..place).unwrap_or_default());
        let name = command_name(line, place);
        at = place + 1 + name.len();
        match macros.get(name) {
            Some(body) if kept.len() < 1 << 20 => {
                changed = true;
                kept.push_str(&body.replace('\n', " "));
                // `\speed{}` and `\speed\ ` end the name of a macro.
                if line.get(at..).is_some_and(|rest| rest.starts_with("{}")) {
                    at += 2;
                }
            }
            _ => kept.push_str(line.get(place..at).unwrap_or_default()),
        }
    }
    kept.push_str(line.get(at..).unwrap_or_default());
    changed.then_some(kept)
}
