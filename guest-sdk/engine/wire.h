// The encoding of docs/abi.md, read and written. The engines of all languages share this folder.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bytes {
  const uint8_t *at;
  size_t len;
} bytes;

enum { WIRE_NUMBER = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

typedef struct field {
  uint32_t number, type;
  uint64_t bits; // of a number
  bytes text;    // of bytes
} field;

// Takes the first field off *s. Returns false when there is none: at the end, where *s is empty, and before a malformed
// field, where it is not.
bool wire_take(bytes *s, field *f);

typedef struct buffer { // zero: empty
  uint8_t *at;
  size_t len, room;
  bool fixed; // at is not of the heap: it is left behind when more room is needed
} buffer;

enum { WIRE_HEAD = 16 }; // bytes that a tag, with a number or a length, takes at most

// Returns the room that a buffer needs for n more bytes, at least what it has; 0 when the host would not take so many.
size_t buffer_room(const buffer *b, size_t n);

// These append, where there is room.
void wire_put_number(buffer *b, uint32_t number, uint64_t v);
void wire_put_fixed64(buffer *b, uint32_t number, double v);
void wire_put_bytes(buffer *b, uint32_t number, const void *at, size_t len);

// Begins a message, up to wire_end, which takes what wire_begin returned.
size_t wire_begin(buffer *b, uint32_t number);
void wire_end(buffer *b, size_t start);
