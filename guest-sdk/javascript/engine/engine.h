// The engine: QuickJS with what a provider in JavaScript takes. Each file says what it owns.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host.h"
#include "quickjs.h"

// ---- engine.c

extern JSContext *ctx; // the only one; NULL before boot
extern const JSCFunctionListEntry engine_functions[];
extern const int engine_functions_count;

// ---- pack.c: what `wasmres build` has packed into the module

typedef struct source {
  const char *name, *text; // NUL-terminated; NULL when there is none
  size_t len;              // of text
} source;

// Copies the first len bytes of the pack to dst and answers how many there are. It is compiled to do nothing: wasmres
// writes its body.
uint32_t packed(void *dst, uint32_t len);

bool pack_load(void);               // copies the pack into memory; false without one
source pack_first(void);            // the entry
source pack_find(const char *name); // by the name of a module

// ---- modules.c: how imports are resolved

void modules_init(JSRuntime *rt);

// ---- text.c: texts of JavaScript and UTF-8

typedef struct utf8 {
  const char *at; // NULL after an exception
  size_t len;
} utf8;

utf8 utf8_of(JSValueConst text); // a lone surrogate becomes U+FFFD
void utf8_free(utf8 s);

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

// Takes the first field off *s. False when there is none: at the end, where *s is empty, and before what is no field,
// where it is not.
bool wire_take(bytes *s, field *f);

typedef struct buffer {
  uint8_t *at;
  size_t len, room;
  bool full; // more was wanted than the host takes
} buffer;

enum { WIRE_HEAD = 16 }; // bytes that a tag, with a number or a length, takes at most

// Makes room for n more bytes. False when b is full, and after an exception.
bool buffer_reserve(buffer *b, size_t n);

// These append, where there is room.
void wire_put_number(buffer *b, uint32_t number, uint64_t v);
void wire_put_fixed64(buffer *b, uint32_t number, double v);
void wire_put_bytes(buffer *b, uint32_t number, const void *at, size_t len);

// Begins a message, up to wire_end, which takes what wire_begin has given.
size_t wire_begin(buffer *b, uint32_t number);
void wire_end(buffer *b, size_t start);

// ---- message.c: messages as arrays of JavaScript, by their shapes

bool message_encode(buffer *b, const char *shape, JSValueConst fields); // false as buffer_reserve
JSValue message_decode(const char *shape, bytes encoded);               // undefined when it is malformed

// ---- frame.c: what an operation answers

extern const JSCFunctionListEntry frame_functions[];
extern const int frame_functions_count;

// ---- request.c

JSValue request_decode(uint32_t len); // the request of len bytes, or undefined when it is malformed

// ---- service.c: what a provider asks the host

extern const JSCFunctionListEntry service_functions[];
extern const int service_functions_count;

// ---- memory.c

JSRuntime *memory_runtime(void); // NULL without memory
bool memory_was_refused(void);   // since the provider was started, or in this request

// ---- random.c

void random_init(void); // replaces Math.random, which could not be seeded

// ---- failure.c: what has gone wrong, in words

void log_line(uint32_t level, const char *text);
void failure_log(JSValueConst error);                              // with the stack
void failure_end(JSValueConst error);                              // logs it; traps when there was no memory
void failure_summary(char *room, size_t size, JSValueConst error); // "file:line:column: name: message"

// ---- jobs.c: promises

void jobs_init(JSRuntime *rt);
JSValue jobs_settle(JSValue value); // the value, or what the promise it is becomes; frees value
void jobs_report(void);             // logs rejections that nothing has handled
