//! Huge pages: they spare the processor much looking up of addresses (one or two percent of a product), and the system
//! most of the work of handing out memory.

#![expect(unsafe_code, reason = "memory is asked for, and the system advised, by raw addresses")]

use std::alloc::{Layout, alloc_zeroed};

/// Zeros that no memory backs yet, in huge pages where the system has them; none if the system refuses. The usual way
/// to get zeros would end the process on a refusal, and asking first makes the allocator clear memory by hand.
pub fn zeros(length: usize) -> Option<Vec<f32>> {
    let layout = Layout::array::<f32>(length).ok()?;
    if layout.size() == 0 {
        return Some(Vec::new());
    }
    // SAFETY: the layout is not empty.
    let start = unsafe { alloc_zeroed(layout) }.cast::<f32>();
    if start.is_null() {
        return None;
    }
    // SAFETY: the memory was allocated by the global allocator with the layout of this many floats, and all of them are
    // zeros, which are valid.
    let mut zeros = unsafe { Vec::from_raw_parts(start, length, length) };
    prefer(&mut zeros);
    Some(zeros)
}

/// Asks the system to back memory that has not been used yet with huge pages. It is a wish: nothing is lost if it is not
/// granted, and what the memory holds does not change.
fn prefer(memory: &mut [f32]) {
    /// The system takes advice for whole pages only.
    const PAGE: usize = 4096;
    let (start, bytes) = (memory.as_mut_ptr() as usize, size_of_val(memory));
    let (first, end) = (start.next_multiple_of(PAGE), (start + bytes) / PAGE * PAGE);
    if first < end {
        advise(first as *mut u8, end - first);
    }
}

/// The same for a range of whole pages that belongs to the caller.
#[cfg(target_os = "linux")]
pub(crate) fn advise(start: *mut u8, bytes: usize) {
    use std::ffi::{c_int, c_void};
    const MADV_HUGEPAGE: c_int = 14;
    unsafe extern "C" {
        fn madvise(start: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    // SAFETY: the range consists of whole pages that belong to the caller, and the advice does not change their contents.
    let _granted = unsafe { madvise(start.cast(), bytes, MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn advise(_start: *mut u8, _bytes: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_zeros_or_a_refusal() {
        for length in [0, 1, 777, 3_000_000] {
            let zeros = zeros(length).unwrap();
            assert!(zeros.len() == length && zeros.iter().all(|zero| *zero == 0.0));
        }
        assert!(zeros(usize::MAX / 4).is_none() && zeros(usize::MAX).is_none());
    }

    #[test]
    fn advice_changes_no_contents() {
        for length in [0, 1, 1000, 3_000_000] {
            let mut memory: Vec<f32> = (0..length).map(|index| index as f32).collect();
            prefer(&mut memory);
            assert!(memory.iter().enumerate().all(|(index, value)| *value == index as f32));
        }
    }
}
