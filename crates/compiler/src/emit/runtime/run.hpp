// Memory and stacks for programs, and for the threads of their loops.
namespace ks {

#if defined(KS_EMBEDDED)
inline arena& static_arena() {
  alignas(16) static char bytes[KS_ARENA_BYTES];
  static arena memory(bytes, sizeof bytes);
  return memory;
}

template <class F>
void run(F program) {
  program(static_arena());
}
#else
// Address space that only costs what is touched.
inline arena reserve() {
#if defined(__unix__)
  for (std::size_t bytes = sizeof(void*) > 4 ? std::size_t(1) << 38 : std::size_t(1) << 30; bytes > 1 << 20; bytes /= 2) {
    void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data != MAP_FAILED) return arena(static_cast<char*>(data), bytes);
  }
#else
  for (std::size_t bytes = std::size_t(1) << 32; bytes > 1 << 20; bytes /= 2) {
    if (void* const data = std::malloc(bytes)) return arena(static_cast<char*>(data), bytes);
  }
#endif
  fail("memory", "there is no memory");
}

#if defined(__unix__)
// Starts a thread with a stack that is large enough for deep recursion; false if there can be none.
inline bool start_thread(pthread_t& thread, void* (*start)(void*), void* given) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
#if defined(__SANITIZE_ADDRESS__)
  // It marks all of the stack.
  const std::size_t stack = std::size_t(256) << 20;
#else
  const std::size_t stack = sizeof(void*) > 4 ? std::size_t(4) << 30 : std::size_t(256) << 20;
#endif
  pthread_attr_setstacksize(&attributes, stack);
  const bool has_started = pthread_create(&thread, &attributes, start, given) == 0;
  pthread_attr_destroy(&attributes);
  return has_started;
}
#endif

// Runs a program with an arena and a stack of its own.
template <class F>
void run(F program) {
#if defined(__unix__)
  const auto start = [](void* given) -> void* {
    arena memory = reserve();
    (*static_cast<F*>(given))(memory);
    memory.give_back();
    return nullptr;
  };
  pthread_t thread;
  if (start_thread(thread, start, &program)) {
    pthread_join(thread, nullptr);
    return;
  }
#endif
  arena memory = reserve();
  program(memory);
}
#endif

// ---- Threads --------------------------------------------------------------------------------------------------------

#if defined(KS_THREADS) && defined(__unix__) && !defined(KS_EMBEDDED)

// A stretch of the numbers from `from` to `to`, and the thread that runs it.
template <class F>
struct stretch {
  const F* run;
  arena memory;
  integer from, to;
  worker self;

  static void* start(void* given) {
    auto& own = *static_cast<stretch*>(given);
    current_worker = &own.self;
    (*own.run)(own.memory, own.from, own.to);
    own.self.is_done = true;
    current_worker = nullptr;
    return nullptr;
  }
};

inline integer threads() {
  const integer wanted = KS_THREADS > 0 ? integer(KS_THREADS) : static_cast<integer>(sysconf(_SC_NPROCESSORS_ONLN));
  return std::min<integer>(std::max<integer>(wanted, 1), 256);
}

// Calls run(memory, from, to) for stretches that together are the numbers below n.
template <class F>
void parallel(arena& memory, integer n, const F& run) {
  const integer count = std::min(n, threads());
  if (count < 2 || current_worker != nullptr) return run(memory, 0, n);
  char* const mark = memory.mark();
  auto* const all = memory.template take<stretch<F>>(static_cast<std::size_t>(count));
  pthread_t ids[256];
  bool has_started[256] = {};
  arena left = memory;
  for (integer k = 0; k < count; ++k) {
    new (&all[k]) stretch<F>{&run, left.slice(k, count), n / count * k + std::min(k, n % count),
                             n / count * (k + 1) + std::min(k + 1, n % count), {k > 0 ? &all[k - 1].self : nullptr, {false}}};
  }
  for (integer k = 1; k < count; ++k) has_started[k] = start_thread(ids[k], stretch<F>::start, &all[k]);
  for (integer k = 0; k < count; ++k) {
    if (!has_started[k]) stretch<F>::start(&all[k]);
  }
  for (integer k = 1; k < count; ++k) {
    if (has_started[k]) pthread_join(ids[k], nullptr);
  }
  memory.release(mark);
}

#else

template <class F>
void parallel(arena& memory, integer n, const F& run) {
  run(memory, 0, n);
}

#endif

}  // namespace ks
