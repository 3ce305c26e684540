// Messages of services. In JavaScript a message is an array of its fields, in the order of their numbers from 1 on;
// those that are absent are undefined. Its shape has a letter for each:
//
//	n  a number, as far as a double has it: sizes, times    u  a number of 64 bits, a BigInt    ?  true or false
//	s  a text    b  bytes, a Uint8Array
//	v  any number of values of a database, an array         (…)  any number of messages of this shape, an array
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum { MAX_FIELDS = 8 }; // that a shape has

bool buffer_reserve(buffer *b, size_t n) {
  size_t room = buffer_room(b, n);
  if (room <= b->room) return room > 0;
  uint8_t *at = realloc(b->at, room);
  if (!at) {
    JS_ThrowOutOfMemory(ctx);
    return false;
  }
  b->at = at, b->room = room;
  return true;
}

// ---- encoding

static bool put_number(buffer *b, uint32_t number, uint64_t v) {
  if (v == 0) return true;
  if (!buffer_reserve(b, WIRE_HEAD)) return false;
  wire_put_number(b, number, v);
  return true;
}

static bool put_bytes(buffer *b, uint32_t number, const void *at, size_t len) {
  if (len == 0) return true;
  if (len > WR_MAX_SERVICE) len = WR_MAX_SERVICE; // which leaves no room for the rest
  if (!buffer_reserve(b, WIRE_HEAD + len)) return false;
  wire_put_bytes(b, number, at, len);
  return true;
}

static bool put_text(buffer *b, uint32_t number, JSValueConst text) {
  utf8 s = utf8_of(text);
  if (!s.at) return false;
  bool done = put_bytes(b, number, s.at, s.len);
  utf8_free(s);
  return done;
}

static bool put_array(buffer *b, uint32_t number, JSValueConst array) {
  size_t len;
  uint8_t *at = JS_GetUint8Array(ctx, &len, array);
  if (!at && JS_HasException(ctx)) return false;
  return put_bytes(b, number, at, at ? len : 0); // an empty array may have no buffer
}

static bool put_double(buffer *b, uint32_t number, JSValueConst value) {
  double v;
  if (JS_ToFloat64(ctx, &v, value)) return false;
  return put_number(b, number, v >= 1 ? v < 0x1p63 ? (uint64_t)v : INT64_MAX : 0);
}

static bool put_integer(buffer *b, uint32_t number, JSValueConst value) {
  int64_t v;
  return JS_ToInt64Ext(ctx, &v, value) == 0 && put_number(b, number, (uint64_t)v);
}

// A number is an integer if it is one that doubles tell from its neighbours.
static bool put_either(buffer *b, JSValueConst value) {
  double v;
  if (JS_ToFloat64(ctx, &v, value)) return false;
  if (v == trunc(v) && fabs(v) < 0x1p53) return put_number(b, 1, WR_SQL_INT) && put_number(b, 2, (uint64_t)(int64_t)v);
  if (!put_number(b, 1, WR_SQL_FLOAT) || !buffer_reserve(b, WIRE_HEAD)) return false;
  wire_put_fixed64(b, 3, v);
  return true;
}

static bool put_value(buffer *b, JSValueConst value) {
  if (JS_IsNull(value)) return true;
  if (JS_IsBool(value)) return put_number(b, 1, WR_SQL_BOOL) && put_integer(b, 2, value);
  if (JS_IsNumber(value)) return put_either(b, value);
  if (JS_IsBigInt(value)) return put_number(b, 1, WR_SQL_INT) && put_integer(b, 2, value);
  if (JS_IsString(value)) return put_number(b, 1, WR_SQL_TEXT) && put_text(b, 4, value);
  return put_number(b, 1, WR_SQL_BYTES) && put_array(b, 5, value);
}

static bool put_element(buffer *b, const char *shape, uint32_t number, JSValueConst element) {
  if (!buffer_reserve(b, WIRE_HEAD)) return false;
  size_t start = wire_begin(b, number);
  if (!(*shape == 'v' ? put_value(b, element) : message_encode(b, shape + 1, element))) return false;
  wire_end(b, start);
  return true;
}

static bool put_elements(buffer *b, const char *shape, uint32_t number, JSValueConst array) {
  int64_t count;
  if (JS_GetLength(ctx, array, &count)) return false;
  for (int64_t i = 0; i < count; i++) {
    JSValue element = JS_GetPropertyInt64(ctx, array, i);
    bool done = !JS_IsException(element) && put_element(b, shape, number, element);
    JS_FreeValue(ctx, element);
    if (!done) return false;
  }
  return true;
}

static bool put_field(buffer *b, const char *shape, uint32_t number, JSValueConst value) {
  if (JS_IsUndefined(value)) return true;
  switch (*shape) {
  case 'n': return put_double(b, number, value);
  case 'u': return put_integer(b, number, value);
  case '?': return put_number(b, number, JS_ToBool(ctx, value) == 1);
  case 's': return put_text(b, number, value);
  case 'b': return put_array(b, number, value);
  }
  return put_elements(b, shape, number, value);
}

bool message_encode(buffer *b, const char *shape, JSValueConst fields) {
  for (uint32_t i = 0; !shape_at_end(shape); shape = shape_next(shape)) {
    JSValue value = JS_GetPropertyUint32(ctx, fields, i++);
    bool done = !JS_IsException(value) && put_field(b, shape, i, value);
    JS_FreeValue(ctx, value);
    if (!done) return false;
  }
  return true;
}

// ---- decoding, where undefined stands for what is malformed

static JSValue text_of(bytes s) { return JS_NewStringLen(ctx, (const char *)s.at, s.len); }

// An integer of a database: a BigInt if no number is the same.
static JSValue integer_of(int64_t v) {
  return v > -0x1p53 && v < 0x1p53 ? JS_NewInt64(ctx, v) : JS_NewBigInt64(ctx, v);
}

static JSValue value_of(bytes rest) {
  sql_value v;
  if (!sql_value_take(rest, &v)) return JS_UNDEFINED;
  switch (v.kind) {
  case WR_SQL_NULL: return JS_NULL;
  case WR_SQL_BOOL: return JS_NewBool(ctx, v.bits != 0);
  case WR_SQL_INT: return integer_of((int64_t)v.bits);
  case WR_SQL_FLOAT: return JS_NewFloat64(ctx, v.number);
  case WR_SQL_TEXT: return text_of(v.text);
  case WR_SQL_BYTES: return JS_NewUint8ArrayCopy(ctx, v.text.at, v.text.len);
  }
  return JS_UNDEFINED;
}

static JSValue number_of(char letter, const field *f) {
  if (f->type != WIRE_NUMBER) return JS_UNDEFINED;
  if (letter == '?') return JS_NewBool(ctx, f->bits != 0);
  return letter == 'u' ? JS_NewBigUint64(ctx, f->bits) : JS_NewInt64(ctx, (int64_t)f->bits);
}

static JSValue field_of(const char *shape, const field *f) {
  if (strchr("nu?", *shape)) return number_of(*shape, f);
  if (f->type != WIRE_BYTES) return JS_UNDEFINED;
  switch (*shape) {
  case 's': return text_of(f->text);
  case 'b': return JS_NewUint8ArrayCopy(ctx, f->text.at, f->text.len);
  case 'v': return value_of(f->text);
  }
  return message_decode(shape + 1, f->text);
}

static bool append(JSValue *array, JSValue element) {
  int64_t count = 0;
  if (JS_IsUndefined(*array)) *array = JS_NewArray(ctx);
  if (JS_IsException(*array) || JS_GetLength(ctx, *array, &count)) return false;
  return JS_DefinePropertyValueUint32(ctx, *array, (uint32_t)count, element, JS_PROP_C_W_E) > 0;
}

// Sets the field that f is, unless it is unknown; false when it is malformed, and after an exception.
static bool set(JSValue *fields, const char *shape, const field *f) {
  uint32_t i = 0;
  for (; !shape_at_end(shape) && i + 1 < f->number; shape = shape_next(shape)) i++;
  if (shape_at_end(shape) || i == MAX_FIELDS) return true;
  JSValue value = field_of(shape, f);
  if (JS_IsUndefined(value) || JS_IsException(value)) return false;
  if (*shape == 'v' || *shape == '(') return append(&fields[i], value);
  JS_FreeValue(ctx, fields[i]);
  fields[i] = value;
  return true;
}

JSValue message_decode(const char *shape, bytes encoded) {
  JSValue fields[MAX_FIELDS];
  for (int i = 0; i < MAX_FIELDS; i++) fields[i] = JS_UNDEFINED;
  bool done = true;
  for (field f; done && wire_take(&encoded, &f);) done = set(fields, shape, &f);
  int count = MAX_FIELDS;
  while (count > 0 && JS_IsUndefined(fields[count - 1])) count--;
  if (done && encoded.len == 0) return JS_NewArrayFrom(ctx, count, fields);
  for (int i = 0; i < count; i++) JS_FreeValue(ctx, fields[i]);
  return JS_HasException(ctx) ? JS_EXCEPTION : JS_UNDEFINED;
}
