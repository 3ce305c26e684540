// The engine: QuickJS with what a provider in JavaScript takes. Each file says what it owns.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fields.h"
#include "host.h"
#include "quickjs.h"

// ---- engine.c

extern JSContext *ctx; // the only one; NULL before boot
extern const JSCFunctionListEntry engine_functions[];
extern const int engine_functions_count;

extern char failed[MAX_FAILURE]; // why the provider has not started; empty when it has
extern JSValue entry;     // the module that is run first
extern char entry_name[64];

bool boot(void);                                         // false when it has failed
JSValue evaluate(JSValue module);                        // runs a module, with all it imports; takes it over
void give_up(void);                                      // keeps why the provider cannot start, of the exception

// ---- pack.c: the scripts that `wasmres build` hands over

typedef struct source {
  const char *name, *text; // NUL-terminated; NULL when there is none
  size_t len;              // of text
} source;

bool pack_load(uint32_t len);       // takes len bytes of scripts from the host
source pack_first(void);            // the entry
source pack_find(const char *name); // by the name of a module

// Forgets the scripts that are done. The others may be imported later.
void pack_drop(bool (*is_done)(const char *name));

// ---- modules.c: how imports are resolved

void modules_init(JSRuntime *rt);

// ---- text.c: texts of JavaScript and UTF-8

typedef struct utf8 {
  const char *at; // NULL after an exception
  size_t len;
} utf8;

utf8 utf8_of(JSValueConst text); // a lone surrogate becomes U+FFFD
void utf8_free(utf8 s);

// ---- message.c: messages as arrays of JavaScript, by their shapes

// Makes room for n more bytes. False when the host would not take so many, and after an exception.
bool buffer_reserve(buffer *b, size_t n);

bool message_encode(buffer *b, const char *shape, JSValueConst fields); // false as buffer_reserve
JSValue message_decode(const char *shape, bytes encoded);               // undefined when it is malformed

// ---- frame.c: what an operation answers

extern const JSCFunctionListEntry frame_functions[];
extern const int frame_functions_count;

bool frame_reserve(size_t len); // has room for so many bytes

// Forgets what an earlier operation has left.
void frame_begin(void);

// The code that an operation ends with because the host has stopped it; WR_CODE_OK when it has not.
uint32_t frame_stopped(void);

// These append to the frame; false after an exception. A number is left out that is not above zero, and with optional a
// text that is empty, undefined or null. Between frame_open and frame_close are the fields of a message.
bool frame_put_number(uint32_t number, JSValueConst n);
bool frame_put_text(uint32_t number, JSValueConst text, bool optional);
bool frame_put_bytes(uint32_t number, const void *at, size_t len);
bool frame_open(uint32_t number);
void frame_close(void);

uint32_t frame_send(void); // gives the code that the operation ends with

// ---- quickjs_checked.c

bool module_is_loaded(const char *name);
void sources_drop(void);  // forgets the texts of functions of the SDK, and of a bundle
void functions_make(void); // makes the functions of the language that are used most
void clock_start(void);   // has performance.now() count from here
void blocks_settle(void); // has requests find small blocks in few pages
void blocks_clear(void);  // clears those that are free

bool object_is_ordinary(JSValueConst value); // whether it is an object of no class of the language

// A sample is an object whose properties are all values.

int object_size(JSValueConst sample);                     // the number of its properties
int object_slot(JSValueConst sample, JSAtom name);        // of a property, in the order of definition; −1 for none
JSValueConst object_value(JSValueConst sample, int slot); // of a property

// Makes an object with the properties of the sample, and other values, which it takes over also after an exception.
JSValue object_like(JSValueConst sample, JSValue *values);

typedef struct place {
  char file[128], function[64]; // what is longer is cut
  int line, column;
} place;

int places_running(place *places, int most); // of the functions that run, innermost first; how many

// ---- request.c

// A request as the host has encoded it, valid until the next one. Texts that are absent are NULL, numbers 0.
typedef struct asked {
  bytes uri, cursor, if_none_match, argument, typed, principal, meta;
  bytes vars; // the fields from the first variable on
  uint64_t route, limit, offset, length, max_bytes;
} asked;

bool request_reserve(size_t len);          // has room for so many bytes
bool request_take(asked *a, uint32_t len); // the request of len bytes; false when it is malformed

// Makes the object that a handler gets. The route is an object, or undefined.
JSValue request_object(const asked *a, JSValueConst sample, JSValueConst uri, JSValueConst route);

// ---- answer.c

// Sends a short answer to a read, with the code in *code. False when it is for the scripts of the SDK, and after an
// exception.
bool answer_send(JSValueConst answer, JSValueConst request, JSValueConst route, const asked *a, uint32_t *code);

// ---- operation.c: one operation after the other

extern const JSCFunctionListEntry operation_functions[];
extern const int operation_functions_count;

typedef struct names {
  JSAtom bytes, etag, mime_type, read, scope, text, ttl, uri, variables;
  JSAtom others[4]; // properties of a content
} names;

extern names atoms;

void operation_init(void);
bool operation_ready(void);                            // whether there is a provider
JSValue operation_answer(uint32_t op, const asked *a); // undefined when it is malformed; the code, or a promise of it

// ---- service.c: what a provider asks the host

extern const JSCFunctionListEntry service_functions[];
extern const int service_functions_count;

// ---- memory.c

JSRuntime *memory_runtime(void); // NULL without memory
bool memory_was_refused(void);   // since the provider was started, or in this request
void memory_prepare(bool on);    // whether free memory is cleared, and there is no clock: while a provider is built
bool memory_is_prepared(void);
void memory_clean(void);         // clears what is left in free memory

// ---- random.c

void random_init(void); // replaces Math.random, which could not be seeded

// ---- failure.c: what has gone wrong, in words

void log_line(uint32_t level, const char *text);
void failure_log(JSValueConst error);                              // with the stack
void failure_end(JSValueConst error);                              // logs it; traps when there was no memory
void failure_summary(char *room, size_t size, JSValueConst error); // "file:line:column: name: message"
void failure_locate(JSValueConst function);                       // names the function that locates stacks
void failure_told_at(char *room, size_t size, const char *stack);  // "ended at", the first place of the provider, and the stack
bool failure_is_located(void);                                    // whether there is one: the provider is a bundle

// ---- jobs.c: promises

void jobs_init(JSRuntime *rt);
JSValue jobs_settle(JSValue value); // the value, or what the promise it is becomes; frees value
void jobs_idle(JSValueConst function); // names the function that is called when no job is left
void jobs_report(void);             // logs rejections that nothing has handled
