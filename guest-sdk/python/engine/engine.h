// The engine: MicroPython with what a provider in Python needs. Each file says what it owns.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fields.h"
#include "host.h"
#include "py/emitglue.h"
#include "py/obj.h"

// ---- pack.c: the files of a provider. `wasmres build` has prepare, in prepare.c, compile them; the module that it writes
// has the code and no source.

typedef struct source {
  const char *name, *text; // NUL-terminated; NULL when there is none
  size_t len;              // of text
  bool own;                // of the provider, not of the library
} source;

bool pack_load(uint32_t len);           // takes the pack, of so many bytes; false when there is no room
source pack_next(size_t *at);           // the source at *at, which moves behind it; 0 at first
void pack_add_code(source s, mp_compiled_module_t code);
const mp_compiled_module_t *pack_code(const char *name); // of a file, by its path; NULL when there is none
bool pack_is_own(const char *name);     // whether a file is the provider's, by its path
qstr pack_module(const char *path);     // the name that a file is imported by
bool pack_has_folder(const char *name); // whether a file lies in it
const char *pack_entry(void);           // the first file; NULL without a pack
void pack_forget_modules(void);         // that are files of the provider: their import runs them again
void pack_drop_sources(void);           // makes their memory part of the heap

// ---- engine.c

extern char failed[MAX_FAILURE];                            // why the provider has not started; empty when it has
void boot(void);                                     // an interpreter that has run nothing

// ---- message.c: messages as tuples of Python, by their shapes

// Makes room for n more bytes. Raises ValueError when the host would not take so many.
void buffer_reserve(buffer *b, size_t n);

void message_encode(buffer *b, const char *shape, mp_obj_t fields);
void message_put(buffer *b, const char *shape, size_t count, const mp_obj_t *fields); // the same
mp_obj_t message_decode(const char *shape, bytes encoded); // MP_OBJ_NULL when it is malformed
mp_obj_t message_value(bytes encoded);                    // of a database; MP_OBJ_NULL when it is malformed

// ---- rows.c

extern const mp_obj_type_t rows_type;
mp_obj_t rows_new(bytes answer); // none yet; the answer, on the heap, is the encoded one that they are made from

// ---- frame.c: what an operation answers

void frame_reset(void);
void frame_begin(void); // of an operation: frame_reset, and the host has not stopped it
void frame_content(bytes uri, bytes mime_type, bytes text, uint64_t ttl, uint64_t scope); // a reply with one small text
int32_t frame_emit(void);                                                                 // returns the host's signal

// ---- request.c

bytes request_take(uint32_t len);       // which stays until the next one
mp_obj_t request_decode(bytes request); // a dict of its fields; MP_OBJ_NULL when it is malformed
void request_forget(void);              // no operation runs

// ---- read.c

// Answers a read, with the code, or returns false and has done nothing. It raises what the SDK raises.
bool read_quickly(bytes request, uint32_t *code);

// ---- convert.c

// The value of a variable as a type, by its name: "int", "float", "bool", or None for a text. MP_OBJ_NULL for what the SDK
// has to look at.
mp_obj_t convert(bytes s, mp_obj_t type);

// ---- functions.c: what the SDK knows of a function

mp_obj_t functions_define(mp_obj_t function, mp_obj_t doc, mp_obj_t annotations); // see micropython.patch

// ---- failure.c

void log_text(uint32_t level, const char *text, size_t len);
void failure_log(mp_obj_t error);                              // with its traceback
void failure_summary(char *room, size_t size, mp_obj_t error); // "file:line: Class: message"

// ---- engine.c: what nearly every request writes to. It is together, since the host restores whole pages after each.

enum {
  TABLES = (64 << 10) + 128, // words: 128 of them lie on the page of what follows
  CALLS = 48 << 10,          // bytes for the frames of Python functions: it bounds recursion
  MAX_DEPTH = 8,             // of messages within messages
  FEW = 1 << 10,             // bytes that most requests and answers have at most
};

extern struct hot {
  uint32_t tables[TABLES]; // of unwinding.c, from the end on
  uint32_t second, last;   // of unwinding.c
  uint64_t seed;           // of the request
  bool seeds;              // it has not yet seeded the module random
  buffer frame;            // these are of frame.c
  size_t begun[MAX_DEPTH]; // where the messages that are not yet complete begin
  int depth;
  size_t chunk;  // bytes that are collected
  int32_t ended; // the host's signal that has ended the operation, or WR_SIGNAL_MORE
  bytes asked;   // of request.c
  uint8_t request[FEW], answer[FEW];
  char calls[CALLS];
} hot;

// ---- memory.c

extern char __global_base[]; // the end of the stack, which is the first in memory
#define stack_top __global_base

void memory_init(void);
void memory_add(void *at, size_t size); // to the heap
void memory_clean(void);  // collects garbage, and writes zeros to all memory that is not in use
void memory_settle(void); // has what follows allocated behind what is there, so that a request writes to few pages
