// What a provider asks the host: services, the log, numbers it knows, and UTF-8, which JavaScript itself has not.
#include <stdlib.h>

#include "engine.h"

enum {
  MAX_RESPONSE = 4 << 20, // bytes of a message that a service answers
  FEW = 8 << 10,          // bytes there is room for at first
};

static JSValue response_of(const char *shape, uint32_t len) {
  JSValue message = JS_UNDEFINED;
  if (len <= MAX_RESPONSE) {
    uint8_t *at = malloc(len + 1);
    if (!at) return JS_ThrowOutOfMemory(ctx);
    if (host_take(WR_CHANNEL_RESPONSE, at, 0, len) == len) message = message_decode(shape, (bytes){at, len});
    free(at);
  }
  return JS_IsUndefined(message) ? JS_NewUint32(ctx, WR_CODE_INTERNAL) : message;
}

static JSValue ask(uint32_t service, const char *asked, JSValueConst fields, const char *answered) {
  buffer b = {0};
  bool done = message_encode(&b, asked, fields);
  uint64_t result = done ? host_call(service, b.at, b.len) : 0;
  free(b.at);
  if (!done) return JS_HasException(ctx) ? JS_EXCEPTION : JS_NewUint32(ctx, WR_CODE_TOO_LARGE);
  uint32_t code = (uint32_t)(result >> 32);
  return code ? JS_NewUint32(ctx, code) : response_of(answered, (uint32_t)result);
}

// call(service, asked, fields, answered): asks a service with fields of the shape asked. Gives the fields it answers,
// of the shape answered, or the code when that is not 0: see message.c.
static JSValue call(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t service;
  if (JS_ToUint32(c, &service, argv[0])) return JS_EXCEPTION;
  const char *asked = JS_ToCString(c, argv[1]), *answered = asked ? JS_ToCString(c, argv[3]) : NULL;
  JSValue answer = answered ? ask(service, asked, argv[2], answered) : JS_EXCEPTION;
  if (asked) JS_FreeCString(c, asked);
  if (answered) JS_FreeCString(c, answered);
  return answer;
}

static void *resize(JSRuntime *rt, void *opaque, void *at, size_t size) {
  if (size > 0) return realloc(at, size);
  free(at);
  return NULL;
}

// taken(length): at most so many of the bytes that came beside the last answer, or all, as a Uint8Array.
static JSValue taken(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t most = MAX_RESPONSE, room = FEW, len = 0;
  if (!JS_IsUndefined(argv[0])) {
    if (JS_ToUint32(c, &most, argv[0])) return JS_EXCEPTION;
    room = most = most < MAX_RESPONSE ? most : MAX_RESPONSE;
  }
  uint8_t *at = NULL;
  for (;; room = room < most / 4 ? room * 4 : most) {
    uint8_t *more = realloc(at, room + 1);
    if (!more) {
      free(at);
      return JS_ThrowOutOfMemory(c);
    }
    at = more;
    len += host_take(WR_CHANNEL_BODY, at + len, len, room - len);
    if (len < room || room == most) return JS_NewUint8Array(c, at, len, resize, NULL, false);
  }
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
  JS_CFUNC_DEF("call", 4, call), JS_CFUNC_DEF("taken", 1, taken),   JS_CFUNC_DEF("log", 2, write_log),
  JS_CFUNC_DEF("info", 1, info), JS_CFUNC_DEF("encode", 1, encode), JS_CFUNC_DEF("decode", 1, decode),
};
const int service_functions_count = sizeof service_functions / sizeof *service_functions;
