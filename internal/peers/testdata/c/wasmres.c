/* The guest for wasmres, and for wazero as it comes: it speaks wasmres_v1 without an SDK. */
#include "answer.h"

#define HOST(name) __attribute__((import_module("wasmres_v1"), import_name(#name))) extern
HOST(take) unsigned take(unsigned channel, void *dst, unsigned off, unsigned len);
HOST(emit) int emit(const void *frame, unsigned len);

static char in[4096], out[4096];
/* The reply to text://a: a content of 124 bytes with its URI, its type and its text of 100. */
static const char text[] = "\x1a\x7c" "\x0a\x08" "text://a" "\x12\x0a" "text/plain" "\x1a\x64" TEXT;

__attribute__((export_name("wasmres_v1"))) unsigned wasmres_v1(unsigned op, unsigned len) {
  if (op != 2) return 8;
  take(0, in, 0, len);
  unsigned n = in[1]; /* of the URI: the first field, of fewer than 128 bytes */
  if (in[2] == 't') {
    visits++;
    emit(text, sizeof text - 1);
    return 0;
  }
  char *p = out + 3;
  *p++ = 1 << 3 | 2, *p++ = n;
  __builtin_memcpy(p, in + 2, n), p += n;
  __builtin_memcpy(p, "\x12\x0a" "text/plain" "\x1a", 13), p += 13;
  unsigned m = answer(in + 2, n, p + 2); /* the lengths that may be over 127 have two bytes */
  p[0] = m | 128, p[1] = m >> 7;
  unsigned all = p + 2 + m - (out + 3);
  out[0] = 3 << 3 | 2, out[1] = all | 128, out[2] = all >> 7;
  emit(out, all + 3);
  return 0;
}
