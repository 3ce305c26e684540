#include <string.h>

#include "fields.h"
#include "host.h"

bool var_take(bytes encoded, bytes *name, bytes *value) {
  *name = *value = (bytes){(const uint8_t *)"", 0};
  for (field f; wire_take(&encoded, &f);) {
    if (f.number > 2) continue;
    if (f.type != WIRE_BYTES) return false;
    *(f.number == 1 ? name : value) = f.text;
  }
  return encoded.len == 0;
}

bool sql_value_take(bytes encoded, sql_value *v) {
  *v = (sql_value){.kind = WR_SQL_NULL};
  for (field f; wire_take(&encoded, &f);) {
    if (f.number == 1 && f.type == WIRE_NUMBER) v->kind = f.bits;
    else if (f.number == 2 && f.type == WIRE_NUMBER) v->bits = f.bits;
    else if (f.number == 3 && f.type == WIRE_FIXED64) memcpy(&v->number, f.text.at, sizeof v->number);
    else if ((f.number == 4 || f.number == 5) && f.type == WIRE_BYTES) v->text = f.text;
    else if (f.number <= 5) return false;
  }
  return encoded.len == 0;
}

const char *shape_next(const char *shape) {
  int depth = 0;
  do depth += (*shape == '(') - (*shape == ')');
  while (shape++, depth > 0);
  return shape;
}

bool shape_at_end(const char *shape) { return *shape == 0 || *shape == ')'; }

uint32_t refuse(uint32_t code, const char *message) {
  static uint8_t frame[MAX_FAILURE + 16];
  size_t len = strnlen(message, MAX_FAILURE), inner = len + 3;
  uint8_t *at = frame;
  *at++ = 5 << 3 | WIRE_BYTES;
  *at++ = (inner & 127) | 128, *at++ = (uint8_t)(inner >> 7);
  *at++ = 1 << 3 | WIRE_BYTES;
  *at++ = (len & 127) | 128, *at++ = (uint8_t)(len >> 7);
  memcpy(at, message, len);
  host_emit(frame, at + len - frame);
  return code;
}
