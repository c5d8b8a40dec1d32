//! The tensors of a model by name, and memory for one number for each of their elements.

use assay_kernels::threads::Chunks;
use assay_kernels::{Threads, huge_pages};

use crate::WorkloadError;
use crate::initial::Start;

/// One tensor of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Its name in files.
    pub name: String,
    /// Its dimensions as files write them.
    pub dimensions: Vec<usize>,
    /// How it begins.
    pub start: Start,
}

impl Tensor {
    /// A tensor with its name, dimensions and start.
    pub fn new(name: impl Into<String>, dimensions: impl Into<Vec<usize>>, start: Start) -> Tensor {
        Tensor { name: name.into(), dimensions: dimensions.into(), start }
    }

    /// How many numbers it holds.
    pub fn len(&self) -> usize {
        self.dimensions.iter().product()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its initial values, made on all threads.
    pub fn initial(&self, threads: &Threads, seed: u64) -> Result<Vec<f32>, WorkloadError> {
        /// Numbers that one task makes; a multiple of the page size.
        const PIECE: usize = 1 << 16;
        let mut values = untouched("weights", self.len())?;
        threads.run_parts(Chunks::new(&mut values, PIECE), |piece, values| {
            self.start.fill(&self.name, seed, (piece * PIECE) as u64, values);
        });
        Ok(values)
    }
}

/// Zeros in memory that is there: every page is touched, on all threads, so that no iteration pays for it. A refusal of
/// the system is an error.
pub(crate) fn zeros(threads: &Threads, what: &'static str, length: usize) -> Result<Vec<f32>, WorkloadError> {
    const PAGE: usize = 4096 / size_of::<f32>();
    let mut zeros = untouched(what, length)?;
    threads.run_parts(Chunks::new(&mut zeros, 1024 * PAGE), |_, part| {
        for page in part.chunks_mut(PAGE) {
            // Without the detour the compiler may see that a zero is written over a zero.
            page[0] = std::hint::black_box(0.0);
        }
    });
    Ok(zeros)
}

/// Zeros that are not yet backed by memory.
fn untouched(what: &'static str, length: usize) -> Result<Vec<f32>, WorkloadError> {
    let bytes = (length as u64).saturating_mul(4);
    huge_pages::zeros(length).ok_or(WorkloadError::Memory { what, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_values_on_any_number_of_threads() {
        let tensor = Tensor::new("head", [3000, 64], Start::matrix(64, 3000));
        let [one, three] = [1, 3].map(|count| tensor.initial(&Threads::new(count), 5).unwrap());
        assert_eq!((one.len(), &one), (tensor.len(), &three));
        assert!(zeros(&Threads::new(2), "gradients", 70_000).unwrap().iter().all(|zero| *zero == 0.0));
    }

    #[test]
    fn refused_memory_is_an_error() {
        let error = zeros(&Threads::new(1), "weights", 1 << 60).unwrap_err();
        assert!(error.to_string().contains("weights"), "{error}");
    }
}
