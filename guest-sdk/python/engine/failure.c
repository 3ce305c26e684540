#include <string.h>

#include "engine.h"
#include "py/runtime.h"
#include "py/smallint.h"

void log_text(uint32_t level, const char *text, size_t len) { host_log(level, text, len); }

// Writes "Class: message".
static void describe(const mp_print_t *print, mp_obj_t error) {
  mp_printf(print, "%q: ", mp_obj_get_type(error)->name);
  mp_obj_print_helper(print, error, PRINT_STR);
}

void failure_log(mp_obj_t error) {
  vstr_t v;
  mp_print_t print;
  vstr_init_print(&v, 256, &print);
  describe(&print, error);
  log_text(WR_LOG_ERROR, v.buf, v.len);
  v.len = 0;
  mp_obj_print_exception(&print, error);
  if (v.len > 0 && v.buf[v.len - 1] == '\n') v.len--;
  // The host takes indented lines for a part of the error above.
  for (size_t start = 1; start < v.len; start++) {
    if (v.buf[start] != ' ' || v.buf[start - 1] != '\n') continue;
    log_text(WR_LOG_ERROR, v.buf + start, v.len - start);
    break;
  }
}

void failure_summary(char *room, size_t size, mp_obj_t error) {
  vstr_t v;
  mp_print_t print;
  vstr_init_print(&v, 128, &print);
  if (mp_obj_is_exception_instance(error)) {
    size_t count, *places;
    mp_obj_exception_get_traceback(error, &count, &places);
    size_t i = 0; // of the innermost place in a file of the provider
    while (i + 6 <= count && strncmp(qstr_str(places[i]), "wasmres/", 8) == 0) i += 3;
    if (count >= 3) mp_printf(&print, "%q:%u: ", (qstr)places[i], (unsigned)places[i + 1]);
  }
  describe(&print, error);
  size_t len = v.len < size - 1 ? v.len : size - 1;
  while (len < v.len && len > 0 && ((uint8_t)v.buf[len] & 0xc0) == 0x80) len--; // no half of a character
  memcpy(room, v.buf, len);
  room[len] = 0;
}
