// What `wasmres build` runs: it starts the interpreter, compiles all files, and runs those of the library. Files of the
// provider run when it starts, since they may ask the host for something.
#include <stdio.h>
#include <string.h>

#include "engine.h"
#include "py/builtin.h"
#include "py/compile.h"
#include "py/runtime.h"

enum { SOURCE_LINE = 200 }; // bytes of a line that a message has at most

size_t parse_error_column; // of the last syntax error, from 1 on; 0 when it is not known: set by micropython.patch

static void compile(source s) {
  mp_lexer_t *lexer = mp_lexer_new_from_str_len(qstr_from_str(s.name), s.text, s.len, 0);
  qstr name = lexer->source_name;
  mp_parse_tree_t tree = mp_parse(lexer, MP_PARSE_FILE_INPUT);
  mp_compiled_module_t code = {.context = m_new_obj(mp_module_context_t)};
  code.context->module.base.type = &mp_type_module;
  mp_compile_to_raw_code(&tree, name, false, &code);
  pack_add_code(s, code);
}

static void import(const char *path) { mp_import_name(pack_module(path), mp_const_none, MP_OBJ_NEW_SMALL_INT(0)); }

static source find(const char *name) {
  size_t at = 0;
  source s;
  do s = pack_next(&at);
  while (s.name && strcmp(s.name, name) != 0);
  return s;
}

// Writes a line of a source, and a caret below the place of a syntax error.
static void show_line(const mp_print_t *print, source s, size_t line) {
  const char *start = s.text;
  while (start && --line > 0) start = strchr(start, '\n') ? strchr(start, '\n') + 1 : NULL;
  if (!start) return;
  size_t len = strcspn(start, "\r\n"), column = parse_error_column;
  if (len > SOURCE_LINE || len == strspn(start, " \t")) return;
  if (column == 0 || column > len + 1) column = strspn(start, " \t") + 1;
  mp_printf(print, "\n    %.*s\n    ", (int)len, start);
  for (size_t i = 0; i + 1 < column; i++)
    if (((uint8_t)start[i] & 0xc0) != 0x80) mp_printf(print, start[i] == '\t' ? "\t" : " ");
  mp_printf(print, "^");
}

// Says what is wrong and where, "file:line: Class: message", and for a syntax error shows the line.
static void explain(mp_obj_t error) {
  vstr_t v;
  mp_print_t print;
  vstr_init_print(&v, 256, &print);
  failure_summary(failed, sizeof failed, error);
  mp_printf(&print, "%s", failed);
  if (mp_obj_is_subclass_fast(MP_OBJ_FROM_PTR(mp_obj_get_type(error)), MP_OBJ_FROM_PTR(&mp_type_SyntaxError))) {
    size_t count, *places;
    mp_obj_exception_get_traceback(error, &count, &places);
    if (count >= 3) show_line(&print, find(qstr_str(places[0])), places[1]);
  }
  snprintf(failed, sizeof failed, "%s", vstr_null_terminated_str(&v));
}

static bool __attribute__((noinline)) prepare_all(uint32_t len) {
  boot();
  if (!pack_load(len)) {
    snprintf(failed, sizeof failed, "the sources are too large");
    return false;
  }
  nlr_buf_t jump;
  if (nlr_push(&jump) != 0) {
    explain(MP_OBJ_FROM_PTR(jump.ret_val));
    return false;
  }
  source s;
  for (size_t at = 0; s = pack_next(&at), s.name;) compile(s);
  for (size_t at = 0; s = pack_next(&at), s.name;)
    if (!s.own) import(s.name);
  nlr_pop();
  return true;
}

void __wasm_call_ctors(void);
EXPORT("wasmres_python_prepare") uint32_t prepare(uint32_t len);
uint32_t prepare(uint32_t len) {
  __wasm_call_ctors();
  if (!prepare_all(len)) return refuse(WR_CODE_INVALID_PARAMS, failed);
  pack_drop_sources();
  memory_clean();
  return WR_CODE_OK;
}
