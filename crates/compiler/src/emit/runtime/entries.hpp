
// Memory for C entry points.
#if defined(KS_EMBEDDED)
extern "C" ks::arena* ks_memory_new() { return &ks::static_arena(); }
extern "C" void ks_memory_reset(ks::arena* memory) { memory->clear(); }
extern "C" void ks_memory_free(ks::arena* memory) { memory->clear(); }
#else
extern "C" ks::arena* ks_memory_new() { return new ks::arena(ks::reserve()); }
extern "C" void ks_memory_reset(ks::arena* memory) { memory->clear(); }
extern "C" void ks_memory_free(ks::arena* memory) {
  memory->give_back();
  delete memory;
}
#endif

