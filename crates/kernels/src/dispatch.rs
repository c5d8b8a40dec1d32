//! One source, several instruction sets: which one this machine runs is found once, at run time.
//!
//! A plain `cargo build --release` compiles for the oldest processor of its architecture. The `dispatch!` macro
//! compiles the body of a function once more for every [`Path`] and calls the right copy, so that a plain build is
//! as fast as one made for this very processor. The body is ordinary Rust and the compiler vectorises its loops:
//!
//! ```ignore
//! use crate::dispatch::{Instructions, dispatch};
//!
//! dispatch! {
//!     /// y += factor * x
//!     fn add_scaled<I>(x: &[f32], factor: f32, y: &mut [f32]) {
//!         for (y, &x) in y.iter_mut().zip(x) {
//!             *y = scaled_plus::<I>(x, factor, *y);
//!         }
//!     }
//! }
//!
//! /// A helper of such bodies: generic over the instructions and always inlined, so that it is compiled for the
//! /// path of the body it is used in.
//! #[inline(always)]
//! fn scaled_plus<I: Instructions>(x: f32, factor: f32, y: f32) -> f32 {
//!     I::mul_add(x, factor, y)
//! }
//! ```
//!
//! Inside the body `I` is a type that implements [`Instructions`]. [`Instructions::mul_add`] is one fused
//! instruction where the path has one and `a * b + c` where it has not (`f32::mul_add` would call a library there,
//! at fifty times the cost). Constants can follow: `fn name<I, const WIDTH: usize>(…)`. Things to keep in mind:
//!
//! - Call helpers as `#[inline(always)]` functions generic over `I`. Calling another `dispatch!` function works, but
//!   dispatches again, so keep it out of inner loops.
//! - A sum in one variable is a chain the compiler must not reorder. Keep an array of partial sums (16 or 32 of
//!   them, updated in a loop over `chunks_exact`) and add it up at the end in a fixed order.
//! - Dispatch once per row or block, inside the task of [`Threads::run`](crate::Threads::run), not per element.
//!
//! Paths that have been run: AVX2 with FMA, and portable (on x86-64). AVX-512 and NEON are compiled from the same
//! source but have not been run on such machines yet: untested.

use std::cell::Cell;
use std::sync::OnceLock;

/// A set of instructions the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Path {
    /// x86-64 with AVX-512 (F, VL, BW, DQ, CD). Untested.
    Avx512,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// 64-bit ARM, where NEON is always present. Untested.
    Neon,
    /// Whatever the compiler's target has; no fused multiply-add.
    Portable,
}

impl Path {
    /// The name to show and to record.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Neon => "neon",
            Self::Portable => "portable",
        }
    }

    /// Whether this machine can run the path.
    pub fn is_available(self) -> bool {
        match self {
            Self::Avx512 => has_avx512(),
            Self::Avx2 => has_avx2(),
            Self::Neon => cfg!(target_arch = "aarch64"),
            Self::Portable => true,
        }
    }

    /// The best path of this machine.
    fn detect() -> Self {
        [Self::Avx512, Self::Avx2, Self::Neon]
            .into_iter()
            .find(|path| path.is_available())
            .unwrap_or(Self::Portable)
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512cd")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx512() -> bool {
    false
}

thread_local! {
    /// The path forced on this thread, if any. It travels with the work to the threads of a pool.
    static FORCED: Cell<Option<Path>> = const { Cell::new(None) };
}

/// The path the kernels take: the best of this machine unless [`with_path`] forces another.
#[inline]
pub fn path() -> Path {
    static BEST: OnceLock<Path> = OnceLock::new();
    FORCED.get().unwrap_or_else(|| *BEST.get_or_init(Path::detect))
}

/// What computes here, to show and to record: the path, and the library for products where the path does not tell it.
pub fn instructions() -> String {
    let products = if cfg!(feature = "openblas") { ", products by OpenBLAS" } else { "" };
    format!("{}{products}", path().name())
}

/// Runs `action` with another path forced, for tests and comparisons. It holds for this thread and for the work that
/// `action` hands to a pool, so tests that run beside this one are not disturbed.
///
/// # Panics
/// If this machine cannot run the path.
pub fn with_path<R>(path: Path, action: impl FnOnce() -> R) -> R {
    assert!(path.is_available(), "this machine cannot run the path {}", path.name());
    /// Puts the former choice back, also when `action` panics.
    struct Restore(Option<Path>);
    impl Drop for Restore {
        fn drop(&mut self) {
            FORCED.set(self.0);
        }
    }
    let _restore = Restore(FORCED.replace(Some(path)));
    action()
}

/// What differs between paths in the source of a kernel.
pub trait Instructions: Copy {
    /// The number of `f32` in one vector register.
    const LANES: usize;
    /// `a * b + c`, rounded once where the path has a fused instruction.
    fn mul_add(a: f32, b: f32, c: f32) -> f32;
}

/// Instructions with a fused multiply-add and registers of `LANES` floats.
#[derive(Clone, Copy, Debug)]
pub struct Fused<const LANES: usize>;

impl<const LANES: usize> Instructions for Fused<LANES> {
    const LANES: usize = LANES;

    #[inline(always)]
    fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

/// Instructions every processor has.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Instructions for Plain {
    const LANES: usize = 4;

    #[inline(always)]
    fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }
}

/// Compiles a function for every path and calls the copy for the path in use. See the module's documentation.
///
/// The body is repeated in every copy instead of being inlined from one place, so that closures in it are compiled
/// for the path as well.
macro_rules! dispatch {
    (
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident<$instructions:ident $(, const $constant:ident: $kind:ty)* $(,)?>(
            $($argument:ident: $type:ty),* $(,)?
        ) $(-> $output:ty)? $body:block
    ) => {
        $(#[$attribute])*
        #[inline]
        #[allow(clippy::allow_attributes, reason = "whether a lint fires depends on the body and the target")]
        #[allow(clippy::too_many_arguments, reason = "kernels take shapes and buffers, not structures")]
        $visibility fn $name<$(const $constant: $kind),*>($($argument: $type),*) $(-> $output)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx512cd,avx2,fma")]
            fn avx512<$(const $constant: $kind),*>($($argument: $type),*) $(-> $output)? {
                #[allow(dead_code, reason = "a body without multiply-add has no use for it")]
                type $instructions = $crate::dispatch::Fused<16>;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2<$(const $constant: $kind),*>($($argument: $type),*) $(-> $output)? {
                #[allow(dead_code, reason = "a body without multiply-add has no use for it")]
                type $instructions = $crate::dispatch::Fused<8>;
                $body
            }
            #[cfg(target_arch = "aarch64")]
            fn neon<$(const $constant: $kind),*>($($argument: $type),*) $(-> $output)? {
                #[allow(dead_code, reason = "a body without multiply-add has no use for it")]
                type $instructions = $crate::dispatch::Fused<4>;
                $body
            }
            fn portable<$(const $constant: $kind),*>($($argument: $type),*) $(-> $output)? {
                #[allow(dead_code, reason = "a body without multiply-add has no use for it")]
                type $instructions = $crate::dispatch::Plain;
                $body
            }
            match $crate::dispatch::path() {
                #[cfg(target_arch = "x86_64")]
                #[expect(unsafe_code, reason = "the call needs instructions that were found at run time")]
                // SAFETY: a path is only ever in use after its features were detected on this machine.
                $crate::dispatch::Path::Avx512 => unsafe { avx512::<$($constant),*>($($argument),*) },
                #[cfg(target_arch = "x86_64")]
                #[expect(unsafe_code, reason = "the call needs instructions that were found at run time")]
                // SAFETY: a path is only ever in use after its features were detected on this machine.
                $crate::dispatch::Path::Avx2 => unsafe { avx2::<$($constant),*>($($argument),*) },
                #[cfg(target_arch = "aarch64")]
                $crate::dispatch::Path::Neon => neon::<$($constant),*>($($argument),*),
                _ => portable::<$($constant),*>($($argument),*),
            }
        }
    };
}
pub(crate) use dispatch;

#[cfg(test)]
mod tests {
    use super::*;

    dispatch! {
        /// The rounding error of `a * b`, which only a fused instruction can see.
        fn product_error<I>(a: f32, b: f32) -> f32 {
            I::mul_add(a, b, -(a * b))
        }
    }

    dispatch! {
        fn lanes<I, const TIMES: usize>() -> usize {
            <I as Instructions>::LANES * TIMES
        }
    }

    #[test]
    fn a_forced_path_is_taken_and_put_back() {
        let usual = path();
        with_path(Path::Portable, || {
            assert_eq!(path(), Path::Portable);
            assert_eq!(product_error(1.000_000_1, 1.000_000_1), 0.0);
            assert_eq!(lanes::<3>(), 12);
        });
        assert_eq!(path(), usual);
        assert!(std::panic::catch_unwind(|| with_path(Path::Portable, || panic!("stop"))).is_err());
        assert_eq!(path(), usual);
    }

    #[test]
    fn fused_paths_round_once() {
        for path in [Path::Avx512, Path::Avx2, Path::Neon] {
            if path.is_available() {
                let error = with_path(path, || product_error(1.000_000_1, 1.000_000_1));
                assert!(error != 0.0, "{}", path.name());
            }
        }
    }

    #[test]
    fn a_path_of_another_architecture_is_refused() {
        let foreign = if cfg!(target_arch = "x86_64") { Path::Neon } else { Path::Avx2 };
        assert!(std::panic::catch_unwind(|| with_path(foreign, || ())).is_err());
    }
}
