//! The two inner loops of message passing: sums of neighbours' rows, and products with small dense matrices.
//!
//! Every value is one sum in a fixed order, whatever the tiles, so that no split of the rows changes a bit. Widths are
//! multiples of [`LANES`]. Each loop is compiled for three instruction sets and chosen at run time; with and without
//! fused multiply-add the last bits differ.

mod dense;
mod neighbours;

pub(crate) use dense::{add_product, add_transposed_product, dot};
pub(crate) use neighbours::{Neighbours, sum_neighbours};

/// Values in one vector of the inner loops.
pub const LANES: usize = 16;

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

/// Compiles a loop for each instruction set: `portable!`'s body with `FUSED` and a tile height as parameters.
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
