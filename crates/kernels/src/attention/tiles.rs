//! Buffers of all heads, split so that each task writes the vectors of its own heads.

#![expect(
    unsafe_code,
    reason = "the vectors of a head are not contiguous in memory, so tasks share a buffer without overlapping"
)]

use std::marker::PhantomData;
use std::ops::Range;

use super::AttentionShape;
use crate::threads::Parts;

/// One piece of work: some positions of one head of one sequence.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub(super) sequence: usize,
    pub(super) head: usize,
    pub(super) first: usize,
    pub(super) count: usize,
}

/// How the work is cut: items of up to `block` positions, and `per_task` items for a task.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    pub(super) shape: AttentionShape,
    pub(super) block: usize,
    pub(super) per_task: usize,
}

impl Cut {
    fn blocks(&self) -> usize {
        self.shape.context.div_ceil(self.block)
    }

    pub(super) fn items(&self) -> usize {
        self.shape.batch.saturating_mul(self.shape.heads).saturating_mul(self.blocks())
    }

    pub(super) fn tasks(&self) -> usize {
        self.items().div_ceil(self.per_task)
    }

    /// The item of that number. The blocks of one head follow each other.
    fn item(&self, number: usize) -> Item {
        let of_heads = number / self.blocks();
        let first = number % self.blocks() * self.block;
        Item {
            sequence: of_heads / self.shape.heads,
            head: of_heads % self.shape.heads,
            first,
            count: self.block.min(self.shape.context - first),
        }
    }

    /// The numbers of the items of a task.
    fn of_task(&self, task: usize) -> Range<usize> {
        task * self.per_task..((task + 1) * self.per_task).min(self.items())
    }
}

/// A buffer whose rows consist of `sections` times all heads, to be written by tasks.
pub(super) struct Vectors<'a> {
    start: *mut f32,
    sections: usize,
    cut: Cut,
    borrow: PhantomData<&'a mut [f32]>,
}

impl<'a> Vectors<'a> {
    pub(super) fn new(buffer: &'a mut [f32], sections: usize, cut: Cut) -> Self {
        assert!(buffer.len() == sections * cut.shape.output_length(), "the buffer must fit the shape");
        Self { start: buffer.as_mut_ptr(), sections, cut, borrow: PhantomData }
    }
}

// SAFETY: it is shared only to hand out exclusive parts, each of them once.
unsafe impl Sync for Vectors<'_> {}

// SAFETY: parts write the vectors of their own items only; items are distinct positions of distinct heads, whose
// vectors do not overlap.
unsafe impl<'a> Parts for Vectors<'a> {
    type Part = VectorsPart<'a>;

    fn count(&self) -> usize {
        self.cut.tasks()
    }

    unsafe fn part(&self, index: usize) -> VectorsPart<'a> {
        VectorsPart {
            start: self.start,
            sections: self.sections,
            cut: self.cut,
            task: index,
            borrow: PhantomData,
        }
    }
}

/// The vectors of one task.
pub(super) struct VectorsPart<'a> {
    start: *mut f32,
    sections: usize,
    cut: Cut,
    task: usize,
    borrow: PhantomData<&'a mut [f32]>,
}

impl VectorsPart<'_> {
    /// The numbers of the items of this task.
    pub(super) fn numbers(&self) -> Range<usize> {
        self.cut.of_task(self.task)
    }

    /// An item of this task.
    pub(super) fn item(&self, number: usize) -> Item {
        assert!(self.numbers().contains(&number), "the item belongs to another task");
        self.cut.item(number)
    }

    /// The vector at the given position of an item, counted from the item's first.
    pub(super) fn vector(&mut self, number: usize, section: usize, position: usize) -> &mut [f32] {
        let item = self.item(number);
        assert!(section < self.sections && position < item.count, "the vector lies outside the item");
        let shape = &self.cut.shape;
        let range = shape.vector(self.sections, section, item.sequence, item.head, item.first + position);
        // SAFETY: the range lies in the buffer, whose length was checked, and in an item of this task; the result
        // borrows the part, so there is no second one.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}

/// One number for each position of each head, to be written by tasks.
pub(super) struct Numbers<'a> {
    start: *mut f32,
    cut: Cut,
    borrow: PhantomData<&'a mut [f32]>,
}

impl<'a> Numbers<'a> {
    pub(super) fn new(buffer: &'a mut [f32], cut: Cut) -> Self {
        assert!(buffer.len() == cut.shape.logsumexp_length(), "the buffer must fit the shape");
        Self { start: buffer.as_mut_ptr(), cut, borrow: PhantomData }
    }
}

// SAFETY: it is shared only to hand out exclusive parts, each of them once.
unsafe impl Sync for Numbers<'_> {}

// SAFETY: the items of a task follow each other, and so do their numbers; the ranges of different tasks do not overlap.
unsafe impl<'a> Parts for Numbers<'a> {
    type Part = NumbersPart<'a>;

    fn count(&self) -> usize {
        self.cut.tasks()
    }

    unsafe fn part(&self, index: usize) -> NumbersPart<'a> {
        let place = |number: usize| {
            let (heads, block) = (number / self.cut.blocks(), number % self.cut.blocks());
            heads * self.cut.shape.context + block * self.cut.block
        };
        let items = self.cut.of_task(index);
        let begin = place(items.start);
        let length = place(items.end) - begin;
        // SAFETY: the numbers of the items of this task lie in the buffer, whose length was checked.
        let numbers = unsafe { std::slice::from_raw_parts_mut(self.start.add(begin), length) };
        NumbersPart { numbers, used: 0 }
    }
}

/// The numbers of one task, taken item after item.
pub(super) struct NumbersPart<'a> {
    numbers: &'a mut [f32],
    used: usize,
}

impl NumbersPart<'_> {
    /// The numbers of the next item, which has `count` positions.
    pub(super) fn next(&mut self, count: usize) -> &mut [f32] {
        self.used += count;
        &mut self.numbers[self.used - count..self.used]
    }
}
