//! Comparisons with something that the document has no numbers of: `7 times faster than the current FastSAM`.

use super::pairs::Pool;
use super::sentence::Sentence;
use crate::grid::words;
use crate::quantity::Quantity;

/// Words behind which the other side of a comparison is named.
const SIDES: [&str; 8] = ["than", "over", "versus", "vs", "against", "with", "to", "as"];

/// Whether the words behind a claim name its other side: `89 % faster than today`.
pub fn names_side(sentence: &Sentence, quantity: &Quantity) -> bool {
    let rest = sentence.text.get(quantity.end..).unwrap_or_default();
    let end = rest.find([',', ';', '(', ')', ':']).unwrap_or(rest.len());
    rest[..end]
        .split_whitespace()
        .take(6)
        .any(|token| ["than", "over", "compared", "versus", "against"].contains(&token))
}

/// Whether the words behind a claim name something by a proper name that no table and no other sentence with numbers
/// contains.
pub fn names_outsider(sentence: &Sentence, quantity: &Quantity, pool: &Pool<'_>) -> bool {
    let rest = sentence.text.get(quantity.end..).unwrap_or_default();
    let end = rest.find([',', ';', '(', ')', ':']).unwrap_or(rest.len());
    let mut tokens = rest[..end].split_whitespace();
    if !tokens.by_ref().take(6).any(|token| SIDES.contains(&token)) {
        return false;
    }
    let mut names = tokens.take(4).filter(|token| is_name(token)).peekable();
    names.peek().is_some() && names.all(|name| words(name).iter().all(|word| !is_known(word, sentence, pool)))
}

/// A capital inside the sentence, or letters and digits together.
fn is_name(token: &str) -> bool {
    let token = token.trim_matches(|one: char| !one.is_alphanumeric());
    let capital = token.chars().next().is_some_and(char::is_uppercase);
    let mixed = token.chars().any(char::is_alphabetic) && token.chars().any(|one| one.is_ascii_digit());
    token.len() > 1 && (capital || mixed)
}

/// Whether a table, a listing or another sentence with numbers mentions a word.
fn is_known(word: &str, sentence: &Sentence, pool: &Pool<'_>) -> bool {
    let in_grids = pool.grids.iter().any(|grid| {
        let columns = grid.columns.iter().any(|column| column.words.iter().any(|own| alike(own, word)));
        columns
            || grid.rows.iter().take(200).any(|row| row.words.iter().any(|own| alike(own, word)))
            || words(&grid.caption).iter().any(|own| alike(own, word))
    });
    in_grids
        || pool.listed_words.contains(word)
        || pool.sentences.iter().any(|other| {
            let same = other.block == sentence.block && other.text == sentence.text;
            let numbers = other.quantities.len() > usize::from(same);
            numbers && (!same || other.quantities.len() > 2) && other.mentions(word)
        })
}

/// `A100` begins `A100-80GB`.
fn alike(one: &str, other: &str) -> bool {
    one == other || one.len() > 2 && other.len() > 2 && (one.starts_with(other) || other.starts_with(one))
}
