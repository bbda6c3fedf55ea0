// Equality, zeros, sums, multiples and inner products of values, by their parts.
namespace ks {

template <class T, class U, int R>
void same_size(const tensor<T, R>& a, const tensor<U, R>& b, const char* place) {
  for (int k = 0; k < R; ++k) {
    if (a.size[k] != b.size[k]) fail(place, "the sizes differ");
  }
}

template <class T, class U>
void same_constructor(const T& a, const U& b, const char* place) {
  if (a.tag != b.tag) fail(place, "the values differ in shape");
}

// A tensor of the size of another, whose elements are still to be set.
template <class U, class T, int R>
tensor<U, R> like(arena& memory, const tensor<T, R>& x) {
  tensor<U, R> made;
  made.data = memory.take<U>(static_cast<std::size_t>(x.count()));
  for (int k = 0; k < R; ++k) made.size[k] = x.size[k];
  return made;
}

template <class T>
bool equal(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, unit>) {
    return true;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return a == b;
  } else if constexpr (std::is_same_v<T, text>) {
    return a.length == b.length && std::memcmp(a.data, b.data, a.length) == 0;
  } else if constexpr (is_linear<T>::value) {
    return false;
  } else if constexpr (is_tensor<T>::value) {
    for (int k = 0; k < T::rank; ++k) {
      if (a.size[k] != b.size[k]) return false;
    }
    for (integer i = 0; i < a.count(); ++i) {
      if (!equal(a.data[i], b.data[i])) return false;
    }
    return true;
  } else {
    bool all = true;
    const auto part = [&](const auto& x, const auto& y) { all = all && equal(x, y); };
    if constexpr (is_tuple<T>::value) {
      T::each(part, a, b);
    } else if (a.tag == b.tag) {
      T::visit(part, a, b);
    } else {
      return false;
    }
    return all;
  }
}

// The zero of type U, the type of x or its tangent type, that has the shape of x.
template <class U, class T>
U zero(arena& memory, const T& x) {
  if constexpr (std::is_same_v<U, unit>) {
    return {};
  } else if constexpr (std::is_arithmetic_v<U>) {
    return U(0);
  } else if constexpr (std::is_same_v<U, text>) {
    return {"", 0};
  } else if constexpr (is_linear<U>::value) {
    return U::scaled(memory, 0, x);
  } else if constexpr (is_tensor<U>::value) {
    const auto made = like<typename U::element>(memory, x);
    const integer count = x.count();
    for (integer i = 0; i < count; ++i) made.data[i] = zero<typename U::element>(memory, x.data[i]);
    return made;
  } else if constexpr (is_tuple<U>::value) {
    U made;
    U::each([&](auto& to, const auto& part) { to = zero<std::decay_t<decltype(to)>>(memory, part); }, made, x);
    return made;
  } else {
    return U::map(memory, [&](auto to, const auto& held) { return zero<typename decltype(to)::is>(memory, held); }, x);
  }
}

// The zero of a type all of whose values have one shape.
template <class U>
U trivial_zero() {
  if constexpr (std::is_same_v<U, unit>) {
    return {};
  } else if constexpr (std::is_arithmetic_v<U>) {
    return U(0);
  } else if constexpr (std::is_same_v<U, text>) {
    return {"", 0};
  } else {
    U made;
    U::each([&](auto& to) { to = trivial_zero<std::decay_t<decltype(to)>>(); }, made);
    return made;
  }
}

// The zero of type U whose shape a skeleton gives: the value with () for each scalar.
template <class U, class S>
U zero_of_skeleton(arena& memory, const S& skeleton) {
  if constexpr (is_tensor<U>::value) {
    const auto made = like<typename U::element>(memory, skeleton);
    for (integer i = 0; i < skeleton.count(); ++i) {
      made.data[i] = zero_of_skeleton<typename U::element>(memory, skeleton.data[i]);
    }
    return made;
  } else if constexpr (is_tuple<U>::value) {
    U made;
    const auto part = [&](auto& to, const auto& of) { to = zero_of_skeleton<std::decay_t<decltype(to)>>(memory, of); };
    U::each(part, made, skeleton);
    return made;
  } else if constexpr (std::is_same_v<U, S>) {
    return zero<U>(memory, skeleton);
  } else {
    return trivial_zero<U>();
  }
}

// What every sum starts from: it leaves what is added to it as it is, negative zeros too.
template <class T>
T nothing() {
  if constexpr (std::is_floating_point_v<T>) {
    return T(-0.0);
  } else if constexpr (is_tuple<T>::value) {
    T made;
    T::each([&](auto& to) { to = nothing<std::decay_t<decltype(to)>>(); }, made);
    return made;
  } else {
    return T{};
  }
}

// What the sum of so many values starts from.
template <class T>
T start(bool is_empty) {
  return is_empty ? trivial_zero<T>() : nothing<T>();
}

// a += b, for a value and one of its type or its tangent type.
template <class T, class U>
void add_to(T& a, const U& b, const char* place) {
  if constexpr (std::is_same_v<U, unit>) {
    // What is not differentiable does not move.
  } else if constexpr (std::is_floating_point_v<T>) {
    a += b;
  } else if constexpr (std::is_arithmetic_v<T>) {
    a = add(a, b);
  } else if constexpr (is_tensor<T>::value) {
    same_size(a, b, place);
    const integer count = a.count();
    for (integer i = 0; i < count; ++i) add_to(a.data[i], b.data[i], place);
  } else if constexpr (is_tuple<T>::value) {
    T::each([&](auto& x, const auto& y) { add_to(x, y, place); }, a, b);
  } else {
    same_constructor(a, b, place);
    T::visit([&](auto& x, const auto& y) { add_to(x, y, place); }, a, b);
  }
}

template <class T, class U>
T sum(arena& memory, const T& a, const U& b, const char* place) {
  if constexpr (std::is_same_v<U, unit> || std::is_same_v<T, bool> || std::is_same_v<T, text>) {
    return a;
  } else if constexpr (std::is_floating_point_v<T>) {
    return a + b;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return add(a, b);
  } else if constexpr (is_linear<T>::value) {
    return T::sum(memory, a, b);
  } else if constexpr (is_tensor<T>::value) {
    same_size(a, b, place);
    const auto made = like<typename T::element>(memory, a);
    const integer count = a.count();
    for (integer i = 0; i < count; ++i) made.data[i] = sum(memory, a.data[i], b.data[i], place);
    return made;
  } else if constexpr (is_tuple<T>::value) {
    T made;
    T::each([&](auto& to, const auto& x, const auto& y) { to = sum(memory, x, y, place); }, made, a, b);
    return made;
  } else {
    same_constructor(a, b, place);
    return T::map(memory, [&](auto, const auto& x, const auto& y) { return sum(memory, x, y, place); }, a, b);
  }
}

// A value of the same shape, with `f` of each Float and `g` of each Integer, and each linear map times a factor.
template <class T, class F, class G>
T map_numbers(arena& memory, const T& x, F f, G g, real factor) {
  if constexpr (is_linear<T>::value) {
    return T::scaled(memory, factor, x);
  } else if constexpr (std::is_floating_point_v<T>) {
    return f(x);
  } else if constexpr (std::is_same_v<T, integer>) {
    return g(x);
  } else if constexpr (is_tensor<T>::value) {
    const auto made = like<typename T::element>(memory, x);
    const integer count = x.count();
    for (integer i = 0; i < count; ++i) made.data[i] = map_numbers(memory, x.data[i], f, g, factor);
    return made;
  } else if constexpr (is_tuple<T>::value) {
    T made;
    T::each([&](auto& to, const auto& part) { to = map_numbers(memory, part, f, g, factor); }, made, x);
    return made;
  } else if constexpr (std::is_class_v<T> && !std::is_same_v<T, unit> && !std::is_same_v<T, text>) {
    return T::map(memory, [&](auto, const auto& held) { return map_numbers(memory, held, f, g, factor); }, x);
  } else {
    return x;
  }
}

template <class T>
T negative(arena& memory, const T& x) {
  return map_numbers(memory, x, [](real r) { return -r; }, [](integer i) { return neg(i); }, -1);
}

template <class T>
T scaled(arena& memory, real factor, const T& x) {
  const auto integers = [=](integer i) { return saturate(static_cast<double>(factor) * static_cast<double>(i)); };
  return map_numbers(memory, x, [=](real r) { return factor * r; }, integers, factor);
}

// The sum of the products of the Floats, from the first to the last.
template <class T, class U>
real dot(const T& a, const U& b, const char* place) {
  if constexpr (std::is_floating_point_v<T> && std::is_floating_point_v<U>) {
    return a * b;
  } else if constexpr (is_tensor<T>::value) {
    same_size(a, b, place);
    real total = 0;
    const integer count = a.count();
    for (integer i = 0; i < count; ++i) total += dot(a.data[i], b.data[i], place);
    return total;
  } else if constexpr (is_tuple<T>::value) {
    real total = 0;
    T::each([&](const auto& x, const auto& y) { total += dot(x, y, place); }, a, b);
    return total;
  } else if constexpr (std::is_class_v<T> && !std::is_same_v<T, unit> && !std::is_same_v<T, text> && !is_linear<T>::value) {
    same_constructor(a, b, place);
    real total = 0;
    T::visit([&](const auto& x, const auto& y) { total = dot(x, y, place); }, a, b);
    return total;
  } else {
    return 0;
  }
}

// The sum of the elements, from the first to the last.
template <class T, int R>
T total(arena& memory, const tensor<T, R>& x, const char* place) {
  const integer count = x.count();
  if (count == 0) {
    if constexpr (points<T>::value) {
      fail(place, "the sum of no tensors has no shape");
    } else {
      return trivial_zero<T>();
    }
  }
  T all = x.data[0];
  for (integer i = 1; i < count; ++i) all = sum(memory, all, x.data[i], place);
  return all;
}

// The value as a tangent, of type U: without what has none.
template <class U, class T>
U tangent(arena& memory, const T& x) {
  if constexpr (std::is_same_v<U, unit>) {
    return {};
  } else if constexpr (std::is_same_v<U, T>) {
    return x;
  } else if constexpr (is_tensor<U>::value) {
    const auto made = like<typename U::element>(memory, x);
    for (integer i = 0; i < x.count(); ++i) made.data[i] = tangent<typename U::element>(memory, x.data[i]);
    return made;
  } else if constexpr (is_tuple<U>::value) {
    U made;
    U::each([&](auto& to, const auto& part) { to = tangent<std::decay_t<decltype(to)>>(memory, part); }, made, x);
    return made;
  } else {
    return U::map(memory, [&](auto to, const auto& held) { return tangent<typename decltype(to)::is>(memory, held); }, x);
  }
}

// () for what has one shape, the size of a tensor of such, else by parts.
template <class S, class T>
S shape(arena& memory, const T& x) {
  if constexpr (std::is_same_v<S, unit>) {
    return {};
  } else if constexpr (std::is_same_v<S, T> && !is_tensor<T>::value && !is_tuple<T>::value) {
    return zero<S>(memory, x);
  } else if constexpr (is_tensor<T>::value && is_tensor<S>::value) {
    const auto made = like<typename S::element>(memory, x);
    for (integer i = 0; i < x.count(); ++i) made.data[i] = shape<typename S::element>(memory, x.data[i]);
    return made;
  } else if constexpr (is_tensor<T>::value && std::is_same_v<S, integer>) {
    return x.size[0];
  } else if constexpr (is_tensor<T>::value) {
    S made;
    int k = 0;
    S::each([&](auto& to) { to = x.size[k++]; }, made);
    return made;
  } else {
    S made;
    S::each([&](auto& to, const auto& part) { to = shape<std::decay_t<decltype(to)>>(memory, part); }, made, x);
    return made;
  }
}

// |dt . (f(s+ds) - f(s)) - rev_f(s, dt) . ds|
template <class P, class D, class F, class R, class S, class DS, class DT>
real check_derivative(arena& memory, F f, R reverse, const S& s, const S& again, const DS& ds, const DT& dt,
                      const char* place) {
  const S moved = sum(memory, s, ds, place);
  const D here = tangent<D>(memory, f(s)), there = tangent<D>(memory, f(moved));
  const auto backward = reverse(P{again, dt});
  const D change = sum(memory, there, negative(memory, here), place);
  return std::fabs(dot(dt, change, place) - dot(backward, ds, place));
}

}  // namespace ks
