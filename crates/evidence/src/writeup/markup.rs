//! Takes mark-up off a piece of text: emphasis, code, links and tags. What is left is what a reader sees.

/// The text without Markdown mark-up, tags and entities, and with single spaces.
pub fn plain(text: &str) -> String {
    let text = if text.contains('<') { without_tags(text) } else { text.to_owned() };
    let text = if text.contains('&') { with_entities(&text) } else { text };
    let text = if text.contains("](") { without_links(&text) } else { text };
    let mut kept = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut before = ' ';
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        let drop = match character {
            '`' => true,
            '\\' => matches!(next, '*' | '_' | '|' | '`' | '#' | '[' | ']' | '~' | '<' | '>'),
            // A star between digits or spaces multiplies.
            '*' => {
                next == '*'
                    || before == '*'
                    || !(before.is_whitespace() && next.is_whitespace()
                        || before.is_ascii_digit() && next.is_ascii_digit())
            }
            // An underscore inside a word belongs to a name such as `batch_size`.
            '_' => !(before.is_alphanumeric() && next.is_alphanumeric()),
            '~' => next == '~' || before == '~',
            _ => false,
        };
        if !drop {
            if !(character.is_whitespace() && kept.ends_with(' ')) {
                kept.push(if character.is_whitespace() { ' ' } else { character });
            }
            before = character;
        } else {
            before = if matches!(character, '*' | '~') { character } else { before };
        }
    }
    kept.trim().to_owned()
}

/// Removes `<tag …>` and keeps other uses of the sign, such as `<5`. A line break counts as a space.
pub(crate) fn without_tags(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, from) = rest.split_at(start);
        kept.push_str(before);
        let is_tag =
            from.chars().nth(1).is_some_and(|next| next.is_ascii_alphabetic() || next == '/' || next == '!');
        match from.find('>').filter(|_| is_tag) {
            Some(end) => {
                if from.get(1..3).is_some_and(|name| name.eq_ignore_ascii_case("br")) {
                    kept.push(' ');
                }
                rest = from.get(end + 1..).unwrap_or_default();
            }
            None => {
                kept.push('<');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    kept.push_str(rest);
    kept
}

/// `[text](address)` becomes `text`.
fn without_links(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(middle) = rest.find("](") {
        let (before, from) = rest.split_at(middle);
        let (Some(open), Some(end)) = (before.rfind('['), from.find(')')) else { break };
        kept.push_str(before.get(..open).unwrap_or_default().trim_end_matches('!'));
        kept.push_str(before.get(open + 1..).unwrap_or_default());
        rest = from.get(end + 1..).unwrap_or_default();
    }
    kept.push_str(rest);
    kept
}

/// Replaces the entities that tables use.
pub fn with_entities(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        let (before, from) = rest.split_at(start);
        kept.push_str(before);
        match from.char_indices().take(12).find(|(_, character)| *character == ';') {
            Some((end, _)) if entity(from.get(1..end).unwrap_or_default()).is_some() => {
                kept.extend(entity(from.get(1..end).unwrap_or_default()));
                rest = from.get(end + 1..).unwrap_or_default();
            }
            _ => {
                kept.push('&');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    kept.push_str(rest);
    kept
}

fn entity(name: &str) -> Option<char> {
    let character = match name {
        "nbsp" | "ensp" | "emsp" | "thinsp" => ' ',
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "times" => '×',
        "plusmn" => '±',
        "micro" | "mu" => 'µ',
        "minus" => '-',
        "ndash" => '–',
        "mdash" => '—',
        "deg" => '°',
        "asymp" => '≈',
        _ => {
            let code = name.strip_prefix('#')?;
            let number = match code.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => code.parse().ok()?,
            };
            return char::from_u32(number).map(|found| if found == '\u{a0}' { ' ' } else { found });
        }
    };
    Some(character)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn mark_up_goes_and_names_stay() {
        assert_eq!(plain("**3.07× faster (B)**"), "3.07× faster (B)");
        assert_eq!(plain("_with `warmup`_:"), "with warmup:");
        assert_eq!(plain("batch_size and __this__"), "batch_size and this");
        assert_eq!(plain("see [the log](a/b.txt) here"), "see the log here");
        assert_eq!(plain("2 * 3 = 2*3"), "2 * 3 = 2*3");
        assert_eq!(plain("\\* note"), "* note");
        assert_eq!(plain("1&nbsp;&plusmn;&#32;2<br/>s <b>x</b> <5"), "1 ± 2 s x <5");
        assert_eq!(plain("~33 ~~old~~"), "~33 old");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in ".*", odd in "[<>&\\[\\]()`*_~\\\\;#a1é ]{0,40}") {
            let _ = (plain(&text), plain(&odd));
        }
    }
}
