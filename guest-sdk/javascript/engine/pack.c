// The scripts of a provider, and of the SDK, as `wasmres build` hands them over.
#include <stdlib.h>
#include <string.h>

#include "engine.h"

// A pack is a sequence of sources: the lengths of name and text, 32 bits each, then both, each with a NUL.
static char *pack;
static size_t pack_size;

bool pack_load(uint32_t len) {
  pack = malloc(len);
  pack_size = pack ? host_take(WR_CHANNEL_REQUEST, pack, 0, len) : 0;
  return pack_size == len && len > 0;
}

// Reads the source at *at and moves *at behind it. The tool that has written the pack is trusted: it could as well
// have written any code.
static source next(size_t *at) {
  source s = {0};
  uint32_t lengths[2];
  if (*at >= pack_size) return s;
  memcpy(lengths, pack + *at, sizeof lengths);
  s.name = pack + *at + sizeof lengths;
  s.text = s.name + lengths[0] + 1;
  s.len = lengths[1];
  *at += sizeof lengths + lengths[0] + 1 + lengths[1] + 1;
  return s;
}

source pack_first(void) {
  size_t at = 0;
  return next(&at);
}

source pack_find(const char *name) {
  size_t at = 0;
  source s;
  do s = next(&at);
  while (s.name && strcmp(s.name, name) != 0);
  return s;
}

void pack_drop(bool (*is_done)(const char *name)) {
  size_t kept = 0;
  for (size_t at = 0; at < pack_size;) {
    size_t start = at;
    if (is_done(next(&at).name)) continue;
    memmove(pack + kept, pack + start, at - start);
    kept += at - start;
  }
  memset(pack + kept, 0, pack_size - kept);
  char *smaller = realloc(pack, kept);
  if (kept == 0 || smaller) pack = smaller;
  pack_size = kept;
}
