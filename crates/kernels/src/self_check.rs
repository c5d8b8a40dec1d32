//! Compares an instruction set with the plain one on every kernel: some milliseconds, once for a machine.
//!
//! Sizes are odd on purpose, so that the ends of rows, which vectors do not fill, are covered too.

mod cases;

use crate::Threads;
use crate::dispatch::{Isa, with_isa};

/// How far a result may be from the plain one, relative to its size or to 1. Fused instructions round once where plain
/// ones round twice; a wrong instruction set is off by much more.
const TOLERANCE: f32 = 2e-5;

/// Says on which kernel and by how much an instruction set differs from the plain one.
///
/// # Panics
/// If this machine does not support the instruction set.
pub(crate) fn compare_with_plain(isa: Isa) -> Result<(), String> {
    // One thread: the choice of an instruction set must not wait for threads that wait for the choice.
    let threads = Threads::new(1);
    for (kernel, run) in cases::CASES {
        let expected = with_isa(Isa::Plain, || run(&threads));
        let results = with_isa(isa, || run(&threads));
        if results.len() != expected.len() {
            return Err(format!("{kernel} gives {} results instead of {}", results.len(), expected.len()));
        }
        for (place, (&result, &expected)) in results.iter().zip(&expected).enumerate() {
            if !agrees(result, expected) {
                return Err(format!("{kernel} gives {result} instead of {expected} (result {place})"));
            }
        }
    }
    Ok(())
}

fn agrees(result: f32, expected: f32) -> bool {
    (result - expected).abs() <= TOLERANCE * expected.abs().max(1.0)
        || result == expected
        || (result.is_nan() && expected.is_nan())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_set_of_this_machine_agrees_with_the_plain_one() {
        for isa in Isa::available() {
            assert_eq!(compare_with_plain(isa), Ok(()), "{}", isa.name());
        }
    }

    #[test]
    fn an_instruction_set_that_computes_wrongly_is_found_out_by_name_and_number() {
        let reason = compare_with_plain(Isa::Broken).unwrap_err();
        assert!(
            cases::CASES.iter().any(|(kernel, _)| reason.starts_with(&format!("{kernel} gives "))),
            "{reason}"
        );
    }

    /// Each kernel alone, not only the first that differs: the comparison must be able to see all of them.
    #[test]
    fn every_kernel_with_multiply_adds_can_fail_the_comparison() {
        let threads = Threads::new(1);
        let differs = |run: &cases::Case| {
            let [expected, results] = [Isa::Plain, Isa::Broken].map(|isa| with_isa(isa, || run(&threads)));
            results.iter().zip(&expected).any(|(result, expected)| !agrees(*result, *expected))
        };
        let unseen: Vec<&str> =
            cases::CASES.iter().filter(|(_, run)| !differs(run)).map(|(kernel, _)| *kernel).collect();
        // These are made of other instructions than the broken one.
        assert_eq!(unseen, UNFUSED);
    }

    const UNFUSED: [&str; 7] = ["matmul", "max_pool", "bias", "relu", "dropout", "embedding", "reduce"];

    #[test]
    fn no_finite_result_agrees_with_nan() {
        assert!(agrees(f32::NAN, f32::NAN) && agrees(f32::INFINITY, f32::INFINITY));
        assert!(!agrees(f32::NAN, 1.0) && !agrees(1.0, f32::NAN) && !agrees(f32::INFINITY, 1.0));
    }

    #[test]
    fn every_module_with_a_kernel_is_compared() {
        // Not kernels, or, in `limits`, only the two loops that measure speed.
        const OTHERS: [&str; 5] = ["dispatch", "huge_pages", "limits", "selection", "threads"];
        let modules = include_str!("lib.rs").lines().filter_map(|line| line.strip_prefix("pub mod "));
        for module in modules.map(|module| module.trim_end_matches(';')) {
            let compared = cases::CASES.iter().any(|(kernel, _)| kernel.split(' ').next() == Some(module));
            assert!(compared != OTHERS.contains(&module), "{module}");
        }
    }
}
