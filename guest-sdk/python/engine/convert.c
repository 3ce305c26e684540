// The values of variables, as the SDK's handler.py converts them. It gets what it would refuse or has to look at.
#include <string.h>

#include "engine.h"
#include "py/parsenum.h"
#include "py/runtime.h"

enum {
  MAX_DIGITS = 18, // of a whole number that fits 64 bits
  MAX_FLOAT = 64,  // bytes of another number
};

static size_t sign(bytes s) { return s.len > 0 && (*s.at == '-' || *s.at == '+'); }

// How many digits there are from i on.
static size_t digits(bytes s, size_t i) {
  size_t n = 0;
  while (i + n < s.len && s.at[i + n] >= '0' && s.at[i + n] <= '9') n++;
  return n;
}

static mp_obj_t whole_number(bytes s) {
  size_t i = sign(s), count = digits(s, i);
  if (count == 0 || count > MAX_DIGITS || i + count < s.len) return MP_OBJ_NULL;
  int64_t n = 0;
  for (; i < s.len; i++) n = 10 * n + (s.at[i] - '0');
  return mp_obj_new_int_from_ll(*s.at == '-' ? -n : n);
}

// Takes decimal digits with a point and an exponent. Python's float takes more, as spaces, "inf" and "1_000".
static mp_obj_t number(bytes s) {
  size_t i = sign(s), whole = digits(s, i), part = 0;
  i += whole;
  if (i < s.len && s.at[i] == '.') part = digits(s, ++i), i += part;
  if (whole + part == 0 || s.len > MAX_FLOAT) return MP_OBJ_NULL;
  if (i < s.len && (s.at[i] | 32) == 'e') {
    i++;
    i += sign((bytes){s.at + i, s.len - i});
    size_t exponent = digits(s, i);
    if (exponent == 0) return MP_OBJ_NULL;
    i += exponent;
  }
  return i == s.len ? mp_parse_num_float((const char *)s.at, s.len, false, NULL) : MP_OBJ_NULL;
}

static bool is_one_of(bytes s, const char *const *words) {
  for (; *words; words++)
    if (strlen(*words) == s.len && memcmp(*words, s.at, s.len) == 0) return true;
  return false;
}

static mp_obj_t truth(bytes s) {
  static const char *const yes[] = {"true", "1", "yes", "on", NULL}, *const no[] = {"false", "0", "no", "off", NULL};
  if (is_one_of(s, yes)) return mp_const_true;
  return is_one_of(s, no) ? mp_const_false : MP_OBJ_NULL;
}

mp_obj_t convert(bytes s, mp_obj_t type) {
  if (type == mp_const_none) return mp_obj_new_str((const char *)s.at, s.len);
  if (type == MP_OBJ_NEW_QSTR(MP_QSTR_int)) return whole_number(s);
  if (type == MP_OBJ_NEW_QSTR(MP_QSTR_float)) return number(s);
  return type == MP_OBJ_NEW_QSTR(MP_QSTR_bool) ? truth(s) : MP_OBJ_NULL;
}
