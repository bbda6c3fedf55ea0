// The error of examples/lstm.ks and its gradient. Arguments: repetitions, length of the sequence, width of the state.
int main(int, char** arguments) {
  const int repetitions = std::atoi(arguments[1]), steps = std::atoi(arguments[2]), n = std::atoi(arguments[3]);
  ks::run([=](ks::arena& memory) {
    Filler filled{memory};
    const Matrix w = filled(0.5, 4 * n, 1 + n);
    const Vector b = filled(0.5, 4 * n), out = filled(0.5, n), sequence = filled(0.8, steps);
    double value = 0, length = 0;
    const auto primal = [&] { value = program::mean_square(memory, w, b, out, sequence); };
    const auto gradient = [&] {
      const auto made = program::rev_mean_square(memory, {w, b, out, sequence}, 1.0);
      length = ks::dot(made.f0, made.f0, "driver");
    };
    const auto times = fastest(repetitions, memory, primal, gradient);
    if (!(length > 0)) ks::fail("driver", "the gradient is zero");
    report(times, value, value, length);
  });
}
