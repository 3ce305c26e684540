#include "engine.h"

static bool take_varint(bytes *s, size_t most, uint64_t *v) {
  *v = 0;
  for (size_t i = 0; i < most && i < s->len; i++) {
    uint8_t b = s->at[i];
    if (i == 9 && b > 1) return false; // beyond 64 bits
    *v |= (uint64_t)(b & 127) << (7 * i);
    if (b & 128) continue;
    s->at += i + 1, s->len -= i + 1;
    return true;
  }
  return false;
}

bool wire_take(bytes *s, field *f) {
  bytes rest = *s;
  uint64_t tag, n = 0;
  if (!take_varint(&rest, 5, &tag) || tag > UINT32_MAX || tag >> 3 == 0) return false;
  f->number = (uint32_t)tag >> 3;
  f->type = tag & 7;
  f->bits = 0;
  switch (f->type) {
  case WIRE_NUMBER:
    if (!take_varint(&rest, 10, &f->bits)) return false;
    break;
  case WIRE_BYTES:
    if (!take_varint(&rest, 5, &n)) return false;
    break;
  case WIRE_FIXED64: n = 8; break;
  case WIRE_FIXED32: n = 4; break;
  default: return false;
  }
  if (n > rest.len) return false;
  f->text = (bytes){rest.at, (size_t)n};
  *s = (bytes){rest.at + n, rest.len - (size_t)n};
  return true;
}
