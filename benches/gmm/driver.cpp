// Appended to what `labrys compile --emit c++ examples/gmm.ks` writes: times the objective, its gradient, and the objective as a person
// writes it in C++. Arguments: points, dimension, Gaussians, repetitions.
#include <chrono>
#include <sys/resource.h>
#include <vector>

namespace {

using Matrix = ks::tensor<ks::real, 2>;
using Vector = ks::tensor<ks::real, 1>;

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

// The fastest of several runs, in milliseconds of CPU time.
template <class F>
double fastest(int repetitions, F run) {
  double best = 1e300;
  for (int i = 0; i < repetitions; ++i) {
    timespec start, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    run();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    const double ms = static_cast<double>(end.tv_sec - start.tv_sec) * 1e3 + static_cast<double>(end.tv_nsec - start.tv_nsec) / 1e6;
    best = ms < best ? ms : best;
  }
  return best;
}

}  // namespace

int main(int, char** arguments) {
  const ks::integer points = std::atoi(arguments[1]), d = std::atoi(arguments[2]), k = std::atoi(arguments[3]);
  const int repetitions = std::atoi(arguments[4]);
  ks::run([=](ks::arena& memory) {
    const auto filled = [&](ks::integer seed, double scale, auto... size) {
      const auto made = memory.make<ks::real>("driver", size...);
      for (ks::integer i = 0; i < made.count(); ++i) made.data[i] = scale * (2 * ks::hash(seed + i) - 1);
      return made;
    };
    const Problem p{filled(1000000, 1.0, points, d), filled(2000000, 1.0, k), filled(3000000, 1.0, k, d),
                    filled(4000000, 0.5, k, d), filled(5000000, 0.5, k, d * (d - 1) / 2)};
    double value = 0, hand = 0, length = 0;
    const double ours = fastest(repetitions, [&] {
      char* const mark = memory.mark();
      value = program::gmm(memory, p.x, p.alphas, p.means, p.qs, p.ls, 1.0, 0);
      memory.release(mark);
    });
    const double by_person = fastest(repetitions, [&] { hand = by_hand(p, 1.0, 0); });
    const double gradient = fastest(repetitions, [&] {
      char* const mark = memory.mark();
      const auto made = program::rev_gmm(memory, {p.x, p.alphas, p.means, p.qs, p.ls, 1.0, 0}, 1.0);
      length = ks::dot(made.f1, made.f1, "driver") + ks::dot(made.f2, made.f2, "driver") +
               ks::dot(made.f3, made.f3, "driver") + ks::dot(made.f4, made.f4, "driver");
      memory.release(mark);
    });
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    std::printf("{\"objective\": %.12g, \"by_hand\": %.12g, \"gradient_norm\": %.12g, \"primal_ms\": %.4g, \"hand_ms\": %.4g, "
                "\"gradient_ms\": %.4g, \"peak_mb\": %ld}\n",
                value, hand, std::sqrt(length), ours, by_person, gradient, usage.ru_maxrss / 1024);
  });
}
