// Messages of services. In Python a message is a tuple or list of its fields, in the order of their numbers from 1 on;
// None stands for those that are absent. Its shape has a letter for each:
//
//	n  an int    ?  True or False    s  a str    b  bytes
//	v  any number of values of a database, a list         (…)  any number of messages of this shape, a list
#include <string.h>

#include "engine.h"
#include "py/objint.h"
#include "py/objlist.h"
#include "py/runtime.h"

enum { MAX_FIELDS = 8 }; // that a shape has

void buffer_reserve(buffer *b, size_t n) {
  size_t room = buffer_room(b, n);
  if (room == 0)
    mp_raise_msg_varg(&mp_type_ValueError, MP_ERROR_TEXT("a message to the host has more than %d bytes"), WR_MAX_FRAME);
  if (room == b->room) return;
  uint8_t *at = m_realloc(b->fixed ? NULL : b->at, room);
  if (b->fixed) memcpy(at, b->at, b->len);
  b->at = at, b->room = room, b->fixed = false;
}

// ---- encoding

static void put_number(buffer *b, uint32_t number, uint64_t v) {
  if (v == 0) return;
  buffer_reserve(b, WIRE_HEAD);
  wire_put_number(b, number, v);
}

static void put_bytes(buffer *b, uint32_t number, mp_obj_t value) {
  mp_buffer_info_t from;
  mp_get_buffer_raise(value, &from, MP_BUFFER_READ);
  if (from.len == 0) return;
  buffer_reserve(b, WIRE_HEAD + from.len);
  wire_put_bytes(b, number, from.buf, from.len);
}

// The 64 bits of an int: below 2**63 where it is signed, and below 2**64 otherwise. It raises OverflowError for others.
static uint64_t bits_of(mp_obj_t value, bool is_signed) {
  if (mp_obj_is_small_int(value)) return (uint64_t)(int64_t)MP_OBJ_SMALL_INT_VALUE(value);
  uint8_t raw[8];
  uint64_t bits;
  if (!mp_obj_is_int(value)) return (uint64_t)mp_obj_get_int(value);
  mp_obj_int_to_bytes(value, sizeof raw, raw, false, is_signed || mp_obj_int_sign(value) < 0, true);
  memcpy(&bits, raw, sizeof bits);
  return bits;
}

static void put_value(buffer *b, mp_obj_t value) {
  if (value == mp_const_none) return;
  if (mp_obj_is_bool(value)) {
    put_number(b, 1, WR_SQL_BOOL);
    put_number(b, 2, value == mp_const_true);
  } else if (mp_obj_is_int(value)) {
    put_number(b, 1, WR_SQL_INT);
    put_number(b, 2, bits_of(value, true));
  } else if (mp_obj_is_float(value)) {
    put_number(b, 1, WR_SQL_FLOAT);
    buffer_reserve(b, WIRE_HEAD);
    wire_put_fixed64(b, 3, mp_obj_get_float(value));
  } else {
    bool text = mp_obj_is_str(value);
    put_number(b, 1, text ? WR_SQL_TEXT : WR_SQL_BYTES);
    put_bytes(b, text ? 4 : 5, value);
  }
}

static void put_elements(buffer *b, const char *shape, uint32_t number, mp_obj_t list) {
  size_t count;
  mp_obj_t *elements;
  mp_obj_get_array(list, &count, &elements);
  for (size_t i = 0; i < count; i++) {
    buffer_reserve(b, WIRE_HEAD);
    size_t start = wire_begin(b, number);
    if (*shape == 'v') put_value(b, elements[i]);
    else message_encode(b, shape + 1, elements[i]);
    wire_end(b, start);
  }
}

static void put_field(buffer *b, const char *shape, uint32_t number, mp_obj_t value) {
  if (value == mp_const_none) return;
  switch (*shape) {
  case 'n': put_number(b, number, bits_of(value, false)); break;
  case '?': put_number(b, number, mp_obj_is_true(value)); break;
  case 's': case 'b': put_bytes(b, number, value); break;
  default: put_elements(b, shape, number, value);
  }
}

void message_put(buffer *b, const char *shape, size_t count, const mp_obj_t *fields) {
  for (uint32_t i = 0; !shape_at_end(shape) && i < count; shape = shape_next(shape), i++) put_field(b, shape, i + 1, fields[i]);
}

void message_encode(buffer *b, const char *shape, mp_obj_t fields) {
  size_t count;
  mp_obj_t *values;
  mp_obj_get_array(fields, &count, &values);
  message_put(b, shape, count, values);
}

// ---- decoding, where MP_OBJ_NULL stands for what is malformed

static mp_obj_t text_of(bytes s) { return mp_obj_new_str((const char *)s.at, s.len); }

static mp_obj_t bytes_of(bytes s) { return mp_obj_new_bytes(s.at, s.len); }

mp_obj_t message_value(bytes rest) {
  sql_value v;
  if (!sql_value_take(rest, &v)) return MP_OBJ_NULL;
  switch (v.kind) {
  case WR_SQL_NULL: return mp_const_none;
  case WR_SQL_BOOL: return mp_obj_new_bool(v.bits != 0);
  case WR_SQL_INT: return mp_obj_new_int_from_ll((int64_t)v.bits);
  case WR_SQL_FLOAT: return mp_obj_new_float(v.number);
  case WR_SQL_TEXT: return text_of(v.text);
  case WR_SQL_BYTES: return bytes_of(v.text);
  }
  return MP_OBJ_NULL;
}

static mp_obj_t field_of(const char *shape, const field *f) {
  if (*shape == 'n' || *shape == '?') {
    if (f->type != WIRE_NUMBER) return MP_OBJ_NULL;
    return *shape == '?' ? mp_obj_new_bool(f->bits != 0) : mp_obj_new_int_from_ull(f->bits);
  }
  if (f->type != WIRE_BYTES) return MP_OBJ_NULL;
  switch (*shape) {
  case 's': return text_of(f->text);
  case 'b': return bytes_of(f->text);
  case 'v': return message_value(f->text);
  }
  return message_decode(shape + 1, f->text);
}

// Sets the field that f is, unless it is unknown; false when it is malformed.
static bool set(mp_obj_t *fields, const char *shape, const field *f) {
  uint32_t i = 0;
  for (; !shape_at_end(shape) && i + 1 < f->number; shape = shape_next(shape)) i++;
  if (shape_at_end(shape) || i >= MAX_FIELDS) return true;
  mp_obj_t value = field_of(shape, f);
  if (value == MP_OBJ_NULL) return false;
  if (*shape != 'v' && *shape != '(') {
    fields[i] = value;
    return true;
  }
  if (fields[i] == mp_const_none) fields[i] = mp_obj_new_list(0, NULL);
  mp_obj_list_append(fields[i], value);
  return true;
}

static uint32_t fields_in(const char *shape) {
  uint32_t count = 0;
  for (; !shape_at_end(shape); shape = shape_next(shape)) count++;
  return count;
}

mp_obj_t message_decode(const char *shape, bytes encoded) {
  uint32_t count = fields_in(shape);
  mp_obj_tuple_t *message = MP_OBJ_TO_PTR(mp_obj_new_tuple(count, NULL));
  for (uint32_t i = 0; i < count; i++) message->items[i] = mp_const_none;
  for (field f; wire_take(&encoded, &f);)
    if (!set(message->items, shape, &f)) return MP_OBJ_NULL;
  return encoded.len == 0 ? MP_OBJ_FROM_PTR(message) : MP_OBJ_NULL;
}
