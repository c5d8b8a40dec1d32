//! One source, several instruction sets: which one this machine runs is found once, at run time.
//!
//! A plain `cargo build --release` compiles for the oldest processor of its architecture. The `dispatch!` macro
//! compiles the body of a function once more for every [`Isa`] and calls the right copy, so that a plain build is
//! as fast as one made for this very processor. The body is ordinary Rust and the compiler vectorizes its loops:
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
//! /// instruction set of the body it is used in.
//! #[inline(always)]
//! fn scaled_plus<I: Instructions>(x: f32, factor: f32, y: f32) -> f32 {
//!     I::mul_add(x, factor, y)
//! }
//! ```
//!
//! Inside the body `I` is a type that implements [`Instructions`]. [`Instructions::mul_add`] is one fused
//! instruction where the set has one and `a * b + c` where it has not (`f32::mul_add` would call a library there,
//! at fifty times the cost). Constants can follow: `fn name<I, const WIDTH: usize>(…)`. Things to keep in mind:
//!
//! - Call helpers as `#[inline(always)]` functions generic over `I`. Calling another `dispatch!` function works, but
//!   dispatches again, so keep it out of inner loops.
//! - A sum in one variable is a chain the compiler must not reorder. Keep an array of partial sums (16 or 32 of
//!   them, updated in a loop over `chunks_exact`) and add it up at the end in a fixed order.
//! - Dispatch once per row or block, inside the task of [`Threads::run`](crate::Threads::run), not per element.
//!
//! Nobody has run every instruction set on every processor, so none is trusted: [`selection`](crate::selection)
//! compares it with the plain one before it is first used on a machine.

use std::cell::Cell;

use crate::selection::selection;

/// An instruction set that the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// x86-64 with AVX-512 (F, VL, BW, DQ, CD).
    Avx512,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// 64-bit ARM, where NEON is always present.
    Neon,
    /// Whatever the compiler's target has; no fused multiply-add. The reference for all others.
    Plain,
    /// Computes wrong results on purpose, to test that such an instruction set is rejected.
    #[cfg(test)]
    Broken,
}

impl Isa {
    /// Every instruction set, the one to prefer first.
    pub const ALL: [Isa; 4] = [Isa::Avx512, Isa::Avx2, Isa::Neon, Isa::Plain];

    /// Those that this machine has, the one to prefer first.
    pub fn available() -> impl Iterator<Item = Isa> {
        Isa::ALL.into_iter().filter(|isa| isa.is_available())
    }

    /// The name to show, to record and to choose it by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Neon => "neon",
            Self::Plain => "plain",
            #[cfg(test)]
            Self::Broken => "broken",
        }
    }

    pub fn is_available(self) -> bool {
        match self {
            Self::Avx512 => has_avx512(),
            Self::Avx2 => has_avx2(),
            Self::Neon => cfg!(target_arch = "aarch64"),
            Self::Plain => true,
            #[cfg(test)]
            Self::Broken => true,
        }
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
    /// The instruction set forced on this thread, if any. It travels with the work to the threads of a pool.
    static FORCED: Cell<Option<Isa>> = const { Cell::new(None) };
}

/// The instruction set that the kernels use: the one that [`selection`] found unless [`with_isa`] forces another.
/// Where the selection failed, callers are told by [`selection`]; the kernels then stay on the plain one.
#[inline]
pub fn isa() -> Isa {
    FORCED.get().unwrap_or_else(|| selection().as_ref().map_or(Isa::Plain, |selection| selection.isa))
}

/// What computes here, to show and to record: the instruction set, and the library for products if it is not our own.
pub fn instructions() -> String {
    let products = if cfg!(feature = "openblas") { ", products by OpenBLAS" } else { "" };
    format!("{}{products}", isa().name())
}

/// Runs `action` with another instruction set forced, for tests and comparisons. It holds for this thread and for the work that
/// `action` hands to a pool, so tests that run beside this one are not disturbed.
///
/// # Panics
/// If this machine does not support it.
pub fn with_isa<R>(isa: Isa, action: impl FnOnce() -> R) -> R {
    assert!(isa.is_available(), "this machine does not support {}", isa.name());
    force(isa, action)
}

/// [`with_isa`] for an instruction set that is in use already.
pub(crate) fn force<R>(isa: Isa, action: impl FnOnce() -> R) -> R {
    /// Puts the former choice back, also when `action` panics.
    struct Restore(Option<Isa>);
    impl Drop for Restore {
        fn drop(&mut self) {
            FORCED.set(self.0);
        }
    }
    let _restore = Restore(FORCED.replace(Some(isa)));
    action()
}

/// What differs between instruction sets in the source of a kernel.
pub trait Instructions: Copy {
    /// The number of `f32` in one vector register.
    const LANES: usize;
    /// `a * b + c`, rounded once where the set has a fused instruction.
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

/// Instructions that forget the sign of the addend.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub struct Broken;

#[cfg(test)]
impl Instructions for Broken {
    const LANES: usize = 4;

    #[inline(always)]
    fn mul_add(a: f32, b: f32, c: f32) -> f32 {
        a * b + c.abs()
    }
}

/// Compiles a function for every instruction set and calls the copy for the one in use. See the module's documentation.
///
/// The body is repeated in every copy instead of being inlined from one place, so that closures in it are compiled
/// for it as well.
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
            fn plain<$(const $constant: $kind),*>($($argument: $type),*) $(-> $output)? {
                #[allow(dead_code, reason = "a body without multiply-add has no use for it")]
                type $instructions = $crate::dispatch::Plain;
                $body
            }
            #[cfg(test)]
            fn broken<$(const $constant: $kind),*>($($argument: $type),*) $(-> $output)? {
                #[allow(dead_code, reason = "a body without multiply-add has no use for it")]
                type $instructions = $crate::dispatch::Broken;
                $body
            }
            match $crate::dispatch::isa() {
                #[cfg(test)]
                $crate::dispatch::Isa::Broken => broken::<$($constant),*>($($argument),*),
                #[cfg(target_arch = "x86_64")]
                #[expect(unsafe_code, reason = "the call needs instructions that were found at run time")]
                // SAFETY: an instruction set is only ever in use after its features were detected on this machine.
                $crate::dispatch::Isa::Avx512 => unsafe { avx512::<$($constant),*>($($argument),*) },
                #[cfg(target_arch = "x86_64")]
                #[expect(unsafe_code, reason = "the call needs instructions that were found at run time")]
                // SAFETY: an instruction set is only ever in use after its features were detected on this machine.
                $crate::dispatch::Isa::Avx2 => unsafe { avx2::<$($constant),*>($($argument),*) },
                #[cfg(target_arch = "aarch64")]
                $crate::dispatch::Isa::Neon => neon::<$($constant),*>($($argument),*),
                _ => plain::<$($constant),*>($($argument),*),
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
    fn a_forced_instruction_set_is_used_and_put_back() {
        let usual = isa();
        with_isa(Isa::Plain, || {
            assert_eq!(isa(), Isa::Plain);
            assert_eq!(product_error(1.000_000_1, 1.000_000_1), 0.0);
            assert_eq!(lanes::<3>(), 12);
        });
        assert_eq!(isa(), usual);
        assert!(std::panic::catch_unwind(|| with_isa(Isa::Plain, || panic!("stop"))).is_err());
        assert_eq!(isa(), usual);
    }

    #[test]
    fn fused_instructions_round_once() {
        for isa in Isa::available().filter(|isa| *isa != Isa::Plain) {
            let error = with_isa(isa, || product_error(1.000_000_1, 1.000_000_1));
            assert!(error != 0.0, "{}", isa.name());
        }
    }

    #[test]
    fn an_instruction_set_of_another_architecture_is_refused() {
        let foreign = if cfg!(target_arch = "x86_64") { Isa::Neon } else { Isa::Avx2 };
        assert!(std::panic::catch_unwind(|| with_isa(foreign, || ())).is_err());
    }
}
