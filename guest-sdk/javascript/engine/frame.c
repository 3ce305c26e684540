// The frame: fields of a Reply that are collected, and the bytes of contents, which follow their fields.
#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum {
  MAX_DEPTH = 8,           // of messages within messages
  CHUNK = 48 << 10,        // bytes of a content that are collected before they leave
  PIECE = 3 * (256 << 10), // bytes that leave at once at most
};

static buffer frame;
static size_t begun[MAX_DEPTH]; // where the messages that are not yet complete begin
static int depth;

static int32_t stopped; // the signal that has ended the operation

static struct {
  uint8_t *at; // CHUNK bytes; NULL before the first ones
  size_t len;
} chunk;

// Makes room for n more bytes; false after an exception.
static bool reserve(size_t n) {
  if (buffer_reserve(&frame, n)) return true;
  if (!JS_HasException(ctx))
    JS_ThrowRangeError(ctx, "what is answered beside the bytes of contents has more than %d bytes", WR_MAX_FRAME);
  return false;
}

static uint32_t number_of(JSValueConst value) {
  uint32_t n = 0;
  JS_ToUint32(ctx, &n, value);
  return n;
}

static JSValue undefined_or(bool done) { return done ? JS_UNDEFINED : JS_EXCEPTION; }

bool frame_open(uint32_t number) {
  if (depth == MAX_DEPTH) JS_ThrowRangeError(ctx, "messages are nested too deep");
  if (depth == MAX_DEPTH || !reserve(WIRE_HEAD)) return false;
  begun[depth++] = wire_begin(&frame, number);
  return true;
}

void frame_close(void) { wire_end(&frame, begun[--depth]); }

// begin(field): what follows, up to end, is a message.
static JSValue begin(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  return undefined_or(frame_open(number_of(argv[0])));
}

// end(): gives how many bytes the frame has.
static JSValue end(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  if (depth == 0) return JS_ThrowRangeError(c, "no message has begun");
  frame_close();
  return JS_NewUint32(c, frame.len);
}

bool frame_put_bytes(uint32_t number, const void *at, size_t len) {
  if (len > WR_MAX_FRAME) len = WR_MAX_FRAME; // which leaves no room for the rest
  if (!reserve(WIRE_HEAD + len)) return false;
  wire_put_bytes(&frame, number, at, len);
  return true;
}

bool frame_put_text(uint32_t number, JSValueConst text, bool optional) {
  if (optional && (JS_IsUndefined(text) || JS_IsNull(text))) return true;
  utf8 s = utf8_of(text);
  if (!s.at) return false;
  bool done = (optional && s.len == 0) || frame_put_bytes(number, s.at, s.len);
  utf8_free(s);
  return done;
}

// text(field, string): leaves out what is empty, undefined or null.
static JSValue text(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  return undefined_or(frame_put_text(number_of(argv[0]), argv[1], true));
}

// element(field, string): also when it is empty.
static JSValue element(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  return undefined_or(frame_put_text(number_of(argv[0]), argv[1], false));
}

// bytes(field, Uint8Array): also when it is empty.
static JSValue put_blob(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  size_t len;
  uint8_t *at = JS_GetUint8Array(c, &len, argv[1]);
  if (!at) {
    if (JS_HasException(c)) return JS_EXCEPTION;
    len = 0; // an empty array may have no buffer
  }
  return undefined_or(frame_put_bytes(number_of(argv[0]), at, len));
}

bool frame_put_number(uint32_t number, JSValueConst n) {
  double v;
  if (JS_ToFloat64(ctx, &v, n) < 0) return false;
  if (!(v >= 1)) return true;
  if (!reserve(WIRE_HEAD)) return false;
  wire_put_number(&frame, number, v < 0x1p63 ? (uint64_t)v : INT64_MAX);
  return true;
}

// number(field, n): leaves out what is not above zero.
static JSValue number(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  return undefined_or(frame_put_number(number_of(argv[0]), argv[1]));
}

// double(field, n): also when it is zero.
static JSValue put_double(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  double v;
  if (JS_ToFloat64(c, &v, argv[1]) < 0 || !reserve(WIRE_HEAD)) return JS_EXCEPTION;
  wire_put_fixed64(&frame, number_of(argv[0]), v);
  return JS_UNDEFINED;
}

static void drop_all(void) { frame.len = 0, depth = 0, chunk.len = 0; }

bool frame_reserve(size_t len) { return buffer_reserve(&frame, len); }

void frame_begin(void) {
  drop_all();
  stopped = WR_SIGNAL_MORE;
}

uint32_t frame_stopped(void) {
  switch (stopped) {
  case WR_SIGNAL_MORE: return WR_CODE_OK;
  case WR_SIGNAL_DEADLINE: return WR_CODE_DEADLINE;
  case WR_SIGNAL_TOO_LARGE: return WR_CODE_TOO_LARGE;
  case WR_SIGNAL_BAD_FRAME: return WR_CODE_INTERNAL;
  }
  return WR_CODE_CANCELLED;
}

uint32_t frame_send(void) {
  int32_t signal = host_emit(frame.at, frame.len);
  drop_all();
  if (signal < WR_SIGNAL_MORE) stopped = signal;
  return frame_stopped();
}

// stop(signal): keeps the signal that ends the operation.
static JSValue stop(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  JS_ToInt32(c, &stopped, argv[0]);
  return JS_UNDEFINED;
}

// stoppedCode(): the code that the operation ends with because the host has stopped it; 0 when it has not.
static JSValue stopped_code(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  return JS_NewUint32(c, frame_stopped());
}

// drop(): forgets what was collected.
static JSValue drop(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  drop_all();
  return JS_UNDEFINED;
}

// emit(): sends the frame, and gives the host's signal.
static JSValue emit(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  if (frame.len == 0) return JS_NewInt32(c, WR_SIGNAL_MORE);
  int32_t signal = host_emit(frame.at, frame.len);
  drop_all();
  return JS_NewInt32(c, signal);
}

static int32_t send_chunk(void) {
  if (chunk.len == 0) return WR_SIGNAL_MORE;
  int32_t signal = host_body(chunk.at, chunk.len);
  chunk.len = 0;
  return signal;
}

// Sends bytes of a content: those that fill a chunk leave, the rest is kept. Large ones are not copied.
static int32_t push(const uint8_t *at, size_t len) {
  int32_t signal = WR_SIGNAL_MORE;
  if (len >= CHUNK) signal = send_chunk();
  while (signal == WR_SIGNAL_MORE && len >= CHUNK) {
    size_t n = len < PIECE ? len : PIECE;
    signal = host_body(at, n);
    at += n, len -= n;
  }
  if (signal == WR_SIGNAL_MORE && chunk.len + len > CHUNK) {
    size_t n = CHUNK - chunk.len;
    memcpy(chunk.at + chunk.len, at, n);
    chunk.len = CHUNK, at += n, len -= n;
    signal = send_chunk();
  }
  if (signal != WR_SIGNAL_MORE) return signal;
  memcpy(chunk.at + chunk.len, at, len);
  chunk.len += len;
  return signal;
}

// body(bytes): a Uint8Array or a text. Gives the host's signal.
static JSValue body(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  int32_t signal;
  if (!chunk.at && !(chunk.at = malloc(CHUNK))) return JS_ThrowOutOfMemory(c);
  if (JS_IsString(argv[0])) {
    utf8 s = utf8_of(argv[0]);
    if (!s.at) return JS_EXCEPTION;
    signal = push((const uint8_t *)s.at, s.len);
    utf8_free(s);
    return JS_NewInt32(c, signal);
  }
  size_t len;
  uint8_t *at = JS_GetUint8Array(c, &len, argv[0]);
  if (!at && JS_HasException(c)) return JS_EXCEPTION;
  signal = at ? push(at, len) : WR_SIGNAL_MORE;
  return JS_NewInt32(c, signal);
}

// endBody(): sends what is left of a content, and gives the host's signal.
static JSValue end_body(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  return JS_NewInt32(c, send_chunk());
}

const JSCFunctionListEntry frame_functions[] = {
  JS_CFUNC_DEF("begin", 1, begin),       JS_CFUNC_DEF("end", 0, end),          JS_CFUNC_DEF("text", 2, text),
  JS_CFUNC_DEF("element", 2, element),   JS_CFUNC_DEF("bytes", 2, put_blob),   JS_CFUNC_DEF("number", 2, number),
  JS_CFUNC_DEF("double", 2, put_double), JS_CFUNC_DEF("drop", 0, drop),        JS_CFUNC_DEF("emit", 0, emit),
  JS_CFUNC_DEF("body", 1, body),         JS_CFUNC_DEF("endBody", 0, end_body),
  JS_CFUNC_DEF("stop", 1, stop),         JS_CFUNC_DEF("stoppedCode", 0, stopped_code),
};
const int frame_functions_count = sizeof frame_functions / sizeof *frame_functions;
