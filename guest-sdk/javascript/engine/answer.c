// Short answers, which are sent with their content: a text, bytes, and an object that has one of them.
#include <string.h>

#include "engine.h"

enum { INLINE = 4 << 10 }; // bytes of a text, or of bytes

typedef struct content {
  JSValueConst object; // the answer, if it is an object; undefined for a text and bytes
  JSValueConst request, route;
  const asked *asked;
} content;

// Gives undefined for a property that is absent, and for null.
static JSValue property(JSValueConst object, JSAtom name) {
  JSValue value = JS_IsUndefined(object) ? JS_UNDEFINED : JS_GetProperty(ctx, object, name);
  return JS_IsNull(value) ? JS_UNDEFINED : value;
}

static bool put_number(uint32_t field, JSValueConst object, JSAtom name) {
  JSValue value = property(object, name);
  bool done = !JS_IsException(value) && frame_put_number(field, value);
  JS_FreeValue(ctx, value);
  return done;
}

// Puts the first text there is: of the object, of the other one, and the last one unless it is empty.
static bool put_text(uint32_t field, JSAtom name, JSValueConst object, JSValueConst other, const char *last) {
  JSValue value = property(object, name);
  if (JS_IsUndefined(value)) value = property(other, name);
  bool done = JS_IsUndefined(value) ? *last == 0 || frame_put_bytes(field, last, strlen(last))
                                    : !JS_IsException(value) && frame_put_text(field, value, true);
  JS_FreeValue(ctx, value);
  return done;
}

static bool put_content(content c, bool text, const void *at, size_t len) {
  const char *usual = text ? "text/plain" : "application/octet-stream";
  if (!put_number(10, c.route, atoms.ttl) || !put_number(11, c.route, atoms.scope) || !frame_open(3)) return false;
  if (!put_text(1, atoms.uri, c.object, c.request, "")) return false;
  if (!put_text(2, atoms.mime_type, c.object, c.route, usual)) return false;
  if (!frame_put_bytes(text ? 3 : 4, at, len) || !put_text(7, atoms.etag, c.object, JS_UNDEFINED, "")) return false;
  frame_close();
  return true;
}

static bool put_data(JSValueConst data, content c) {
  if (JS_IsString(data)) {
    int64_t length; // in units of UTF-16, of which each is a byte at least
    if (JS_GetLength(ctx, data, &length) || length > INLINE) return false;
    utf8 s = utf8_of(data);
    bool done = s.at && s.len <= INLINE && put_content(c, true, s.at, s.len);
    if (s.at) utf8_free(s);
    return done;
  }
  bool part = c.asked->offset > 0 || c.asked->length > 0;
  if (part || JS_GetTypedArrayType(data) != JS_TYPED_ARRAY_UINT8) return false;
  size_t len;
  uint8_t *at = JS_GetUint8Array(ctx, &len, data);
  return at && len <= INLINE && put_content(c, false, at, len);
}

// Whether an object has none of the properties that scripts of the SDK send, nor an etag that is to be compared.
static bool is_plain(JSValueConst object, const asked *a) {
  if (a->if_none_match.at) return false;
  for (size_t i = 0; i < sizeof atoms.others / sizeof *atoms.others; i++) {
    JSValue value = JS_GetProperty(ctx, object, atoms.others[i]);
    JS_FreeValue(ctx, value);
    if (!JS_IsUndefined(value)) return false;
  }
  return true;
}

// The text or the bytes of an object; undefined when it has neither or both.
static JSValue data_of(JSValueConst object) {
  JSValue text = JS_GetProperty(ctx, object, atoms.text), bytes = JS_GetProperty(ctx, object, atoms.bytes);
  if (JS_IsUndefined(bytes)) return text;
  if (JS_IsUndefined(text)) return bytes;
  JS_FreeValue(ctx, text);
  JS_FreeValue(ctx, bytes);
  return JS_UNDEFINED;
}

bool answer_send(JSValueConst answer, JSValueConst request, JSValueConst route, const asked *a, uint32_t *code) {
  if (frame_stopped() != WR_CODE_OK || a->max_bytes > 0) return false;
  content c = {JS_UNDEFINED, request, route, a};
  bool done = false;
  if (!object_is_ordinary(answer)) {
    done = put_data(answer, c);
  } else if (is_plain(answer, a)) {
    JSValue data = data_of(answer);
    c.object = answer;
    done = put_data(data, c);
    JS_FreeValue(ctx, data);
  }
  if (done) *code = frame_send();
  return done;
}
