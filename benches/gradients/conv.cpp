// The loss of examples/conv.ks and its gradient. Arguments: repetitions, pictures, filters.
int main(int, char** arguments) {
  const int repetitions = std::atoi(arguments[1]), pictures = std::atoi(arguments[2]), n = std::atoi(arguments[3]);
  ks::run([=](ks::arena& memory) {
    using Examples = Taken<decltype(&program::loss)>::at<3>;
    Filler filled{memory};
    const auto filters = memory.make<Matrix>("driver", ks::integer(n));
    for (int i = 0; i < n; ++i) filters.data[i] = filled(0.5, 3, 3);
    const Vector bias = filled(0.5, n);
    const Matrix dense = filled(0.5, 4, n);
    const Examples examples = memory.make<Examples::element>("driver", ks::integer(pictures));
    for (int i = 0; i < pictures; ++i) examples.data[i] = {filled(1.0, 7, 7), ks::integer(i % 4)};
    double value = 0, length = 0;
    const auto primal = [&] { value = program::loss(memory, filters, bias, dense, examples); };
    const auto gradient = [&] {
      const auto made = program::rev_loss(memory, {filters, bias, dense, examples}, 1.0);
      length = ks::dot(made.f2, made.f2, "driver");
    };
    const auto times = fastest(repetitions, memory, primal, gradient);
    if (!(length > 0)) ks::fail("driver", "the gradient is zero");
    report(times, value, value, length);
  });
}
