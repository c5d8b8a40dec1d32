//! Text that reads like English and says nothing, with numbers here and there that mean nothing either.

use crate::kind::{OptionValues, SampleJob, SampleKind, log_options};

pub(crate) const KIND: SampleKind = SampleKind {
    name: "prose",
    summary: "paragraphs of words without meaning, wrapped, with a number now and then",
    options: log_options![
        ("paragraphs", "20", OptionValues::Whole(1, 1 << 32), "paragraphs"),
        ("width", "88", OptionValues::Whole(20, 1 << 20), "where lines are wrapped"),
        ("numbers", "0.03", OptionValues::Number(0.0, 1.0), "the share of words that are numbers"),
    ],
    compose,
};

/// A power of two, so that a word costs few bits and no division.
const WORDS: [&str; 128] = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "that",
    "it",
    "was",
    "for",
    "on",
    "with",
    "as",
    "at",
    "by",
    "from",
    "this",
    "river",
    "garden",
    "window",
    "morning",
    "paper",
    "stone",
    "letter",
    "wooden",
    "quiet",
    "table",
    "harbour",
    "winter",
    "basket",
    "lantern",
    "narrow",
    "copper",
    "meadow",
    "corner",
    "silver",
    "gentle",
    "thunder",
    "village",
    "orchard",
    "pebble",
    "whistle",
    "feather",
    "market",
    "ladder",
    "cellar",
    "blanket",
    "button",
    "candle",
    "carpet",
    "kettle",
    "mirror",
    "needle",
    "pocket",
    "saddle",
    "shelter",
    "shadow",
    "summer",
    "timber",
    "valley",
    "velvet",
    "walnut",
    "willow",
    "yellow",
    "anchor",
    "bridge",
    "bright",
    "cotton",
    "cradle",
    "distant",
    "evening",
    "familiar",
    "hollow",
    "island",
    "journey",
    "kitchen",
    "little",
    "mountain",
    "neighbour",
    "ordinary",
    "patient",
    "quarter",
    "remember",
    "several",
    "together",
    "umbrella",
    "visitor",
    "weather",
    "another",
    "between",
    "captain",
    "doctor",
    "engine",
    "farmer",
    "grain",
    "honey",
    "insect",
    "jacket",
    "known",
    "linen",
    "music",
    "never",
    "often",
    "people",
    "question",
    "roof",
    "sailor",
    "teacher",
    "under",
    "voice",
    "water",
    "young",
    "about",
    "because",
    "carried",
    "during",
    "every",
    "found",
    "great",
    "however",
    "kept",
    "large",
    "moved",
    "nothing",
    "only",
    "passed",
    "returned",
    "stood",
    "turned",
];

fn compose(job: &mut SampleJob<'_, '_>) {
    let width = job.settings.whole("width") as usize;
    let numbers = (job.settings.number("numbers") * 65_536.0) as u64;
    for _ in 0..job.units.unwrap_or(job.settings.whole("paragraphs")) {
        paragraph(job, width, numbers);
        job.log.end();
    }
}

fn paragraph(job: &mut SampleJob<'_, '_>, width: usize, numbers: u64) {
    let mut column = 0;
    for _ in 0..job.random.whole(3, 7) {
        let words = job.random.whole(6, 18);
        for position in 0..words {
            // One draw decides the word, whether a number follows, and which.
            let bits = job.random.next_u64();
            let word = WORDS.get((bits & 127) as usize).copied().unwrap_or_default();
            if column > 0 && column + word.len() + 1 > width {
                job.log.end();
                column = 0;
            }
            if column > 0 {
                job.log.text(" ");
                column += 1;
            }
            match (position, word.split_at_checked(1)) {
                (0, Some((first, rest))) => {
                    let first = first.as_bytes().first().map_or('a', |byte| byte.to_ascii_uppercase().into());
                    job.log.text(first.encode_utf8(&mut [0; 4])).text(rest)
                }
                _ => job.log.text(word),
            };
            column += word.len();
            if (bits >> 8) & 0xFFFF < numbers {
                let number = (bits >> 32) & 0x3FF;
                job.log.text(" ").whole(number);
                column += 4;
            }
        }
        job.log.text(".");
        column += 1;
    }
    job.log.end();
}
