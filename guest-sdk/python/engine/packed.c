#include "engine.h"

// A file of its own, a value that the compiler cannot know, and no inlining by wasm-opt: otherwise there would never be a
// pack.
EXPORT("wasmres_python_pack") uint32_t packed(void *dst, uint32_t len) {
  static volatile uint32_t none;
  return none;
}
