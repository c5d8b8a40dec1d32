//! Which instruction set is used: the best one that this machine has and that agrees with the plain one on all kernels,
//! or the one that `ASSAY_ISA` names.
//!
//! An instruction set is compared before it is first used on a machine. That an instruction set agrees is kept in the
//! user's cache directory, for this processor and this build of the program; that one differs is never kept, so that
//! every start says so again. Where nothing can be written, each start compares again, which takes a few milliseconds.

mod cache;

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::dispatch::Isa;
use crate::self_check::compare_with_plain;
use cache::Cache;

/// The environment variable that chooses by hand.
pub const VARIABLE: &str = "ASSAY_ISA";

/// The instruction set in use, and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    pub isa: Isa,
    /// Whether [`VARIABLE`] chose it.
    pub by_hand: bool,
    pub check: SelfCheck,
    /// Better ones that this machine has and that are not used, because they differ from the plain one.
    pub rejected: Vec<RejectedIsa>,
}

/// Whether an instruction set was compared with the plain one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SelfCheck {
    /// It is the plain one.
    Unneeded,
    /// An earlier start of this program on this processor did, and kept that they agree.
    Cached,
    /// This start did, and needed this time for it.
    Passed(Duration),
}

#[derive(Debug, Clone, PartialEq)]
pub struct RejectedIsa {
    pub isa: Isa,
    pub reason: String,
}

/// Why the instruction set that was chosen by hand cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SelectionError {
    #[error("unknown instruction set `{value}` in {VARIABLE}")]
    Unknown { value: String },
    #[error("this machine does not support {VARIABLE}={}", isa.name())]
    Unsupported { isa: Isa },
    #[error("{VARIABLE}={} fails its self-check on this machine: {reason}", isa.name())]
    Wrong { isa: Isa, reason: String },
}

impl SelectionError {
    pub fn hint(&self) -> String {
        let supported: Vec<&str> = Isa::available().map(Isa::name).collect();
        format!("this machine supports {}; unset {VARIABLE} to let assay choose", supported.join(", "))
    }
}

/// The instruction set of this process. The first call decides; all others get the same answer.
pub fn selection() -> &'static Result<Selection, SelectionError> {
    static SELECTION: OnceLock<Result<Selection, SelectionError>> = OnceLock::new();
    SELECTION.get_or_init(|| {
        let wanted = std::env::var_os(VARIABLE).map(|value| value.to_string_lossy().into_owned());
        select(wanted.as_deref(), Isa::available(), &Cache::of_user())
    })
}

fn select(
    wanted: Option<&str>,
    available: impl Iterator<Item = Isa>,
    cache: &Cache,
) -> Result<Selection, SelectionError> {
    match wanted.filter(|value| !value.is_empty()) {
        Some(value) => select_by_hand(value, cache),
        None => Ok(select_best(available, cache)),
    }
}

fn select_by_hand(value: &str, cache: &Cache) -> Result<Selection, SelectionError> {
    let isa = Isa::ALL.into_iter().find(|isa| isa.name() == value.to_ascii_lowercase());
    let isa = isa.ok_or_else(|| SelectionError::Unknown { value: value.to_owned() })?;
    if !isa.is_available() {
        return Err(SelectionError::Unsupported { isa });
    }
    let check = check(isa, cache).map_err(|reason| SelectionError::Wrong { isa, reason })?;
    Ok(Selection { isa, by_hand: true, check, rejected: Vec::new() })
}

fn select_best(available: impl Iterator<Item = Isa>, cache: &Cache) -> Selection {
    let mut rejected = Vec::new();
    for isa in available {
        match check(isa, cache) {
            Ok(check) => return Selection { isa, by_hand: false, check, rejected },
            Err(reason) => rejected.push(RejectedIsa { isa, reason }),
        }
    }
    Selection { isa: Isa::Plain, by_hand: false, check: SelfCheck::Unneeded, rejected }
}

/// Compares an instruction set with the plain one unless that was done before.
fn check(isa: Isa, cache: &Cache) -> Result<SelfCheck, String> {
    if isa == Isa::Plain {
        return Ok(SelfCheck::Unneeded);
    }
    let mut passed = cache.passed();
    if passed.iter().any(|name| name == isa.name()) {
        return Ok(SelfCheck::Cached);
    }
    let start = Instant::now();
    compare_with_plain(isa)?;
    passed.push(isa.name().to_owned());
    cache.keep(&passed);
    Ok(SelfCheck::Passed(start.elapsed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_instruction_set_is_rejected_with_a_reason_and_the_next_one_is_used() {
        let best = Isa::available().next().unwrap();
        let selection = select(None, [Isa::Broken, best, Isa::Plain].into_iter(), &Cache::none()).unwrap();
        assert_eq!((selection.isa, selection.by_hand), (best, false));
        assert_eq!(selection.rejected.len(), 1);
        assert_eq!(selection.rejected[0].isa, Isa::Broken);
        assert!(selection.rejected[0].reason.contains(" instead of "), "{:?}", selection.rejected);
        let selection = select(None, [Isa::Broken].into_iter(), &Cache::none()).unwrap();
        assert_eq!((selection.isa, selection.check), (Isa::Plain, SelfCheck::Unneeded));
    }

    #[test]
    fn every_instruction_set_of_this_machine_can_be_chosen_by_hand() {
        for isa in Isa::available() {
            let selection = select(Some(isa.name()), Isa::available(), &Cache::none()).unwrap();
            assert_eq!((selection.isa, selection.by_hand), (isa, true));
        }
        assert_eq!(select(Some("PLAIN"), Isa::available(), &Cache::none()).unwrap().isa, Isa::Plain);
        assert!(!select(Some(""), Isa::available(), &Cache::none()).unwrap().by_hand);
    }

    #[test]
    fn what_cannot_be_chosen_is_refused_with_what_can() {
        let refused = |value| select(Some(value), Isa::available(), &Cache::none()).unwrap_err();
        let error = refused("sse9");
        assert_eq!(error.to_string(), "unknown instruction set `sse9` in ASSAY_ISA");
        assert!(error.hint().contains("plain"), "{}", error.hint());
        let foreign = if cfg!(target_arch = "x86_64") { "neon" } else { "avx2" };
        assert!(matches!(refused(foreign), SelectionError::Unsupported { .. }));
    }

    #[test]
    fn an_instruction_set_is_compared_once_and_a_broken_one_every_time() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::at(directory.path().join("not/there/yet"));
        let best = Isa::available().next().unwrap();
        if best != Isa::Plain {
            assert!(matches!(check(best, &cache), Ok(SelfCheck::Passed(_))));
            assert_eq!(check(best, &cache), Ok(SelfCheck::Cached));
        }
        assert!(check(Isa::Broken, &cache).is_err());
        assert!(check(Isa::Broken, &cache).is_err());
    }
}
