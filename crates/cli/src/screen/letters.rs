//! Text for terminals that show no UTF-8: every sign that this program writes has a stand-in of plain letters.

use std::borrow::Cow;

/// Whether the locale of the environment names an encoding other than UTF-8. One that names none leaves it open: containers
/// often have no locale at all and a terminal that shows UTF-8.
pub fn is_plain_locale() -> bool {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    names_plain(["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).as_deref())
}

fn names_plain(locale: Option<&str>) -> bool {
    let Some(locale) = locale else { return false };
    let locale = locale.to_ascii_lowercase();
    let is_utf8 = locale.contains("utf-8") || locale.contains("utf8");
    !is_utf8 && (locale.contains('.') || locale == "c" || locale == "posix")
}

/// The text in ASCII.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match stand_in(letter) {
            _ if letter.is_ascii() => out.push(letter),
            Some(other) => out.push_str(other),
            None => out.push('?'),
        }
    }
    Cow::Owned(out)
}

fn stand_in(letter: char) -> Option<&'static str> {
    Some(match letter {
        '–' | '─' | '┄' => "-",
        '—' => "--",
        '│' | '┊' | '┌' | '└' | '├' => "|",
        '·' => ".",
        '•' => "o",
        '●' => "@",
        '○' => "O",
        '▸' => ">",
        '×' => "x",
        '±' => "+/-",
        'µ' | 'μ' => "u",
        '≤' => "<=",
        '≥' => ">=",
        '≠' => "!=",
        '∞' => "inf",
        '…' => "...",
        '→' => "->",
        '←' => "<-",
        '↑' => "up",
        '↓' => "down",
        '✓' => "+",
        '✗' => "x",
        '†' => "+",
        'σ' => "sigma",
        'κ' => "kappa",
        'λ' => "lambda",
        '▁' => "_",
        '▂' => ".",
        '▃' => "-",
        '▄' => "=",
        '▅' => "+",
        '▆' => "*",
        '▇' => "%",
        '█' => "#",
        '░' => ".",
        '¹' => "^1",
        '²' => "^2",
        '³' => "^3",
        '⁴' => "^4",
        '⁵' => "^5",
        '⁶' => "^6",
        '⁷' => "^7",
        '⁸' => "^8",
        '⁹' => "^9",
        '⁰' | '₀' => "0",
        '\u{a0}' => " ",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_locale_that_names_another_encoding_is_plain() {
        for plain in ["C", "POSIX", "en_US.ISO-8859-1", "de_DE.ISO8859-15@euro"] {
            assert!(names_plain(Some(plain)), "{plain}");
        }
        for other in ["C.UTF-8", "en_US.utf8", "de_DE"] {
            assert!(!names_plain(Some(other)), "{other}");
        }
        assert!(!names_plain(None));
    }

    #[test]
    fn every_sign_has_a_stand_in() {
        assert_eq!(plain("12.0 ± 0.1 µs (11 – 13) ×2¹"), "12.0 +/- 0.1 us (11 - 13) x2^1");
        assert_eq!(plain("日"), "?");
        assert_eq!(plain("│··•●│"), "|..o@|");
    }
}
