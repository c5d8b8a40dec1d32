//! How good answers are: exact match and F1, as the evaluation of SQuAD v1.1 computes them, so that speed and quality
//! can stand in one table.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// How well one answer matches the reference answers; of several references the best one counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Whether it is a reference answer, up to case, punctuation, articles and white space.
    pub exact: bool,
    /// The harmonic mean of precision and recall over words, from 0 to 1.
    pub f1: f64,
}

/// Scores an answer. None without a reference: nothing to score is not a score of 0.
pub fn score<Reference: AsRef<str>>(answer: &str, references: &[Reference]) -> Option<Score> {
    let answer = normalize(answer);
    let scores = references.iter().map(|reference| {
        let reference = normalize(reference.as_ref());
        Score { exact: answer == reference, f1: f1(&answer, &reference) }
    });
    scores.reduce(|best, next| Score { exact: best.exact || next.exact, f1: best.f1.max(next.f1) })
}

/// The words that count: lower case, without punctuation (of ASCII, as there) and without articles.
fn normalize(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let kept: String = lower.chars().filter(|character| !character.is_ascii_punctuation()).collect();
    let words = kept.split_whitespace().filter(|word| !matches!(*word, "a" | "an" | "the"));
    words.map(str::to_owned).collect()
}

/// F1 over two bags of words. Without a common word it is 0, as there, also where both are empty.
fn f1(answer: &[String], reference: &[String]) -> f64 {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for word in reference {
        *left.entry(word).or_default() += 1;
    }
    let common = answer
        .iter()
        .filter(|word| match left.get_mut(word.as_str()) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        })
        .count();
    if common == 0 {
        return 0.0;
    }
    // 2·p·r/(p + r) with p = common/answer and r = common/reference.
    2.0 * common as f64 / (answer.len() + reference.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(answer: &str, references: &[&str]) -> (bool, f64) {
        let score = score(answer, references).unwrap();
        (score.exact, score.f1)
    }

    #[test]
    fn case_punctuation_and_articles_do_not_count() {
        assert_eq!(scored("The Denver Broncos.", &["denver broncos"]), (true, 1.0));
        assert_eq!(scored("  an  U.S.  ", &["US"]), (true, 1.0));
    }

    #[test]
    fn words_are_a_bag() {
        // Two of three words given are right, two of two wanted are there: p = 2/3, r = 1.
        let (exact, f1) = scored("Denver Broncos won", &["Denver Broncos"]);
        assert!(!exact && (f1 - 0.8).abs() < 1e-12, "{f1}");
        // A word that is wanted once is right once.
        let (_, f1) = scored("gold gold gold", &["gold"]);
        assert!((f1 - 0.5).abs() < 1e-12, "{f1}");
    }

    #[test]
    fn the_best_reference_counts() {
        let (exact, f1) = scored("Santa Clara, California", &["Levi's Stadium", "Santa Clara California"]);
        assert!(exact && f1 == 1.0);
    }

    #[test]
    fn nothing_is_not_right() {
        assert_eq!(scored("", &["gold"]), (false, 0.0));
        assert_eq!(scored("lead", &["gold"]), (false, 0.0));
        assert_eq!(score("gold", &[] as &[&str]), None);
    }
}
