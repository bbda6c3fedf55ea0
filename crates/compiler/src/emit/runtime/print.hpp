// Printing.
namespace ks {

inline void print(const text& x) { write(x.data, x.length); }
inline void print(bool x) { write(x ? "1" : "0", 1); }
inline void print(unit) {}

inline void print(integer x) {
  char digits[24];
  write(digits, static_cast<std::size_t>(std::snprintf(digits, sizeof digits, "%lld", static_cast<long long>(x))));
}

inline void print(real x) {
  char digits[48];
  const int length = std::snprintf(digits, sizeof digits, "%.*g", KS_DIGITS, static_cast<double>(x));
  write(digits, static_cast<std::size_t>(length));
}

template <class S, class T>
void print(const linear<S, T>&) {
  write("<linear map>", 12);
}

template <class T, int R>
void print(const tensor<T, R>& x);

template <class T, std::enable_if_t<std::is_class_v<T>, int> = 0>
void print(const T& x) {
  if constexpr (is_tuple<T>::value) {
    bool first = true;
    const auto part = [&](const auto& field) {
      if (!first) write(",", 1);
      first = false;
      print(field);
    };
    T::each(part, x);
  } else {
    const char* const name = T::name(x.tag);
    write(name, std::strlen(name));
    write("(", 1);
    T::visit([](const auto& held) { print(held); }, x);
    write(")", 1);
  }
}

template <class T, int R>
const T* print_rows(const T* data, const integer* size, int rank) {
  write("[", 1);
  for (integer i = 0; i < size[0]; ++i) {
    if (i > 0) write(", ", 2);
    if (rank > 1) {
      data = print_rows<T, R>(data, size + 1, rank - 1);
    } else {
      print(*data++);
    }
  }
  write("]", 1);
  return data;
}

template <class T, int R>
void print(const tensor<T, R>& x) {
  print_rows<T, R>(x.data, x.size, R);
}

template <class T>
T trace(const T& x) {
  write("Trace[", 6);
  print(x);
  write("]\n", 2);
  return x;
}

}  // namespace ks
