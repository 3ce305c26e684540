// Imports, output, and what else MicroPython asks its port for.
#include <string.h>

#include "engine.h"
#include "py/builtin.h"
#include "py/lexer.h"
#include "py/mperrno.h"
#include "py/mphal.h"
#include "py/reader.h"
#include "py/runtime.h"

mp_import_stat_t mp_import_stat(const char *path) {
  if (pack_code(path)) return MP_IMPORT_STAT_FILE;
  return pack_has_folder(path) ? MP_IMPORT_STAT_DIR : MP_IMPORT_STAT_NO_EXIST;
}

// The import of a file takes its code: see micropython.patch.
mp_lexer_t *mp_lexer_new_from_file(qstr path) { mp_raise_OSError(MP_ENOENT); }

static char line[1024]; // of print, until it ends
static size_t filled;

// print writes lines to the log.
void mp_hal_stdout_tx_strn_cooked(const char *text, size_t len) {
  for (size_t i = 0; i < len; i++) {
    bool end = text[i] == '\n';
    if (!end) line[filled++] = text[i];
    if (!end && filled < sizeof line) continue;
    log_text(WR_LOG_INFO, line, filled);
    filled = 0;
  }
}

mp_uint_t mp_hal_stdout_tx_strn(const char *text, size_t len) {
  mp_hal_stdout_tx_strn_cooked(text, len);
  return len;
}

void nlr_jump_fail(void *value) { __builtin_trap(); }

// open(…) is that of the SDK's module of files, which `wasmres build` packs where a source opens files.
static mp_obj_t open_file(size_t argc, const mp_obj_t *argv, mp_map_t *named) {
  mp_obj_t module = mp_import_name(MP_QSTR__files, mp_const_none, MP_OBJ_NEW_SMALL_INT(0));
  mp_obj_t open = mp_load_attr(module, MP_QSTR_open);
  size_t count = argc;
  mp_obj_t all[8];
  if (argc + 2 * named->used > 8) mp_raise_TypeError(MP_ERROR_TEXT("open takes a path, a mode and an encoding"));
  memcpy(all, argv, argc * sizeof *all);
  for (size_t i = 0; i < named->alloc; i++) {
    if (!mp_map_slot_is_filled(named, i)) continue;
    all[count++] = named->table[i].key;
    all[count++] = named->table[i].value;
  }
  return mp_call_function_n_kw(open, argc, named->used, all);
}
MP_DEFINE_CONST_FUN_OBJ_KW(mp_builtin_open_obj, 1, open_file);
