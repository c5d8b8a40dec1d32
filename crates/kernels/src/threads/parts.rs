//! Buffers split into disjoint parts, one for each task.

use std::marker::PhantomData;

/// Something that can be split, each part for one task.
///
/// # Safety
/// Parts of different indices must not overlap, and must stay valid for as long as `Part` says.
pub unsafe trait Parts: Sync {
    /// What a task gets.
    type Part;

    /// The number of parts.
    fn count(&self) -> usize;

    /// The part of a task.
    ///
    /// # Safety
    /// `index` must be below [`Parts::count`], and each index may be asked for once only.
    unsafe fn part(&self, index: usize) -> Self::Part;
}

/// A mutable slice in chunks of equal length; the last one may be shorter.
pub struct Chunks<'a, T> {
    start: *mut T,
    length: usize,
    chunk: usize,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T> Chunks<'a, T> {
    /// Chunks of `chunk` elements.
    ///
    /// # Panics
    /// If `chunk` is zero.
    pub fn new(slice: &'a mut [T], chunk: usize) -> Self {
        assert!(chunk > 0, "chunks must have at least one element");
        Self { start: slice.as_mut_ptr(), length: slice.len(), chunk, borrow: PhantomData }
    }
}

// SAFETY: a shared `Chunks` hands out each of its exclusive parts once, so sharing it is sending the parts.
unsafe impl<T: Send> Sync for Chunks<'_, T> {}

// SAFETY: parts are separate ranges of one slice that is borrowed for 'a.
unsafe impl<'a, T: Send> Parts for Chunks<'a, T> {
    type Part = &'a mut [T];

    fn count(&self) -> usize {
        self.length.div_ceil(self.chunk)
    }

    unsafe fn part(&self, index: usize) -> &'a mut [T] {
        let begin = index * self.chunk;
        let length = self.chunk.min(self.length - begin);
        // SAFETY: the range lies in the slice as `index` is below the count, and no other part overlaps it.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(begin), length) }
    }
}

/// Implements [`Parts`] for tuples, whose members must all have the same number of parts.
macro_rules! tuple_parts {
    ($($member:ident $number:tt),+) => {
        // SAFETY: each member keeps the promise for its own parts.
        unsafe impl<$($member: Parts),+> Parts for ($($member,)+) {
            type Part = ($($member::Part,)+);

            fn count(&self) -> usize {
                let count = self.0.count();
                $(assert!(self.$number.count() == count, "buffers must be split into the same number of parts");)+
                count
            }

            unsafe fn part(&self, index: usize) -> Self::Part {
                // SAFETY: the caller's promise holds for every member.
                unsafe { ($(self.$number.part(index),)+) }
            }
        }
    };
}
tuple_parts!(A 0, B 1);
tuple_parts!(A 0, B 1, C 2);
tuple_parts!(A 0, B 1, C 2, D 3);
tuple_parts!(A 0, B 1, C 2, D 3, E 4);
