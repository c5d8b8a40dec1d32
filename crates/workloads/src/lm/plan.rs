//! How much memory a run needs, known before any of it is taken, and what would fit where it does not.

use assay_kernels::{Threads, attention, rms_norm};

use super::operations::attention_shape;
use super::options::{LmWork, Phase};
use super::shape::LmShape;
use crate::collective::processes;
use crate::memory::{self, bytes_in_words};

/// The most numbers that the logits of one piece of rows take, unless other scratch is larger anyway: 32 MB. Fewer and
/// larger pieces make better products.
const MOST_LOGITS: u128 = 1 << 23;

/// What the process itself needs besides all buffers: its code, its stacks, its allocator, and the panels that
/// matrices are packed into, whose size is bounded whatever the matrices are.
const PROCESS_BYTES: u128 = 32 << 20;

/// The lengths of all buffers, in numbers of 4 bytes. Computed in 128 bits, so that no setting makes it overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    /// One number for each token and each of the width.
    pub stream: u128,
    /// How many streams are kept: one for each layer and one at the end, or just one.
    pub streams: u128,
    /// How many places there are for what layers keep.
    pub kept: u128,
    /// Queries, keys and values.
    pub qkv: u128,
    pub gate_up: u128,
    /// One number for each token.
    pub tokens: u128,
    /// One number for each token and head.
    pub logsumexp: u128,
    /// Scratch that the parts of a layer and the loss share.
    pub arena: u128,
    /// Rows of logits that are computed at once.
    pub rows: u128,
    /// Scratch of the attention kernels.
    pub attention_scratch: u128,
    /// Scratch of the norm's backward kernel.
    pub norm_scratch: u128,
    /// The table of angles.
    pub table: u128,
}

impl Lengths {
    /// The lengths for one iteration's work.
    pub fn new(threads: &Threads, shape: &LmShape, work: &LmWork) -> Lengths {
        let [width, hidden, layers, heads, vocabulary, batch, context] = [
            shape.width,
            shape.hidden,
            shape.layers,
            shape.heads,
            shape.vocabulary,
            work.batch,
            work.context,
        ]
        .map(|size| size as u128);
        let tokens = batch * context;
        let backward = work.phase != Phase::Forward;
        // Forward alone shares the arena between attention, feed-forward layer and loss. With a backward pass the
        // activations have places of their own, and the arena holds the product of the activation or gradients.
        let parts = if backward { hidden.max(3 * width) } else { (3 * hidden).max(4 * width) };
        let most = MOST_LOGITS.max(tokens * parts);
        let pieces = tokens.div_ceil((most / vocabulary.max(1)).clamp(1, tokens.max(1))).max(1);
        let rows = tokens.div_ceil(pieces);
        let scratch = Scratch::new(threads, shape, work, backward);
        Lengths {
            stream: tokens * width,
            streams: if backward { layers + 1 } else { 1 },
            kept: match Policy::of(shape, work) {
                _ if !backward => 0,
                Policy::Lent | Policy::Shared => 1,
                Policy::Own => layers,
            },
            qkv: 3 * tokens * width,
            gate_up: 2 * tokens * hidden,
            tokens,
            logsumexp: tokens * heads,
            arena: (tokens * parts).max(rows * vocabulary),
            rows,
            attention_scratch: scratch.attention,
            norm_scratch: scratch.norm,
            table: context * (width / heads.max(1)),
        }
    }
}

/// Where layers keep what their backward passes need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// All layers use one place in turn, and compute again what it held: checkpointing.
    Shared,
    /// In the gradients of the layer before, which are computed only after they have given it back; the first layer has
    /// a place of its own. Nothing but norms and activations is computed again.
    Lent,
    /// Each layer has a place of its own, and what attention gave is computed again.
    Own,
}

impl Policy {
    /// The one that takes the least memory without computing more than was asked for.
    pub fn of(shape: &LmShape, work: &LmWork) -> Policy {
        if work.checkpointing {
            Policy::Shared
        } else if work.tokens() <= shape.width && shape.width + shape.heads <= shape.hidden {
            Policy::Lent
        } else {
            Policy::Own
        }
    }
}

struct Scratch {
    attention: u128,
    norm: u128,
}

impl Scratch {
    /// What kernels ask for. Where the work is so large that their own arithmetic could overflow, the answer does
    /// not matter, since the buffers that they work on cannot exist.
    fn new(threads: &Threads, shape: &LmShape, work: &LmWork, backward: bool) -> Scratch {
        let cells = work.batch as u128 * work.context as u128 * shape.width as u128;
        if cells > 1 << 48 {
            return Scratch { attention: 0, norm: 0 };
        }
        let attended = attention_shape(shape, work);
        let forward = attention::forward_scratch(threads, &attended);
        if !backward {
            return Scratch { attention: forward as u128, norm: 0 };
        }
        Scratch {
            attention: forward.max(attention::backward_scratch(threads, &attended)) as u128,
            norm: rms_norm::backward_scratch(threads, shape.width) as u128,
        }
    }
}

/// One item of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryItem {
    /// What the memory is for.
    pub name: &'static str,
    /// How much.
    pub bytes: u128,
}

/// All memory of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryPlan {
    /// What it consists of.
    pub items: Vec<MemoryItem>,
}

impl MemoryPlan {
    /// The memory that a run needs, with `data_bytes` for its text.
    pub fn new(threads: &Threads, shape: &LmShape, work: &LmWork, data_bytes: u64) -> MemoryPlan {
        let lengths = Lengths::new(threads, shape, work);
        let parameters = shape.parameters();
        let backward = work.phase != Phase::Forward;
        let kept = lengths.qkv + lengths.gate_up;
        // With a backward pass the gradient of the stream, what attention gave, and the stream after it.
        let state = lengths.logsumexp + lengths.tokens + if backward { 3 * lengths.stream } else { 0 };
        let scratch = lengths.stream
            + state
            + lengths.arena
            + lengths.rows
            + lengths.attention_scratch
            + lengths.norm_scratch;
        let numbers = [
            ("weights", parameters),
            ("gradients", if backward { parameters } else { 0 }),
            ("optimizer", if work.phase == Phase::Step { 2 * parameters } else { 0 }),
            ("activations", lengths.streams * lengths.stream + lengths.kept * kept),
            ("scratch", scratch),
            ("tables and tokens", lengths.table + 2 * lengths.tokens),
        ];
        let tasks = work.tasks.max(1) as u128;
        let items = numbers.map(|(name, numbers)| MemoryItem { name, bytes: 4 * tasks * numbers });
        let averages = if backward { processes::averaging_bytes(work.tasks, parameters) } else { 0 };
        let others = [
            ("averages", averages),
            ("tasks", memory::of_tasks(tasks)),
            ("text", u128::from(data_bytes)),
            ("process", PROCESS_BYTES),
        ];
        let others = others.map(|(name, bytes)| MemoryItem { name, bytes });
        MemoryPlan { items: items.into_iter().chain(others).filter(|item| item.bytes > 0).collect() }
    }

    /// All of it, in bytes.
    pub fn total(&self) -> u128 {
        self.items.iter().map(|item| item.bytes).sum()
    }

    /// The items in words, the largest first.
    pub fn words(&self) -> String {
        let mut items: Vec<&MemoryItem> = self.items.iter().filter(|item| item.bytes > 0).collect();
        items.sort_by_key(|item| std::cmp::Reverse(item.bytes));
        let words: Vec<String> = items
            .iter()
            .take(4)
            .map(|item| format!("{} {}", item.name, bytes_in_words(item.bytes)))
            .collect();
        words.join(", ")
    }
}

/// What would fit into this many bytes instead, in words; none if nothing was found.
pub fn what_fits(
    threads: &Threads,
    shape: &LmShape,
    work: &LmWork,
    data_bytes: u64,
    available: u64,
) -> Option<String> {
    let fits =
        |work: &LmWork| MemoryPlan::new(threads, shape, work, data_bytes).total() <= u128::from(available);
    let mut found = Vec::new();
    if let Some(tasks) = largest(work.tasks, |tasks| fits(&LmWork { tasks, ..*work })) {
        found.push(format!("tasks = {tasks}"));
    }
    if let Some(batch) = largest(work.batch, |batch| fits(&LmWork { batch, ..*work })) {
        found.push(format!("batch_size = {batch}"));
    }
    if let Some(context) = largest(work.context, |context| fits(&LmWork { context, ..*work })) {
        found.push(format!("context = {context}"));
    }
    let backward = work.phase != Phase::Forward;
    if backward && !work.checkpointing {
        let with = LmWork { checkpointing: true, ..*work };
        if fits(&with) {
            found.push("checkpointing = true".to_owned());
        } else if let Some(batch) = largest(work.batch, |batch| fits(&LmWork { batch, ..with })) {
            found.push(format!("checkpointing = true with batch_size = {batch}"));
        }
    }
    let smaller = [Phase::ForwardBackward, Phase::Forward].into_iter().filter(|phase| match work.phase {
        Phase::Step => true,
        Phase::ForwardBackward => *phase == Phase::Forward,
        Phase::Forward => false,
    });
    for phase in smaller {
        if fits(&LmWork { phase, ..*work }) {
            found.push(format!("phase = {}", phase.word()));
            break;
        }
    }
    if found.is_empty() {
        let with = |layers| MemoryPlan::new(threads, &LmShape { layers, ..*shape }, work, data_bytes).total();
        let layers = largest(shape.layers, |layers| with(layers) <= u128::from(available))?;
        found.push(format!("layers = {layers}"));
    }
    Some(format!("what would fit: {}", found.join(", or ")))
}

/// The largest number below `bound` that fits, if any does. What fits fits also when it is made smaller.
fn largest(bound: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut low, mut high) = (0, bound);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle }
    }
    (low > 0).then_some(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lm::buffers::Buffers;
    use crate::lm::operations::Operations;
    use crate::lm::parameters::Parameters;
    use crate::lm::shape::SIZES;
    use crate::profile::Profile;
    use proptest::prelude::*;

    fn works(batch: usize, context: usize) -> Vec<LmWork> {
        [Phase::Forward, Phase::ForwardBackward, Phase::Step]
            .into_iter()
            .flat_map(|phase| {
                [false, true].map(|checkpointing| LmWork { batch, context, phase, checkpointing, tasks: 1 })
            })
            .collect()
    }

    /// The lengths are counted twice in this crate: here for the plan, there for the buffers. They must agree.
    #[test]
    fn the_plan_is_what_is_taken() {
        let shape = LmShape { width: 24, hidden: 40, layers: 3, heads: 2, vocabulary: 4_000_000 };
        for work in works(3, 7) {
            let bytes = |count: usize| {
                let threads = Threads::new(count);
                let buffers = Buffers::new(&threads, &shape, &work).unwrap().bytes();
                let plan = MemoryPlan::new(&threads, &shape, &work, 77);
                let table = Operations::new(threads, &shape, &work, Profile::off()).table.bytes();
                let named = |name: &str| {
                    plan.items.iter().filter(|item| item.name == name).map(|item| item.bytes).sum::<u128>()
                };
                assert_eq!(named("activations") + named("scratch"), buffers as u128, "{work:?}");
                assert_eq!(named("tables and tokens"), table as u128 + 2 * 4 * 21, "{work:?}");
                assert_eq!(named("text"), 77);
                plan.total()
            };
            assert!(bytes(2) >= bytes(1));
        }
        let small = LmShape { vocabulary: 50, ..shape };
        let weights = Parameters::zeros(&Threads::new(1), &small, "weights").unwrap();
        let taken: usize = weights.tensors().map(|tensor| 4 * tensor.len()).sum();
        let plan = MemoryPlan::new(&Threads::new(1), &small, &works(1, 1)[0], 0);
        assert_eq!(plan.items[0], MemoryItem { name: "weights", bytes: taken as u128 });
    }

    #[test]
    fn logits_are_cut_into_pieces_and_scratch_is_shared() {
        let threads = Threads::new(2);
        let llama = SIZES[5].shape;
        let work =
            LmWork { batch: 8, context: 2048, phase: Phase::ForwardBackward, checkpointing: true, tasks: 1 };
        let lengths = Lengths::new(&threads, &llama, &work);
        assert!(lengths.rows < 16_384 && lengths.rows * 32_000 <= lengths.arena);
        // Beyond weights and gradients, the small model needs about 75 MB for 512 tokens, and the process some.
        let work =
            LmWork { batch: 4, context: 128, phase: Phase::ForwardBackward, checkpointing: false, tasks: 1 };
        let plan = MemoryPlan::new(&threads, &SIZES[0].shape, &work, 0);
        let beyond = plan.total() - 8 * SIZES[0].shape.parameters();
        assert!(beyond < 115_000_000, "{beyond}");
    }

    #[test]
    fn what_is_said_to_fit_does_fit() {
        let (threads, shape) = (Threads::new(1), SIZES[0].shape);
        let work = LmWork { batch: 64, context: 512, phase: Phase::Step, checkpointing: false, tasks: 1 };
        let hint = what_fits(&threads, &shape, &work, 0, 4_000_000_000).unwrap();
        let number = |name: &str| -> usize {
            let rest = hint.split_once(name).unwrap().1;
            rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap().parse().unwrap()
        };
        let total = |work: &LmWork| MemoryPlan::new(&threads, &shape, work, 0).total();
        let batch = number("fit: batch_size = ");
        assert!(total(&LmWork { batch, ..work }) <= 4_000_000_000, "{hint}");
        assert!(total(&LmWork { batch: batch + 1, ..work }) > 4_000_000_000, "{hint}");
        let context = number("context = ");
        assert!(total(&LmWork { context, ..work }) <= 4_000_000_000, "{hint}");
        assert!(hint.contains("checkpointing = true with"), "{hint}");
        assert_eq!(what_fits(&threads, &shape, &work, 0, 1_000_000), None);

        let llama = SIZES[5].shape;
        let work = LmWork { batch: 1, context: 1, phase: Phase::Forward, checkpointing: false, tasks: 1 };
        let hint = what_fits(&threads, &llama, &work, 0, 20_000_000_000).unwrap();
        assert_eq!(hint, "what would fit: layers = 23");
    }

    #[test]
    fn every_task_is_planned_and_fewer_are_offered_where_they_do_not_fit() {
        let (threads, available) = (Threads::new(1), 4_000_000_000_u64);
        let shape = LmShape { width: 128, hidden: 384, layers: 2, heads: 4, vocabulary: 10_000 };
        let work = LmWork { batch: 4, context: 128, phase: Phase::Step, checkpointing: false, tasks: 200 };
        let total = |tasks: usize| MemoryPlan::new(&threads, &shape, &LmWork { tasks, ..work }, 0).total();
        assert!(total(200) > 190 * (total(1) - PROCESS_BYTES), "{}", total(200));
        let hint = what_fits(&threads, &shape, &work, 0, available).unwrap();
        let tasks = hint.strip_prefix("what would fit: tasks = ").unwrap().split(',').next().unwrap();
        let tasks: usize = tasks.parse().unwrap();
        assert!(total(tasks) <= u128::from(available) && total(tasks + 1) > u128::from(available), "{hint}");
    }

    proptest! {
        #[test]
        fn absurd_values_do_not_overflow_and_more_needs_more(
            sizes in prop::array::uniform7(1usize..=1 << 24), layers in 1usize..=1 << 16,
        ) {
            let [width, hidden, heads, vocabulary, batch, context, more] = sizes;
            let shape = LmShape { width, hidden, layers, heads: heads.min(width), vocabulary };
            let threads = Threads::new(1);
            for work in works(batch, context) {
                let total = MemoryPlan::new(&threads, &shape, &work, u64::MAX).total();
                let larger = LmWork { batch: batch + more, ..work };
                prop_assert!(total >= u128::from(u64::MAX));
                prop_assert!(MemoryPlan::new(&threads, &shape, &larger, u64::MAX).total() >= total);
            }
        }
    }
}
