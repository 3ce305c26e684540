// wasmres.h - the guest SDK for C: write a provider of MCP resources; wasmres runs it in a sandbox for WebAssembly.
//
//   #define WASMRES_IMPLEMENTATION // in one file
//   #include "wasmres.h"
//
//   static wr_code greet(wr_request *r) {
//     wr_str name = wr_var(r, "name");
//     return wr_print(r, "Hello, %.*s!", WR_ARG(name));
//   }
//
//   static const wr_route routes[] = {
//     {.uri_template = "greeting://{name}", .read = greet, .name = "greeting", .mime = "text/plain"},
//   };
//
//   WASMRES_PROVIDER(.name = "hello", .version = "1.0.0", .routes = WR_ARRAY(routes))
//
// README.md says how to build it. Nothing else is needed: no libc, no WASI, no malloc. With wasi-libc it works as well,
// and from C++, where designated initialisers want C++20.
//
// A handler gets a request and answers it with functions that take the request. It returns 0, or a code that says why
// it failed: wr_not_found and its like give one. Functions that give a wr_code give 0 when all is well; another value
// may be returned as it is. A handler that is told to stop should do so soon, but does no harm if it goes on: once the
// host has stopped a call, answers go nowhere.
//
// Every request finds memory as it was when the provider had started: the host puts it back. So static buffers are
// fine, nothing is freed, and what a handler keeps is gone at the next request; what WASMRES_WARM leaves is found by
// all. One request runs at a time. Nothing is granted unless the operator says so: see wr_capability.
//
// Texts are UTF-8. At run time they are wr_str, with a length and, unless said otherwise, no NUL at the end; in tables
// they are C strings, and NULL is none.

#ifndef WASMRES_H
#define WASMRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wasmres_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

// What ends an operation: 0 for success, else one of WR_CODE_NOT_FOUND to WR_CODE_INTERNAL. Any other value counts as
// WR_CODE_INTERNAL, but for those functions of this header give: they may be returned as they are.
typedef int32_t wr_code;

typedef struct wr_request wr_request;

// ---- Texts ----------------------------------------------------------------------------------------------------------

// A text, or any bytes, somewhere in memory. The zero value is empty.
typedef struct wr_str {
  const char *at; // not NUL-terminated; NULL only when len is 0
  size_t len;     // bytes
} wr_str;

// A literal as wr_str.
#ifdef __cplusplus
#define WR_S(literal) (wr_str{"" literal, sizeof(literal) - 1})
#else
#define WR_S(literal) ((wr_str){"" literal, sizeof(literal) - 1})
#endif

// A wr_str for "%.*s". Evaluates s twice.
#define WR_ARG(s) (int)(s).len, (s).at

wr_str wr_cstr(const char *s); // a C string; NULL is empty
bool wr_equal(wr_str a, wr_str b);
bool wr_starts_with(wr_str s, wr_str prefix);
bool wr_parse_int(wr_str s, int64_t *n); // decimal, all of s; false when it is none, or beyond 64 bits

#define WR_FORMAT(at, first) __attribute__((format(printf, at, first)))

// Memory of the request, from one fixed piece of WASMRES_SCRATCH_SIZE bytes. It is given back when the request ends, or
// with wr_release. When it is used up, wr_alloc gives NULL and wr_format an empty text, and the request fails with
// WR_CODE_INTERNAL.
void *wr_alloc(wr_request *r, size_t size); // aligned to 16 bytes; not zeroed
size_t wr_mark(wr_request *r);
void wr_release(wr_request *r, size_t mark); // gives back what was taken since wr_mark

// As sprintf, for %d %i %u %x %X %c %s %p %%, with the flags - and 0, a width, a precision for %s, and the lengths hh h
// l ll z j t. At another conversion formatting ends. %.*s ends at a NUL, if there is one, as ever. The text that comes
// out is NUL-terminated. wr_format writes to the memory of the request; wr_format_into to room of size bytes, and what
// has no place there is left out, whole characters at a time.
wr_str wr_format(wr_request *r, const char *format, ...) WR_FORMAT(2, 3);
wr_str wr_format_into(char *room, size_t size, const char *format, ...) WR_FORMAT(3, 4);

// A number in the fewest digits that are read back as the same, as JavaScript writes it: 0.1, 42, 1e+21. A zero keeps
// its sign. What is no number is NaN, Infinity or -Infinity.
wr_str wr_format_double(wr_request *r, double x);

// ---- Tables: what a provider is -------------------------------------------------------------------------------------

// An array as a table of this header, as in .routes = WR_ARRAY(routes).
#define WR_ARRAY(array) {(array), sizeof(array) / sizeof *(array)}

// Words in place, as in .uri_prefixes = WR_WORDS("notes://"). In C++, which has no compound literals, use WR_ARRAY.
#define WR_WORDS(...) {(const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)}

typedef struct wr_words {
  const char *const *at;
  size_t count;
} wr_words;

// A picture a client may show beside a resource.
typedef struct wr_icon {
  const char *src;   // https: or data:image/
  const char *mime;  // NULL when unknown
  wr_words sizes;    // as in "48x48" or "any"
  const char *theme; // "light", "dark" or NULL
} wr_icon;

typedef struct wr_icons {
  const wr_icon *at;
  size_t count;
} wr_icons;

// Suggests values for a variable of a template: either words, of which those are taken that begin with what was typed,
// regardless of the case of ASCII letters; or a function, which calls wr_suggest for each value that begins with what
// was typed: nothing is filtered after it. Variables the client knows already are in the request.
typedef struct wr_completer {
  const char *variable;
  wr_words words;
  wr_code (*complete)(wr_request *r, wr_str typed); // NULL for words
} wr_completer;

typedef struct wr_completers {
  const wr_completer *at;
  size_t count;
} wr_completers;

// Priority 0, where 0 means none.
#define WR_PRIORITY_LEAST (-1.0)

// A resource, or a family of resources, with its handlers. It has exactly one of uri, uri_template and any; read is
// required; all else may be left out.
typedef struct wr_route {
  const char *uri;          // a single resource, which clients see listed
  const char *uri_template; // a family, as in "users://{user_id}" (RFC 6570): the host matches and decodes
  bool any;                 // whatever else is read, such as what the provider lists
  wr_code (*read)(wr_request *r);

  const char *name; // short; NULL for the last part of the URI, or the template
  const char *title;
  const char *description;
  const char *mime;    // of contents that name none; NULL for text/plain or application/octet-stream
  uint64_t size;       // bytes; 0 when unknown; not of templates
  double priority;     // 0 to 1; 0 for none
  int64_t modified_ms; // milliseconds since 1970-01-01 UTC; 0 when unknown; not of templates
  uint32_t audience;   // WR_AUDIENCE_USER | WR_AUDIENCE_ASSISTANT; 0 for anybody
  wr_icons icons;
  const char *meta_json; // a JSON object

  bool ranges;              // of templates: parts may be asked for; see wr_range
  uint64_t ttl_ms;          // how long clients may keep an answer; 0 for not at all
  uint32_t cache_scope;     // WR_CACHE_PUBLIC: what is kept may be given to anybody
  wr_completers completers; // of templates

  // Lets clients follow changes: while somebody does, the host asks version every poll_ms (100 to 3,600,000) and tells
  // them when the etag differs from the last one. Both or none.
  uint32_t poll_ms;
  wr_code (*version)(wr_request *r, wr_str *etag);

  const void *data; // for the handlers: r->route->data
} wr_route;

typedef struct wr_routes {
  const wr_route *at;
  size_t count;
} wr_routes;

// A power the provider asks the operator for, as in {.name = "fs", .reason = "reads the project's files"}.
typedef struct wr_capability {
  const char *name;
  const char *reason;      // for the person who decides
  const char *params_json; // a JSON object that says more
  bool optional;           // the provider is of use without it
} wr_capability;

typedef struct wr_capabilities {
  const wr_capability *at;
  size_t count;
} wr_capabilities;

// Wishes; the operator's limits win. wasmres acts on lifecycle alone.
typedef struct wr_limits {
  uint64_t memory;        // bytes
  uint32_t deadline_ms;   // of one call
  uint64_t max_body;      // bytes of one read
  uint32_t max_instances; // at once
  uint32_t lifecycle;     // how long memory lasts: WR_LIFECYCLE_FRESH, …_SESSION or …_SHARED
} wr_limits;

// A provider. name is required. The operations it offers are those that it has handlers for.
typedef struct wr_provider {
  const char *name;
  const char *version;
  const char *title;
  const char *description;
  wr_routes routes;
  wr_code (*list)(wr_request *r); // lists what is only known at run time: see wr_add
  // Lists the direct children of the directory resource r->uri, which has no slash at its end, with wr_add as list does.
  // The URI of a child is r->uri, a slash, and the name of the child. Directories among them have the type
  // WR_DIRECTORY_TYPE. A URI that is not one of a directory is wr_not_found.
  //
  // A provider with directories can have skills: each SKILL.md that list or a route's uri lists is one, with all files
  // below its directory. The host makes their digests.
  wr_code (*list_directory)(wr_request *r);
  wr_words uri_prefixes; // the URIs that are the provider's alone: it can name no others
  wr_capabilities capabilities;
  const char *config_schema_json; // JSON Schema of what wr_config reads
  wr_limits limits;
} wr_provider;

extern const wr_provider wasmres_provider;

// Defines the provider, once in a program, by the fields of wr_provider.
#define WASMRES_PROVIDER(...) const wr_provider wasmres_provider = {__VA_ARGS__};

#ifdef __wasm__
#define WR_EXPORT(name) __attribute__((export_name(name)))
#define WR_IMPORT(name) __attribute__((import_module(WR_IMPORT_MODULE), import_name(name)))
#else
#define WR_EXPORT(name)
#define WR_IMPORT(name)
#endif

#ifdef __cplusplus
#define WR_EXTERN extern "C"
#else
#define WR_EXTERN
#endif

// WASMRES_WARM { … } is done once before the first request, which has all the time to start: fill tables here. There
// are no services, and randomness drawn here is the same in every request.
#define WASMRES_WARM \
  WR_EXTERN void wasmres_v1_warm(void); \
  WR_EXPORT(WR_EXPORT_WARM) void wasmres_v1_warm(void)

// WASMRES_SEED(seed) { … } is done before each request, with a number (uint64_t) that cannot be foreseen.
#define WASMRES_SEED(seed) \
  WR_EXTERN void wasmres_v1_seed(uint64_t); \
  WR_EXPORT(WR_EXPORT_SEED) void wasmres_v1_seed(uint64_t seed)

// ---- Requests -------------------------------------------------------------------------------------------------------

// Who asks. wasmres knows no principals yet.
typedef struct wr_principal {
  wr_str subject;
  wr_str tenant;
  wr_str claims_json; // a JSON object; empty for none
  wr_str encoded;     // for wr_scopes
} wr_principal;

// Part of a resource, in bytes. With total 0 it is the whole.
typedef struct wr_range {
  uint64_t offset;
  uint64_t length;
  uint64_t total; // bytes of the whole, when this is a part
} wr_range;

// Encoded fields that are about to be sent.
typedef struct wr_writer {
  uint8_t *start, *at, *end;
  bool full; // something had no place
} wr_writer;

// What a handler is asked. Its texts last as long as the request.
struct wr_request {
  const wr_route *route;         // which answers; NULL in listings
  wr_str uri;                    // what is read or watched, or the directory; of completions the template; empty in lists
  wr_str cursor;                 // of listings: where to go on; empty for the start
  uint32_t limit;                // of listings: how many entries fit
  wr_str if_none_match;          // the etag the asker has; empty for none
  uint64_t range_offset;         // the part that is wanted, only if the route has ranges; see wr_range_of
  uint64_t range_length;         // 0 for all from range_offset on
  uint64_t max_bytes;            // how many the answer may have; 0 when not told. wasmres does not tell
  const wr_principal *principal; // NULL when nobody had to say
  wr_str meta_json;              // the request's _meta, a JSON object; empty for none

  struct {
    wr_str encoded;
    wr_str argument, typed; // of completions
    wr_principal principal;
    wr_code stopped; // why the call is over, whatever the handler returns; 0 while it goes on
    wr_writer frame;
    size_t scratch; // bytes in use
    uint32_t count; // contents, entries or suggestions so far
    wr_str next_cursor;
    uint64_t ttl_ms;
    uint32_t cache_scope;
    int content;          // state of the last content
    uint8_t *head, *text; // of a content within the frame: where it, and its bytes, begin
    uint32_t kind;        // of the last content
    uint64_t size;        // of the last content; 0 when unknown
    size_t staged;        // bytes of the last content that wait for more
    uint64_t sent;        // bytes of all contents
    wr_code failed;       // the last failure that was told, and its error
    wr_str message, data_json;
    uint64_t retry_after_ms;
    char room[512]; // for message
  } own; // the SDK's, not for handlers
};

// The decoded value of a template variable. at is NULL when the variable is absent.
wr_str wr_var(const wr_request *r, const char *name);

// A template variable as a decimal number from least to most. Otherwise it gives WR_CODE_INVALID_PARAMS, with a message
// that says so, and leaves *n alone.
wr_code wr_var_int(wr_request *r, const char *name, int64_t least, int64_t most, int64_t *n);

// Walks texts of a request that come several times:
//
//   wr_str part;
//   for (wr_texts parts = wr_vars(r, "part"); wr_next(&parts, &part);) …
typedef struct wr_texts {
  wr_str rest;
  const char *variable; // NULL for scopes
} wr_texts;

wr_texts wr_vars(const wr_request *r, const char *name); // all values of an exploded list, as in {/path*}
wr_texts wr_scopes(const wr_request *r);                 // of the principal; none without one
bool wr_next(wr_texts *texts, wr_str *text);             // false at the end

// 0 while somebody waits for the answer and time is left. Long loops should ask now and then.
wr_code wr_check(wr_request *r);

// ---- Answering a read -----------------------------------------------------------------------------------------------

// What there is to say of a content besides its bytes. The zero value is a text with what the route says.
typedef struct wr_content {
  uint32_t kind;       // WR_KIND_TEXT, also when 0, or WR_KIND_BLOB
  wr_str uri;          // empty for the one that was asked for
  wr_str mime;         // empty for the route's
  wr_str etag;         // names this version; empty for none
  int64_t modified_ms; // milliseconds since 1970-01-01 UTC; 0 when unknown
  wr_str meta_json;    // a JSON object; empty for none
  uint64_t size;       // of wr_begin: bytes that will be written; 0 when unknown
  wr_range range;      // of wr_begin: the part that will be written, as wr_range_of gave it; says size, too
} wr_content;

// One whole content. Where the route has ranges, the part that is asked for is cut out. c may be NULL.
wr_code wr_put(wr_request *r, const wr_content *c, const void *bytes, size_t len);
wr_code wr_text(wr_request *r, wr_str text);
wr_code wr_bytes(wr_request *r, const void *bytes, size_t len);

// A content written bit by bit, of any size: wr_begin, then wr_write and wr_print as often as it takes. The next
// content, or the handler's end, ends it. Without wr_begin, wr_print begins a text, and wr_write bytes. What is small
// travels with its head, what is large in pieces of 48 KiB. Writes of 48 KiB and more are not copied.
wr_code wr_begin(wr_request *r, const wr_content *c);
wr_code wr_write(wr_request *r, const void *bytes, size_t len);
wr_code wr_print(wr_request *r, const char *format, ...) WR_FORMAT(2, 3); // see wr_format

// The part that is asked for of a resource of total bytes; the whole when none is.
wr_range wr_range_of(const wr_request *r, uint64_t total);

// True when the asker has this version: that is the answer then, and the handler returns 0.
bool wr_unmodified(wr_request *r, wr_str etag);

// How long this answer, or this page, may be kept, and whether by anybody (WR_CACHE_PUBLIC): instead of what the route
// says.
void wr_cache(wr_request *r, uint64_t ttl_ms, uint32_t scope);

// Tells the asker how far a long read has come. total is 0 when unknown; message is a line, or empty.
wr_code wr_progress(wr_request *r, double done, double total, wr_str message);

// ---- Listing and completing -----------------------------------------------------------------------------------------

// One resource of a listing. uri is required.
typedef struct wr_entry {
  wr_str uri;
  wr_str name; // short; empty for the last part of the URI
  wr_str title;
  wr_str description;
  wr_str mime;
  uint64_t size;       // bytes; 0 when unknown
  double priority;     // 0 to 1; 0 for none; see WR_PRIORITY_LEAST
  int64_t modified_ms; // milliseconds since 1970-01-01 UTC; 0 when unknown
  uint32_t audience;   // WR_AUDIENCE_USER | WR_AUDIENCE_ASSISTANT; 0 for anybody
  wr_icons icons;
  wr_str meta_json; // a JSON object; empty for none
} wr_entry;

// Puts an entry on the page. False when the page is full and e is not on it: give wr_next_cursor a text that leads to
// e, and return 0. Nothing of e is kept: what it was made of can be given back with wr_release. Resources of the table
// are listed by the host and must not be added.
bool wr_add(wr_request *r, const wr_entry *e);

// Says that there are more pages. cursor comes back as r->cursor; it must last as long as the request, has at most 4
// KiB, and is never the one that was asked with.
void wr_next_cursor(wr_request *r, wr_str cursor);

// Lists the entries 0 to n-1, minding cursor and limit. A cursor this has not made is WR_CODE_INVALID_PARAMS. entry
// fills in *e, which is zero; what it takes with wr_alloc and wr_format is released after each.
wr_code wr_each(wr_request *r, uint64_t n, void (*entry)(wr_request *r, uint64_t i, wr_entry *e));

// Gives one value of a completion. The first 100 reach the client; all are counted.
wr_code wr_suggest(wr_request *r, wr_str value);

// ---- Failing --------------------------------------------------------------------------------------------------------

// A failure. The client will read message and data_json: put no secrets there.
typedef struct wr_error {
  wr_code code;
  wr_str message;          // short; empty for the host's own words
  wr_str data_json;        // a JSON object for programs; empty for none. It must last as long as the request
  uint64_t retry_after_ms; // with WR_CODE_UNAVAILABLE; 0 when unknown
} wr_error;

// These give the code, for the handler to return. The last failure told counts, if the handler returns its code.
// Messages have at most 511 bytes; more are left out.
wr_code wr_fail(wr_request *r, const wr_error *e);
wr_code wr_not_found(wr_request *r, const char *format, ...) WR_FORMAT(2, 3); // there is no such resource
wr_code wr_invalid(wr_request *r, const char *format, ...) WR_FORMAT(2, 3);   // the request makes no sense
wr_code wr_denied(wr_request *r, const char *format, ...) WR_FORMAT(2, 3);    // the asker may not have this
wr_code wr_unavailable(wr_request *r, uint64_t retry_after_ms, const char *format, ...) WR_FORMAT(3, 4);

// ---- Powers of the host ---------------------------------------------------------------------------------------------

// What the operator did not grant is WR_CODE_DENIED. Functions that take the request use its memory for what they ask,
// and for what they give: values, and bytes to write, of 60 KiB and more want another WASMRES_SCRATCH_SIZE.
//
// Of an answer that is large the host keeps what was not read yet, but only until it is asked for something else: see
// wr_http_read and wr_rows.

// A value the operator configured; false when there is none.
bool wr_config(wr_request *r, const char *key, wr_str *value);

// A variable of the environment; false when there is none, or it is not granted. It needs the power "env".
bool wr_env(wr_request *r, const char *name, wr_str *value);

// Tells whoever follows a resource, or the list, that it has changed.
wr_code wr_notify_updated(wr_str uri);
wr_code wr_notify_list_changed(void);

// A file or folder of a directory the operator granted. It needs the power "fs".
typedef struct wr_file {
  wr_str name;         // lasts as long as the wr_folder it is of; empty from other functions
  uint64_t size;       // bytes
  int64_t modified_ms; // milliseconds since 1970-01-01 UTC
  bool dir;
} wr_file;

// Paths are absolute and clean, as the provider sees them: a path with "..", an empty part or a slash at its end is
// WR_CODE_INVALID_PARAMS, so that values of clients can be put in them. What is not there is WR_CODE_NOT_FOUND, and
// what is not granted WR_CODE_DENIED.
wr_code wr_file_stat(wr_str path, wr_file *file);

// Reads up to size bytes, 1 MiB at most, from offset on. *got is how many there were, 0 at the end of the file and with
// every code but 0. A folder is WR_CODE_INVALID_PARAMS; an answer of the host that makes no sense is WR_CODE_INTERNAL.
wr_code wr_file_read(wr_str path, uint64_t offset, void *bytes, size_t size, size_t *got);

// Answers a read with a file, of any size, in pieces; with the part asked for, where there is one. A file whose size is
// told as 0 may have bytes all the same, as those of /proc have: it is sent to its end. A folder is
// WR_CODE_INVALID_PARAMS. c may be NULL; its size and range are not heeded, and without modified_ms the file's is told.
wr_code wr_file_send(wr_request *r, const wr_content *c, wr_str path);

// Puts a file there, in place of the one that there may be, at once: who reads it sees what it had, or all of bytes.
// The folders it is in are made. Unless file is NULL, it describes what is there then.
//
// The operator must have granted the directory for writing, as with --dir FOLDER:/PATH:rw; else it is WR_CODE_DENIED. A
// folder where a file belongs, the other way round, and the directory itself are WR_CODE_INVALID_PARAMS. More bytes
// than one call may have, close to 1 MiB, are WR_CODE_TOO_LARGE, and so is what is more than the provider may add, 256
// MiB or 10,000 files and folders since it was loaded. WR_CODE_UNAVAILABLE says that the disk is full.
wr_code wr_file_write(wr_request *r, wr_str path, wr_str bytes, wr_file *file);

// Is the same, but puts the bytes at the end of the file, beside what others append at the same time.
wr_code wr_file_append(wr_request *r, wr_str path, wr_str bytes, wr_file *file);

// Removes a file, or a folder that is empty; one that is not is WR_CODE_INVALID_PARAMS.
wr_code wr_file_remove(wr_str path);

// Walks a folder by name:
//
//   char room[8192];
//   wr_file file;
//   wr_folder folder = wr_folder_open(WR_S("/project"), room, sizeof room);
//   while (wr_folder_next(&folder, &file)) …
//   if (folder.code) return folder.code;
//
// The room is where entries are kept, as many as fit at a time. An entry takes its name and up to 32 bytes more.
typedef struct wr_folder {
  wr_code code; // why there is no next entry; 0 at the end
  wr_str path;
  char *room;
  size_t size;
  wr_str rest, last; // entries still to give, and the name of the last one given
  bool more;
} wr_folder;

wr_folder wr_folder_open(wr_str path, char *room, size_t size); // from the first entry after folder.last
bool wr_folder_next(wr_folder *folder, wr_file *file);

// Bounds of wr_folder_send. The zero value stands for 100 files of 1 MiB together, without hidden ones.
typedef struct wr_folder_options {
  uint32_t max_files; // 0 for 100
  uint64_t max_bytes; // of all files together; 0 for 1 MiB
  bool hidden;        // files are sent, too, whose names begin with a dot

  // Gives the type of a file by its name and its first bytes, 1 KiB at most. text says whether the whole file is UTF-8
  // without zeros. Without it, and where it gives an empty one, that is text/plain or application/octet-stream.
  wr_str (*mime)(wr_str name, wr_str head, bool text);
} wr_folder_options;

// Answers a read with the files of the folder name in dir, each as a content of its own, in the order of their names. dir
// is an absolute path, and name is "." for dir itself. The URI of a file is uri_prefix and its path in dir,
// percent-encoded. Folders in the folder are passed over. o may be NULL.
//
// A file is text when it is UTF-8 without zeros, unless its type is one of audio, fonts, images (SVG aside), videos,
// application/gzip, application/pdf, application/wasm or application/zip. Its etag is made of its time of change and its
// size. A file of more than 48 KiB is read twice; when it becomes shorter in between, this gives WR_CODE_UNAVAILABLE.
//
// Left out are files beyond the bounds, which others after them may keep; those that are gone, or may not be read, when
// their turn has come; and names that no URI can have. Then, and if there are no files, one more content comes last, with
// the URI that was asked for. Its text says how many files are left out, and its _meta, as the member folder, why:
// {"files":1,"bytes":5,"leftOut":{"files":1,"bytes":7,"names":["a"],"reasons":{"gone":1}}}. There are no more than ten
// names. The reasons are maxFiles, maxBytes, gone, denied and name. At most 10,000 entries of a folder are looked at:
// leftOut says "more":true where there are others.
wr_code wr_folder_send(wr_request *r, wr_str dir, wr_str name, wr_str uri_prefix, const wr_folder_options *o);

// Gives an etag of that folder, for wr_route.version: it changes when a file comes, goes, or has another size or time of
// change. Of the options, hidden counts.
wr_code wr_folder_version(wr_request *r, wr_str dir, wr_str name, const wr_folder_options *o, wr_str *etag);

// ---- Fetching URLs

// A field of a header.
typedef struct wr_http_field {
  wr_str name, value;
} wr_http_field;

typedef struct wr_http_fields {
  const wr_http_field *at;
  size_t count;
} wr_http_fields;

// Asks a server for something. url is required.
typedef struct wr_http_request {
  wr_str method; // empty for GET
  wr_str url;    // absolute, http or https
  // Is sent as it is, but for {{secret:NAME}} in a value: there the host fills a secret in that the operator granted
  // for the server, and takes it out of what comes back.
  wr_http_fields header;
  wr_str body;
  uint64_t max_bytes;  // the body of the answer may have; 0 for as many as are granted
  uint32_t timeout_ms; // for all of it, reading the answer included; 0 for as long as is granted
} wr_http_request;

// What a server answered, whatever its status.
typedef struct wr_http_response {
  uint32_t status;
  wr_str url; // the one that answered, after redirects

  struct {
    wr_str head;     // encoded
    uint32_t call;   // the service call whose answer has the part of the body that is being read
    uint32_t at;     // bytes of it that were read
    bool read;       // all of it was
    uint64_t stream; // of the parts after it; 0 for none
    wr_code code;    // why there are no more
  } own; // the SDK's, not for handlers
} wr_http_response;

// Sends a request and gives the answer, after redirects. It needs the power "http". A status such as 404 is no failure:
// see wr_http_check. WR_CODE_UNAVAILABLE says that there was no answer, WR_CODE_DEADLINE that it did not come in time,
// WR_CODE_TOO_LARGE that it, or the request, has more bytes than are granted, WR_CODE_INVALID_PARAMS that the request
// makes no sense. The answer's head lasts as long as the request of the handler, or until wr_release.
wr_code wr_http(wr_request *r, const wr_http_request *q, wr_http_response *p);
wr_code wr_http_get(wr_request *r, wr_str url, wr_http_response *p);

// 0 when the status says success, 200 to 299. Otherwise it fails as wr_fail does, with a message that has the status:
// 404 and 410 are WR_CODE_NOT_FOUND, 401 and 403 WR_CODE_DENIED, 408, 429 and those from 500 on WR_CODE_UNAVAILABLE,
// with the seconds of Retry-After, and others WR_CODE_INTERNAL.
wr_code wr_http_check(wr_request *r, const wr_http_response *p);

// The value of the first field of that name, in either case; empty when there is none.
wr_str wr_http_header(const wr_http_response *p, const char *name);

// Reads the next size bytes of the body. *got is less than size at the end, and 0 after it. Read to the end before the
// host is asked for something else, a value of the configuration too: the rest is gone then, which is WR_CODE_INTERNAL.
wr_code wr_http_read(wr_http_response *p, void *bytes, size_t size, size_t *got);

// Answers a read with the body, of any size, while it arrives; with the rest, if some of it was read. c may be NULL;
// its size and range are not heeded.
wr_code wr_http_send(wr_request *r, const wr_content *c, wr_http_response *p);

// ---- Databases

// An argument of a statement, or a value of a row. The zero value is null.
typedef struct wr_sql_value {
  uint32_t kind;   // WR_SQL_NULL, …_BOOL, …_INT, …_FLOAT, …_TEXT or …_BYTES
  int64_t integer; // of an int, and of a bool, where it is 0 or 1
  double number;   // of a float
  wr_str text;     // of a text, and of bytes. Times, decimals and other types are texts in the database's own form
} wr_sql_value;

wr_sql_value wr_sql_null(void);
wr_sql_value wr_sql_bool(bool value);
wr_sql_value wr_sql_int(int64_t value);
wr_sql_value wr_sql_float(double value);
wr_sql_value wr_sql_text(wr_str value);
wr_sql_value wr_sql_bytes(const void *bytes, size_t len);

// A text as it is, bytes as they are, numbers in decimals, true or false, and nothing for null.
wr_str wr_sql_format(wr_request *r, wr_sql_value value);

typedef struct wr_sql_values {
  const wr_sql_value *at;
  size_t count;
} wr_sql_values;

// A statement that reads, in the database's own words: parameters are $1, $2 for PostgreSQL, ? for MySQL and MariaDB,
// and ?1, ?2 for SQLite.
typedef struct wr_sql_statement {
  wr_str connection; // the name the operator granted the database by
  wr_str query;
  wr_sql_values args; // one for each parameter; 1000 at most
  uint64_t max_rows;  // that are wanted; 0 for as many as are granted
} wr_sql_statement;

// Rows of a statement. columns is how many values each has.
//
//   static char room[32768];
//   const wr_sql_value args[] = {wr_sql_text(WR_S("1900-01-01"))};
//   wr_sql_statement born = {.connection = WR_S("main"),
//                            .query = WR_S("select id, name from users where born > $1"),
//                            .args = WR_ARRAY(args)};
//   wr_rows rows = wr_sql_query(r, &born, room, sizeof room);
//   while (wr_rows_next(&rows)) {
//     int64_t id = wr_rows_int(&rows, 0);
//     wr_str name = wr_rows_text(&rows, 1);
//     …
//   }
//   if (rows.code) return rows.code;
//
// The room is where the columns' names and the rows are kept, as many rows as fit at a time: one must. Rows arrive in
// parts of about 256 KiB. Whoever asks the host for something else between two rows, as for those of another statement,
// needs room for a whole part, and a row more: without it rows are lost, which is WR_CODE_INTERNAL. A few statements
// can be read at a time, and those that are not read to their end are over when the handler is.
typedef struct wr_rows {
  wr_code code; // why there is no next row; 0 at the end
  size_t columns;

  struct {
    char *room;
    size_t size, kept;   // bytes of the room, and of those the ones that hold the columns
    wr_str rest;         // of the room: what is to be read
    uint32_t call;       // the service call that answered
    uint32_t len, taken; // bytes of its answer, and of those the ones that were taken from the host
    uint64_t stream;     // of the next part; 0 for none
    bool begun, waiting; // a row has come, and it is still to be given
    wr_str row, values;  // the row, and its values from number next on
    size_t next;
  } own; // the SDK's, not for handlers
} wr_rows;

// Runs a statement. It needs the power "sql". The database lets nothing but reading through. A failure is the code of
// the rows, of which there are none then: WR_CODE_INVALID_PARAMS when the database does not accept the statement or a
// value, WR_CODE_DEADLINE when it takes too long, WR_CODE_TOO_LARGE for more rows or bytes than are granted, and
// WR_CODE_UNAVAILABLE when it cannot be asked now.
wr_rows wr_sql_query(wr_request *r, const wr_sql_statement *s, char *room, size_t size);

// Goes to the next row, the first one at first. False at the end, and when something went wrong.
bool wr_rows_next(wr_rows *rows);

// Values of the row, by column from 0 on. Texts and bytes last until the next row. A value that is null, or of a kind
// that does not fit, is 0 or empty, and WR_CODE_INTERNAL the code of the rows, which end then: the log says why.
bool wr_rows_null(wr_rows *rows, size_t column);
bool wr_rows_bool(wr_rows *rows, size_t column);    // a bool or an int
int64_t wr_rows_int(wr_rows *rows, size_t column);  // an int, a bool, or a text that is one
double wr_rows_float(wr_rows *rows, size_t column); // a float or an int
wr_str wr_rows_text(wr_rows *rows, size_t column);  // a text or bytes
wr_sql_value wr_rows_value(wr_rows *rows, size_t column);

// Describes a column. It lasts as long as the rows.
typedef struct wr_sql_column {
  wr_str name;
  wr_str type; // as the database calls it; empty when it does not say
} wr_sql_column;

wr_sql_column wr_rows_column(const wr_rows *rows, size_t column);

// ---- Values that last

// What describes a value of the provider's own.
typedef struct wr_kv_entry {
  wr_str key;
  uint64_t size;      // bytes of the value
  uint64_t version;   // another one after each put, never one that the key had before; 0 for no value
  int64_t expires_ms; // milliseconds since 1970-01-01 UTC; 0 for never
} wr_kv_entry;

// What else there is to say of a put. The zero value puts a value that stays, whatever was there.
typedef struct wr_kv_options {
  uint64_t ttl_ms;     // how long it lasts; 0 for good
  uint64_t if_version; // puts only in place of this version; 0 for any, or none
  bool if_absent;      // puts only where nothing is
} wr_kv_options;

// A value has another version than was asked for, or is there although it should not be. As an answer of a handler it
// counts as WR_CODE_INTERNAL.
#define WR_CONFLICT (-2)

// The host keeps values from one request to the next, for this provider alone; several instances of it may use them at
// once. They need the power "kv". Keys are texts of 1 to WR_MAX_KEY bytes without control characters, values any bytes,
// close to 1 MiB at most. A key that is none is WR_CODE_INVALID_PARAMS, what is over the quota, by default 10,000 keys
// and 16 MiB, WR_CODE_TOO_LARGE, and what may work later WR_CODE_UNAVAILABLE.

// Gives a value, and what describes it unless entry is NULL. Without a value it is WR_CODE_NOT_FOUND, and *entry zero.
wr_code wr_kv_get(wr_request *r, wr_str key, wr_str *value, wr_kv_entry *entry);

// Puts a value. o may be NULL. When a condition does not hold, nothing is put, and it is WR_CONFLICT. Unless entry is
// NULL, it describes what is there afterwards, in both cases.
//
// Whoever changes a value that others change too reads it, puts it with these options, and begins anew on WR_CONFLICT:
//
//   wr_kv_options if_same = {.if_version = read.version, .if_absent = read.version == 0};
wr_code wr_kv_put(wr_request *r, wr_str key, wr_str value, const wr_kv_options *o, wr_kv_entry *entry);

wr_code wr_kv_delete(wr_str key);                           // to delete what is not there is fine
wr_code wr_kv_delete_version(wr_str key, uint64_t version); // WR_CONFLICT when it has another one, or is not there

// Walks the values whose keys begin with prefix, in the order of their bytes:
//
//   char room[8192];
//   wr_kv_entry entry;
//   wr_keys keys = wr_kv_keys(WR_S("notes/"), room, sizeof room);
//   while (wr_keys_next(&keys, &entry)) …
//   if (keys.code) return keys.code;
//
// The room is where entries are kept, as many as fit at a time, with their keys, which last until the next entry. An
// entry takes its key and up to 48 bytes more. Values that come or go meanwhile are met or not.
typedef struct wr_keys {
  wr_code code; // why there is no next entry; 0 at the end
  wr_str prefix;
  char *room;
  size_t size;
  wr_str rest, last; // entries still to give, and the key of the last one given
  bool more;
} wr_keys;

wr_keys wr_kv_keys(wr_str prefix, char *room, size_t size); // from the first key after keys.last
bool wr_keys_next(wr_keys *keys, wr_kv_entry *entry);

// ---- Log, and the host's functions

// Writes a line to the host's log, with a level as WR_LOG_INFO. It is cut at 1 KiB.
void wr_log(uint32_t level, const char *format, ...) WR_FORMAT(2, 3);

// The host functions of the ABI. Natively, as in tests, they are for you to define.
WR_IMPORT(WR_IMPORT_INFO) uint64_t wr_info(uint32_t id); // as with WR_INFO_WALL_TIME
WR_IMPORT(WR_IMPORT_TAKE) uint32_t wr_host_take(uint32_t channel, void *to, uint32_t off, uint32_t len);
WR_IMPORT(WR_IMPORT_EMIT) int32_t wr_host_emit(const void *frame, uint32_t len);
WR_IMPORT(WR_IMPORT_BODY) int32_t wr_host_body(const void *bytes, uint32_t len);
WR_IMPORT(WR_IMPORT_CALL) uint64_t wr_host_call(uint32_t service, const void *request, uint32_t len);
WR_IMPORT(WR_IMPORT_LOG) void wr_host_log(uint32_t level, const void *text, uint32_t len);

// What the host calls.
WR_EXPORT(WR_EXPORT_CALL) uint32_t wasmres_v1(uint32_t op, uint32_t len);

#ifdef __cplusplus
}
#endif

#endif // WASMRES_H

// ==== Implementation =================================================================================================

#if defined(WASMRES_IMPLEMENTATION) && !defined(WASMRES_IMPLEMENTED)
#define WASMRES_IMPLEMENTED

#include <stdarg.h>

// Memory that is set aside, in bytes. To change it, define these before this header is included. What is not used costs
// nothing but addresses.
#ifndef WASMRES_REQUEST_SIZE
#define WASMRES_REQUEST_SIZE 65536 // the longest request; hosts send none that are longer than this
#endif
#ifndef WASMRES_FRAME_SIZE
#define WASMRES_FRAME_SIZE 65536 // the longest manifest, and what is said of a content or an entry; 1 MiB at most
#endif
#ifndef WASMRES_SCRATCH_SIZE
#define WASMRES_SCRATCH_SIZE 65536 // for wr_alloc and wr_format; what services are asked, and answer, up to 1 MiB each
#endif

#if WASMRES_FRAME_SIZE < 32768 || WASMRES_FRAME_SIZE > 1048576
#error "WASMRES_FRAME_SIZE must be from 32768 to 1048576"
#endif
#if defined(__wasm__) && !defined(__wasm_bulk_memory__) && !defined(__wasi__)
#error "compile with -mbulk-memory: nobody else copies memory where there is no libc"
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
  WRP_FLUSH_AT = 8 << 10,    // a frame is sent when it has grown to this
  WRP_INLINE_MAX = 4 << 10,  // contents up to this travel with their head
  WRP_CHUNK = 48 << 10,      // bytes of a content that are sent at once
  WRP_PIECE_MAX = 768 << 10, // the same for bytes that need no copy; both are multiples of 3, as base64 likes
  WRP_PAGE = 500,            // entries of a page when the host leaves it to the guest
  WRP_SUGGESTIONS = 100,     // which MCP allows in one answer
  WRP_LOG_MAX = 1 << 10,
  WRP_ASK_SIZE = 9 << 10, // a request to a service: two texts of 4 KiB and numbers
  WRP_ENTRY_MIN = 32,     // bytes of an entry of a folder, or of a value's, about
  WRP_ANSWER = 2 << 10,   // bytes of an answer that is small: an entry, whose key has WR_MAX_KEY at most, and more
  WRP_HEAD = 4,           // bytes of a tag and a padded length
};

enum { WRP_VARINT = 0, WRP_FIXED64 = 1, WRP_BYTES = 2, WRP_FIXED32 = 5 }; // wire types

enum { WRP_CLOSED, WRP_INLINE, WRP_BODY }; // states of the last content

#define WRP_ENOUGH (-1) // ends a call without failure: the host has all it wants

static uint8_t wrp_encoded[WASMRES_REQUEST_SIZE];
static uint8_t wrp_frame[WASMRES_FRAME_SIZE];
static uint8_t wrp_chunk[WRP_CHUNK];
static uint8_t wrp_ask[WRP_ASK_SIZE];
static union {
  char bytes[WASMRES_SCRATCH_SIZE];
  long double aligned[1];
} wrp_scratch;

// ---- Texts

static size_t wrp_min(uint64_t a, size_t b) { return a < b ? (size_t)a : b; }

static wr_str wrp_slice(const void *at, size_t len) {
  wr_str s;
  s.at = (const char *)at;
  s.len = len;
  return s;
}

static void wrp_copy(void *to, const void *from, size_t n) {
  if (n > 0) __builtin_memcpy(to, from, n);
}

wr_str wr_cstr(const char *s) {
  size_t n = 0;
  while (s && s[n]) n++;
  return wrp_slice(s, n);
}

bool wr_starts_with(wr_str s, wr_str prefix) {
  if (s.len < prefix.len) return false;
  for (size_t i = 0; i < prefix.len; i++)
    if (s.at[i] != prefix.at[i]) return false;
  return true;
}

bool wr_equal(wr_str a, wr_str b) { return a.len == b.len && wr_starts_with(a, b); }

static char wrp_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c; }

static bool wrp_begins_like(wr_str s, wr_str prefix) {
  if (s.len < prefix.len) return false;
  for (size_t i = 0; i < prefix.len; i++)
    if (wrp_lower(s.at[i]) != wrp_lower(prefix.at[i])) return false;
  return true;
}

bool wr_parse_int(wr_str s, int64_t *n) {
  bool negative = s.len > 0 && s.at[0] == '-';
  uint64_t most = (uint64_t)INT64_MAX + negative, v = 0;
  if (s.len == negative) return false;
  for (size_t i = negative; i < s.len; i++) {
    unsigned digit = (unsigned)(s.at[i] - '0');
    if (digit > 9 || v > (most - digit) / 10) return false;
    v = v * 10 + digit;
  }
  *n = negative && v > 0 ? -(int64_t)(v - 1) - 1 : (int64_t)v;
  return true;
}

// The last part of a URI, which serves as a name.
static wr_str wrp_last_part(wr_str uri) {
  size_t i = uri.len;
  while (i > 0 && uri.at[i - 1] != '/') i--;
  return i < uri.len ? wrp_slice(uri.at + i, uri.len - i) : uri;
}

// The first most bytes of a text, or fewer, so that no part of a character is left.
static wr_str wrp_shorten(wr_str s, size_t most) {
  if (s.len <= most) return s;
  size_t n = most;
  while (n > 0 && ((uint8_t)s.at[n] & 0xc0) == 0x80) n--;
  return wrp_slice(s.at, n);
}

// ---- Formatting

typedef struct wrp_args {
  va_list list;
} wrp_args;

// Where formatted text goes: to a content of r, or to room when r is NULL.
typedef struct wrp_sink {
  wr_request *r;
  char *at, *end;
  bool full; // something had no place
} wrp_sink;

static void wrp_sink_put(wrp_sink *s, const char *at, size_t len) {
  if (s->r) {
    wr_write(s->r, at, len); // a failure stays with r
    return;
  }
  if (s->full) return;
  wr_str part = wrp_shorten(wrp_slice(at, len), (size_t)(s->end - s->at));
  wrp_copy(s->at, part.at, part.len);
  s->at += part.len;
  s->full = part.len < len;
}

static void wrp_pad(wrp_sink *s, char c, int n) {
  while (n-- > 0) wrp_sink_put(s, &c, 1);
}

// A conversion of a format.
typedef struct wrp_spec {
  bool left, zero;
  int width, precision; // precision -1 for none
  int length;           // 'h', 'H' for hh, 'l', 'L' for ll, 'z', 'j', 't' or 0
} wrp_spec;

static uint64_t wrp_signed_arg(wrp_args *a, int length) {
  switch (length) {
  case 'H': return (uint64_t)(signed char)va_arg(a->list, int);
  case 'h': return (uint64_t)(short)va_arg(a->list, int);
  case 'l': return (uint64_t)va_arg(a->list, long);
  case 'L': return (uint64_t)va_arg(a->list, long long);
  case 'j': return (uint64_t)va_arg(a->list, intmax_t);
  case 'z':
  case 't': return (uint64_t)va_arg(a->list, ptrdiff_t);
  }
  return (uint64_t)va_arg(a->list, int);
}

static uint64_t wrp_unsigned_arg(wrp_args *a, int length) {
  switch (length) {
  case 'H': return (unsigned char)va_arg(a->list, unsigned);
  case 'h': return (unsigned short)va_arg(a->list, unsigned);
  case 'l': return va_arg(a->list, unsigned long);
  case 'L': return va_arg(a->list, unsigned long long);
  case 'j': return va_arg(a->list, uintmax_t);
  case 'z':
  case 't': return va_arg(a->list, size_t);
  }
  return va_arg(a->list, unsigned);
}

static void wrp_put_number(wrp_sink *s, const wrp_spec *spec, uint64_t v, bool negative, unsigned base, char ten) {
  char digits[24], *end = digits + sizeof digits, *p = end;
  do {
    unsigned digit = (unsigned)(v % base);
    *--p = (char)(digit < 10 ? '0' + digit : (unsigned)ten + digit - 10);
  } while (v /= base);
  int padding = spec->width - (int)(end - p) - negative;
  bool zero = spec->zero && !spec->left;
  if (!zero && !spec->left) wrp_pad(s, ' ', padding);
  if (negative) wrp_sink_put(s, "-", 1);
  if (zero) wrp_pad(s, '0', padding);
  wrp_sink_put(s, p, (size_t)(end - p));
  if (spec->left) wrp_pad(s, ' ', padding);
}

static void wrp_put_text(wrp_sink *s, const wrp_spec *spec, const char *text) {
  size_t n = 0;
  while (text && (spec->precision < 0 || n < (size_t)spec->precision) && text[n]) n++;
  int padding = n < 1 << 20 ? spec->width - (int)n : 0;
  if (!spec->left) wrp_pad(s, ' ', padding);
  wrp_sink_put(s, text, n);
  if (spec->left) wrp_pad(s, ' ', padding);
}

static const char *wrp_read_count(const char *f, wrp_args *a, int *n) {
  if (*f == '*') {
    *n = va_arg(a->list, int);
    return f + 1;
  }
  for (*n = 0; *f >= '0' && *f <= '9'; f++)
    if (*n < 1 << 20) *n = *n * 10 + (*f - '0');
  return f;
}

static const char *wrp_read_spec(const char *f, wrp_args *a, wrp_spec *spec) {
  spec->left = spec->zero = false;
  spec->precision = -1;
  spec->length = 0;
  for (;; f++)
    if (*f == '-') spec->left = true;
    else if (*f == '0') spec->zero = true;
    else break;
  f = wrp_read_count(f, a, &spec->width);
  if (spec->width < 0) {
    spec->left = true;
    spec->width = spec->width < -INT32_MAX ? 0 : -spec->width;
  }
  if (*f == '.') f = wrp_read_count(f + 1, a, &spec->precision);
  for (; *f == 'h' || *f == 'l' || *f == 'z' || *f == 'j' || *f == 't'; f++)
    spec->length = spec->length == *f ? *f - 'a' + 'A' : *f;
  return f;
}

// Puts one conversion. False when it is none.
static bool wrp_convert(wrp_sink *s, const wrp_spec *spec, char conversion, wrp_args *a) {
  switch (conversion) {
  case 'd':
  case 'i': {
    uint64_t v = wrp_signed_arg(a, spec->length);
    bool negative = v >> 63;
    wrp_put_number(s, spec, negative ? 0 - v : v, negative, 10, 'a');
    return true;
  }
  case 'u': wrp_put_number(s, spec, wrp_unsigned_arg(a, spec->length), false, 10, 'a'); return true;
  case 'x': wrp_put_number(s, spec, wrp_unsigned_arg(a, spec->length), false, 16, 'a'); return true;
  case 'X': wrp_put_number(s, spec, wrp_unsigned_arg(a, spec->length), false, 16, 'A'); return true;
  case 'p': wrp_put_number(s, spec, (uintptr_t)va_arg(a->list, void *), false, 16, 'a'); return true;
  case 's': wrp_put_text(s, spec, va_arg(a->list, const char *)); return true;
  case 'c': {
    char c = (char)va_arg(a->list, int);
    wrp_sink_put(s, &c, 1);
    return true;
  }
  case '%': wrp_sink_put(s, "%", 1); return true;
  }
  return false;
}

static void wrp_format(wrp_sink *s, const char *f, wrp_args *a) {
  for (;;) {
    const char *plain = f;
    while (*f && *f != '%') f++;
    if (f > plain) wrp_sink_put(s, plain, (size_t)(f - plain));
    if (!*f) return;
    wrp_spec spec;
    f = wrp_read_spec(f + 1, a, &spec);
    if (!wrp_convert(s, &spec, *f, a)) return;
    f++;
  }
}

// Formats to room, with a NUL at the end. *full says whether something had no place.
static wr_str wrp_format_into(char *room, size_t size, const char *format, wrp_args *a, bool *full) {
  *full = size == 0;
  if (size == 0) return wrp_slice(NULL, 0);
  wrp_sink s = {NULL, room, room + size - 1, false};
  wrp_format(&s, format, a);
  *s.at = 0;
  *full = s.full;
  return wrp_slice(room, (size_t)(s.at - room));
}

wr_str wr_format_into(char *room, size_t size, const char *format, ...) {
  bool full;
  wrp_args a;
  va_start(a.list, format);
  wr_str text = wrp_format_into(room, size, format, &a, &full);
  va_end(a.list);
  return text;
}

void wr_log(uint32_t level, const char *format, ...) {
  char room[WRP_LOG_MAX + 1];
  bool full;
  wrp_args a;
  va_start(a.list, format);
  wr_str line = wrp_format_into(room, sizeof room, format, &a, &full);
  va_end(a.list);
  wr_host_log(level, line.at, (uint32_t)line.len);
}

// ---- Memory of the request

static wr_code wrp_stop(wr_request *r, wr_code code) {
  if (!r->own.stopped) r->own.stopped = code;
  return r->own.stopped;
}

static void wrp_exhausted(wr_request *r) {
  if (r->own.stopped) return;
  wr_log(WR_LOG_ERROR,
         "wasmres.h: the request needs more than %d bytes of memory: give back what is used no more, with wr_release, "
         "or define WASMRES_SCRATCH_SIZE as more",
         WASMRES_SCRATCH_SIZE);
  wrp_stop(r, WR_CODE_INTERNAL);
}

size_t wr_mark(wr_request *r) { return r->own.scratch; }

void wr_release(wr_request *r, size_t mark) {
  if (mark < r->own.scratch) r->own.scratch = mark;
}

static size_t wrp_aligned(size_t n) { return (n + 15) & ~(size_t)15; }

void *wr_alloc(wr_request *r, size_t size) {
  size_t used = wrp_aligned(r->own.scratch);
  if (used > sizeof wrp_scratch.bytes || size > sizeof wrp_scratch.bytes - used) {
    wrp_exhausted(r);
    return NULL;
  }
  r->own.scratch = used + size;
  return wrp_scratch.bytes + used;
}

wr_str wr_format(wr_request *r, const char *format, ...) {
  size_t used = r->own.scratch;
  bool full;
  wrp_args a;
  va_start(a.list, format);
  wr_str text = wrp_format_into(wrp_scratch.bytes + used, sizeof wrp_scratch.bytes - used, format, &a, &full);
  va_end(a.list);
  if (full) {
    wrp_exhausted(r);
    return wrp_slice("", 0);
  }
  r->own.scratch = used + text.len + 1;
  return text;
}

// ---- Formatting doubles

enum { WRP_BIG_WORDS = 40, WRP_DIGITS = 17 }; // 10^324 * 2^56, and more; digits of a double at most

// A natural number.
typedef struct wrp_big {
  uint32_t words[WRP_BIG_WORDS]; // the lowest first
  size_t count;                  // of those that are not zero, or below such
} wrp_big;

static wrp_big wrp_big_of(uint64_t n, unsigned shift) {
  wrp_big b;
  __builtin_memset(&b, 0, sizeof b);
  size_t at = shift / 32;
  for (shift %= 32; n; n >>= 32) {
    uint64_t part = (n & UINT32_MAX) << shift;
    b.words[at++] |= (uint32_t)part;
    b.words[at] = (uint32_t)(part >> 32);
  }
  for (b.count = WRP_BIG_WORDS; b.count > 0 && !b.words[b.count - 1];) b.count--;
  return b;
}

static void wrp_big_multiply(wrp_big *b, uint32_t factor) {
  uint64_t carry = 0;
  for (size_t i = 0; i < b->count; i++) {
    carry += (uint64_t)b->words[i] * factor;
    b->words[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry) b->words[b->count++] = (uint32_t)carry;
}

static wrp_big wrp_big_sum(const wrp_big *a, const wrp_big *b) {
  wrp_big sum = *a;
  uint64_t carry = 0;
  for (size_t i = 0; i < sum.count || i < b->count || carry; i++) {
    carry += (uint64_t)sum.words[i] + b->words[i];
    sum.words[i] = (uint32_t)carry;
    carry >>= 32;
    if (i >= sum.count) sum.count = i + 1;
  }
  return sum;
}

// Takes b, which is not more, off a.
static void wrp_big_subtract(wrp_big *a, const wrp_big *b) {
  int64_t borrow = 0;
  for (size_t i = 0; i < a->count; i++) {
    borrow += (int64_t)a->words[i] - b->words[i];
    a->words[i] = (uint32_t)borrow;
    borrow = borrow < 0 ? -1 : 0;
  }
  while (a->count > 0 && !a->words[a->count - 1]) a->count--;
}

// Negative, 0 or positive, as a is less than b, equal, or more.
static int wrp_big_compare(const wrp_big *a, const wrp_big *b) {
  if (a->count != b->count) return a->count < b->count ? -1 : 1;
  for (size_t i = a->count; i-- > 0;)
    if (a->words[i] != b->words[i]) return a->words[i] < b->words[i] ? -1 : 1;
  return 0;
}

// A double that is being written: value / one of it is left, and what is within low / one below, and high / one above,
// is read back as the same. Steele and White's algorithm, with numbers of any size.
typedef struct wrp_double_left {
  wrp_big value, low, high, one;
  bool even; // the bounds are read back as the same, too
} wrp_double_left;

static bool wrp_ends_low(const wrp_double_left *d) { return wrp_big_compare(&d->value, &d->low) < d->even; }

static bool wrp_ends_high(const wrp_double_left *d) {
  wrp_big sum = wrp_big_sum(&d->value, &d->high);
  return wrp_big_compare(&sum, &d->one) > -d->even;
}

static void wrp_times_ten(wrp_double_left *d) {
  wrp_big_multiply(&d->value, 10);
  wrp_big_multiply(&d->low, 10);
  wrp_big_multiply(&d->high, 10);
}

// Takes fraction * 2^exponent apart, and scales it below 1. Gives the power of ten.
static int wrp_scale(wrp_double_left *d, uint64_t fraction, int exponent, bool lowest) {
  unsigned up = exponent > 0 ? (unsigned)exponent : 0, down = exponent < 0 ? (unsigned)-exponent : 0;
  unsigned uneven = fraction == (uint64_t)1 << 52 && !lowest; // numbers below are twice as close
  d->value = wrp_big_of(fraction, up + 1 + uneven);
  d->one = wrp_big_of(1, down + 1 + uneven);
  d->low = wrp_big_of(1, up);
  d->high = wrp_big_of(1, up + uneven);
  d->even = fraction % 2 == 0;
  int power = 0;
  for (; wrp_ends_high(d); power++) wrp_big_multiply(&d->one, 10);
  for (;; power--) {
    wrp_double_left tenfold = *d;
    wrp_times_ten(&tenfold);
    if (wrp_ends_high(&tenfold)) return power;
    *d = tenfold;
  }
}

// Writes the digits of what wrp_scale left, and gives how many there are.
static int wrp_generate(wrp_double_left *d, char *digits) {
  for (int n = 0;;) {
    wrp_times_ten(d);
    char digit = '0';
    for (; wrp_big_compare(&d->value, &d->one) >= 0; digit++) wrp_big_subtract(&d->value, &d->one);
    bool low = wrp_ends_low(d), high = wrp_ends_high(d);
    digits[n++] = digit;
    if (!low && !high) continue;
    wrp_big twice = wrp_big_sum(&d->value, &d->value);
    int half = wrp_big_compare(&twice, &d->one);
    if (high && (!low || half > 0 || (half == 0 && digit % 2))) digits[n - 1]++; // halves go to even digits
    return n;
  }
}

// Lays out n digits, of which the point stands after the first `point`, as JavaScript does.
static wr_str wrp_lay_out(wr_request *r, const char *sign, const char *digits, int n, int point) {
  static const char zeros[] = "00000000000000000000";
  if (point > 21 || point < -5)
    return wr_format(r, "%s%c%s%.*se%s%d", sign, digits[0], n > 1 ? "." : "", n - 1, digits + 1, point > 0 ? "+" : "",
                     point - 1);
  if (point <= 0) return wr_format(r, "%s0.%.*s%.*s", sign, -point, zeros, n, digits);
  if (point >= n) return wr_format(r, "%s%.*s%.*s", sign, n, digits, point - n, zeros);
  return wr_format(r, "%s%.*s.%.*s", sign, point, digits, n - point, digits + point);
}

wr_str wr_format_double(wr_request *r, double x) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const char *sign = bits >> 63 ? "-" : "";
  uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
  int exponent = (int)(bits >> 52 & 2047);
  if (exponent == 2047) return fraction ? wr_format(r, "NaN") : wr_format(r, "%sInfinity", sign);
  if (exponent == 0 && fraction == 0) return wr_format(r, "%s0", sign);
  bool lowest = exponent <= 1;
  if (exponent == 0) exponent = 1;
  else fraction |= (uint64_t)1 << 52;
  char digits[WRP_DIGITS + 1] = {0};
  wrp_double_left d;
  int point = wrp_scale(&d, fraction, exponent - 1075, lowest);
  int n = wrp_generate(&d, digits);
  return wrp_lay_out(r, sign, digits, n, point);
}

// ---- Writing messages

static void wrp_raw(wr_writer *w, const void *bytes, size_t n) {
  if (n > (size_t)(w->end - w->at)) w->full = true;
  if (w->full) return;
  wrp_copy(w->at, bytes, n);
  w->at += n;
}

static void wrp_varint(wr_writer *w, uint64_t v) {
  uint8_t b[10];
  size_t n = 0;
  for (; v >= 0x80; v >>= 7) b[n++] = (uint8_t)(v | 0x80);
  b[n++] = (uint8_t)v;
  wrp_raw(w, b, n);
}

static void wrp_tag(wr_writer *w, uint32_t field, uint32_t type) { wrp_varint(w, field << 3 | type); }

// One element of a repeated field, even when it is empty.
static void wrp_element(wr_writer *w, uint32_t field, wr_str s) {
  wrp_tag(w, field, WRP_BYTES);
  wrp_varint(w, s.len);
  wrp_raw(w, s.at, s.len);
}

static void wrp_str(wr_writer *w, uint32_t field, wr_str s) {
  if (s.len > 0) wrp_element(w, field, s);
}

static void wrp_cstr(wr_writer *w, uint32_t field, const char *s) { wrp_str(w, field, wr_cstr(s)); }

static void wrp_uint(wr_writer *w, uint32_t field, uint64_t v) {
  if (v == 0) return;
  wrp_tag(w, field, WRP_VARINT);
  wrp_varint(w, v);
}

static void wrp_double(wr_writer *w, uint32_t field, double v) {
  uint64_t bits;
  uint8_t b[8];
  __builtin_memcpy(&bits, &v, sizeof bits);
  for (int i = 0; i < 8; i++) b[i] = (uint8_t)(bits >> 8 * i);
  wrp_tag(w, field, WRP_FIXED64);
  wrp_raw(w, b, sizeof b);
}

// Opens an embedded message, or a text, with room for its length. field is at most 15.
static uint8_t *wrp_open(wr_writer *w, uint32_t field) {
  const uint8_t head[WRP_HEAD] = {(uint8_t)(field << 3 | WRP_BYTES), 0x80, 0x80, 0};
  wrp_raw(w, head, sizeof head);
  return w->at;
}

// Closes what wrp_open opened at a place.
static void wrp_close(wr_writer *w, uint8_t *at) {
  if (w->full) return;
  size_t n = (size_t)(w->at - at); // fits: frames have at most 1 MiB
  at[-3] = (uint8_t)(n | 0x80);
  at[-2] = (uint8_t)(n >> 7 | 0x80);
  at[-1] = (uint8_t)(n >> 14);
}

// A time in RFC 3339, if there is one, of the years 1970 to 9999.
static void wrp_time(wr_writer *w, uint32_t field, int64_t ms) {
  if (ms <= 0 || ms >= 253402300800000) return;
  uint32_t second = (uint32_t)(ms / 1000 % 86400);
  uint32_t days = (uint32_t)(ms / 86400000) + 719468; // since 0000-03-01
  uint32_t era = days / 146097, of_era = days % 146097;
  uint32_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  uint32_t of_year = of_era - (365 * year + year / 4 - year / 100);
  uint32_t month = (5 * of_year + 2) / 153; // from March on
  uint32_t day = of_year - (153 * month + 2) / 5 + 1;
  month = month < 10 ? month + 3 : month - 9;
  year += era * 400 + (month <= 2);
  char room[24];
  wrp_str(w, field, wr_format_into(room, sizeof room, "%04u-%02u-%02uT%02u:%02u:%02uZ", (unsigned)year, (unsigned)month,
                                   (unsigned)day, (unsigned)(second / 3600), (unsigned)(second / 60 % 60),
                                   (unsigned)(second % 60)));
}

// ---- Reading messages

typedef struct wrp_field {
  uint32_t number, type;
  uint64_t bits; // of numbers
  wr_str text;   // of texts, bytes and messages
} wrp_field;

// Takes a number of at most so many bytes off *s.
static bool wrp_take_varint(wr_str *s, size_t most, uint64_t *v) {
  *v = 0;
  for (size_t i = 0; i < s->len && i < most; i++) {
    uint8_t b = (uint8_t)s->at[i];
    if (i == 9 && b > 1) return false;
    *v |= (uint64_t)(b & 0x7f) << 7 * i;
    if (b >= 0x80) continue;
    *s = wrp_slice(s->at + i + 1, s->len - i - 1);
    return true;
  }
  return false;
}

static wr_str wrp_cut(wr_str *s, size_t n) {
  wr_str head = wrp_slice(s->at, n);
  *s = wrp_slice(s->at + n, s->len - n);
  return head;
}

// Takes the first field off *s. False when there is none: at the end, where *s is empty, and before what is no field,
// where it is not.
static bool wrp_take(wr_str *s, wrp_field *f) {
  wr_str rest = *s;
  uint64_t tag, n = 0;
  if (!wrp_take_varint(&rest, 5, &tag) || tag > UINT32_MAX || tag >> 3 == 0) return false;
  f->number = (uint32_t)tag >> 3;
  f->type = tag & 7;
  f->bits = 0;
  switch (f->type) {
  case WRP_VARINT:
    if (!wrp_take_varint(&rest, 10, &f->bits)) return false;
    break;
  case WRP_BYTES:
    if (!wrp_take_varint(&rest, 5, &n)) return false;
    break;
  case WRP_FIXED64: n = 8; break;
  case WRP_FIXED32: n = 4; break;
  default: return false;
  }
  if (n > rest.len) return false;
  f->text = wrp_cut(&rest, (size_t)n);
  *s = rest;
  return true;
}

static bool wrp_set_text(const wrp_field *f, wr_str *s) {
  *s = f->text;
  return f->type == WRP_BYTES;
}

static bool wrp_set_uint(const wrp_field *f, uint64_t *v) {
  *v = f->bits;
  return f->type == WRP_VARINT;
}

// Reads a Var, and says whether it is well-formed.
static bool wrp_read_var(wr_str encoded, wr_str *name, wr_str *value) {
  wrp_field f;
  *name = *value = wrp_slice("", 0);
  while (wrp_take(&encoded, &f)) {
    if (f.number == 1 && !wrp_set_text(&f, name)) return false;
    if (f.number == 2 && !wrp_set_text(&f, value)) return false;
  }
  return encoded.len == 0;
}

static bool wrp_read_principal(wr_str encoded, wr_principal *p) {
  wrp_field f;
  wr_str scope;
  __builtin_memset(p, 0, sizeof *p);
  p->encoded = encoded;
  while (wrp_take(&encoded, &f)) {
    if (f.number == 1 && !wrp_set_text(&f, &p->subject)) return false;
    if (f.number == 2 && !wrp_set_text(&f, &p->tenant)) return false;
    if (f.number == 3 && !wrp_set_text(&f, &scope)) return false;
    if (f.number == 4 && !wrp_set_text(&f, &p->claims_json)) return false;
  }
  return encoded.len == 0;
}

static bool wrp_set(wr_request *r, const wrp_field *f, uint64_t *route) {
  wr_str name, value;
  uint64_t limit;
  switch (f->number) {
  case 1: return wrp_set_text(f, &r->uri);
  case 2: return wrp_set_uint(f, route) && *route <= UINT32_MAX;
  case 3: return f->type == WRP_BYTES && wrp_read_var(f->text, &name, &value);
  case 4: return wrp_set_text(f, &r->cursor);
  case 5:
    r->limit = (uint32_t)f->bits;
    return wrp_set_uint(f, &limit) && limit <= UINT32_MAX;
  case 6: return wrp_set_uint(f, &r->range_offset);
  case 7: return wrp_set_uint(f, &r->range_length);
  case 8: return wrp_set_text(f, &r->if_none_match);
  case 9: return wrp_set_uint(f, &r->max_bytes);
  case 10: return wrp_set_text(f, &r->own.argument);
  case 11: return wrp_set_text(f, &r->own.typed);
  case 12:
    r->principal = &r->own.principal;
    return f->type == WRP_BYTES && wrp_read_principal(f->text, &r->own.principal);
  case 13: return wrp_set_text(f, &r->meta_json);
  }
  return true;
}

// Fills in r, and says whether the request is well-formed.
static bool wrp_decode(wr_request *r, uint64_t *route) {
  wr_str rest = r->own.encoded;
  wrp_field f;
  *route = 0;
  while (wrp_take(&rest, &f))
    if (!wrp_set(r, &f, route)) return false;
  return rest.len == 0;
}

wr_texts wr_vars(const wr_request *r, const char *name) {
  wr_texts t;
  t.rest = r->own.encoded;
  t.variable = name;
  return t;
}

wr_texts wr_scopes(const wr_request *r) {
  wr_texts t;
  t.rest = r->own.principal.encoded;
  t.variable = NULL;
  return t;
}

bool wr_next(wr_texts *texts, wr_str *text) {
  wrp_field f;
  wr_str name;
  while (wrp_take(&texts->rest, &f)) {
    if (f.number != 3) continue; // Request.var as well as Principal.scope
    *text = f.text;
    if (!texts->variable) return true;
    if (wrp_read_var(f.text, &name, text) && wr_equal(name, wr_cstr(texts->variable))) return true;
  }
  *text = wrp_slice(NULL, 0);
  return false;
}

wr_str wr_var(const wr_request *r, const char *name) {
  wr_texts values = wr_vars(r, name);
  wr_str value;
  wr_next(&values, &value);
  return value;
}

wr_code wr_var_int(wr_request *r, const char *name, int64_t least, int64_t most, int64_t *n) {
  wr_str value = wr_var(r, name);
  int64_t v;
  if (wr_parse_int(value, &v) && v >= least && v <= most) {
    *n = v;
    return WR_CODE_OK;
  }
  value = wrp_shorten(value, 40);
  return wr_invalid(r, "%s is not a whole number from %lld to %lld: \"%.*s\"", name, (long long)least, (long long)most,
                    WR_ARG(value));
}

// ---- Sending

static wr_code wrp_heed(wr_request *r, int32_t signal) {
  switch (signal) {
  case WR_SIGNAL_MORE: return WR_CODE_OK;
  case WR_SIGNAL_DEADLINE: return wrp_stop(r, WR_CODE_DEADLINE);
  case WR_SIGNAL_TOO_LARGE: return wrp_stop(r, WR_CODE_TOO_LARGE);
  case WR_SIGNAL_BAD_FRAME: return wrp_stop(r, WR_CODE_INTERNAL);
  }
  return wrp_stop(r, signal > 0 ? WRP_ENOUGH : WR_CODE_CANCELLED);
}

static wr_code wrp_flush(wr_request *r) {
  wr_writer *w = &r->own.frame;
  size_t n = (size_t)(w->at - w->start);
  w->at = w->start;
  if (r->own.stopped || n == 0) return r->own.stopped;
  return wrp_heed(r, wr_host_emit(w->start, (uint32_t)n));
}

// Opens a message of the reply, for which there is room: what was closed before it has less than WRP_FLUSH_AT bytes.
static uint8_t *wrp_open_field(wr_request *r, uint32_t field) { return wrp_open(&r->own.frame, field); }

// Closes it, and sends the frame if it has grown enough; or takes it back when it is too large for a frame.
static wr_code wrp_close_field(wr_request *r, uint8_t *at, const char *what) {
  wr_writer *w = &r->own.frame;
  wrp_close(w, at);
  if (!w->full) return w->at - w->start >= WRP_FLUSH_AT ? wrp_flush(r) : r->own.stopped;
  w->at = at - WRP_HEAD;
  w->full = false;
  wr_log(WR_LOG_ERROR, "wasmres.h: %s has no place in %d bytes: define WASMRES_FRAME_SIZE as more", what,
         WASMRES_FRAME_SIZE - WRP_FLUSH_AT);
  return wrp_stop(r, WR_CODE_INTERNAL);
}

static wr_code wrp_body(wr_request *r, const void *bytes, size_t n) {
  const uint8_t *p = (const uint8_t *)bytes;
  while (n > 0 && !r->own.stopped) {
    size_t piece = wrp_min(WRP_PIECE_MAX, n);
    wrp_heed(r, wr_host_body(p, (uint32_t)piece));
    p += piece;
    n -= piece;
  }
  return r->own.stopped;
}

wr_code wr_check(wr_request *r) {
  if (!r->own.stopped && wr_info(WR_INFO_DEADLINE) == 0) wrp_stop(r, WR_CODE_DEADLINE);
  return r->own.stopped;
}

// ---- Contents

static wr_str wrp_mime(const wr_request *r, const wr_content *c, uint32_t kind) {
  if (c->mime.len > 0) return c->mime;
  if (r->route && r->route->mime) return wr_cstr(r->route->mime);
  return wr_cstr(kind == WR_KIND_TEXT ? "text/plain" : "application/octet-stream");
}

// Lets the bytes of an inline content follow its head instead.
static wr_code wrp_outline(wr_request *r) {
  wr_writer *w = &r->own.frame;
  r->own.staged = (size_t)(w->at - r->own.text);
  wrp_copy(wrp_chunk, r->own.text, r->own.staged);
  w->at = r->own.text - WRP_HEAD;
  wrp_uint(w, 5, r->own.kind);
  wrp_uint(w, 6, r->own.size);
  r->own.content = WRP_BODY;
  wr_code code = wrp_close_field(r, r->own.head, "what is said of a content");
  return code ? code : wrp_flush(r);
}

static wr_code wrp_end_content(wr_request *r) {
  int content = r->own.content;
  r->own.content = WRP_CLOSED;
  if (r->own.stopped) return r->own.stopped;
  if (content == WRP_BODY) return wrp_body(r, wrp_chunk, r->own.staged);
  if (content != WRP_INLINE) return WR_CODE_OK;
  wrp_close(&r->own.frame, r->own.text);
  return wrp_close_field(r, r->own.head, "a content");
}

// Counts bytes of a content that are about to be sent.
static wr_code wrp_account(wr_request *r, uint64_t n) {
  r->own.sent += n;
  return r->max_bytes && r->own.sent > r->max_bytes ? wrp_stop(r, WR_CODE_TOO_LARGE) : r->own.stopped;
}

wr_code wr_begin(wr_request *r, const wr_content *c) {
  wr_content plain;
  wr_writer *w = &r->own.frame;
  if (!c) {
    __builtin_memset(&plain, 0, sizeof plain);
    c = &plain;
  }
  if (wrp_end_content(r)) return r->own.stopped;
  r->own.kind = c->kind == WR_KIND_BLOB ? WR_KIND_BLOB : WR_KIND_TEXT;
  r->own.size = c->range.length ? c->range.length : c->size;
  r->own.staged = 0;
  r->own.count++;
  if (r->max_bytes && r->own.size > r->max_bytes) return wrp_stop(r, WR_CODE_TOO_LARGE);
  r->own.head = wrp_open_field(r, 3);
  wrp_str(w, 1, c->uri.len ? c->uri : r->uri);
  wrp_str(w, 2, wrp_mime(r, c, r->own.kind));
  wrp_str(w, 7, c->etag);
  wrp_time(w, 8, c->modified_ms);
  wrp_str(w, 9, c->meta_json);
  wrp_uint(w, 11, c->range.total);
  r->own.text = wrp_open(w, r->own.kind == WR_KIND_TEXT ? 3 : 4);
  if (w->full) return wrp_close_field(r, r->own.head, "what is said of a content");
  r->own.content = WRP_INLINE;
  return r->own.size > WRP_INLINE_MAX ? wrp_outline(r) : r->own.stopped;
}

// Puts bytes beside those that wait, and sends whole chunks.
static wr_code wrp_stage(wr_request *r, const uint8_t *p, size_t n) {
  while (n > 0 && !r->own.stopped) {
    if (r->own.staged == 0 && n >= WRP_CHUNK) return wrp_body(r, p, n);
    size_t part = wrp_min(n, WRP_CHUNK - r->own.staged);
    wrp_copy(wrp_chunk + r->own.staged, p, part);
    r->own.staged += part;
    p += part;
    n -= part;
    if (r->own.staged < WRP_CHUNK) break;
    r->own.staged = 0;
    wrp_body(r, wrp_chunk, WRP_CHUNK);
  }
  return r->own.stopped;
}

static wr_code wrp_write(wr_request *r, const void *bytes, size_t len) {
  wr_writer *w = &r->own.frame;
  if (r->own.stopped || wrp_account(r, len)) return r->own.stopped;
  if (r->own.content == WRP_INLINE) {
    size_t grown = (size_t)(w->at - r->own.text) + len;
    if (grown <= WRP_INLINE_MAX && len <= (size_t)(w->end - w->at)) {
      wrp_raw(w, bytes, len);
      return WR_CODE_OK;
    }
    if (wrp_outline(r)) return r->own.stopped;
  }
  return wrp_stage(r, (const uint8_t *)bytes, len);
}

wr_code wr_write(wr_request *r, const void *bytes, size_t len) {
  if (r->own.content == WRP_CLOSED) {
    wr_content c;
    __builtin_memset(&c, 0, sizeof c);
    c.kind = WR_KIND_BLOB;
    wr_begin(r, &c);
  }
  return wrp_write(r, bytes, len);
}

wr_code wr_print(wr_request *r, const char *format, ...) {
  if (r->own.content == WRP_CLOSED) wr_begin(r, NULL);
  wrp_sink s = {r, NULL, NULL, false};
  wrp_args a;
  va_start(a.list, format);
  wrp_format(&s, format, &a);
  va_end(a.list);
  return r->own.stopped;
}

wr_range wr_range_of(const wr_request *r, uint64_t total) {
  wr_range part;
  part.offset = r->range_offset < total ? r->range_offset : total;
  part.length = total - part.offset;
  if (r->range_length && r->range_length < part.length) part.length = r->range_length;
  part.total = r->range_offset || r->range_length ? total : 0;
  return part;
}

wr_code wr_put(wr_request *r, const wr_content *c, const void *bytes, size_t len) {
  wr_content whole;
  __builtin_memset(&whole, 0, sizeof whole);
  if (c) whole = *c;
  if (!r->route || !r->route->ranges) {
    __builtin_memset(&whole.range, 0, sizeof whole.range);
    whole.range.length = len;
  } else {
    whole.range = wr_range_of(r, len);
  }
  whole.size = whole.range.length;
  const uint8_t *p = (const uint8_t *)bytes;
  if (whole.range.offset > 0) p += whole.range.offset;
  len = (size_t)whole.range.length;
  if (wr_begin(r, &whole) || wrp_account(r, len)) return r->own.stopped;
  if (r->own.content == WRP_BODY) wrp_body(r, p, len);
  else wrp_raw(&r->own.frame, p, len);
  return wrp_end_content(r);
}

wr_code wr_text(wr_request *r, wr_str text) { return wr_put(r, NULL, text.at, text.len); }

wr_code wr_bytes(wr_request *r, const void *bytes, size_t len) {
  wr_content c;
  __builtin_memset(&c, 0, sizeof c);
  c.kind = WR_KIND_BLOB;
  return wr_put(r, &c, bytes, len);
}

// A content that has no bytes: its version, and whether the asker has it.
static wr_code wrp_put_version(wr_request *r, wr_str etag) {
  wr_writer *w = &r->own.frame;
  if (wrp_end_content(r)) return r->own.stopped;
  uint8_t *at = wrp_open_field(r, 3);
  wrp_str(w, 1, r->uri);
  wrp_str(w, 7, etag);
  wrp_uint(w, 10, etag.len > 0 && wr_equal(etag, r->if_none_match));
  r->own.count++;
  return wrp_close_field(r, at, "a version");
}

bool wr_unmodified(wr_request *r, wr_str etag) {
  if (etag.len == 0 || !wr_equal(etag, r->if_none_match)) return false;
  wrp_put_version(r, etag);
  return true;
}

void wr_cache(wr_request *r, uint64_t ttl_ms, uint32_t scope) {
  r->own.ttl_ms = ttl_ms;
  r->own.cache_scope = scope;
}

wr_code wr_progress(wr_request *r, double done, double total, wr_str message) {
  if (r->own.content == WRP_INLINE) wrp_outline(r); // its bytes can follow the report
  uint8_t *at = wrp_open_field(r, 15);
  wrp_double(&r->own.frame, 1, done);
  wrp_double(&r->own.frame, 2, total);
  wrp_str(&r->own.frame, 3, message);
  wr_code code = wrp_close_field(r, at, "a report of progress");
  return code ? code : wrp_flush(r);
}

// ---- Entries

static void wrp_put_icon(wr_writer *w, const wr_icon *icon) {
  uint8_t *at = wrp_open(w, 10);
  wrp_cstr(w, 1, icon->src);
  wrp_cstr(w, 2, icon->mime);
  for (size_t i = 0; i < icon->sizes.count; i++) wrp_element(w, 3, wr_cstr(icon->sizes.at[i]));
  wrp_cstr(w, 4, icon->theme);
  wrp_close(w, at);
}

// The fields that Resource and Template share.
static void wrp_put_entry(wr_writer *w, const wr_entry *e) {
  wrp_str(w, 1, e->uri);
  wrp_str(w, 2, e->name.len > 0 ? e->name : wrp_last_part(e->uri));
  wrp_str(w, 3, e->title);
  wrp_str(w, 4, e->description);
  wrp_str(w, 5, e->mime);
  wrp_uint(w, 6, e->size);
  if (e->priority != 0) wrp_double(w, 7, e->priority < 0 ? 0 : e->priority);
  wrp_time(w, 8, e->modified_ms);
  wrp_uint(w, 9, e->audience);
  for (size_t i = 0; i < e->icons.count; i++) wrp_put_icon(w, &e->icons.at[i]);
  wrp_str(w, 11, e->meta_json);
}

static bool wrp_page_full(const wr_request *r) { return r->own.stopped || r->own.count >= r->limit; }

bool wr_add(wr_request *r, const wr_entry *e) {
  if (wrp_page_full(r)) return false;
  uint8_t *at = wrp_open_field(r, 1);
  wrp_put_entry(&r->own.frame, e);
  r->own.count++;
  wrp_close_field(r, at, "an entry");
  return true;
}

void wr_next_cursor(wr_request *r, wr_str cursor) { r->own.next_cursor = cursor; }

wr_code wr_each(wr_request *r, uint64_t n, void (*entry)(wr_request *r, uint64_t i, wr_entry *e)) {
  int64_t start = 0;
  if (r->cursor.len > 0 && (!wr_parse_int(r->cursor, &start) || start < 0 || (uint64_t)start > n))
    return wr_invalid(r, "unknown cursor");
  uint64_t i = (uint64_t)start;
  for (size_t mark = wr_mark(r); i < n && !wrp_page_full(r); i++, wr_release(r, mark)) {
    wr_entry e;
    __builtin_memset(&e, 0, sizeof e);
    entry(r, i, &e);
    if (!wr_add(r, &e)) break;
  }
  if (i < n) wr_next_cursor(r, wr_format(r, "%llu", (unsigned long long)i));
  return WR_CODE_OK;
}

wr_code wr_suggest(wr_request *r, wr_str value) {
  if (r->own.stopped || r->own.count++ >= WRP_SUGGESTIONS) return r->own.stopped;
  uint8_t *at = wrp_open_field(r, 6);
  wrp_raw(&r->own.frame, value.at, value.len);
  return wrp_close_field(r, at, "a suggestion");
}

// ---- Failing

wr_code wr_fail(wr_request *r, const wr_error *e) {
  wr_code code = e->code > WR_CODE_OK && e->code < WR_CODE_INPUT_REQUIRED ? e->code : WR_CODE_INTERNAL;
  r->own.failed = code;
  r->own.message = wr_format_into(r->own.room, sizeof r->own.room, "%.*s", WR_ARG(e->message));
  r->own.data_json = e->data_json;
  r->own.retry_after_ms = e->retry_after_ms;
  return code;
}

static wr_code wrp_fail(wr_request *r, wr_code code, uint64_t retry_after_ms, const char *format, wrp_args *a) {
  char room[sizeof r->own.room];
  bool full;
  wr_error e;
  __builtin_memset(&e, 0, sizeof e);
  e.code = code;
  e.message = wrp_format_into(room, sizeof room, format, a, &full);
  e.retry_after_ms = retry_after_ms;
  return wr_fail(r, &e);
}

wr_code wr_not_found(wr_request *r, const char *format, ...) {
  wrp_args a;
  va_start(a.list, format);
  wr_code code = wrp_fail(r, WR_CODE_NOT_FOUND, 0, format, &a);
  va_end(a.list);
  return code;
}

wr_code wr_invalid(wr_request *r, const char *format, ...) {
  wrp_args a;
  va_start(a.list, format);
  wr_code code = wrp_fail(r, WR_CODE_INVALID_PARAMS, 0, format, &a);
  va_end(a.list);
  return code;
}

wr_code wr_denied(wr_request *r, const char *format, ...) {
  wrp_args a;
  va_start(a.list, format);
  wr_code code = wrp_fail(r, WR_CODE_DENIED, 0, format, &a);
  va_end(a.list);
  return code;
}

wr_code wr_unavailable(wr_request *r, uint64_t retry_after_ms, const char *format, ...) {
  wrp_args a;
  va_start(a.list, format);
  wr_code code = wrp_fail(r, WR_CODE_UNAVAILABLE, retry_after_ms, format, &a);
  va_end(a.list);
  return code;
}

// ---- Services

static wr_writer wrp_request(void) {
  wr_writer w;
  w.start = w.at = wrp_ask;
  w.end = wrp_ask + sizeof wrp_ask;
  w.full = false;
  return w;
}

static uint32_t wrp_calls; // so far; what the host has beside an answer is gone with the next one

static wr_code wrp_call(uint32_t service, const wr_writer *w, uint32_t *response) {
  *response = 0;
  if (w->full) return WR_CODE_INVALID_PARAMS;
  wrp_calls++;
  uint64_t answer = wr_host_call(service, w->start, (uint32_t)(w->at - w->start));
  *response = (uint32_t)answer;
  return answer >> 32 < WR_CODE_INPUT_REQUIRED ? (wr_code)(answer >> 32) : WR_CODE_INTERNAL;
}

// A request that may be large, in memory of the request that is not taken yet.
static wr_writer wrp_large_request(wr_request *r) {
  wr_writer w;
  w.start = w.at = (uint8_t *)wrp_scratch.bytes + r->own.scratch;
  w.end = w.start + wrp_min(WR_MAX_SERVICE, sizeof wrp_scratch.bytes - r->own.scratch);
  w.full = false;
  return w;
}

static wr_code wrp_large_call(wr_request *r, uint32_t service, const wr_writer *w, uint32_t *response) {
  *response = 0;
  if (!w->full) return wrp_call(service, w, response);
  if (w->end - w->start == WR_MAX_SERVICE) return WR_CODE_TOO_LARGE;
  wrp_exhausted(r);
  return r->own.stopped;
}

// Takes n bytes of a channel over to memory of the request. False when there is no memory, or there are fewer.
static bool wrp_take_over(wr_request *r, uint32_t channel, uint32_t n, wr_str *bytes) {
  void *room = wr_alloc(r, n);
  *bytes = wrp_slice(room, room ? wr_host_take(channel, room, 0, n) : 0);
  return room && bytes->len == n;
}

static bool wrp_configured(wr_request *r, const wr_writer *w, wr_str *value) {
  uint32_t n;
  wr_str rest;
  wrp_field f;
  *value = wrp_slice("", 0);
  if (wrp_call(WR_SERVICE_CONFIG, w, &n) || !wrp_take_over(r, WR_CHANNEL_RESPONSE, n, &rest)) return false;
  while (wrp_take(&rest, &f))
    if (f.number == 1 && !wrp_set_text(&f, value)) return false;
  return rest.len == 0;
}

bool wr_config(wr_request *r, const char *key, wr_str *value) {
  wr_writer w = wrp_request();
  wrp_cstr(&w, 1, key);
  return wrp_configured(r, &w, value);
}

bool wr_env(wr_request *r, const char *name, wr_str *value) {
  const wr_str space = WR_S("env:");
  wr_str variable = wr_cstr(name);
  wr_writer w = wrp_request();
  wrp_tag(&w, 1, WRP_BYTES);
  wrp_varint(&w, space.len + variable.len);
  wrp_raw(&w, space.at, space.len);
  wrp_raw(&w, variable.at, variable.len);
  return wrp_configured(r, &w, value);
}

wr_code wr_notify_updated(wr_str uri) {
  wr_writer w = wrp_request();
  uint32_t n;
  wrp_str(&w, 1, uri);
  return wrp_call(WR_SERVICE_NOTIFY_UPDATED, &w, &n);
}

wr_code wr_notify_list_changed(void) {
  wr_writer w = wrp_request();
  uint32_t n;
  return wrp_call(WR_SERVICE_NOTIFY_LIST, &w, &n);
}

static bool wrp_set_file(wr_file *file, const wrp_field *f) {
  uint64_t bits;
  switch (f->number) {
  case 1: return wrp_set_text(f, &file->name);
  case 2: return wrp_set_uint(f, &file->size);
  case 3:
    file->modified_ms = (int64_t)f->bits;
    return wrp_set_uint(f, &bits);
  case 4:
    file->dir = f->bits != 0;
    return wrp_set_uint(f, &bits);
  }
  return true;
}

// Reads an entry, and says whether it is well-formed.
static bool wrp_read_file(wr_str encoded, wr_file *file) {
  wrp_field f;
  __builtin_memset(file, 0, sizeof *file);
  while (wrp_take(&encoded, &f))
    if (!wrp_set_file(file, &f)) return false;
  return encoded.len == 0;
}

// Takes the answer of a service that was called, which has so many entries, none or 1.
static wr_code wrp_file_answer(size_t want, wr_file *file) {
  uint8_t room[WRP_ANSWER];
  size_t count = 0;
  uint64_t more;
  wrp_field f;
  wr_str rest = wrp_slice(room, wr_host_take(WR_CHANNEL_RESPONSE, room, 0, sizeof room));
  while (wrp_take(&rest, &f)) {
    if (f.number == 1 && (f.type != WRP_BYTES || !wrp_read_file(f.text, file))) return WR_CODE_INTERNAL;
    if (f.number == 2 && !wrp_set_uint(&f, &more)) return WR_CODE_INTERNAL;
    count += f.number == 1;
  }
  file->name = wrp_slice("", 0);
  return rest.len == 0 && count == want ? WR_CODE_OK : WR_CODE_INTERNAL;
}

wr_code wr_file_stat(wr_str path, wr_file *file) {
  wr_writer w = wrp_request();
  uint32_t n;
  wrp_str(&w, 1, path);
  wr_code code = wrp_call(WR_SERVICE_FILE_STAT, &w, &n);
  return code ? code : wrp_file_answer(1, file);
}

static wr_code wrp_file_write(wr_request *r, wr_str path, wr_str bytes, bool append, wr_file *file) {
  wr_writer w = wrp_large_request(r);
  wr_file unwanted;
  uint32_t n;
  wrp_str(&w, 1, path);
  wrp_str(&w, 5, bytes);
  wrp_uint(&w, 6, append);
  wr_code code = wrp_large_call(r, WR_SERVICE_FILE_WRITE, &w, &n);
  return code ? code : wrp_file_answer(1, file ? file : &unwanted);
}

wr_code wr_file_write(wr_request *r, wr_str path, wr_str bytes, wr_file *file) {
  return wrp_file_write(r, path, bytes, false, file);
}

wr_code wr_file_append(wr_request *r, wr_str path, wr_str bytes, wr_file *file) {
  return wrp_file_write(r, path, bytes, true, file);
}

wr_code wr_file_remove(wr_str path) {
  wr_writer w = wrp_request();
  wr_file none;
  uint32_t n;
  wrp_str(&w, 1, path);
  wr_code code = wrp_call(WR_SERVICE_FILE_REMOVE, &w, &n);
  return code ? code : wrp_file_answer(0, &none);
}

// Is wr_file_read, and describes the file.
static wr_code wrp_file_part(wr_str path, uint64_t offset, void *bytes, size_t size, size_t *got, wr_file *file) {
  wr_writer w = wrp_request();
  uint32_t n, most = (uint32_t)wrp_min(size, WR_MAX_SERVICE);
  *got = 0;
  if (size == 0) return WR_CODE_OK;
  wrp_str(&w, 1, path);
  wrp_uint(&w, 2, offset);
  wrp_uint(&w, 3, most);
  wr_code code = wrp_call(WR_SERVICE_FILE_READ, &w, &n);
  if (!code) code = wrp_file_answer(1, file);
  if (!code) *got = wr_host_take(WR_CHANNEL_BODY, bytes, 0, most);
  return code;
}

wr_code wr_file_read(wr_str path, uint64_t offset, void *bytes, size_t size, size_t *got) {
  wr_file file;
  return wrp_file_part(path, offset, bytes, size, got, &file);
}

wr_code wr_file_send(wr_request *r, const wr_content *c, wr_str path) {
  wr_content part;
  wr_file file;
  __builtin_memset(&part, 0, sizeof part);
  if (c) part = *c;
  wr_code code = wr_file_stat(path, &file);
  if (code) return code;
  if (file.dir) return wr_invalid(r, "this is a folder");
  part.size = 0;
  if (file.size) part.range = wr_range_of(r, file.size);
  else __builtin_memset(&part.range, 0, sizeof part.range); // unknown: the host cuts the range
  if (!part.modified_ms) part.modified_ms = file.modified_ms;
  if (wr_begin(r, &part) || (!file.size && wrp_outline(r))) return r->own.stopped;
  for (uint64_t at = part.range.offset, end = file.size ? at + part.range.length : UINT64_MAX; at < end;) {
    size_t got;
    code = wr_file_read(path, at, wrp_chunk, wrp_min(end - at, WRP_CHUNK), &got);
    if (code) return code;
    if (got == 0) break; // it has become shorter
    at += got;
    if (wrp_account(r, got)) return r->own.stopped;
    if (r->own.content == WRP_BODY) wrp_body(r, wrp_chunk, got);
    else wrp_raw(&r->own.frame, wrp_chunk, got);
    if (r->own.stopped) return r->own.stopped;
  }
  return wrp_end_content(r);
}

wr_folder wr_folder_open(wr_str path, char *room, size_t size) {
  wr_folder folder;
  __builtin_memset(&folder, 0, sizeof folder);
  folder.path = path;
  folder.room = room;
  folder.size = wrp_min(size, WR_MAX_SERVICE);
  folder.more = true;
  return folder;
}

static bool wrp_well_formed(wr_str message) {
  wrp_field f;
  while (wrp_take(&message, &f)) continue;
  return message.len == 0;
}

// Fetches a page of entries into the room, of which rest is what is there. There are more when they do not fit.
static wr_code wrp_page(uint32_t service, const wr_writer *w, char *room, size_t size, wr_str *rest, bool *more) {
  uint32_t n;
  *more = false;
  wr_code code = wrp_call(service, w, &n);
  if (code) return code;
  *rest = wrp_slice(room, wr_host_take(WR_CHANNEL_RESPONSE, room, 0, (uint32_t)size));
  *more = n > size;
  return *more || wrp_well_formed(*rest) ? WR_CODE_OK : WR_CODE_INTERNAL;
}

// Fetches the entries after the last one given.
static wr_code wrp_fetch(wr_folder *folder) {
  wr_writer w = wrp_request();
  wrp_str(&w, 1, folder->path);
  wrp_uint(&w, 3, folder->size / WRP_ENTRY_MIN + 1);
  wrp_str(&w, 4, folder->last);
  return wrp_page(WR_SERVICE_FILE_LIST, &w, folder->room, folder->size, &folder->rest, &folder->more);
}

// Takes an entry off those that were fetched.
static bool wrp_take_file(wr_folder *folder, wr_file *file) {
  wrp_field f;
  while (!folder->code && wrp_take(&folder->rest, &f)) {
    if (f.number == 2 && f.type != WRP_VARINT) folder->code = WR_CODE_INTERNAL;
    if (f.number == 2 && f.bits != 0) folder->more = true;
    if (f.number != 1) continue;
    if (f.type != WRP_BYTES || !wrp_read_file(f.text, file)) folder->code = WR_CODE_INTERNAL;
    folder->last = file->name;
    return !folder->code;
  }
  return false;
}

static void wrp_log_room(const char *whose, size_t size) {
  wr_log(WR_LOG_ERROR, "wasmres.h: the room of %s has %u bytes, too few for what it must hold", whose, (unsigned)size);
}

bool wr_folder_next(wr_folder *folder, wr_file *file) {
  if (folder->code) return false;
  if (wrp_take_file(folder, file)) return true;
  if (folder->code || !folder->more) return false;
  folder->code = wrp_fetch(folder);
  if (folder->code) return false;
  if (wrp_take_file(folder, file)) return true;
  if (folder->code || !folder->more) return false;
  wrp_log_room("wr_folder", folder->size);
  folder->code = WR_CODE_INTERNAL;
  return false;
}

// ---- Folders as their files

enum { WRP_MAX_FILES, WRP_MAX_BYTES, WRP_GONE, WRP_DENIED, WRP_NAME, WRP_REASONS, WRP_SENT }; // why a file is left out

enum {
  WRP_FOLDER_FILES = 100,      // sent when nothing is said
  WRP_FOLDER_BYTES = 1 << 20,  // of them together
  WRP_FOLDER_ENTRIES = 10000,  // that are looked at
  WRP_FOLDER_NAMES = 10,       // of files left out that are told
  WRP_URI_MAX = 2048,
};

static char wrp_folder_room[8 << 10];

// A walk over the files of a folder.
typedef struct wrp_walk {
  wr_folder folder;
  wr_file file;
  bool hidden;
  uint32_t seen; // entries
  bool more;     // there are entries that were not looked at
} wrp_walk;

// The path of a file or folder; that of the directory for ".".
static wr_str wrp_join(wr_request *r, wr_str dir, wr_str name) {
  while (dir.len > 0 && dir.at[dir.len - 1] == '/') dir.len--;
  if (!wr_equal(name, WR_S("."))) return wr_format(r, "%.*s/%.*s", WR_ARG(dir), WR_ARG(name));
  return dir.len > 0 ? dir : WR_S("/");
}

static wrp_walk wrp_walk_of(wr_str path, const wr_folder_options *o) {
  wrp_walk w;
  __builtin_memset(&w, 0, sizeof w);
  w.folder = wr_folder_open(path, wrp_folder_room, sizeof wrp_folder_room);
  w.hidden = o && o->hidden;
  return w;
}

static bool wrp_walk_next(wrp_walk *w) {
  while (wr_folder_next(&w->folder, &w->file)) {
    if (++w->seen > WRP_FOLDER_ENTRIES) {
      w->more = true;
      return false;
    }
    wr_str name = w->file.name;
    if (!w->file.dir && name.len > 0 && (w->hidden || name.at[0] != '.')) return true;
  }
  return false;
}

static wr_str wrp_base36(wr_request *r, uint64_t n, bool negative) {
  char digits[16];
  size_t at = sizeof digits;
  if (negative) n = -n;
  do {
    digits[--at] = "0123456789abcdefghijklmnopqrstuvwxyz"[n % 36];
    n /= 36;
  } while (n > 0);
  if (negative) digits[--at] = '-';
  return wr_format(r, "%.*s", (int)(sizeof digits - at), digits + at);
}

wr_code wr_folder_version(wr_request *r, wr_str dir, wr_str name, const wr_folder_options *o, wr_str *etag) {
  uint64_t sum = 14695981039346656037u; // FNV-1a
  wrp_walk w = wrp_walk_of(wrp_join(r, dir, name), o);
  while (wrp_walk_next(&w)) {
    for (size_t i = 0; i < w.file.name.len; i++) sum = (sum ^ (uint8_t)w.file.name.at[i]) * 1099511628211u;
    sum = (sum ^ w.file.size) * 1099511628211u;
    sum = (sum ^ (uint64_t)w.file.modified_ms) * 1099511628211u;
  }
  *etag = wrp_base36(r, sum, false);
  return w.folder.code;
}

// What a file is found to have. All of it is in wrp_chunk where that has room.
typedef struct wrp_scan {
  wr_file file; // as the host describes it now
  uint64_t total;
  char head[1 << 10];
  size_t head_len;
  bool text;              // UTF-8 without zeros
  uint8_t need, low, high; // bytes that a character still takes, and the bounds of the next one
} wrp_scan;

static void wrp_scan_byte(wrp_scan *s, uint8_t c) {
  if (s->need > 0) {
    s->text = s->text && c >= s->low && c <= s->high;
    s->need--;
    s->low = 0x80;
    s->high = 0xbf;
    return;
  }
  if (c >= 0x80) {
    s->need = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    s->low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    s->high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
  }
  if (c == 0 || (c >= 0x80 && c < 0xc2) || c > 0xf4) s->text = false;
}

// Reads a file until its end, or until it has more than room bytes.
static wr_code wrp_scan_file(wrp_scan *s, wr_str path, uint64_t room) {
  __builtin_memset(s, 0, sizeof *s);
  s->text = true;
  for (;;) {
    size_t got, at = s->total < WRP_CHUNK ? (size_t)s->total : 0;
    size_t want = wrp_min(room - s->total + 1, WRP_CHUNK - at);
    wr_code code = wrp_file_part(path, s->total, wrp_chunk + at, want, &got, &s->file);
    if (code) return code;
    for (size_t i = 0; i < got; i++) {
      uint8_t c = wrp_chunk[at + i];
      if (s->head_len < sizeof s->head) s->head[s->head_len++] = (char)c;
      if (s->text) wrp_scan_byte(s, c);
    }
    s->total += got;
    if (s->total > room || got == 0 || (s->file.size > 0 && s->total >= s->file.size)) break;
  }
  s->text = s->text && s->need == 0;
  return WR_CODE_OK;
}

// Whether the characters of a path can stand in a URI, encoded at least.
static bool wrp_is_writable(wr_str path) {
  for (size_t i = 0; i < path.len; i++) {
    uint8_t c = (uint8_t)path.at[i];
    if (c < 0x20 || c == 0x7f || c == '\\') return false;
    if (c == 0xc2 && i + 1 < path.len && (uint8_t)path.at[i + 1] < 0xa0) return false; // U+0080 to U+009F
  }
  return true;
}

static bool wrp_is_plain(char c) {
  char low = wrp_lower(c);
  return (low >= 'a' && low <= 'z') || (c >= '-' && c <= '9') || c == '_' || c == '~'; // - . / and digits
}

// The URI of a file; empty when it would be too long.
static wr_str wrp_uri_of(wr_request *r, wr_str prefix, wr_str path) {
  char *at = (char *)wr_alloc(r, prefix.len + 3 * path.len), *end = at;
  if (!at) return WR_S("");
  wrp_copy(end, prefix.at, prefix.len);
  end += prefix.len;
  for (size_t i = 0; i < path.len; i++) {
    uint8_t c = (uint8_t)path.at[i];
    if (wrp_is_plain(path.at[i])) {
      *end++ = path.at[i];
      continue;
    }
    *end++ = '%';
    *end++ = "0123456789ABCDEF"[c >> 4];
    *end++ = "0123456789ABCDEF"[c & 15];
  }
  return end - at > WRP_URI_MAX ? WR_S("") : wrp_slice(at, (size_t)(end - at));
}

static bool wrp_is_binary(wr_str mime) {
  if (wr_starts_with(mime, WR_S("image/"))) return !wr_equal(mime, WR_S("image/svg+xml"));
  return wr_starts_with(mime, WR_S("audio/")) || wr_starts_with(mime, WR_S("font/")) ||
         wr_starts_with(mime, WR_S("video/")) || wr_equal(mime, WR_S("application/gzip")) ||
         wr_equal(mime, WR_S("application/pdf")) || wr_equal(mime, WR_S("application/wasm")) ||
         wr_equal(mime, WR_S("application/zip"));
}

// What is sent of a folder, and what is left out.
typedef struct wrp_send {
  wr_request *r;
  wr_str dir, name, prefix;
  uint64_t max_bytes;
  uint32_t max_files;
  wr_str (*mime)(wr_str name, wr_str head, bool text);
  uint32_t files, left, reasons[WRP_REASONS], named;
  uint64_t bytes, left_bytes;
  char names[6 << 10]; // as JSON, with commas between them
  size_t names_len;
} wrp_send;

static void wrp_name_left(wrp_send *s, wr_str name) {
  if (s->named == WRP_FOLDER_NAMES || 2 * name.len + 4 > sizeof s->names - s->names_len) return;
  if (s->named++ > 0) {
    s->names[s->names_len++] = ',';
    s->names[s->names_len++] = ' ';
  }
  s->names[s->names_len++] = '"';
  for (size_t i = 0; i < name.len; i++) {
    if (name.at[i] == '"') s->names[s->names_len++] = '\\';
    s->names[s->names_len++] = name.at[i];
  }
  s->names[s->names_len++] = '"';
}

// Sends bytes of a file that was scanned.
static wr_code wrp_send_scanned(wr_request *r, wr_str path, const wrp_scan *s) {
  if (wrp_account(r, s->total)) return r->own.stopped;
  if (r->own.content != WRP_BODY) wrp_raw(&r->own.frame, wrp_chunk, (size_t)s->total);
  else if (s->total <= WRP_CHUNK) wrp_body(r, wrp_chunk, (size_t)s->total);
  else for (uint64_t at = 0; at < s->total && !r->own.stopped;) {
    size_t got;
    wr_code code = wr_file_read(path, at, wrp_chunk, wrp_min(s->total - at, WRP_CHUNK), &got);
    if (!code && got == 0) code = WR_CODE_UNAVAILABLE;
    if (code) return code == WR_CODE_NOT_FOUND ? WR_CODE_UNAVAILABLE : code;
    wrp_body(r, wrp_chunk, got);
    at += got;
  }
  return wrp_end_content(r);
}

static wr_code wrp_send_content(wrp_send *s, wr_str name, wr_str path, wr_str uri, const wrp_scan *scan) {
  wr_request *r = s->r;
  wr_content c;
  __builtin_memset(&c, 0, sizeof c);
  if (s->mime) c.mime = s->mime(name, wrp_slice(scan->head, scan->head_len), scan->text);
  if (c.mime.len == 0) c.mime = wr_cstr(scan->text ? "text/plain" : "application/octet-stream");
  c.kind = scan->text && !wrp_is_binary(c.mime) ? WR_KIND_TEXT : WR_KIND_BLOB;
  c.uri = uri;
  wr_str time = wrp_base36(r, (uint64_t)scan->file.modified_ms, scan->file.modified_ms < 0);
  c.etag = wr_format(r, "%.*s-%.*s", WR_ARG(time), WR_ARG(wrp_base36(r, scan->file.size, false)));
  c.modified_ms = scan->file.modified_ms;
  c.size = scan->total;
  s->files++;
  s->bytes += scan->total;
  return wr_begin(r, &c) ? r->own.stopped : wrp_send_scanned(r, path, scan);
}

// Sends a file, or gives the reason why it is left out.
static wr_code wrp_send_file(wrp_send *s, const wr_file *file, int *reason) {
  wr_request *r = s->r;
  wrp_scan scan;
  uint64_t room = s->max_bytes - s->bytes;
  bool top = wr_equal(s->name, WR_S("."));
  wr_str path = top ? file->name : wr_format(r, "%.*s/%.*s", WR_ARG(s->name), WR_ARG(file->name));
  *reason = !wrp_is_writable(file->name) ? WRP_NAME
            : s->files >= s->max_files  ? WRP_MAX_FILES
            : file->size > room         ? WRP_MAX_BYTES
                                        : WRP_SENT;
  if (*reason != WRP_SENT) return WR_CODE_OK;
  wr_str uri = wrp_uri_of(r, s->prefix, path), name = file->name;
  *reason = WRP_NAME;
  if (uri.len == 0) return r->own.stopped;
  path = wrp_join(r, s->dir, path);
  wr_code code = wrp_scan_file(&scan, path, room);
  *reason = code == WR_CODE_DENIED ? WRP_DENIED : code ? WRP_GONE : scan.total > room ? WRP_MAX_BYTES : WRP_SENT;
  if (code == WR_CODE_NOT_FOUND || code == WR_CODE_DENIED || code == WR_CODE_INVALID_PARAMS) return WR_CODE_OK;
  return code || *reason != WRP_SENT ? code : wrp_send_content(s, name, path, uri, &scan);
}

// Sends what is to be said of the folder itself.
static wr_code wrp_send_own(const wrp_send *s, bool more) {
  static const char *const words[] = {"maxFiles", "maxBytes", "gone", "denied", "name"};
  wr_request *r = s->r;
  bool whole = s->left == 0 && !more;
  if (whole && s->files > 0) return WR_CODE_OK;
  unsigned long long bytes = s->bytes, left_bytes = s->left_bytes;
  wr_str names = wrp_slice(s->names, s->names_len), text = WR_S("No files."), left = WR_S(""), reasons = WR_S("");
  for (size_t i = 0; i < WRP_REASONS; i++)
    if (s->reasons[i] > 0)
      reasons = wr_format(r, "%.*s%s\"%s\":%u", WR_ARG(reasons), reasons.len > 0 ? "," : "", words[i],
                          (unsigned)s->reasons[i]);
  if (!whole) {
    text = wr_format(r, "Files left out: %s%u (%llu bytes)%s%.*s", more ? "more than " : "", (unsigned)s->left, left_bytes,
                     names.len > 0 ? ", among them " : "", WR_ARG(names));
    left = wr_format(r, ",\"leftOut\":{\"files\":%u,\"bytes\":%llu%s,\"names\":[%.*s],\"reasons\":{%.*s}}",
                     (unsigned)s->left, left_bytes, more ? ",\"more\":true" : "", WR_ARG(names), WR_ARG(reasons));
  }
  wr_content c;
  __builtin_memset(&c, 0, sizeof c);
  c.mime = WR_S("text/plain");
  c.meta_json = wr_format(r, "{\"folder\":{\"files\":%u,\"bytes\":%llu%.*s}}", (unsigned)s->files, bytes, WR_ARG(left));
  if (wr_begin(r, &c)) return r->own.stopped;
  wrp_write(r, text.at, text.len);
  return wrp_end_content(r);
}

wr_code wr_folder_send(wr_request *r, wr_str dir, wr_str name, wr_str uri_prefix, const wr_folder_options *o) {
  static wrp_send s;
  __builtin_memset(&s, 0, sizeof s);
  s.r = r;
  s.dir = dir;
  s.name = name;
  s.prefix = uri_prefix;
  s.max_files = o && o->max_files ? o->max_files : WRP_FOLDER_FILES;
  s.max_bytes = o && o->max_bytes ? o->max_bytes : WRP_FOLDER_BYTES;
  if (s.max_bytes > INT64_MAX) s.max_bytes = INT64_MAX;
  if (o) s.mime = o->mime;
  if (wrp_end_content(r)) return r->own.stopped;
  wrp_walk w = wrp_walk_of(wrp_join(r, dir, name), o);
  for (size_t mark = wr_mark(r); wrp_walk_next(&w); wr_release(r, mark)) {
    int reason;
    wr_code code = wrp_send_file(&s, &w.file, &reason);
    if (code) return code;
    if (reason == WRP_SENT) continue;
    s.left++;
    s.left_bytes += w.file.size;
    s.reasons[reason]++;
    if (reason != WRP_NAME) wrp_name_left(&s, w.file.name);
  }
  return w.folder.code ? w.folder.code : wrp_send_own(&s, w.more);
}

// ---- Fetching URLs

static wr_writer wrp_stream_request(uint64_t stream) {
  wr_writer w = wrp_request();
  wrp_uint(&w, 1, stream);
  return w;
}

// Looks at a field of an HTTPResponse, and says whether it is well-formed.
static bool wrp_set_response(wr_http_response *p, const wrp_field *f) {
  wr_str name, value;
  uint64_t status;
  switch (f->number) {
  case 1:
    p->status = (uint32_t)f->bits;
    return wrp_set_uint(f, &status) && status <= UINT32_MAX;
  case 2: return f->type == WRP_BYTES && wrp_read_var(f->text, &name, &value); // a field is like a Var
  case 3: return wrp_set_text(f, &p->url);
  case 4: return wrp_set_uint(f, &p->own.stream);
  }
  return true;
}

wr_code wr_http(wr_request *r, const wr_http_request *q, wr_http_response *p) {
  wr_writer w = wrp_large_request(r);
  uint32_t n;
  wrp_field f;
  __builtin_memset(p, 0, sizeof *p);
  wrp_str(&w, 1, q->method);
  wrp_str(&w, 2, q->url);
  for (size_t i = 0; i < q->header.count; i++) {
    uint8_t *at = wrp_open(&w, 3);
    wrp_str(&w, 1, q->header.at[i].name);
    wrp_str(&w, 2, q->header.at[i].value);
    wrp_close(&w, at);
  }
  wrp_str(&w, 4, q->body);
  wrp_uint(&w, 5, q->max_bytes);
  wrp_uint(&w, 6, q->timeout_ms);
  p->own.code = wrp_large_call(r, WR_SERVICE_HTTP, &w, &n);
  if (p->own.code) return p->own.code;
  p->own.call = wrp_calls;
  bool good = wrp_take_over(r, WR_CHANNEL_RESPONSE, n, &p->own.head);
  wr_str rest = p->own.head;
  while (good && wrp_take(&rest, &f)) good = wrp_set_response(p, &f);
  if (!good || rest.len > 0) p->own.code = WR_CODE_INTERNAL;
  return p->own.code;
}

wr_code wr_http_get(wr_request *r, wr_str url, wr_http_response *p) {
  wr_http_request q;
  __builtin_memset(&q, 0, sizeof q);
  q.url = url;
  return wr_http(r, &q, p);
}

wr_str wr_http_header(const wr_http_response *p, const char *name) {
  wr_str rest = p->own.head, wanted = wr_cstr(name), found, value;
  wrp_field f;
  while (wrp_take(&rest, &f))
    if (f.number == 2 && wrp_read_var(f.text, &found, &value) && found.len == wanted.len &&
        wrp_begins_like(found, wanted))
      return value;
  return wrp_slice("", 0);
}

// The milliseconds of Retry-After; 0 when it does not say seconds.
static uint64_t wrp_retry_after(const wr_http_response *p) {
  int64_t seconds;
  if (!wr_parse_int(wr_http_header(p, "Retry-After"), &seconds) || seconds < 0 || seconds > INT32_MAX) return 0;
  return (uint64_t)seconds * 1000;
}

wr_code wr_http_check(wr_request *r, const wr_http_response *p) {
  unsigned status = p->status;
  wr_error e;
  char room[40];
  if (status >= 200 && status < 300) return WR_CODE_OK;
  __builtin_memset(&e, 0, sizeof e);
  e.code = WR_CODE_INTERNAL;
  e.message = wr_format_into(room, sizeof room, "the server answers %u", status);
  if (status == 404 || status == 410) e.code = WR_CODE_NOT_FOUND;
  if (status == 401 || status == 403) e.code = WR_CODE_DENIED;
  if (status == 408 || status == 429 || status >= 500) {
    e.code = WR_CODE_UNAVAILABLE;
    e.retry_after_ms = wrp_retry_after(p);
  }
  return wr_fail(r, &e);
}

// Asks for the next part of the body.
static wr_code wrp_http_next(wr_http_response *p) {
  wr_writer w = wrp_stream_request(p->own.stream);
  uint8_t room[WRP_ANSWER];
  uint32_t n;
  uint64_t more = 0;
  wrp_field f;
  wr_code code = wrp_call(WR_SERVICE_STREAM, &w, &n);
  if (code) return code;
  wr_str rest = wrp_slice(room, wr_host_take(WR_CHANNEL_RESPONSE, room, 0, sizeof room));
  while (wrp_take(&rest, &f))
    if (f.number == 1 && !wrp_set_uint(&f, &more)) return WR_CODE_INTERNAL;
  if (rest.len > 0) return WR_CODE_INTERNAL;
  if (!more) p->own.stream = 0;
  p->own.call = wrp_calls;
  p->own.at = 0;
  p->own.read = false;
  return WR_CODE_OK;
}

// Reads what there is of a part of the body, up to size bytes, or of the next part. *got is 0 at the end.
static wr_code wrp_http_some(wr_http_response *p, void *bytes, size_t size, size_t *got) {
  uint32_t most = (uint32_t)wrp_min(size, WR_MAX_SERVICE);
  *got = 0;
  while (!p->own.code) {
    if (!p->own.read && p->own.call != wrp_calls) {
      wr_log(WR_LOG_ERROR, "wasmres.h: the body of an answer is lost, since the host was asked for something else "
                           "before it was read");
      return p->own.code = WR_CODE_INTERNAL;
    }
    if (!p->own.read) *got = wr_host_take(WR_CHANNEL_BODY, bytes, p->own.at, most);
    p->own.at += (uint32_t)*got;
    p->own.read = *got < most;
    if (*got > 0 || !p->own.stream) break;
    p->own.code = wrp_http_next(p);
  }
  return p->own.code;
}

wr_code wr_http_read(wr_http_response *p, void *bytes, size_t size, size_t *got) {
  size_t some = 1;
  for (*got = 0; *got < size && some > 0; *got += some) {
    wr_code code = wrp_http_some(p, (uint8_t *)bytes + *got, size - *got, &some);
    if (code) return code;
  }
  return WR_CODE_OK;
}

wr_code wr_http_send(wr_request *r, const wr_content *c, wr_http_response *p) {
  wr_content whole;
  size_t got;
  __builtin_memset(&whole, 0, sizeof whole);
  if (c) whole = *c;
  whole.size = 0;
  __builtin_memset(&whole.range, 0, sizeof whole.range);
  if (wr_begin(r, &whole) || wrp_outline(r)) return r->own.stopped;
  for (;;) {
    wr_code code = wrp_http_some(p, wrp_chunk, WRP_CHUNK, &got);
    if (code) return code;
    if (got == 0) return wrp_end_content(r);
    if (wrp_account(r, got) || wrp_body(r, wrp_chunk, got)) return r->own.stopped;
  }
}

// ---- Databases

static wr_sql_value wrp_sql_value(uint32_t kind) {
  wr_sql_value v;
  __builtin_memset(&v, 0, sizeof v);
  v.kind = kind;
  return v;
}

wr_sql_value wr_sql_null(void) { return wrp_sql_value(WR_SQL_NULL); }

wr_sql_value wr_sql_bool(bool value) {
  wr_sql_value v = wrp_sql_value(WR_SQL_BOOL);
  v.integer = value;
  return v;
}

wr_sql_value wr_sql_int(int64_t value) {
  wr_sql_value v = wrp_sql_value(WR_SQL_INT);
  v.integer = value;
  return v;
}

wr_sql_value wr_sql_float(double value) {
  wr_sql_value v = wrp_sql_value(WR_SQL_FLOAT);
  v.number = value;
  return v;
}

wr_sql_value wr_sql_text(wr_str value) {
  wr_sql_value v = wrp_sql_value(WR_SQL_TEXT);
  v.text = value;
  return v;
}

wr_sql_value wr_sql_bytes(const void *bytes, size_t len) {
  wr_sql_value v = wrp_sql_value(WR_SQL_BYTES);
  v.text = wrp_slice(bytes, len);
  return v;
}

wr_str wr_sql_format(wr_request *r, wr_sql_value value) {
  switch (value.kind) {
  case WR_SQL_BOOL: return value.integer ? WR_S("true") : WR_S("false");
  case WR_SQL_INT: return wr_format(r, "%lld", (long long)value.integer);
  case WR_SQL_FLOAT: return wr_format_double(r, value.number);
  }
  return value.text;
}

static void wrp_put_sql_value(wr_writer *w, const wr_sql_value *v) {
  wrp_uint(w, 1, v->kind);
  switch (v->kind) {
  case WR_SQL_BOOL:
  case WR_SQL_INT: wrp_uint(w, 2, (uint64_t)v->integer); break;
  case WR_SQL_FLOAT: wrp_double(w, 3, v->number); break;
  case WR_SQL_TEXT: wrp_str(w, 4, v->text); break;
  case WR_SQL_BYTES: wrp_str(w, 5, v->text); break;
  }
}

static bool wrp_set_double(const wrp_field *f, double *x) {
  uint64_t bits = 0;
  if (f->type != WRP_FIXED64) return false;
  for (int i = 0; i < 8; i++) bits |= (uint64_t)(uint8_t)f->text.at[i] << 8 * i;
  __builtin_memcpy(x, &bits, sizeof bits);
  return true;
}

static bool wrp_set_sql_value(wr_sql_value *v, const wrp_field *f) {
  uint64_t n;
  switch (f->number) {
  case 1:
    v->kind = (uint32_t)f->bits;
    return wrp_set_uint(f, &n) && n <= UINT32_MAX;
  case 2:
    v->integer = (int64_t)f->bits;
    return wrp_set_uint(f, &n);
  case 3: return wrp_set_double(f, &v->number);
  case 4: return wrp_set_text(f, &v->text);
  case 5: return wrp_set_text(f, &v->text);
  }
  return true;
}

// Reads a value, and says whether it is well-formed.
static bool wrp_read_sql_value(wr_str encoded, wr_sql_value *v) {
  wrp_field f;
  *v = wr_sql_null();
  while (wrp_take(&encoded, &f))
    if (!wrp_set_sql_value(v, &f)) return false;
  return encoded.len == 0;
}

// Takes the next value off a row. False at the end, where *row is empty, and before what is no value.
static bool wrp_take_sql_value(wr_str *row, wr_sql_value *v) {
  wrp_field f;
  for (wr_str rest = *row; wrp_take(&rest, &f);) {
    if (f.number == 1 && (f.type != WRP_BYTES || !wrp_read_sql_value(f.text, v))) return false;
    *row = rest;
    if (f.number == 1) return true;
  }
  return false;
}

static bool wrp_rows_fail(wr_rows *rows, wr_code code) {
  rows->code = code;
  return false;
}

// Fills the room with what comes next of a part, after what is still to be read.
static bool wrp_rows_fill(wr_rows *rows) {
  char *at = rows->own.room + rows->own.kept;
  size_t waiting = rows->own.rest.len, room = rows->own.size - rows->own.kept - waiting;
  if (room == 0) {
    wrp_log_room("wr_rows", rows->own.size);
    return wrp_rows_fail(rows, WR_CODE_INTERNAL);
  }
  if (rows->own.call != wrp_calls) {
    wr_log(WR_LOG_ERROR, "wasmres.h: rows are lost, since the host was asked for something else while it had some of "
                         "them: give wr_sql_query more than %u bytes of room",
           (unsigned)rows->own.size);
    return wrp_rows_fail(rows, WR_CODE_INTERNAL);
  }
  if (waiting > 0) __builtin_memmove(at, rows->own.rest.at, waiting);
  uint32_t most = (uint32_t)wrp_min(rows->own.len - rows->own.taken, room);
  uint32_t got = wr_host_take(WR_CHANNEL_RESPONSE, at + waiting, rows->own.taken, most);
  rows->own.taken += got;
  rows->own.rest = wrp_slice(at, waiting + got);
  return got > 0 || wrp_rows_fail(rows, WR_CODE_INTERNAL);
}

// Takes the next field of a part. False at its end.
static bool wrp_rows_take(wr_rows *rows, wrp_field *f) {
  while (!wrp_take(&rows->own.rest, f)) {
    bool all = rows->own.taken == rows->own.len;
    if (all && rows->own.rest.len > 0) return wrp_rows_fail(rows, WR_CODE_INTERNAL);
    if (all || !wrp_rows_fill(rows)) return false;
  }
  return true;
}

// Begins a part, which a service has answered with.
static bool wrp_rows_load(wr_rows *rows, wr_code code, uint32_t len) {
  rows->own.call = wrp_calls;
  rows->own.len = len;
  rows->own.taken = 0;
  rows->own.stream = 0;
  rows->own.rest = wrp_slice(NULL, 0);
  return !code || wrp_rows_fail(rows, code);
}

// Keeps a column, which stood in the room at or after the place it gets.
static bool wrp_keep_column(wr_rows *rows, wr_str column) {
  wr_str name, type;
  wr_writer w;
  if (!wrp_read_var(column, &name, &type)) return false; // a column is like a Var
  if (rows->own.begun) return true;                      // only the first part describes them
  w.start = w.at = (uint8_t *)rows->own.room + rows->own.kept;
  w.end = (uint8_t *)rows->own.room + (column.at - rows->own.room);
  w.full = false;
  wrp_tag(&w, 1, WRP_BYTES);
  wrp_varint(&w, column.len);
  __builtin_memmove(w.at, column.at, column.len);
  rows->own.kept += (size_t)(w.at - w.start) + column.len;
  rows->columns++;
  return true;
}

// Makes encoded values the row, and says whether they are one.
static bool wrp_set_row(wr_rows *rows, wr_str encoded) {
  size_t count = 0;
  wr_sql_value v;
  rows->own.begun = true;
  rows->own.row = rows->own.values = encoded;
  rows->own.next = 0;
  while (wrp_take_sql_value(&encoded, &v)) count++;
  return encoded.len == 0 && count == rows->columns;
}

static bool wrp_set_rows(wr_rows *rows, const wrp_field *f) {
  switch (f->number) {
  case 1: return f->type == WRP_BYTES && wrp_keep_column(rows, f->text);
  case 2: return f->type == WRP_BYTES && wrp_set_row(rows, f->text);
  case 3: return wrp_set_uint(f, &rows->own.stream);
  }
  return true;
}

// Goes to the next row of a part. False at the end of the part.
static bool wrp_rows_step(wr_rows *rows) {
  wrp_field f;
  while (wrp_rows_take(rows, &f)) {
    if (!wrp_set_rows(rows, &f)) return wrp_rows_fail(rows, WR_CODE_INTERNAL);
    if (f.number == 2) return true;
  }
  return false;
}

// Goes to the next row of all parts.
static bool wrp_rows_advance(wr_rows *rows) {
  rows->own.row = rows->own.values = wrp_slice(NULL, 0);
  while (!rows->code) {
    if (wrp_rows_step(rows)) return true;
    if (rows->code || !rows->own.stream) return false;
    wr_writer w = wrp_stream_request(rows->own.stream);
    uint32_t n;
    wr_code code = wrp_call(WR_SERVICE_SQL_ROWS, &w, &n);
    wrp_rows_load(rows, code, n);
  }
  return false;
}

wr_rows wr_sql_query(wr_request *r, const wr_sql_statement *s, char *room, size_t size) {
  wr_rows rows;
  wr_writer w = wrp_large_request(r);
  uint32_t n;
  __builtin_memset(&rows, 0, sizeof rows);
  rows.own.room = room;
  rows.own.size = size;
  wrp_str(&w, 1, s->connection);
  wrp_str(&w, 2, s->query);
  for (size_t i = 0; i < s->args.count; i++) {
    uint8_t *at = wrp_open(&w, 3);
    wrp_put_sql_value(&w, &s->args.at[i]);
    wrp_close(&w, at);
  }
  wrp_uint(&w, 4, s->max_rows);
  wr_code code = wrp_large_call(r, WR_SERVICE_SQL, &w, &n);
  if (wrp_rows_load(&rows, code, n)) rows.own.waiting = wrp_rows_advance(&rows); // past the columns, to the first row
  return rows;
}

bool wr_rows_next(wr_rows *rows) {
  if (!rows->own.waiting) return wrp_rows_advance(rows);
  rows->own.waiting = false;
  return true;
}

wr_sql_column wr_rows_column(const wr_rows *rows, size_t column) {
  wr_str rest = wrp_slice(rows->own.room, rows->own.kept);
  wr_sql_column c = {{NULL, 0}, {NULL, 0}};
  wrp_field f;
  while (wrp_take(&rest, &f))
    if (column-- == 0) {
      wrp_read_var(f.text, &c.name, &c.type);
      break;
    }
  return c;
}

wr_sql_value wr_rows_value(wr_rows *rows, size_t column) {
  wr_sql_value v = wr_sql_null();
  if (column < rows->own.next) {
    rows->own.values = rows->own.row;
    rows->own.next = 0;
  }
  while (wrp_take_sql_value(&rows->own.values, &v))
    if (rows->own.next++ == column) return v;
  wr_log(WR_LOG_ERROR, "wasmres.h: there is no row, or it has no column %u", (unsigned)column);
  wrp_rows_fail(rows, WR_CODE_INTERNAL);
  return wr_sql_null();
}

// Tells that a value is not what it was asked for.
static void wrp_rows_misfit(wr_rows *rows, size_t column, const wr_sql_value *v, const char *wanted) {
  static const char *const kinds[] = {"null", "a bool", "an int", "a float", "a text", "bytes"};
  if (rows->code) return;
  wr_str name = wr_rows_column(rows, column).name;
  wr_log(WR_LOG_ERROR, "wasmres.h: column %u (%.*s) is %s, not %s", (unsigned)column, WR_ARG(name),
         v->kind <= WR_SQL_BYTES ? kinds[v->kind] : "of an unknown kind", wanted);
  wrp_rows_fail(rows, WR_CODE_INTERNAL);
}

bool wr_rows_null(wr_rows *rows, size_t column) { return wr_rows_value(rows, column).kind == WR_SQL_NULL; }

bool wr_rows_bool(wr_rows *rows, size_t column) {
  wr_sql_value v = wr_rows_value(rows, column);
  if (v.kind == WR_SQL_BOOL || v.kind == WR_SQL_INT) return v.integer != 0;
  wrp_rows_misfit(rows, column, &v, "a bool");
  return false;
}

int64_t wr_rows_int(wr_rows *rows, size_t column) {
  wr_sql_value v = wr_rows_value(rows, column);
  if (v.kind == WR_SQL_INT || v.kind == WR_SQL_BOOL) return v.integer;
  if (v.kind == WR_SQL_TEXT && wr_parse_int(v.text, &v.integer)) return v.integer;
  wrp_rows_misfit(rows, column, &v, "an int");
  return 0;
}

double wr_rows_float(wr_rows *rows, size_t column) {
  wr_sql_value v = wr_rows_value(rows, column);
  if (v.kind == WR_SQL_FLOAT) return v.number;
  if (v.kind == WR_SQL_INT) return (double)v.integer;
  wrp_rows_misfit(rows, column, &v, "a float");
  return 0;
}

wr_str wr_rows_text(wr_rows *rows, size_t column) {
  wr_sql_value v = wr_rows_value(rows, column);
  if (v.kind == WR_SQL_TEXT || v.kind == WR_SQL_BYTES) return v.text;
  wrp_rows_misfit(rows, column, &v, "a text");
  return wrp_slice("", 0);
}

// ---- Values that last

static bool wrp_set_kv_entry(wr_kv_entry *e, const wrp_field *f) {
  uint64_t expires;
  switch (f->number) {
  case 1: return wrp_set_text(f, &e->key);
  case 2: return wrp_set_uint(f, &e->size);
  case 3:
    e->expires_ms = (int64_t)f->bits;
    return wrp_set_uint(f, &expires);
  case 4: return wrp_set_uint(f, &e->version);
  }
  return true;
}

// Reads an entry, and says whether it is well-formed.
static bool wrp_read_kv_entry(wr_str encoded, wr_kv_entry *e) {
  wrp_field f;
  __builtin_memset(e, 0, sizeof *e);
  while (wrp_take(&encoded, &f))
    if (!wrp_set_kv_entry(e, &f)) return false;
  return encoded.len == 0;
}

// Takes the answer of a service that was called, which has least entries or 1. Without one *entry is zero.
static wr_code wrp_kv_answer(wr_str key, size_t least, wr_kv_entry *entry) {
  uint8_t room[WRP_ANSWER];
  uint64_t more, conflict = 0;
  size_t count = 0;
  wrp_field f;
  __builtin_memset(entry, 0, sizeof *entry);
  wr_str rest = wrp_slice(room, wr_host_take(WR_CHANNEL_RESPONSE, room, 0, sizeof room));
  while (wrp_take(&rest, &f)) {
    if (f.number == 1 && (f.type != WRP_BYTES || !wrp_read_kv_entry(f.text, entry))) return WR_CODE_INTERNAL;
    if (f.number == 2 && !wrp_set_uint(&f, &more)) return WR_CODE_INTERNAL;
    if (f.number == 3 && !wrp_set_uint(&f, &conflict)) return WR_CODE_INTERNAL;
    count += f.number == 1;
  }
  entry->key = key;
  if (rest.len > 0 || count > 1 || (count < least && !conflict)) return WR_CODE_INTERNAL;
  return conflict ? WR_CONFLICT : WR_CODE_OK;
}

wr_code wr_kv_get(wr_request *r, wr_str key, wr_str *value, wr_kv_entry *entry) {
  wr_writer w = wrp_request();
  wr_kv_entry unwanted;
  uint32_t n;
  char more;
  if (!entry) entry = &unwanted;
  __builtin_memset(entry, 0, sizeof *entry);
  *value = wrp_slice("", 0);
  wrp_str(&w, 1, key);
  wr_code code = wrp_call(WR_SERVICE_KV_GET, &w, &n);
  if (!code) code = wrp_kv_answer(key, 1, entry);
  if (code) return code;
  bool whole = entry->size <= WR_MAX_SERVICE && wrp_take_over(r, WR_CHANNEL_BODY, (uint32_t)entry->size, value) &&
               wr_host_take(WR_CHANNEL_BODY, &more, (uint32_t)entry->size, 1) == 0;
  return whole ? WR_CODE_OK : WR_CODE_INTERNAL;
}

wr_code wr_kv_put(wr_request *r, wr_str key, wr_str value, const wr_kv_options *o, wr_kv_entry *entry) {
  wr_writer w = wrp_large_request(r);
  wr_kv_entry unwanted;
  uint32_t n;
  if (!entry) entry = &unwanted;
  __builtin_memset(entry, 0, sizeof *entry);
  wrp_str(&w, 1, key);
  wrp_str(&w, 2, value);
  if (o) {
    wrp_uint(&w, 3, o->ttl_ms);
    wrp_uint(&w, 4, o->if_version);
    wrp_uint(&w, 5, o->if_absent);
  }
  wr_code code = wrp_large_call(r, WR_SERVICE_KV_PUT, &w, &n);
  return code ? code : wrp_kv_answer(key, 1, entry);
}

static wr_code wrp_kv_delete(wr_str key, uint64_t version) {
  wr_writer w = wrp_request();
  wr_kv_entry e;
  uint32_t n;
  wrp_str(&w, 1, key);
  wrp_uint(&w, 4, version);
  wr_code code = wrp_call(WR_SERVICE_KV_DELETE, &w, &n);
  return code ? code : wrp_kv_answer(key, 0, &e);
}

wr_code wr_kv_delete(wr_str key) { return wrp_kv_delete(key, 0); }

wr_code wr_kv_delete_version(wr_str key, uint64_t version) {
  return version ? wrp_kv_delete(key, version) : WR_CODE_INVALID_PARAMS; // no value has version 0
}

wr_keys wr_kv_keys(wr_str prefix, char *room, size_t size) {
  wr_keys keys;
  __builtin_memset(&keys, 0, sizeof keys);
  keys.prefix = prefix;
  keys.room = room;
  keys.size = wrp_min(size, WR_MAX_SERVICE);
  keys.more = true;
  return keys;
}

// Fetches the entries after the last one given.
static wr_code wrp_fetch_keys(wr_keys *keys) {
  wr_writer w = wrp_request();
  wrp_str(&w, 6, keys->prefix);
  wrp_str(&w, 7, keys->last);
  wrp_uint(&w, 8, keys->size / WRP_ENTRY_MIN + 1);
  return wrp_page(WR_SERVICE_KV_LIST, &w, keys->room, keys->size, &keys->rest, &keys->more);
}

// Takes an entry off those that were fetched.
static bool wrp_take_key(wr_keys *keys, wr_kv_entry *entry) {
  wrp_field f;
  while (!keys->code && wrp_take(&keys->rest, &f)) {
    if ((f.number == 2 || f.number == 3) && f.type != WRP_VARINT) keys->code = WR_CODE_INTERNAL;
    if (f.number == 2 && f.bits != 0) keys->more = true;
    if (f.number != 1) continue;
    if (f.type != WRP_BYTES || !wrp_read_kv_entry(f.text, entry)) keys->code = WR_CODE_INTERNAL;
    keys->last = entry->key;
    return !keys->code;
  }
  return false;
}

bool wr_keys_next(wr_keys *keys, wr_kv_entry *entry) {
  if (keys->code) return false;
  if (wrp_take_key(keys, entry)) return true;
  if (!keys->more || keys->code) return false;
  keys->code = wrp_fetch_keys(keys);
  if (keys->code) return false;
  if (wrp_take_key(keys, entry)) return true;
  if (!keys->more || keys->code) return false;
  wrp_log_room("wr_keys", keys->size);
  keys->code = WR_CODE_INTERNAL;
  return false;
}

// ---- The manifest

static wr_entry wrp_entry_of(const wr_route *t) {
  wr_entry e;
  __builtin_memset(&e, 0, sizeof e);
  e.uri = wr_cstr(t->uri ? t->uri : t->uri_template);
  e.name = wr_cstr(t->name);
  if (t->uri_template && !t->name) e.name = e.uri;
  e.title = wr_cstr(t->title);
  e.description = wr_cstr(t->description);
  e.mime = wr_cstr(t->mime);
  e.priority = t->priority;
  e.audience = t->audience;
  e.icons = t->icons;
  e.meta_json = wr_cstr(t->meta_json);
  if (t->uri_template) return e;
  e.size = t->size;
  e.modified_ms = t->modified_ms;
  return e;
}

static void wrp_put_route(wr_writer *w, const wr_route *t) {
  if (t->any) return;
  uint8_t *at = wrp_open(w, t->uri ? 7 : 6);
  wr_entry e = wrp_entry_of(t);
  wrp_put_entry(w, &e);
  if (t->uri_template) {
    for (size_t i = 0; i < t->completers.count; i++) wrp_element(w, 12, wr_cstr(t->completers.at[i].variable));
    wrp_uint(w, 13, t->ranges);
    wrp_uint(w, 14, t->ttl_ms);
    wrp_uint(w, 15, t->cache_scope);
  }
  wrp_close(w, at);
}

static void wrp_put_capability(wr_writer *w, const wr_capability *c) {
  uint8_t *at = wrp_open(w, 9);
  wrp_cstr(w, 1, c->name);
  wrp_cstr(w, 2, c->params_json);
  wrp_uint(w, 3, c->optional);
  wrp_cstr(w, 4, c->reason);
  wrp_close(w, at);
}

static void wrp_put_limits(wr_writer *w, const wr_limits *l) {
  uint8_t *at = wrp_open(w, 10);
  wrp_uint(w, 1, (l->memory + 65535) >> 16);
  wrp_uint(w, 2, l->deadline_ms);
  wrp_uint(w, 3, l->max_body);
  wrp_uint(w, 4, l->max_instances);
  wrp_uint(w, 5, l->lifecycle);
  wrp_close(w, at);
}

// The operations there are handlers for: bit n for operation n.
static uint32_t wrp_ops(const wr_provider *p) {
  uint32_t ops = 1u << WR_OP_DESCRIBE;
  if (p->list) ops |= 1u << WR_OP_LIST;
  if (p->list_directory) ops |= 1u << WR_OP_LIST_DIR;
  if (p->routes.count > 0) ops |= 1u << WR_OP_READ;
  for (size_t i = 0; i < p->routes.count; i++) {
    if (p->routes.at[i].completers.count > 0) ops |= 1u << WR_OP_COMPLETE;
    if (p->routes.at[i].version) ops |= 1u << WR_OP_SUBSCRIBE | 1u << WR_OP_POLL;
  }
  return ops;
}

// Whether a variable stands in an expression of a template, as name in "{?a,name*}".
static bool wrp_has_variable(const char *uri_template, wr_str name) {
  bool inside = false;
  for (const char *p = uri_template; *p; p++) {
    if (*p == '{') inside = true;
    if (*p == '}') inside = false;
    if (!inside || (*p != '{' && *p != ',')) continue;
    const char *start = p + 1;
    for (const char *operators = "+#./;?&"; *p == '{' && *operators; operators++)
      if (p[1] == *operators) start = p + 2;
    size_t n = 0;
    while (start[n] && start[n] != ',' && start[n] != '}' && start[n] != '*' && start[n] != ':') n++;
    if (wr_equal(wrp_slice(start, n), name)) return true;
  }
  return false;
}

static const char *wrp_completer_mistake(const wr_route *t) {
  for (size_t i = 0; i < t->completers.count; i++) {
    const wr_completer *c = &t->completers.at[i];
    if (!c->variable || !wrp_has_variable(t->uri_template, wr_cstr(c->variable)))
      return "the template has no variable of a completer's name";
    if ((c->complete != NULL) == (c->words.count > 0)) return "a completer needs either words or a function";
  }
  return NULL;
}

static bool wrp_same(const char *a, const char *b) { return a && b && wr_equal(wr_cstr(a), wr_cstr(b)); }

// What is wrong with a route; NULL for nothing.
static const char *wrp_mistake(const wr_routes *routes, size_t number) {
  const wr_route *t = &routes->at[number];
  if ((t->uri != NULL) + (t->uri_template != NULL) + t->any != 1) return "it needs one of uri, uri_template and any";
  if (!t->read) return "read is missing";
  if ((t->poll_ms > 0) != (t->version != NULL)) return "poll_ms and version go together";
  if (!t->uri_template && (t->ranges || t->completers.count > 0)) return "only templates have ranges and completers";
  for (size_t i = 0; i < number; i++) {
    const wr_route *other = &routes->at[i];
    if (wrp_same(t->uri, other->uri) || wrp_same(t->uri_template, other->uri_template) || (t->any && other->any))
      return "an earlier one is the same";
  }
  return wrp_completer_mistake(t);
}

static wr_code wrp_check(wr_request *r, const wr_provider *p) {
  for (size_t i = 0; i < p->routes.count; i++) {
    const char *mistake = wrp_mistake(&p->routes, i);
    if (!mistake) continue;
    const wr_route *t = &p->routes.at[i];
    const char *name = t->uri ? t->uri : t->uri_template ? t->uri_template : "any";
    wr_log(WR_LOG_ERROR, "wasmres.h: route %u (%s): %s", (unsigned)i, name, mistake);
    return wrp_stop(r, WR_CODE_INTERNAL);
  }
  return WR_CODE_OK;
}

static wr_code wrp_describe(wr_request *r, const wr_provider *p) {
  wr_writer *w = &r->own.frame;
  if (wrp_check(r, p)) return r->own.stopped;
  uint8_t *at = wrp_open_field(r, 9);
  wrp_cstr(w, 2, p->name);
  wrp_cstr(w, 3, p->version);
  wrp_cstr(w, 4, p->title);
  wrp_cstr(w, 5, p->description);
  for (size_t i = 0; i < p->routes.count; i++) wrp_put_route(w, &p->routes.at[i]);
  wrp_uint(w, 8, wrp_ops(p));
  for (size_t i = 0; i < p->capabilities.count; i++) wrp_put_capability(w, &p->capabilities.at[i]);
  wrp_put_limits(w, &p->limits);
  for (size_t i = 0; i < p->uri_prefixes.count; i++) wrp_element(w, 11, wr_cstr(p->uri_prefixes.at[i]));
  wrp_cstr(w, 12, "c/1.0.0");
  wrp_cstr(w, 13, p->config_schema_json);
  return wrp_close_field(r, at, "the manifest");
}

// ---- Operations

// Who answers for what the host has routed; NULL for nobody.
static const wr_route *wrp_find(const wr_provider *p, uint64_t number, wr_str uri) {
  const wr_route *any = NULL;
  for (size_t i = 0; i < p->routes.count; i++) {
    const wr_route *t = &p->routes.at[i];
    if (number > 0) {
      if (t->uri_template && --number == 0) return t;
      continue;
    }
    if (t->uri && wr_equal(wr_cstr(t->uri), uri)) return t;
    if (t->any) any = t;
  }
  return number > 0 ? NULL : any;
}

static wr_code wrp_suggest_words(wr_request *r, wr_words words) {
  for (size_t i = 0; i < words.count && !r->own.stopped; i++) {
    wr_str word = wr_cstr(words.at[i]);
    if (wrp_begins_like(word, r->own.typed)) wr_suggest(r, word);
  }
  return r->own.stopped;
}

static wr_code wrp_complete(wr_request *r) {
  for (size_t i = 0; i < r->route->completers.count; i++) {
    const wr_completer *c = &r->route->completers.at[i];
    if (!wr_equal(wr_cstr(c->variable), r->own.argument)) continue;
    return c->complete ? c->complete(r, r->own.typed) : wrp_suggest_words(r, c->words);
  }
  return WR_CODE_OK; // no suggestions are an answer
}

static wr_code wrp_complete_template(wr_request *r, const wr_provider *p) {
  for (size_t i = 0; i < p->routes.count; i++) {
    const wr_route *t = &p->routes.at[i];
    if (!t->uri_template || !wr_equal(wr_cstr(t->uri_template), r->uri)) continue;
    r->route = t;
    return wrp_complete(r);
  }
  return WR_CODE_NOT_FOUND;
}

static wr_code wrp_read(wr_request *r) {
  wr_cache(r, r->route->ttl_ms, r->route->cache_scope);
  wr_code code = r->route->read(r);
  return code || r->own.count > 0 ? code : WR_CODE_NOT_FOUND;
}

static wr_code wrp_poll(wr_request *r) {
  if (!r->route->version) return WR_CODE_UNSUPPORTED;
  wr_str etag = wrp_slice("", 0);
  wr_code code = r->route->version(r, &etag);
  return code ? code : wrp_put_version(r, etag);
}

// Has a handler answer a page of entries.
static wr_code wrp_list(wr_request *r, wr_code (*list)(wr_request *r)) {
  if (r->limit == 0) r->limit = WRP_PAGE;
  return list(r);
}

static wr_code wrp_run(wr_request *r, uint32_t op, uint64_t route) {
  const wr_provider *p = &wasmres_provider;
  switch (op) {
  case WR_OP_DESCRIBE: return wrp_describe(r, p);
  case WR_OP_LIST: return wrp_list(r, p->list);
  case WR_OP_LIST_DIR: return wrp_list(r, p->list_directory);
  case WR_OP_COMPLETE: return wrp_complete_template(r, p);
  }
  r->route = wrp_find(p, route, r->uri);
  if (!r->route) return WR_CODE_NOT_FOUND;
  switch (op) {
  case WR_OP_READ: return wrp_read(r);
  case WR_OP_POLL: return wrp_poll(r);
  }
  wrp_uint(&r->own.frame, 14, r->route->poll_ms); // SUBSCRIBE
  return WR_CODE_OK;
}

// Puts what is told of an answer as a whole.
static void wrp_put_end(wr_request *r, uint32_t op) {
  wr_writer *w = &r->own.frame;
  if (op == WR_OP_COMPLETE) {
    wrp_uint(w, 7, r->own.count);
    wrp_uint(w, 8, r->own.count > WRP_SUGGESTIONS);
  }
  wrp_str(w, 4, r->own.next_cursor);
  wrp_uint(w, 10, r->own.ttl_ms);
  wrp_uint(w, 11, r->own.cache_scope);
}

static void wrp_put_error(wr_request *r) {
  uint8_t *at = wrp_open_field(r, 5);
  wrp_str(&r->own.frame, 1, r->own.message);
  wrp_str(&r->own.frame, 2, r->own.data_json);
  wrp_uint(&r->own.frame, 3, r->own.retry_after_ms);
  wrp_close_field(r, at, "an error");
}

// Ends an operation with what its handler returned.
static wr_code wrp_finish(wr_request *r, uint32_t op, wr_code code) {
  if (!code) code = wrp_end_content(r);
  if (r->own.stopped) code = r->own.stopped; // whatever the handler made of it
  if (code == WR_CODE_OK || code == WRP_ENOUGH) {
    r->own.stopped = WR_CODE_OK;
    wrp_put_end(r, op);
    code = wrp_flush(r);
    return code == WRP_ENOUGH ? WR_CODE_OK : code;
  }
  if (code < 0 || code >= WR_CODE_INPUT_REQUIRED) code = WR_CODE_INTERNAL;
  if (r->own.stopped || r->own.failed != code) return code;
  r->own.frame.at = r->own.frame.start; // it counts no more
  r->own.frame.full = false;
  wrp_put_error(r);
  wrp_flush(r);
  return code;
}

static wr_request wrp_current;

static wr_request *wrp_new_request(void) {
  wr_request *r = &wrp_current;
  __builtin_memset(r, 0, offsetof(wr_request, own.room));
  r->own.frame.start = r->own.frame.at = wrp_frame;
  r->own.frame.end = wrp_frame + sizeof wrp_frame;
  return r;
}

uint32_t wasmres_v1(uint32_t op, uint32_t len) {
  wr_request *r = wrp_new_request();
  uint64_t route;
  if (op >= 32 || !(wrp_ops(&wasmres_provider) >> op & 1)) return WR_CODE_UNSUPPORTED;
  if (len > sizeof wrp_encoded) {
    wr_invalid(r, "the request has %u bytes, and the provider takes %d", (unsigned)len, WASMRES_REQUEST_SIZE);
    return (uint32_t)wrp_finish(r, op, WR_CODE_INVALID_PARAMS);
  }
  r->own.encoded = wrp_slice(wrp_encoded, wr_host_take(WR_CHANNEL_REQUEST, wrp_encoded, 0, len));
  if (!wrp_decode(r, &route)) return (uint32_t)wrp_finish(r, op, wr_invalid(r, "malformed request"));
  return (uint32_t)wrp_finish(r, op, wrp_run(r, op, route));
}

#if defined(__wasm__) && !defined(__wasi__) && !defined(__EMSCRIPTEN__)
// What a libc would bring. Without it the linker has constructors run at every call, not once.
void __wasm_call_ctors(void);
WR_EXPORT(WR_EXPORT_INITIALIZE) void _initialize(void);
void _initialize(void) { __wasm_call_ctors(); }
#endif

#ifdef __cplusplus
}
#endif

#endif // WASMRES_IMPLEMENTATION
