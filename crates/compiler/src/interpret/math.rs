//! Functions of real numbers that the standard library lacks.

/// Bernoulli numbers B2, B4, ...
const BERNOULLI: [f64; 10] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43867.0 / 798.0,
    -174_611.0 / 330.0,
];
/// From here on the asymptotic series has the precision of an f64, for small orders.
const FAR: f64 = 20.0;
/// Below, the recurrence would take too long.
const LOWEST: f64 = -1e4;

/// The derivative number `order + 1` of the logarithm of the gamma function. NaN for negative orders, at the poles 0, -1, -2, ..., and
/// below -10^4.
pub fn polygamma(order: i64, x: f64) -> f64 {
    if order < 0 || x.is_nan() || x < LOWEST || (x <= 0.0 && x.fract() == 0.0) {
        return f64::NAN;
    }
    if order == 0 { digamma(x) } else { higher(order, x) }
}

fn digamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < FAR {
        shift -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let mut power = 1.0;
    let mut tail = 0.0;
    for (k, bernoulli) in (1..).zip(BERNOULLI) {
        power *= square;
        tail += bernoulli / (2 * k) as f64 * power;
    }
    shift + x.ln() - 0.5 / x - tail
}

/// (-1)^(n+1) n! zeta(n+1, x), by Euler and Maclaurin.
fn higher(order: i64, mut x: f64) -> f64 {
    let s = order as f64 + 1.0;
    let mut sum = 0.0;
    while x < FAR + s {
        // Integer powers keep the sign of a negative x.
        sum += x.powi(-(order.min(i64::from(i32::MAX) - 1) as i32) - 1);
        x += 1.0;
    }
    sum += x.powf(1.0 - s) / (s - 1.0) + 0.5 * x.powf(-s);
    // s (s+1) ... (s+2k-2) x^(1-s-2k) / (2k)!
    let mut term = s * x.powf(-s - 1.0) / 2.0;
    for (k, bernoulli) in (1i32..).zip(BERNOULLI) {
        sum += bernoulli * term;
        let two_k = f64::from(2 * k);
        term *= (s + two_k - 1.0) * (s + two_k) / ((two_k + 1.0) * (two_k + 2.0) * x * x);
    }
    let factorial = (1..=order.min(200)).map(|k| k as f64).product::<f64>();
    if order % 2 == 0 { -factorial * sum } else { factorial * sum }
}

/// The hash that `$ranhashdoub` gives, as a number in [0, 1).
pub fn ranhash(seed: i64) -> f64 {
    let mut v = (seed as u64).wrapping_mul(3_935_559_000_370_003_845).wrapping_add(2_691_343_689_449_507_681);
    v ^= v >> 21;
    v ^= v << 37;
    v ^= v >> 4;
    v = v.wrapping_mul(4_768_777_513_237_032_717);
    v ^= v << 20;
    v ^= v >> 41;
    v ^= v << 5;
    5.421_010_862_427_522e-20 * v as f64
}

#[cfg(test)]
mod tests {
    use super::polygamma;

    #[test]
    fn polygamma_has_its_known_values() {
        let euler = 0.577_215_664_901_532_9;
        let pi = std::f64::consts::PI;
        let zeta3 = 1.202_056_903_159_594;
        let cases = [
            (0, 1.0, -euler),
            (0, 0.5, -euler - 2.0 * 2f64.ln()),
            (0, 100.0, 4.600_161_852_738_087),
            (0, -0.5, 2.0 - euler - 2.0 * 2f64.ln()),
            (1, 1.0, pi * pi / 6.0),
            (1, 0.5, pi * pi / 2.0),
            (2, 1.0, -2.0 * zeta3),
            (3, 1.0, pi.powi(4) / 15.0),
            (1, -0.5, pi * pi / 2.0 + 4.0),
        ];
        for (order, x, expected) in cases {
            let found = polygamma(order, x);
            assert!((found - expected).abs() < 1e-12 * expected.abs(), "{order} {x}: {found} {expected}");
        }
        assert!(polygamma(0, 0.0).is_nan() && polygamma(-1, 1.0).is_nan());
    }
}
