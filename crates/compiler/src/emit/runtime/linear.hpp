// Linear maps as values. A map knows how to apply itself to a tangent, forwards and backwards.
namespace ks {

// S is what it takes, T what it gives; both are tangents.
template <class S, class T>
struct linear {
  const void* how;
  T (*apply)(arena&, const void*, const S&);
  S (*apply_back)(arena&, const void*, const T&);

  T forward(arena& memory, const S& ds) const { return apply(memory, how, ds); }
  S backward(arena& memory, const T& dt) const { return apply_back(memory, how, dt); }

  // A map that is made of H, which has `forward` and `backward`.
  template <class H>
  static linear make(arena& memory, const H& how) {
    return {memory.put(how),
            [](arena& inner, const void* of, const S& ds) -> T { return static_cast<const H*>(of)->forward(inner, ds); },
            [](arena& inner, const void* of, const T& dt) -> S { return static_cast<const H*>(of)->backward(inner, dt); }};
  }

  static linear sum(arena& memory, const linear& a, const linear& b);
  static linear scaled(arena& memory, real factor, const linear& map);
};

template <class S, class T>
struct map_zero {
  S s;
  T t;
  T forward(arena&, const S&) const { return t; }
  S backward(arena&, const T&) const { return s; }
};

template <class S>
struct map_one {
  S forward(arena&, const S& ds) const { return ds; }
  S backward(arena&, const S& ds) const { return ds; }
};

template <class S>
struct map_scale {
  real factor;
  S forward(arena& memory, const S& ds) const { return scaled(memory, factor, ds); }
  S backward(arena& memory, const S& ds) const { return scaled(memory, factor, ds); }
};

template <class T>
struct map_scale_r {
  T x;
  T forward(arena& memory, real factor) const { return scaled(memory, factor, x); }
  real backward(arena&, const T& dt) const { return dot(x, dt, "lmScaleR"); }
};

template <class S>
struct map_dot {
  S x;
  real forward(arena&, const S& ds) const { return dot(x, ds, "lmDot"); }
  S backward(arena& memory, real factor) const { return scaled(memory, factor, x); }
};

template <class A, class B, class C>
struct map_compose {
  linear<B, C> outer;
  linear<A, B> inner;
  C forward(arena& memory, const A& ds) const { return outer.forward(memory, inner.forward(memory, ds)); }
  A backward(arena& memory, const C& dt) const { return inner.backward(memory, outer.backward(memory, dt)); }
};

template <class S, class T>
struct map_add {
  linear<S, T> a, b;
  T forward(arena& m, const S& ds) const { return ks::sum(m, a.forward(m, ds), b.forward(m, ds), "lmAdd"); }
  S backward(arena& m, const T& dt) const { return ks::sum(m, a.backward(m, dt), b.backward(m, dt), "lmAdd"); }
};

template <class S, class T>
linear<S, T> linear<S, T>::sum(arena& memory, const linear& a, const linear& b) {
  return make(memory, map_add<S, T>{a, b});
}

template <class S, class T>
linear<S, T> linear<S, T>::scaled(arena& memory, real factor, const linear& map) {
  const auto scale = linear<T, T>::make(memory, map_scale<T>{factor});
  return make(memory, map_compose<S, T, T>{scale, map});
}

// The sum of what comes, from the first on.
template <class T>
struct running_sum {
  bool is_empty = true;
  T value{};
  void add(arena& memory, const T& x) {
    value = is_empty ? x : ks::sum(memory, value, x, "a sum of linear maps");
    is_empty = false;
  }
};

// M is a tuple of maps.
template <class S, class T, class M>
struct map_vcat {
  M maps;
  T forward(arena& memory, const S& ds) const {
    T made;
    M::each([&](auto& to, const auto& map) { to = map.forward(memory, ds); }, made, maps);
    return made;
  }
  S backward(arena& memory, const T& dt) const {
    running_sum<S> total;
    M::each([&](const auto& part, const auto& map) { total.add(memory, map.backward(memory, part)); }, dt, maps);
    return total.value;
  }
};

template <class S, class T, class M>
struct map_hcat {
  M maps;
  T forward(arena& memory, const S& ds) const {
    running_sum<T> total;
    M::each([&](const auto& part, const auto& map) { total.add(memory, map.forward(memory, part)); }, ds, maps);
    return total.value;
  }
  S backward(arena& memory, const T& dt) const {
    S made;
    M::each([&](auto& to, const auto& map) { to = map.backward(memory, dt); }, made, maps);
    return made;
  }
};

// A tensor of maps.
template <class S, class T, int R>
struct map_vcat_v {
  tensor<linear<S, T>, R> maps;
  tensor<T, R> forward(arena& memory, const S& ds) const {
    const auto made = like<T>(memory, maps);
    for (integer i = 0; i < maps.count(); ++i) made.data[i] = maps.data[i].forward(memory, ds);
    return made;
  }
  S backward(arena& memory, const tensor<T, R>& dt) const {
    running_sum<S> total;
    for (integer i = 0; i < maps.count(); ++i) total.add(memory, maps.data[i].backward(memory, dt.data[i]));
    if (total.is_empty) fail("lmVCatV", "the sum of no tensors has no shape");
    return total.value;
  }
};

template <class S, class T, int R>
struct map_hcat_v {
  tensor<linear<S, T>, R> maps;
  T forward(arena& memory, const tensor<S, R>& ds) const {
    running_sum<T> total;
    for (integer i = 0; i < maps.count(); ++i) total.add(memory, maps.data[i].forward(memory, ds.data[i]));
    if (total.is_empty) fail("lmHCatV", "the sum of no tensors has no shape");
    return total.value;
  }
  tensor<S, R> backward(arena& memory, const T& dt) const {
    const auto made = like<S>(memory, maps);
    for (integer i = 0; i < maps.count(); ++i) made.data[i] = maps.data[i].backward(memory, dt);
    return made;
  }
};

// The derivative of a fold: a map from (scope, (state, element)) to state for each element. Z is (scope, (state, elements)).
template <class Z, class P, class A, class X>
struct map_fold {
  decltype(Z::f0) zero;
  tensor<linear<P, A>, 1> steps;
  A forward(arena& memory, const Z& ds) const {
    A state = ds.f1.f0;
    for (integer i = 0; i < steps.size[0]; ++i) {
      state = steps.data[i].forward(memory, P{ds.f0, {state, ds.f1.f1.data[i]}});
    }
    return state;
  }
  Z backward(arena& memory, const A& dt) const {
    Z made{zero, {dt, like<X>(memory, steps)}};
    for (integer i = steps.size[0]; i-- > 0;) {
      const P back = steps.data[i].backward(memory, made.f1.f0);
      made.f0 = sum(memory, made.f0, back.f0, "lmFold");
      made.f1.f0 = back.f1.f0;
      made.f1.f1.data[i] = back.f1.f1;
    }
    return made;
  }
};

}  // namespace ks
