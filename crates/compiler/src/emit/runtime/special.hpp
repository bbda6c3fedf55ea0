// Functions that the standard library lacks.
namespace ks {

// A hash of an Integer in [0, 1).
inline real hash(integer seed) {
  auto v = static_cast<std::uint64_t>(static_cast<std::int64_t>(seed)) * 3935559000370003845u + 2691343689449507681u;
  v ^= v >> 21;
  v ^= v << 37;
  v ^= v >> 4;
  v *= 4768777513237032717u;
  v ^= v << 20;
  v ^= v >> 41;
  v ^= v << 5;
  return static_cast<real>(5.421010862427522e-20 * static_cast<double>(v));
}

constexpr double bernoulli[] = {1.0 / 6,  -1.0 / 30,      1.0 / 42, -1.0 / 30,       5.0 / 66,
                                -691.0 / 2730, 7.0 / 6, -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};

inline double digamma(double x) {
  double shift = 0;
  for (; x < 20; x += 1) shift -= 1 / x;
  const double square = 1 / (x * x);
  double power = 1, tail = 0;
  int k = 0;
  for (const double b : bernoulli) {
    power *= square;
    tail += b / (2 * ++k) * power;
  }
  return shift + std::log(x) - 0.5 / x - tail;
}

// Derivative order + 1 of the logarithm of the gamma function, by Euler and Maclaurin.
inline real polygamma(integer order, real at) {
  double x = at;
  if (order < 0 || std::isnan(x) || x < -1e4 || (x <= 0 && x == std::trunc(x))) return not_a_number;
  if (order == 0) return static_cast<real>(digamma(x));
  const double s = static_cast<double>(order) + 1;
  double sum = 0;
  for (; x < 20 + s; x += 1) sum += std::pow(x, -s);
  sum += std::pow(x, 1 - s) / (s - 1) + 0.5 * std::pow(x, -s);
  double term = s * std::pow(x, -s - 1) / 2, two_k = 0;
  for (const double b : bernoulli) {
    two_k += 2;
    sum += b * term;
    term *= (s + two_k - 1) * (s + two_k) / ((two_k + 1) * (two_k + 2) * x * x);
  }
  const double factorial = std::tgamma(s);
  return static_cast<real>(order % 2 == 0 ? -factorial * sum : factorial * sum);
}

}  // namespace ks
