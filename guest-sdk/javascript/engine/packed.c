#include "engine.h"

// A file of its own: in another one the compiler would conclude that there is never a pack.
EXPORT("wasmres_javascript_pack") uint32_t packed(void *dst, uint32_t len) { return 0; }
