//! Both convolutions of all images of a batch. Every thread takes its share of the images through both, so that what it
//! computes stays in its cache, and adds up its own gradients of the weights; those are added in the order of the shares.

use assay_kernels::Threads;
use assay_kernels::pooled_convolution::{self as pooled, Workspace};
use assay_kernels::threads::Chunks;

use crate::WorkloadError;
use crate::data::idx::{PIXELS, SIDE};
use crate::mnist::network::{FEATURES, FIRST, KERNEL, Parameters, SECOND, convolution_flops};
use crate::profile::Profile;
use crate::tensors::zeros;

/// What an image keeps for its backward pass.
struct Kept {
    /// What the first kernel sees.
    patches: Vec<f32>,
    /// The output of the first convolution.
    hidden: Vec<f32>,
    /// Where each of its elements came from.
    hidden_index: Vec<u8>,
    /// Where each feature came from.
    feature_index: Vec<u8>,
}

/// The memory of one share.
struct Share {
    image: Vec<f32>,
    first: Workspace,
    second: Workspace,
    /// The gradient of the output of the first convolution.
    dhidden: Vec<f32>,
    /// Sums of gradients: first weight and bias, second weight and bias.
    sums: [Vec<f32>; 4],
    /// For images that need no backward pass.
    kept: Kept,
}

pub(super) struct Convolutions {
    /// The value of each pixel.
    values: [f32; 256],
    /// The weights of both in the form that the forward pass takes.
    panels: [Vec<f32>; 2],
    kept: Vec<Kept>,
    shares: Vec<Share>,
    /// Images of the batch under way.
    images: usize,
}

/// What is the same for all images.
#[derive(Clone, Copy)]
struct Layers<'a> {
    values: &'a [f32; 256],
    panels: [&'a [f32]; 2],
    biases: [&'a [f32]; 2],
}

impl Kept {
    fn new(threads: &Threads) -> Result<Kept, WorkloadError> {
        Ok(Kept {
            patches: zeros(threads, "activations", FIRST.input_length())?,
            hidden: zeros(threads, "activations", FIRST.output_length())?,
            hidden_index: vec![0; FIRST.output_length()],
            feature_index: vec![0; FEATURES],
        })
    }
}

/// The bytes of what an image keeps.
const KEPT_BYTES: usize = 4 * (FIRST.height * FIRST.width * FIRST.channels)
    + 5 * (SECOND.height * SECOND.width * SECOND.channels)
    + FEATURES;

impl Share {
    fn new(threads: &Threads) -> Result<Share, WorkloadError> {
        let buffer = |length| zeros(threads, "activations", length);
        Ok(Share {
            image: buffer(PIXELS)?,
            first: Workspace::new(&FIRST),
            second: Workspace::new(&SECOND),
            dhidden: buffer(SECOND.input_length())?,
            sums: [
                buffer(FIRST.weight_length())?,
                buffer(FIRST.filters)?,
                buffer(SECOND.weight_length())?,
                buffer(SECOND.filters)?,
            ],
            kept: Kept::new(threads)?,
        })
    }
}

/// The value that stands for a pixel: from 0 to 1, less the mean of MNIST, by its standard deviation.
fn value(pixel: usize) -> f32 {
    const MEAN: f64 = 0.1307;
    const DEVIATION: f64 = 0.3081;
    ((pixel as f64 / 255.0 - MEAN) / DEVIATION) as f32
}

impl Convolutions {
    /// Memory for batches of this many images.
    pub(super) fn new(threads: &Threads, batch: usize) -> Result<Convolutions, WorkloadError> {
        Ok(Convolutions {
            values: std::array::from_fn(value),
            panels: [vec![0.0; FIRST.panels_length()], vec![0.0; SECOND.panels_length()]],
            kept: (0..batch).map(|_| Kept::new(threads)).collect::<Result<_, _>>()?,
            shares: (0..threads.count()).map(|_| Share::new(threads)).collect::<Result<_, _>>()?,
            images: 0,
        })
    }

    /// Takes the weights for the passes that follow.
    pub(super) fn pack(&mut self, profile: &Profile, weights: &Parameters) {
        profile.timed("pack", 0.0, || {
            pooled::pack(&FIRST, &weights.tensors[0], &mut self.panels[0]);
            pooled::pack(&SECOND, &weights.tensors[2], &mut self.panels[1]);
        });
    }

    /// Sets `features` to those of a batch of images, and keeps what the backward pass needs.
    pub(super) fn forward(
        &mut self,
        threads: &Threads,
        profile: &Profile,
        weights: &Parameters,
        pixels: &[u8],
        features: &mut [f32],
    ) {
        self.pack(profile, weights);
        let Convolutions { values, panels, kept, shares, images } = self;
        *images = pixels.len() / PIXELS;
        let layers = Layers::new(values, panels, weights);
        let each = images.div_ceil(shares.len());
        let count = images.div_ceil(each);
        let parts = (
            Chunks::new(&mut kept[..*images], each),
            Chunks::new(features, each * FEATURES),
            Chunks::new(&mut shares[..count], 1),
        );
        profile.timed("convolutions", *images as f64 * convolution_flops()[0], || {
            threads.run_parts(parts, |part, (kept, features, share)| {
                let pixels = pixels[part * each * PIXELS..].chunks_exact(PIXELS);
                let outputs = kept.iter_mut().zip(features.chunks_exact_mut(FEATURES));
                for (pixels, (kept, features)) in pixels.zip(outputs) {
                    let Share { image, first, second, .. } = &mut share[0];
                    layers.forward(pixels, image, kept, features, first, second);
                }
            });
        });
    }

    /// Sets `features` to those of any number of images, with the weights that were packed last.
    pub(super) fn features(
        &mut self,
        threads: &Threads,
        weights: &Parameters,
        pixels: &[u8],
        features: &mut [f32],
    ) {
        let Convolutions { values, panels, shares, .. } = self;
        let layers = Layers::new(values, panels, weights);
        let images = pixels.len() / PIXELS;
        let each = images.div_ceil(shares.len()).max(1);
        let count = images.div_ceil(each);
        let parts = (Chunks::new(features, each * FEATURES), Chunks::new(&mut shares[..count], 1));
        threads.run_parts(parts, |part, (features, share)| {
            let pixels = pixels[part * each * PIXELS..].chunks_exact(PIXELS);
            for (pixels, features) in pixels.zip(features.chunks_exact_mut(FEATURES)) {
                let Share { image, first, second, kept, .. } = &mut share[0];
                layers.forward(pixels, image, kept, features, first, second);
            }
        });
    }

    /// Sets the gradients of both convolutions, from those of the features of the last batch.
    pub(super) fn backward(
        &mut self,
        threads: &Threads,
        profile: &Profile,
        weights: &Parameters,
        gradients: &mut Parameters,
        dfeatures: &[f32],
    ) {
        let Convolutions { kept, shares, images, .. } = self;
        let each = images.div_ceil(shares.len());
        let count = images.div_ceil(each);
        let kept = &kept[..*images];
        profile.timed("convolutions_backward", *images as f64 * convolution_flops()[1], || {
            threads.run_parts(Chunks::new(&mut shares[..count], 1), |part, share| {
                share[0].sums.iter_mut().for_each(|sums| sums.fill(0.0));
                let gradients = dfeatures[part * each * FEATURES..].chunks_exact(FEATURES);
                for (kept, dfeatures) in kept[part * each..].iter().zip(gradients).take(each) {
                    share[0].backward(&weights.tensors[2], kept, dfeatures);
                }
            });
        });
        profile.timed("sums", 0.0, || {
            for (number, gradient) in gradients.tensors[..4].iter_mut().enumerate() {
                gradient.copy_from_slice(&shares[0].sums[number]);
                for share in &shares[1..count] {
                    for (gradient, sum) in gradient.iter_mut().zip(&share.sums[number]) {
                        *gradient += sum;
                    }
                }
            }
        });
    }
}

impl<'a> Layers<'a> {
    fn new(values: &'a [f32; 256], panels: &'a [Vec<f32>; 2], weights: &'a Parameters) -> Layers<'a> {
        let biases = [weights.tensors[1].as_slice(), &weights.tensors[3]];
        Layers { values, panels: [&panels[0], &panels[1]], biases }
    }

    fn forward(
        &self,
        pixels: &[u8],
        image: &mut [f32],
        kept: &mut Kept,
        features: &mut [f32],
        first: &mut Workspace,
        second: &mut Workspace,
    ) {
        for (value, &pixel) in image.iter_mut().zip(pixels) {
            *value = self.values[usize::from(pixel)];
        }
        let Kept { patches, hidden, hidden_index, feature_index } = kept;
        pooled::patches::<KERNEL>(image, SIDE, patches);
        pooled::forward(&FIRST, self.panels[0], self.biases[0], patches, hidden, hidden_index, first);
        pooled::forward(&SECOND, self.panels[1], self.biases[1], hidden, features, feature_index, second);
    }
}

impl Share {
    fn backward(&mut self, second_weight: &[f32], kept: &Kept, dfeatures: &[f32]) {
        let Kept { patches, hidden, hidden_index, feature_index } = kept;
        let Share { first, second, dhidden, sums, .. } = self;
        let [dweight1, dbias1, dweight2, dbias2] = sums;
        pooled::backward_weight(&SECOND, hidden, feature_index, dfeatures, dweight2, dbias2, second);
        pooled::backward_input(&SECOND, second_weight, feature_index, dfeatures, dhidden, second);
        pooled::backward_weight(&FIRST, patches, hidden_index, dhidden, dweight1, dbias1, first);
    }
}

/// The bytes of the memory for batches of this many images.
pub(super) fn planned_bytes(threads: usize, batch: usize) -> u128 {
    let sums = FIRST.weight_length() + SECOND.weight_length() + SECOND.input_length() + PIXELS;
    let share = KEPT_BYTES + 4 * sums;
    batch as u128 * KEPT_BYTES as u128 + threads as u128 * share as u128
}
