//! Inline mark-up of Markdown and reStructuredText.

/// A piece of a line as a reader sees it.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // How much of what came out is known to be blank.
    let mut blank = 0;
    while let Some(character) = rest.chars().next() {
        let length = character.len_utf8();
        match character {
            '*' if is_blank(&out, &mut blank) || !starred_product(&out, rest) => {}
            '`' => {}
            '_' if edge_of_word(&out, rest) => {}
            '\\' if rest
                .get(1..)
                .is_some_and(|next| next.starts_with(['*', '_', '|', '~', '%', '$', '#'])) => {}
            '~' if rest.starts_with("~~") => {
                rest = &rest[2..];
                continue;
            }
            '[' => {
                if let Some((label, length)) = link(rest) {
                    out.push_str(&plain(label));
                    rest = &rest[length..];
                    continue;
                }
                out.push('[');
            }
            '<' => {
                if let Some(length) = tag(rest) {
                    if rest.starts_with("<br") {
                        out.push(' ');
                    }
                    rest = &rest[length..];
                    continue;
                }
                out.push('<');
            }
            '&' => {
                let (text, length) = super::html::entity(rest);
                out.push_str(&text);
                rest = &rest[length..];
                continue;
            }
            '\u{a0}' | '\u{2009}' | '\u{202f}' => out.push(' '),
            _ => out.push(character),
        }
        rest = &rest[length..];
    }
    out
}

/// Whether a text that only grows is blank. `known` is how much of it was seen to be blank before.
fn is_blank(text: &str, known: &mut usize) -> bool {
    *known += text[*known..].len() - text[*known..].trim_start().len();
    *known == text.len()
}

/// Whether a star multiplies: it has a space, a digit or a bracket on both sides.
fn starred_product(before: &str, rest: &str) -> bool {
    let operand = |character: Option<char>| {
        character.is_some_and(|character| {
            character == ' ' || character.is_ascii_digit() || "()".contains(character)
        })
    };
    operand(before.chars().next_back()) && operand(rest.chars().nth(1))
}

fn edge_of_word(before: &str, rest: &str) -> bool {
    let word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    let after_word = word(before.chars().next_back());
    if rest.starts_with("__") { !after_word } else { !(after_word && word(rest.chars().nth(1))) }
}

/// The longest label and the longest target of a link. Every opening bracket looks this far for its end.
const LONGEST_LINK: usize = 600;

/// The label and the length of a link.
fn link(text: &str) -> Option<(&str, usize)> {
    let close = find_near(text, ']', LONGEST_LINK)?;
    let behind = text.get(close + 1..)?;
    let target = behind.strip_prefix('(')?;
    let end = find_near(target, ')', LONGEST_LINK)?;
    Some((text.get(1..close)?, close + 1 + 1 + end + 1))
}

/// The length of an HTML tag.
fn tag(text: &str) -> Option<usize> {
    let next = text.chars().nth(1)?;
    if !(next.is_ascii_alphabetic() || next == '/' || next == '!') {
        return None;
    }
    find_near(text, '>', 200).map(|end| end + 1)
}

/// Where a sign stands in the first bytes of a text.
fn find_near(text: &str, sign: char, bytes: usize) -> Option<usize> {
    let near = text.as_bytes().get(..bytes.min(text.len()))?;
    near.iter().position(|byte| char::from(*byte) == sign)
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn marks_go_and_numbers_stay() {
        assert_eq!(plain("**3.1x** as `fast`, [see](http://x.y/1) 2 * 3 = 6"), "3.1x as fast, see 2 * 3 = 6");
        assert_eq!(plain("batch_size and _very_ slow&nbsp;5 %"), "batch_size and very slow 5 %");
        assert_eq!(plain("a < 3 and b<br>c"), "a < 3 and b c");
    }
}
