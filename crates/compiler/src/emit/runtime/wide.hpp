// What a C++ compiler can compute for several numbers at once: sums in lanes, and functions without branches or tables.
namespace ks {

// A sum in lanes, a power of two of them: term i goes to lane i mod `lanes`, each lane starts from -0.0, and the upper half of the lanes is added
// to the lower one until one is left. Terms are computed in the order of their indices; those of a total closure, which neither fails nor does
// anything else, may be computed again: the last round has no branches then.
template <int lanes, bool is_total, class Term>
KS_INLINE inline real sum_in_lanes(integer n, const Term& term) {
  if (n == 0) return 0;
  real sums[lanes];
  for (real& sum : sums) sum = -real(0);
  const integer whole = n - n % lanes;
  for (integer i = 0; i < whole; i += lanes) {
    real terms[lanes];
    for (int k = 0; k < lanes; ++k) terms[k] = term(i + k);
    for (int k = 0; k < lanes; ++k) sums[k] += terms[k];
  }
  if (whole < n) {
    real terms[lanes];
    for (int k = 0; k < lanes; ++k) {
      const integer i = whole + k;
      if constexpr (is_total) {
        const real x = term(i < n ? i : n - 1);
        terms[k] = i < n ? x : -real(0);
      } else {
        terms[k] = i < n ? term(i) : -real(0);
      }
    }
    for (int k = 0; k < lanes; ++k) sums[k] += terms[k];
  }
  for (int half = lanes / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; ++k) sums[k] += sums[k + half];
  }
  return sums[0];
}

#if KS_FLOAT == 64
// Whole numbers below 2^51 added to this are the last bits of the sum.
constexpr double whole_bits = 0x1.8p52;

// The nearest whole number.
KS_INLINE inline double nearest(double x) { return (x + whole_bits) - whole_bits; }

// 2 to a whole number from -1022 to 1023.
KS_INLINE inline double power_of_two(double n) {
  const double biased = n + (whole_bits + 1023);
  std::uint64_t bits;
  std::memcpy(&bits, &biased, sizeof bits);
  bits <<= 52;
  double result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

// x - k log 2, where k has at most 11 bits.
KS_INLINE inline double without_halvings(double x, double k) {
  return (x - k * 0x1.62e42feep-1) - k * 0x1.a39ef35793c76p-33;
}

// exp(r) - 1 for |r| < 0.35: the Taylor series, whose next term is below a tenth of the last bit.
KS_INLINE inline double exp_minus_one(double r) {
  const double r2 = r * r, r4 = r2 * r2;
  const double a = (1.0 / 2 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
  const double b = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
  const double c = (1.0 / 3628800 + r * (1.0 / 39916800)) + r2 * (1.0 / 479001600 + r * (1.0 / 6227020800));
  return r + r2 * (a + r4 * (b + r4 * c));
}

// The exponential function, at most 2 units in the last place off.
KS_INLINE inline double exp(double x) {
  // Beyond these bounds the result is 0 or infinity. NaN is beyond none.
  const double above = x < -746 ? -746 : x;
  const double y = above > 710 ? 710 : above;
  const double k = nearest(y * 0x1.71547652b82fep+0);
  const double scaled = 1 + exp_minus_one(without_halvings(y, k));
  // In two steps, since 2^k may be no normal number.
  const double half = nearest(k * 0.5);
  return scaled * power_of_two(half) * power_of_two(k - half);
}

// The hyperbolic tangent, at most 4 units in the last place off.
KS_INLINE inline double tanh(double x) {
  const double size = std::fabs(x);
  // Where it is 1 for certain. NaN is not.
  const double y = 2 * (size > 22 ? 22 : size);
  const double k = nearest(y * 0x1.71547652b82fep+0);
  const double scale = power_of_two(k);
  const double minus_one = scale * exp_minus_one(without_halvings(y, k)) + (scale - 1);
  return std::copysign(minus_one / (minus_one + 2), x);
}
#else
inline real exp(real x) { return std::exp(x); }
inline real tanh(real x) { return std::tanh(x); }
#endif

}  // namespace ks
