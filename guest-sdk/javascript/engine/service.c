// What a provider asks the host: services, the log, numbers it knows, and UTF-8, which JavaScript itself has not.
#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum { MAX_QUERY = 16 << 10 }; // bytes of a request to a service: a path and a name, or a URI, or a key

static uint8_t query[MAX_QUERY];
static size_t query_len;

static void put_varint(uint64_t v) {
  for (; v > 127; v >>= 7) query[query_len++] = (uint8_t)(v | 128);
  query[query_len++] = (uint8_t)v;
}

static void put_number(uint32_t field, double v) {
  if (!(v >= 1)) return;
  put_varint(field << 3 | WIRE_NUMBER);
  put_varint(v < 0x1p63 ? (uint64_t)v : INT64_MAX);
}

// Appends a text, if it is one; false after an exception.
static bool put_text(uint32_t field, JSValueConst text) {
  if (JS_IsUndefined(text)) return true;
  utf8 s = utf8_of(text);
  if (!s.at) return false;
  bool fits = s.len < sizeof query - 64 - query_len;
  if (fits) {
    put_varint(field << 3 | WIRE_BYTES);
    put_varint(s.len);
    memcpy(query + query_len, s.at, s.len);
    query_len += s.len;
  }
  utf8_free(s);
  if (!fits) JS_ThrowRangeError(ctx, "what is asked of the host has more than %d bytes", MAX_QUERY - 64);
  return fits;
}

// Sends the query. *len says how long the response is.
static uint32_t send(uint32_t service, uint32_t *len) {
  uint64_t result = host_call(service, query, query_len);
  query_len = 0;
  *len = (uint32_t)result;
  return (uint32_t)(result >> 32);
}

static JSValue object_of(uint32_t code) {
  JSValue object = JS_NewObject(ctx);
  JS_DefinePropertyValueStr(ctx, object, "code", JS_NewUint32(ctx, code), JS_PROP_C_W_E);
  return object;
}

static JSValue file_of(bytes rest) {
  JSValue file = JS_NewObject(ctx);
  JSValue name = JS_NewString(ctx, ""), size = JS_NewInt32(ctx, 0), modified = JS_NewInt32(ctx, 0);
  bool folder = false;
  field f;
  while (wire_take(&rest, &f)) {
    switch (f.number) {
    case 1: JS_FreeValue(ctx, name), name = JS_NewStringLen(ctx, (const char *)f.text.at, f.text.len); break;
    case 2: size = JS_NewInt64(ctx, (int64_t)f.bits); break;
    case 3: modified = JS_NewInt64(ctx, (int64_t)f.bits); break;
    case 4: folder = f.bits != 0; break;
    }
  }
  JS_DefinePropertyValueStr(ctx, file, "name", name, JS_PROP_C_W_E);
  JS_DefinePropertyValueStr(ctx, file, "size", size, JS_PROP_C_W_E);
  JS_DefinePropertyValueStr(ctx, file, "modified", modified, JS_PROP_C_W_E);
  JS_DefinePropertyValueStr(ctx, file, "isDirectory", JS_NewBool(ctx, folder), JS_PROP_C_W_E);
  return file;
}

// Takes the response of len bytes off the host; NULL after an exception.
static uint8_t *take_response(uint32_t len) {
  uint8_t *at = malloc(len + 1);
  if (!at) {
    JS_ThrowOutOfMemory(ctx);
    return NULL;
  }
  host_take(WR_CHANNEL_RESPONSE, at, 0, len);
  return at;
}

// file(service, path, offset, length, after): { code, files, more }.
static JSValue file(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t service, len;
  double offset, length;
  if (JS_ToUint32(c, &service, argv[0]) || JS_ToFloat64(c, &offset, argv[2]) || JS_ToFloat64(c, &length, argv[3]))
    return JS_EXCEPTION;
  query_len = 0;
  if (!put_text(1, argv[1])) return JS_EXCEPTION;
  put_number(2, offset);
  put_number(3, length);
  if (!put_text(4, argv[4])) return JS_EXCEPTION;
  JSValue answer = object_of(send(service, &len)), files = JS_NewArray(c);
  uint8_t *response = take_response(len);
  if (!response) return JS_EXCEPTION;
  bytes rest = {response, len};
  bool more = false;
  uint32_t count = 0;
  for (field f; wire_take(&rest, &f);) {
    if (f.number == 1) JS_DefinePropertyValueUint32(c, files, count++, file_of(f.text), JS_PROP_C_W_E);
    if (f.number == 2) more = f.bits != 0;
  }
  free(response);
  JS_DefinePropertyValueStr(c, answer, "files", files, JS_PROP_C_W_E);
  JS_DefinePropertyValueStr(c, answer, "more", JS_NewBool(c, more), JS_PROP_C_W_E);
  return JS_HasException(c) ? JS_EXCEPTION : answer; // there was no memory for some of it
}

static void *resize(JSRuntime *rt, void *opaque, void *at, size_t size) {
  if (size > 0) return realloc(at, size);
  free(at);
  return NULL;
}

// taken(length): at most so many of the bytes that came beside the last response, as a Uint8Array.
static JSValue taken(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t room;
  if (JS_ToUint32(c, &room, argv[0])) return JS_EXCEPTION;
  if (room > WR_MAX_SERVICE) room = WR_MAX_SERVICE;
  uint8_t *at = malloc(room ? room : 1);
  if (!at) return JS_ThrowOutOfMemory(c);
  uint32_t n = host_take(WR_CHANNEL_BODY, at, 0, room);
  return JS_NewUint8Array(c, at, n, resize, NULL, false);
}

// config(key): the value, or the code.
static JSValue config(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t len;
  query_len = 0;
  if (!put_text(1, argv[0])) return JS_EXCEPTION;
  uint32_t code = send(WR_SERVICE_CONFIG, &len);
  if (code) return JS_NewUint32(c, code);
  uint8_t *response = take_response(len);
  if (!response) return JS_EXCEPTION;
  bytes rest = {response, len}, value = {0};
  for (field f; wire_take(&rest, &f);)
    if (f.number == 1) value = f.text;
  JSValue text = JS_NewStringLen(c, (const char *)value.at, value.len);
  free(response);
  return text;
}

// notify(service, uri): gives the code.
static JSValue notify(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t service, len;
  query_len = 0;
  if (JS_ToUint32(c, &service, argv[0]) || !put_text(1, argv[1])) return JS_EXCEPTION;
  return JS_NewUint32(c, send(service, &len));
}

// log(level, text)
static JSValue write_log(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t level;
  if (JS_ToUint32(c, &level, argv[0])) return JS_EXCEPTION;
  utf8 s = utf8_of(argv[1]);
  if (!s.at) return JS_EXCEPTION;
  host_log(level, s.at, s.len);
  utf8_free(s);
  return JS_UNDEFINED;
}

// info(id): the number as far as a double has it.
static JSValue info(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t id;
  if (JS_ToUint32(c, &id, argv[0])) return JS_EXCEPTION;
  return JS_NewFloat64(c, (double)host_info(id));
}

// encode(text): UTF-8 as a Uint8Array.
static JSValue encode(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  utf8 s = utf8_of(argv[0]);
  if (!s.at) return JS_EXCEPTION;
  JSValue array = JS_NewUint8ArrayCopy(c, (const uint8_t *)s.at, s.len);
  utf8_free(s);
  return array;
}

// decode(bytes): the text; what is not UTF-8 becomes U+FFFD.
static JSValue decode(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  size_t len;
  uint8_t *at = JS_GetUint8Array(c, &len, argv[0]);
  if (!at && JS_HasException(c)) return JS_EXCEPTION;
  return JS_NewStringLen(c, (const char *)at, at ? len : 0);
}

const JSCFunctionListEntry service_functions[] = {
  JS_CFUNC_DEF("file", 5, file),     JS_CFUNC_DEF("taken", 1, taken),   JS_CFUNC_DEF("config", 1, config),
  JS_CFUNC_DEF("notify", 2, notify), JS_CFUNC_DEF("log", 2, write_log), JS_CFUNC_DEF("info", 1, info),
  JS_CFUNC_DEF("encode", 1, encode), JS_CFUNC_DEF("decode", 1, decode),
};
const int service_functions_count = sizeof service_functions / sizeof *service_functions;
