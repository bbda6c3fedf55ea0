//! Exponentials that the compiler turns into vector instructions, and that give the same bits with every C library.

/// Arguments are taken to this range, in which the exponential is a finite and normal number.
const RANGE: (f32, f32) = (-87.0, 88.0);
/// Adding and subtracting this rounds to an integer.
const ROUND: f32 = 12_582_912.0;
/// ln 2, as a short number and the rest, so that its multiples are exact.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
/// Minimax polynomial of (exp(r) - 1 - r) / r^2 on |r| <= ln 2 / 2, highest power first (Cephes, Moshier).
const POLYNOMIAL: [f32; 6] = [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];

/// The exponential, within two units in the last place from 2e-38 to 1e38; beyond, these. NaN stays NaN.
#[inline]
pub(crate) fn exp(x: f32) -> f32 {
    // NaN survives `clamp`.
    let x = x.clamp(RANGE.0, RANGE.1);
    let power = (x * std::f32::consts::LOG2_E + ROUND) - ROUND;
    let rest = x - power * LN_2[0] - power * LN_2[1];
    let polynomial = POLYNOMIAL.iter().skip(1).fold(POLYNOMIAL[0], |sum, c| sum * rest + c);
    let mantissa = polynomial * rest * rest + rest + 1.0;
    // The bits of `power + ROUND` hold the integer at their low end.
    let exponent = (power + ROUND).to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127);
    mantissa * f32::from_bits(exponent << 23)
}

/// `1 / (1 + exp(-x))`.
#[inline]
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// Hyperbolic tangent, within 2e-7.
#[inline]
pub(crate) fn tanh(x: f32) -> f32 {
    2.0 * sigmoid(2.0 * x) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_the_exact_values() {
        for i in -86_000..=87_990 {
            let x = i as f32 * 1e-3;
            let exact = f64::from(x).exp();
            assert!((f64::from(exp(x)) / exact - 1.0).abs() < 2.5e-7, "exp({x}) = {}, not {exact}", exp(x));
        }
        for i in -20_000..=20_000 {
            let x = i as f32 * 1e-3;
            assert!((f64::from(tanh(x)) - f64::from(x).tanh()).abs() < 2e-7, "tanh({x}) = {}", tanh(x));
            let exact = 1.0 / (1.0 + (-f64::from(x)).exp());
            assert!((f64::from(sigmoid(x)) / exact - 1.0).abs() < 5e-7, "sigmoid({x}) = {}", sigmoid(x));
        }
    }

    #[test]
    fn far_values_stay_finite_and_nan_stays() {
        assert_eq!((exp(0.0), tanh(0.0), sigmoid(0.0)), (1.0, 0.0, 0.5));
        for x in [1e30, f32::INFINITY] {
            assert!(exp(x) > 1e38 && exp(x).is_finite() && exp(-x) < 1e-37);
            assert_eq!((tanh(x), tanh(-x), sigmoid(x)), (1.0, -1.0, 1.0));
        }
        assert!(exp(f32::NAN).is_nan() && tanh(f32::NAN).is_nan() && sigmoid(f32::NAN).is_nan());
    }
}
