// Numbers, failures, memory and tensors of compiled programs. C++17, no dependency.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#if defined(__unix__) && !defined(KS_EMBEDDED)
#include <pthread.h>
#include <sys/mman.h>
#endif
#if defined(KS_THREADS) && defined(__unix__) && !defined(KS_EMBEDDED)
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>
#endif

// Bits of Float and Integer.
#ifndef KS_FLOAT
#define KS_FLOAT 64
#endif
// Significant digits that print writes of a Float.
#ifndef KS_DIGITS
#define KS_DIGITS 6
#endif
// Bytes of the one memory that an embedded program has.
#ifndef KS_ARENA_BYTES
#define KS_ARENA_BYTES (1 << 20)
#endif
// Before a loop whose steps do not touch each other's elements. Clang finds that out when it runs.
#if defined(__GNUC__) && !defined(__clang__)
#define KS_INDEPENDENT _Pragma("GCC ivdep")
#else
#define KS_INDEPENDENT
#endif

// A function that is always written out where it is called.
#if defined(__GNUC__)
#define KS_INLINE __attribute__((always_inline))
#else
#define KS_INLINE
#endif

namespace ks {

#if KS_FLOAT == 32
using real = float;
using integer = std::int32_t;
#else
using real = double;
using integer = std::int64_t;
#endif
using word = std::make_unsigned_t<integer>;

// One of two numbers, without a branch that the machine would have to guess.
inline real choose(bool condition, real then, real otherwise) {
  word a, b;
  std::memcpy(&a, &then, sizeof a);
  std::memcpy(&b, &otherwise, sizeof b);
  const word mask = word(0) - word(condition), chosen = (a & mask) | (b & ~mask);
  std::memcpy(&then, &chosen, sizeof then);
  return then;
}

constexpr real infinity = std::numeric_limits<real>::infinity();
constexpr real not_a_number = std::numeric_limits<real>::quiet_NaN();

// ---- Failures -------------------------------------------------------------------------------------------------------

#if defined(KS_EMBEDDED)
// The program's environment supplies these two: what to do with output, and with a failure.
extern "C" void ks_write(const char* text, std::size_t length);
extern "C" [[noreturn]] void ks_fail(const char* place, const char* what);

inline void write(const char* text, std::size_t length) { ks_write(text, length); }
[[noreturn]] inline void fail(const char* place, const char* what) { ks_fail(place, what); }
#else
inline void write(const char* text, std::size_t length) { std::fwrite(text, 1, length, stdout); }

#if defined(KS_THREADS) && defined(__unix__)
// A thread that does a part of a loop.
struct worker {
  const worker* before;
  std::atomic<bool> is_done;
};
inline thread_local const worker* current_worker = nullptr;

// The first failure of a loop is the one that is told, as without threads.
inline void let_those_before_fail() {
  if (current_worker == nullptr) return;
  for (const worker* other = current_worker->before; other != nullptr; other = other->before) {
    while (!other->is_done) sched_yield();
  }
}
#else
inline void let_those_before_fail() {}
#endif

// Says what went wrong, after everything that was printed before, and ends with status 1.
[[noreturn]] inline void fail(const char* place, const char* what) {
  let_those_before_fail();
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n  --> %s\n", what, place);
  std::_Exit(1);
}
#endif

[[noreturn]] inline void fail_index(const char* place, integer index, integer size) {
  char what[96];
  std::snprintf(what, sizeof what, "index %lld is out of range: the size is %lld", static_cast<long long>(index),
                static_cast<long long>(size));
  fail(place, what);
}

inline void check_size(integer size, const char* place) {
  if (size < 0) fail(place, "a size is negative");
}

inline void check_same(integer a, integer b, const char* place) {
  if (a != b) fail(place, "the sizes differ");
}

inline void check(bool holds, const char* place) {
  if (!holds) fail(place, "assertion failed");
}

// ---- Integers wrap around, and divide towards zero ------------------------------------------------------------------

inline integer add(integer a, integer b) { return static_cast<integer>(static_cast<word>(a) + static_cast<word>(b)); }
inline integer sub(integer a, integer b) { return static_cast<integer>(static_cast<word>(a) - static_cast<word>(b)); }
inline integer mul(integer a, integer b) { return static_cast<integer>(static_cast<word>(a) * static_cast<word>(b)); }
inline integer neg(integer a) { return sub(0, a); }

inline integer quotient(integer a, integer b, const char* place) {
  if (b == 0) fail(place, "division of an Integer by zero");
  return b == -1 ? neg(a) : a / b;
}

// Multiplies a count; false if the product does not fit.
inline bool times(std::size_t& count, std::size_t factor) {
#if defined(__GNUC__)
  return !__builtin_mul_overflow(count, factor, &count);
#else
  if (factor != 0 && count > std::numeric_limits<std::size_t>::max() / factor) return false;
  count *= factor;
  return true;
#endif
}

// The nearest Integer that there is; 0 for NaN.
inline integer saturate(double x) {
  constexpr auto low = std::numeric_limits<integer>::min(), high = std::numeric_limits<integer>::max();
  if (x != x) return 0;
  if (x <= static_cast<double>(low)) return low;
  return x >= static_cast<double>(high) ? high : static_cast<integer>(x);
}

// x to a whole number, by repeated squares.
inline real power(real x, integer n) {
  if (n > std::numeric_limits<std::int32_t>::max() || n < std::numeric_limits<std::int32_t>::min()) {
    return std::pow(x, static_cast<real>(n));
  }
  double square = x, result = 1;
  for (integer rest = n; rest != 0; rest /= 2) {
    if (rest % 2 != 0) result *= square;
    square *= square;
  }
  return static_cast<real>(n < 0 ? 1 / result : result);
}

// ---- Values ---------------------------------------------------------------------------------------------------------

struct unit {};
inline unit nil;

struct text {
  const char* data;
  std::size_t length;
};

// A tensor of rank R: its elements lie one after another, the last index fastest. Values never change once they are
// complete, so copies share their elements; accumulators, which change, own theirs.
template <class T, int R>
struct tensor {
  using element = T;
  static constexpr int rank = R;
  T* data;
  integer size[R];

  integer count() const {
    integer all = 1;
    for (int k = 0; k < R; ++k) all *= size[k];
    return all;
  }

  // The element at an index that is in range.
  template <class... I>
  T& operator()(I... index) const {
    return data[position(index...)];
  }

  // The element at an index, which is checked.
  template <class... I>
  T& at(const char* place, I... index) const {
    const integer all[] = {index...};
    for (int k = 0; k < R; ++k) {
      if (all[k] < 0 || all[k] >= size[k]) fail_index(place, all[k], size[k]);
    }
    return data[position(index...)];
  }

  template <class... I>
  bool has(I... index) const {
    const integer all[] = {index...};
    for (int k = 0; k < R; ++k) {
      if (all[k] < 0 || all[k] >= size[k]) return false;
    }
    return true;
  }

  template <class... I>
  integer position(I... index) const {
    const integer all[] = {index...};
    integer place = 0;
    for (int k = 0; k < R; ++k) place = place * size[k] + all[k];
    return place;
  }
};

// Tuples are structs that the compiler writes, with a static `each(f, x...)` that calls f with each field of all x. Sum types are
// structs with a `tag` and a static `map(memory, f, x...)` that makes the same constructor of what f gives.
template <class T>
struct is_tensor : std::false_type {};
template <class T, int R>
struct is_tensor<tensor<T, R>> : std::true_type {};
template <class S, class T>
struct linear;
template <class T>
struct is_linear : std::false_type {};
template <class S, class T>
struct is_linear<linear<S, T>> : std::true_type {};
template <class T, class = void>
struct is_tuple : std::false_type {};
template <class T>
struct is_tuple<T, std::void_t<decltype(T::is_tuple)>> : std::true_type {};

template <class T>
struct type {
  using is = T;
};

// Whether a value holds addresses.
template <class T, class = void>
struct points : std::false_type {};
template <class T, int R>
struct points<tensor<T, R>> : std::true_type {};
template <class S, class T>
struct points<linear<S, T>> : std::true_type {};
template <class T>
struct points<T, std::void_t<decltype(T::points)>> : std::bool_constant<T::points> {};

// ---- Memory ---------------------------------------------------------------------------------------------------------

// A stack of bytes. What was allocated since a mark is released together.
class arena {
 public:
  constexpr arena(char* begin, std::size_t bytes) : begin_(begin), top_(begin), end_(begin + bytes) {}

  char* mark() const { return top_; }
  void release(char* mark) { top_ = mark; }
  void clear() { top_ = begin_; }
  // One of several equal parts of what is left.
  arena slice(integer number, integer count) const {
    const std::size_t bytes = static_cast<std::size_t>(end_ - top_) / static_cast<std::size_t>(count) / align * align;
    arena part(top_ + bytes * static_cast<std::size_t>(number), bytes);
    part.open_calls = open_calls;
    return part;
  }
  bool holds(const void* data, const char* from) const {
    return static_cast<const char*>(data) >= from && static_cast<const char*>(data) < top_;
  }

  template <class T>
  T* take(std::size_t count) {
    const auto space = static_cast<std::size_t>(end_ - top_);
    if (count > (space - space % align) / sizeof(T)) fail("memory", "the program needs more memory than there is");
    char* const data = top_;
    top_ += (count * sizeof(T) + align - 1) / align * align;
    return reinterpret_cast<T*>(data);
  }

  template <class T>
  T* put(const T& value) {
    T* const data = take<T>(1);
    *data = value;
    return data;
  }

  // A tensor whose elements are still to be set.
  template <class T, class... N>
  tensor<T, sizeof...(N)> make(const char* place, N... size) {
    tensor<T, sizeof...(N)> made{nullptr, {size...}};
    std::size_t count = 1;
    bool fits = true, is_empty = false;
    for (const integer n : made.size) {
      if (n < 0) fail(place, "a size is negative");
      is_empty = is_empty || n == 0;
      fits = times(count, static_cast<std::size_t>(n)) && fits;
    }
    if (is_empty) count = 0;
    if (!fits && !is_empty) fail(place, "a tensor is too large");
    made.data = take<T>(count);
    return made;
  }

  // A tensor all of whose elements are the same.
  template <class T, class... N>
  tensor<T, sizeof...(N)> fill(const char* place, const T& value, N... size) {
    const auto made = make<T>(place, size...);
    const integer count = made.count();
    for (integer i = 0; i < count; ++i) made.data[i] = value;
    return made;
  }

#if !defined(KS_EMBEDDED)
  // Ends the life of what `reserve` made.
  void give_back() {
#if defined(__unix__)
    munmap(begin_, static_cast<std::size_t>(end_ - begin_));
#else
    std::free(begin_);
#endif
  }
#endif

  // How many calls of functions that call themselves are open.
  integer open_calls = 0;

 private:
  static constexpr std::size_t align = 16;
  char* begin_;
  char* top_;
  char* end_;
};

// One open call, for as long as it lasts.
class open_call {
 public:
  open_call(arena& memory, const char* place) : memory_(memory) {
    if (++memory_.open_calls > 100000) fail(place, "more than 100000 calls are open");
  }
  ~open_call() { --memory_.open_calls; }
  open_call(const open_call&) = delete;
  open_call& operator=(const open_call&) = delete;

 private:
  arena& memory_;
};

// A copy of a value; parts that lie below `from` are shared.
template <class T>
T copy(arena& memory, const T& x, const char* from) {
  if constexpr (!points<T>::value || is_linear<T>::value) {
    return x;
  } else if constexpr (is_tensor<T>::value) {
    if (from != nullptr && !memory.holds(x.data, from)) return x;
    T made = x;
    const integer count = x.count();
    made.data = memory.take<typename T::element>(static_cast<std::size_t>(count));
    for (integer i = 0; i < count; ++i) {
      if constexpr (points<typename T::element>::value) {
        made.data[i] = copy(memory, x.data[i], from);
      } else {
        made.data[i] = x.data[i];
      }
    }
    return made;
  } else if constexpr (is_tuple<T>::value) {
    T made;
    T::each([&](auto& to, const auto& part) { to = copy(memory, part, from); }, made, x);
    return made;
  } else {
    if constexpr (T::boxed) {
      if (from != nullptr && !memory.holds(x.held, from)) return x;
    }
    return T::map(memory, [&](auto, const auto& held) { return copy(memory, held, from); }, x);
  }
}

// A stretch of memory that has moved down by so many bytes.
struct shift {
  const char* from;
  const char* end;
  std::ptrdiff_t bytes;

  // The new place of what lay there; nothing else moves.
  template <class T>
  bool apply(T*& data) const {
    char* const old = reinterpret_cast<char*>(data);
    if (old < from || old >= end) return false;
    data = reinterpret_cast<T*>(old - bytes);
    return true;
  }
};

template <class T>
void move(T& x, const shift& by) {
  if constexpr (is_tensor<T>::value) {
    if (!by.apply(x.data)) return;
    if constexpr (points<typename T::element>::value) {
      const integer count = x.count();
      for (integer i = 0; i < count; ++i) move(x.data[i], by);
    }
  } else if constexpr (is_tuple<T>::value) {
    T::each([&](auto& part) { move(part, by); }, x);
  } else if constexpr (points<T>::value && !is_linear<T>::value) {
    if constexpr (T::boxed) {
      char* held = static_cast<char*>(x.held);
      if (!by.apply(held)) return;
      x.held = held;
    }
    T::visit([&](auto& held) { move(held, by); }, x);
  }
}

// Releases what was allocated since the mark, except for a value.
template <class T>
T keep(arena& memory, char* mark, const T& x) {
  if constexpr (!points<T>::value) {
    memory.release(mark);
    return x;
  } else {
    if constexpr (is_tensor<T>::value) {
      if constexpr (!points<typename T::element>::value) {
        if (reinterpret_cast<char*>(x.data) == mark) {
          memory.release(mark);
          memory.template take<typename T::element>(static_cast<std::size_t>(x.count()));
          return x;
        }
      }
    }
    char* const from = memory.mark();
    T kept = copy(memory, x, mark);
    char* const end = memory.mark();
    if (from != mark) {
      std::memmove(mark, from, static_cast<std::size_t>(end - from));
      move(kept, shift{from, end, from - mark});
    }
    memory.release(mark + (end - from));
    return kept;
  }
}

// Releases what the steps of a loop leave behind, whenever that is worth the copy of what is still needed.
class sweeper {
 public:
  explicit sweeper(const arena& memory) : mark_(memory.mark()) {}

  template <class T>
  T sweep(arena& memory, const T& x) {
    if (memory.mark() - mark_ <= limit_) return x;
    const T kept = keep(memory, mark_, x);
    limit_ = 2 * (memory.mark() - mark_) + slack;
    return kept;
  }

 private:
  static constexpr std::ptrdiff_t slack = KS_ARENA_BYTES / 16;
  char* mark_;
  std::ptrdiff_t limit_ = slack;
};

}  // namespace ks
