//! The inner loops of message passing: sums of neighbours' rows, products with small dense matrices, sums over all nodes.
//!
//! Every value is one sum in a fixed order, whatever the tiles, so that no split of the rows changes a bit. Widths are
//! multiples of [`LANES`]. Each loop is compiled for three instruction sets and chosen at run time; with and without
//! fused multiply-add the last bits differ.

mod dense;
mod fixed;
mod neighbours;

pub(crate) use dense::{add_product, add_transposed_product, dot};
pub(crate) use fixed::{add_fixed, fix, unfix};
pub(crate) use neighbours::{Neighbours, sum_neighbours};

/// Values in one vector of the inner loops.
pub const LANES: usize = 16;

/// A vector's worth of values.
type Vector = [f32; LANES];

fn vectors(values: &[f32]) -> &[Vector] {
    values.as_chunks().0
}

fn vectors_mut(values: &mut [f32]) -> &mut [Vector] {
    values.as_chunks_mut().0
}

/// Instruction sets that the loops are compiled for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Simd {
    /// Whatever the target has.
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The best one here.
fn simd() -> Simd {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("fma") {
            return Simd::Avx512;
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Simd::Avx2;
        }
    }
    Simd::Portable
}

/// Compiles a loop for each instruction set, with a tile height and whether to fuse products with sums as parameters.
///
/// Loops are plain `while`s over indices: iterators pass pairs around, and LLVM does not inline such functions into one that
/// is compiled for another instruction set, which makes the loops 4 to 10 times as slow.
macro_rules! for_each_simd {
    ($name:ident, $body:ident, ($($arg:ident: $type:ty),*)) => {
        pub(crate) fn $name($($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $type),*) {
                $body::<4, true>($($arg),*);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx2,fma")]
            fn avx512($($arg: $type),*) {
                $body::<8, true>($($arg),*);
            }
            match $crate::learned::kernels::simd() {
                $crate::learned::kernels::Simd::Portable => $body::<4, false>($($arg),*),
                // SAFETY: `simd` has asked the processor for the features that the function is compiled for. Without
                // them the products take 4 times as long (docs/combopt.md).
                #[cfg(target_arch = "x86_64")]
                #[allow(unsafe_code)]
                $crate::learned::kernels::Simd::Avx2 => unsafe { avx2($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                #[allow(unsafe_code)]
                $crate::learned::kernels::Simd::Avx512 => unsafe { avx512($($arg),*) },
            }
        }
    };
}
use for_each_simd;
