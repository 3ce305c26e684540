#include <string.h>

#include "host.h"
#include "wire.h"

enum { LENGTH = 4 }; // bytes that are left for the length of a message

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

size_t buffer_room(const buffer *b, size_t n) {
  if (n > WR_MAX_FRAME || b->len + n > WR_MAX_FRAME) return 0;
  size_t room = b->room ? b->room : 4096;
  while (room < b->len + n) room *= 2;
  return room;
}

static void put_varint(buffer *b, uint64_t v) {
  for (; v > 127; v >>= 7) b->at[b->len++] = (uint8_t)(v | 128);
  b->at[b->len++] = (uint8_t)v;
}

void wire_put_number(buffer *b, uint32_t number, uint64_t v) {
  put_varint(b, number << 3 | WIRE_NUMBER);
  put_varint(b, v);
}

void wire_put_fixed64(buffer *b, uint32_t number, double v) {
  put_varint(b, number << 3 | WIRE_FIXED64);
  memcpy(b->at + b->len, &v, sizeof v);
  b->len += sizeof v;
}

void wire_put_bytes(buffer *b, uint32_t number, const void *at, size_t len) {
  put_varint(b, number << 3 | WIRE_BYTES);
  put_varint(b, len);
  memcpy(b->at + b->len, at, len);
  b->len += len;
}

size_t wire_begin(buffer *b, uint32_t number) {
  put_varint(b, number << 3 | WIRE_BYTES);
  return b->len += LENGTH;
}

void wire_end(buffer *b, size_t start) {
  size_t len = b->len - start;
  for (int i = 0; i < LENGTH; i++) b->at[start - LENGTH + i] = (uint8_t)((len >> 7 * i & 127) | 128);
  b->at[start - 1] &= 127;
}
