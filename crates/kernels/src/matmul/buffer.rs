//! Memory for packed panels: aligned, kept, and on Linux in huge pages.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

use crate::huge_pages;

/// The size of a huge page on x86-64; a buffer begins at such an address and has a multiple of it as its size.
const PAGE: usize = 2 << 20;

/// A block of floats that grows on demand and forgets its contents then.
pub(super) struct Buffer {
    start: NonNull<f32>,
    bytes: usize,
}

// SAFETY: the buffer owns its memory; what is done with the pointer it gives out is the affair of those who use it.
unsafe impl Send for Buffer {}

impl Default for Buffer {
    fn default() -> Self {
        Self { start: NonNull::dangling(), bytes: 0 }
    }
}

impl Buffer {
    /// Room for at least `floats` floats, whose values are not set.
    pub(super) fn reserve(&mut self, floats: usize) -> *mut f32 {
        let bytes = (floats * size_of::<f32>()).next_multiple_of(PAGE);
        if bytes > self.bytes {
            self.release();
            let layout = layout(bytes);
            // SAFETY: the size is not zero, as it is above that of the former memory.
            let Some(start) = NonNull::new(unsafe { alloc(layout) }) else { handle_alloc_error(layout) };
            huge_pages::advise(start.as_ptr(), bytes);
            self.start = start.cast();
            self.bytes = bytes;
        }
        self.start.as_ptr()
    }

    fn release(&mut self) {
        if self.bytes > 0 {
            // SAFETY: the memory was allocated with this layout and nobody uses it after this.
            unsafe { dealloc(self.start.as_ptr().cast(), layout(self.bytes)) };
            self.bytes = 0;
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.release();
    }
}

/// The layout of a buffer of some pages.
fn layout(bytes: usize) -> Layout {
    // SAFETY: the alignment is a power of two, and no product that fits into memory needs panels near `isize::MAX`.
    unsafe { Layout::from_size_align_unchecked(bytes, PAGE) }
}
