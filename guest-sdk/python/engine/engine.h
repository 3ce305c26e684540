// The engine: MicroPython with what a provider in Python needs. Each file says what it owns.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host.h"
#include "py/obj.h"

// ---- pack.c: the sources that `wasmres build` has put into the module

typedef struct source {
  const char *name, *text; // NUL-terminated; NULL when there is none
  size_t len;              // of text
} source;

// Copies the first len bytes of the pack to dst and returns the length of the pack. It is compiled to do nothing:
// wasmres writes its body.
uint32_t packed(void *dst, uint32_t len);

bool pack_load(void);                            // copies the pack into memory; false without one
source pack_first(void);                         // the entry
source pack_find(const char *name);              // by the path of a file
bool pack_has_folder(const char *name);          // whether a file lies in it

// ---- wire.c: the encoding of docs/abi.md, read and written

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

typedef struct buffer {
  uint8_t *at;
  size_t len, room;
} buffer;

enum { WIRE_HEAD = 16 }; // bytes that a tag, with a number or a length, takes at most

// Makes room for n more bytes. Raises ValueError when the host would not take so many.
void buffer_reserve(buffer *b, size_t n);

// These append, where there is room.
void wire_put_number(buffer *b, uint32_t number, uint64_t v);
void wire_put_fixed64(buffer *b, uint32_t number, double v);
void wire_put_bytes(buffer *b, uint32_t number, const void *at, size_t len);

// Begins a message, up to wire_end, which takes what wire_begin returned.
size_t wire_begin(buffer *b, uint32_t number);
void wire_end(buffer *b, size_t start);

// ---- message.c: messages as tuples of Python, by their shapes

void message_encode(buffer *b, const char *shape, mp_obj_t fields);
mp_obj_t message_decode(const char *shape, bytes encoded); // MP_OBJ_NULL when it is malformed

// ---- frame.c: what an operation answers

void frame_reset(void);

// ---- request.c

mp_obj_t request_decode(uint32_t len); // a dict of the request's fields; MP_OBJ_NULL when it is malformed

// ---- functions.c: what the SDK knows of a function

mp_obj_t functions_define(mp_obj_t function, mp_obj_t doc, mp_obj_t annotations); // see micropython.patch

// ---- failure.c

void log_text(uint32_t level, const char *text, size_t len);
void failure_log(mp_obj_t error);                              // with its traceback
void failure_summary(char *room, size_t size, mp_obj_t error); // "file:line: Class: message"

// ---- memory.c

extern char *stack_top;
void memory_init(void);
void memory_settle(void); // has what follows allocated behind what is there, so that a request writes to few pages
