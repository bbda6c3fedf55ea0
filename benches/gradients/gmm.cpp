// The objective and the gradient of examples/gmm.ks, and the objective as a person writes it in C++. Arguments: repetitions, points,
// dimension, Gaussians.
namespace {

struct Problem {
  Matrix x;
  Vector alphas;
  Matrix means, qs, ls;
};

double logsumexp(const double* v, std::ptrdiff_t n) {
  double greatest = v[0];
  for (std::ptrdiff_t i = 1; i < n; ++i) greatest = v[i] > greatest ? v[i] : greatest;
  double sum = 0;
  for (std::ptrdiff_t i = 0; i < n; ++i) sum += std::exp(v[i] - greatest);
  return greatest + std::log(sum);
}

// The objective of ADBench, by hand.
double by_hand(const Problem& p, double gamma, int m) {
  const std::ptrdiff_t points = p.x.size[0], d = p.x.size[1], k = p.alphas.size[0], below = p.ls.size[1];
  std::vector<double> diagonals(static_cast<std::size_t>(k * d)), sums(static_cast<std::size_t>(k));
  for (std::ptrdiff_t g = 0; g < k; ++g) {
    for (std::ptrdiff_t i = 0; i < d; ++i) {
      diagonals[static_cast<std::size_t>(g * d + i)] = std::exp(p.qs.data[g * d + i]);
      sums[static_cast<std::size_t>(g)] += p.qs.data[g * d + i];
    }
  }
  std::vector<double> centered(static_cast<std::size_t>(d)), terms(static_cast<std::size_t>(k));
  double total = 0;
  for (std::ptrdiff_t n = 0; n < points; ++n) {
    for (std::ptrdiff_t g = 0; g < k; ++g) {
      for (std::ptrdiff_t i = 0; i < d; ++i) {
        centered[static_cast<std::size_t>(i)] = p.x.data[n * d + i] - p.means.data[g * d + i];
      }
      const double* row = p.ls.data + g * below;
      const double* diagonal = diagonals.data() + g * d;
      double distance = 0;
      for (std::ptrdiff_t i = 0; i < d; ++i) {
        double y = 0;
        for (std::ptrdiff_t j = 0; j < i; ++j) y += *row++ * centered[static_cast<std::size_t>(j)];
        y += diagonal[i] * centered[static_cast<std::size_t>(i)];
        distance += y * y;
      }
      terms[static_cast<std::size_t>(g)] = p.alphas.data[g] + sums[static_cast<std::size_t>(g)] - 0.5 * distance;
    }
    total += logsumexp(terms.data(), k);
  }
  double squares = 0, all = 0;
  for (const double q : diagonals) squares += q * q;
  for (std::ptrdiff_t i = 0; i < k * below; ++i) squares += p.ls.data[i] * p.ls.data[i];
  for (const double s : sums) all += s;
  const double n = static_cast<double>(d + m + 1), dim = static_cast<double>(d);
  double c = n * dim * (std::log(gamma) - 0.5 * std::log(2.0)) - 0.28618247146235004 * dim * (dim - 1);
  for (std::ptrdiff_t j = 0; j < d; ++j) c -= std::lgamma(0.5 * n - 0.5 * static_cast<double>(j));
  const double prior = 0.5 * gamma * gamma * squares - m * all - static_cast<double>(k) * c;
  const double likelihood = total - 0.9189385332046727 * static_cast<double>(points * d);
  return likelihood - static_cast<double>(points) * logsumexp(p.alphas.data, k) + prior;
}

}  // namespace

int main(int, char** arguments) {
  const int repetitions = std::atoi(arguments[1]), points = std::atoi(arguments[2]), d = std::atoi(arguments[3]), k = std::atoi(arguments[4]);
  ks::run([=](ks::arena& memory) {
    Filler filled{memory};
    const Matrix x = filled(1.0, points, d);
    const Vector alphas = filled(1.0, k);
    const Matrix means = filled(1.0, k, d), qs = filled(0.5, k, d), ls = filled(0.5, k, d * (d - 1) / 2);
    const Problem p{x, alphas, means, qs, ls};
    double value = 0, hand = 0, length = 0;
    const auto primal = [&] { value = program::gmm(memory, x, alphas, means, qs, ls, 1.0, 0); };
    const auto gradient = [&] {
      const auto made = program::rev_gmm(memory, {x, alphas, means, qs, ls, 1.0, 0}, 1.0);
      length = ks::dot(made.f4, made.f4, "driver");
    };
    const auto person = [&] { hand = by_hand(p, 1.0, 0); };
    const auto times = fastest(repetitions, memory, primal, gradient, person);
    if (!(length > 0)) ks::fail("driver", "the gradient is zero");
    report(times, value, hand, length);
  });
}
