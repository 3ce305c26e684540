// The memory of scripts. Some is held back: when there is no more, the error that says so is made from it. Once a script
// has gone on and given back much, some is held back again.
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum { RESERVE = 64 << 10, MUCH = 1 << 20 }; // bytes

static void *reserve;
static size_t released; // bytes, since there is no reserve
static bool refused;    // something, since the provider was started
static bool preparing;  // a provider is being built: free memory is cleared, since it is kept in the module

// Passes on what was allocated. When that is nothing, the allocation has failed, and the next ones get the reserve.
static void *checked(void *at) {
  if (at) return at;
  free(reserve);
  reserve = NULL;
  released = 0;
  refused = true;
  return NULL;
}

bool memory_was_refused(void) { return refused; }

static void *zeroed(void *opaque, size_t count, size_t size) { return checked(calloc(count, size)); }

static void *allocate(void *opaque, size_t size) { return checked(malloc(size)); }

static void clear(void *at) {
  if (at) memset(at, 0, malloc_usable_size(at));
}

// Does what realloc does, and clears the memory that is given back.
static void *move(void *at, size_t size) {
  void *fresh = malloc(size);
  size_t before = at ? malloc_usable_size(at) : 0;
  if (!fresh) return NULL;
  memcpy(fresh, at, before < size ? before : size);
  clear(at);
  free(at);
  return fresh;
}

static void *resize(void *opaque, void *at, size_t size) {
  return checked(preparing ? move(at, size) : realloc(at, size));
}

static void release(void *opaque, void *at) {
  if (preparing) clear(at);
  if (!reserve) released += malloc_usable_size(at);
  free(at);
  if (reserve || released < MUCH) return;
  reserve = malloc(RESERVE);
  released = 0;
}

static size_t usable(const void *at) { return malloc_usable_size((void *)at); }

JSRuntime *memory_runtime(void) {
  static const JSMallocFunctions functions = {zeroed, allocate, release, resize, usable};
  reserve = malloc(RESERVE);
  return JS_NewRuntime2(&functions, NULL);
}

bool memory_is_prepared(void) { return preparing; }

void memory_prepare(bool on) { preparing = on; }

static char *volatile stack_bottom = (char *)64; // wasm-ld --stack-first

void memory_clean(void) {
  blocks_clear();
  memset(stack_bottom, 0, (size_t)((char *)__builtin_frame_address(0) - 1024 - stack_bottom));
}
