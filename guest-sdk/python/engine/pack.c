// The sources of a provider, which `wasmres build` has put into a data segment.
#include <string.h>

#include "engine.h"
#include "py/gc.h"

void *memory_take(size_t size);

// A pack is a sequence of sources: the lengths of name and text, 32 bits each, then both, each with a NUL.
static char *pack;
static size_t pack_size;

bool pack_load(void) {
  pack_size = packed(NULL, 0);
  if (pack_size == 0) return false;
  pack = memory_take(pack_size);
  if (!pack) return false;
  packed(pack, pack_size);
  return true;
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

bool pack_has_folder(const char *name) {
  size_t len = strlen(name), at = 0;
  source s;
  do s = next(&at);
  while (s.name && !(strncmp(s.name, name, len) == 0 && s.name[len] == '/'));
  return s.name != NULL;
}
