// Appended to what `labrys compile --emit c++` writes, before the driver of a benchmark.
#include <chrono>
#include <sys/resource.h>
#include <tuple>
#include <vector>

namespace {

using Vector = ks::tensor<ks::real, 1>;
using Matrix = ks::tensor<ks::real, 2>;

// The types of what a function takes after the memory.
template <class F>
struct Taken;
template <class R, class... A>
struct Taken<R (*)(ks::arena&, A...)> {
  template <int K>
  using at = std::decay_t<std::tuple_element_t<K, std::tuple<A...>>>;
};

double milliseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// The fastest of several runs of each, in milliseconds of CPU time. They take turns, so that a busy machine is unfair to none.
template <class... F>
std::vector<double> fastest(int repetitions, ks::arena& memory, F... runs) {
  std::vector<double> best(sizeof...(runs), 1e300);
  for (int i = 0; i < repetitions; ++i) {
    std::size_t number = 0;
    const auto timed = [&](auto& run) {
      char* const mark = memory.mark();
      const double start = milliseconds();
      run();
      best[number] = std::min(best[number], milliseconds() - start);
      memory.release(mark);
      ++number;
    };
    (timed(runs), ...);
  }
  return best;
}

// Numbers in [-scale, scale), always the same.
struct Filler {
  ks::arena& memory;
  ks::integer seed = 0;

  template <class... N>
  auto operator()(double scale, N... size) {
    const auto made = memory.make<ks::real>("driver", ks::integer(size)...);
    seed += 1000000;
    for (ks::integer i = 0; i < made.count(); ++i) made.data[i] = scale * (2 * ks::hash(seed + i) - 1);
    return made;
  }
};

void report(const std::vector<double>& times, double value, double by_hand, double length) {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::printf("{\"value\": %.12g, \"by_hand\": %.12g, \"length\": %.12g, \"primal_ms\": %.4g, \"gradient_ms\": %.4g, \"hand_ms\": %.4g, \"peak_mb\": %ld}\n",
              value, by_hand, length, times[0], times[1], times.back(), usage.ru_maxrss / 1024);
}

}  // namespace
