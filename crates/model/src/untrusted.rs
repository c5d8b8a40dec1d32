//! Text that strangers wrote: logs, write-ups, error bodies, names of files. It may hold characters that steer a
//! terminal, reorder what a reader sees, or turn a spreadsheet cell into a formula. Every exit of the program (terminal,
//! Markdown, HTML, CSV, JSON) cleans text with the functions of this file and no others.

use std::borrow::Cow;

/// Whether a character may steer a terminal or deceive a reader: control characters of both sets (ESC, BEL, 8-bit CSI),
/// marks that change the direction of text, invisible separators, and code points that are not characters. Line feeds
/// and tabs are harmless.
pub fn is_harmful(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{061c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => true,
        '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{e0000}'..='\u{e007f}' => true,
        '\u{fdd0}'..='\u{fdef}' => true,
        _ => letter.is_control() || u32::from(letter) & 0xfffe == 0xfffe,
    }
}

/// The text with every harmful character replaced by U+FFFD, so that the reader sees that something was there.
pub fn clean(text: &str) -> Cow<'_, str> {
    replace(text, is_harmful)
}

/// As [`clean`], on one line: line feeds and tabs become spaces.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(|letter: char| is_harmful(letter) || letter.is_ascii_control()) {
        return Cow::Borrowed(text);
    }
    let letters = text.chars().map(|letter| match letter {
        '\n' | '\t' | '\r' => ' ',
        letter if is_harmful(letter) => char::REPLACEMENT_CHARACTER,
        letter => letter,
    });
    Cow::Owned(letters.collect())
}

/// Text for a terminal that may hold the styles of this program: `ESC [ … m` with digits and semicolons stays, except
/// for concealed text. Everything else that is harmful is replaced.
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_harmful) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let length = style_length(from).unwrap_or(0);
        if length > 0 {
            out.push_str(&from[..length]);
            rest = &from[length..];
        } else {
            out.push(char::REPLACEMENT_CHARACTER);
            rest = &from[from.chars().next().map_or(0, char::len_utf8)..];
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The length of the style sequence that the text begins with.
fn style_length(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|letter: char| !letter.is_ascii_digit() && letter != ';')?;
    let conceals = parameters[..end].split(';').any(|parameter| parameter.parse() == Ok(8_u32));
    (parameters[end..].starts_with('m') && !conceals).then_some("\u{1b}[".len() + end + 1)
}

/// A field of a CSV file. A spreadsheet takes a field that begins with `=`, `+`, `-` or `@` for a formula; such a field
/// gets an apostrophe in front unless it is a number.
pub fn csv_field(text: &str) -> Cow<'_, str> {
    let cleaned = clean(text);
    let is_formula = cleaned.trim_start().starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err();
    if is_formula { Cow::Owned(format!("'{cleaned}")) } else { cleaned }
}

/// JSON text in which harmful characters are written as escapes: nothing is lost, and nothing reaches a terminal.
pub fn json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_harmful(letter) {
            let mut units = [0; 2];
            out.extend(letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(letter);
        }
    }
    Cow::Owned(out)
}

fn replace(text: &str, harmful: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&harmful) {
        return Cow::Borrowed(text);
    }
    let letters =
        text.chars().map(|letter| if harmful(letter) { char::REPLACEMENT_CHARACTER } else { letter });
    Cow::Owned(letters.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steering_and_deceiving_characters_are_replaced() {
        for harmful in
            ["\u{1b}]0;title\u{7}", "\u{9b}2J", "\u{202e}gpj.exe", "a\u{200f}b", "\0", "x\ry", "\u{e0041}"]
        {
            assert!(!clean(harmful).contains(is_harmful), "{harmful:?}");
            assert!(clean(harmful).contains('\u{fffd}'), "{harmful:?}");
            assert!(!for_terminal(harmful).contains(is_harmful), "{harmful:?}");
        }
        assert_eq!(clean("Größe\t1\n日本 ±"), "Größe\t1\n日本 ±");
        assert_eq!(one_line("a\nb\u{1b}[2J"), "a b\u{fffd}[2J");
    }

    #[test]
    fn only_styles_reach_a_terminal() {
        assert_eq!(for_terminal("\u{1b}[1;31mred\u{1b}[0m"), "\u{1b}[1;31mred\u{1b}[0m");
        for other in ["\u{1b}[2J", "\u{1b}[8mhidden", "\u{1b}[31", "\u{1b}c", "\u{1b}[1;8m"] {
            assert!(!for_terminal(other).contains('\u{1b}'), "{other:?}");
        }
    }

    #[test]
    fn spreadsheets_get_no_formulas_and_keep_their_numbers() {
        for (field, expected) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-cmd", "'-cmd"),
            (" =1", "' =1"),
            ("-5.25", "-5.25"),
            ("+3e-4", "+3e-4"),
            ("batch=8", "batch=8"),
        ] {
            assert_eq!(csv_field(field), expected);
        }
    }

    #[test]
    fn json_loses_nothing() {
        let value = serde_json::json!({ "text": "a\u{202e}b\u{9b}\u{e0041}\u{7f}\n" });
        let text = serde_json::to_string(&value).unwrap();
        let safe = json(&text);
        assert!(!safe.contains(is_harmful));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
    }
}
