//! Random changes of inputs: what a fuzzer without coverage can do in seconds.

use assay_random::Random;

use crate::Target;

/// Runs a target over its seeds, each cut short at every eighth, and over `count` random inputs: changed seeds, joined
/// seeds, and bytes without any form. The same random seed gives the same inputs.
///
/// # Panics
/// If the target does.
pub fn hammer(target: &Target, count: usize, random_seed: u64) {
    let seeds = (target.seeds)();
    (target.run)(&[]);
    for seed in &seeds {
        (0..=8).for_each(|eighths| (target.run)(&seed[..seed.len() * eighths / 8]));
    }
    let mut random = Random::stream(random_seed, target.name);
    for _ in 0..count {
        (target.run)(&input(&mut random, &seeds, target.most_bytes));
    }
}

fn input(random: &mut Random, seeds: &[Vec<u8>], most_bytes: usize) -> Vec<u8> {
    let mut bytes = match random.below(8) {
        0 => noise(random, most_bytes),
        1 => [piece(random, seeds), piece(random, seeds)].concat(),
        _ => piece(random, seeds),
    };
    for _ in 0..random.whole(1, 6) {
        change(random, &mut bytes);
    }
    bytes.truncate(most_bytes);
    bytes
}

fn noise(random: &mut Random, most_bytes: usize) -> Vec<u8> {
    let length = random.below(most_bytes as u64 + 1);
    (0..length).map(|_| random.next_u64() as u8).collect()
}

/// A seed, or a part of it.
fn piece(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let seed = match seeds.len() {
        0 => return Vec::new(),
        count => &seeds[random.below(count as u64) as usize],
    };
    if random.chance(0.5) {
        return seed.clone();
    }
    let (from, to) = range(random, seed.len());
    seed[from..to].to_vec()
}

fn range(random: &mut Random, length: usize) -> (usize, usize) {
    let [one, two] = [(); 2].map(|()| random.below(length as u64 + 1) as usize);
    (one.min(two), one.max(two))
}

/// Numbers and signs on which readers stumble.
const AWKWARD: [&[u8]; 16] = [
    b"\0",
    b"\n",
    b"\r",
    b"\r\n",
    b"\xff",
    b"\xe2\x80\xae",
    b"-",
    b"1e999",
    b"NaN",
    b"18446744073709551616",
    b"\"",
    b"{",
    b"[[",
    b"|",
    b"\x1b[31m",
    b"\xef\xbb\xbf",
];

fn change(random: &mut Random, bytes: &mut Vec<u8>) {
    let place = random.below(bytes.len() as u64 + 1) as usize;
    match random.below(6) {
        0 => {
            if let Some(byte) = bytes.get_mut(place) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => {
            if let Some(byte) = bytes.get_mut(place) {
                *byte = random.next_u64() as u8;
            }
        }
        2 => {
            let awkward = random.pick(&AWKWARD);
            bytes.splice(place..place, awkward.iter().copied());
        }
        3 => {
            let (from, to) = range(random, bytes.len());
            bytes.drain(from..to.min(from + 40));
        }
        4 => {
            let (from, to) = range(random, bytes.len());
            let copied = bytes[from..to.min(from + 40)].to_vec();
            bytes.splice(place..place, copied);
        }
        _ => {
            let (from, to) = range(random, bytes.len());
            bytes[from..to.min(from + 40)].reverse();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    static RUNS: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn every_input_reaches_the_target_and_none_is_too_long() {
        let target = Target {
            name: "counting",
            run: |bytes| {
                assert!(bytes.len() <= 100);
                RUNS.fetch_add(1, Ordering::Relaxed);
            },
            seeds: || vec![b"one=1\n".to_vec(), vec![7; 90]],
            most_bytes: 100,
        };
        hammer(&target, 500, 1);
        assert_eq!(RUNS.load(Ordering::Relaxed), 1 + 2 * 9 + 500);
    }

    #[test]
    fn inputs_repeat_with_their_seed_and_differ_from_each_other() {
        let seeds = [b"a log line with a number 12.5\n".to_vec()];
        let inputs = |seed| -> Vec<Vec<u8>> {
            let mut random = Random::new(seed);
            (0..200).map(|_| input(&mut random, &seeds, 400)).collect()
        };
        assert_eq!(inputs(3), inputs(3));
        assert_ne!(inputs(3), inputs(4));
        let different: std::collections::BTreeSet<_> = inputs(3).into_iter().collect();
        assert!(different.len() > 150, "{}", different.len());
    }

    #[test]
    #[should_panic(expected = "found it")]
    fn a_target_that_panics_fails_the_test() {
        let target = Target {
            name: "panicking",
            run: |bytes| assert!(!bytes.contains(&0xff), "found it"),
            seeds: || vec![b"abc".to_vec()],
            most_bytes: 100,
        };
        hammer(&target, 2000, 1);
    }
}
