// Where a request is, for the log: the host asks when it has ended one that took too long. The heap may be in disorder then, so
// nothing here allocates from it or raises.
#include <stdio.h>
#include <string.h>

#include "engine.h"
#include "py/bc.h"
#include "py/mpstate.h"
#include "py/objfun.h"

enum {
  MAX_FRAMES = 6, // that are told; the host keeps eight lines
  MAX_LINE = 256, // bytes of each
};

MP_REGISTER_ROOT_POINTER(struct _mp_code_state_t *wasmres_running);

typedef struct place {
  const char *file, *function;
  size_t line;
} place;

// What py/vm.c puts into a traceback.
static place place_of(const mp_code_state_t *state) {
  const mp_obj_fun_bc_t *function = state->fun_bc;
  const byte *ip = function->bytecode;
  MP_BC_PRELUDE_SIG_DECODE(ip);
  MP_BC_PRELUDE_SIZE_DECODE(ip);
  (void)n_state, (void)n_exc_stack, (void)scope_flags, (void)n_def_pos_args;
  const byte *lines_end = ip + n_info, *code = lines_end + n_cell;
  qstr name = mp_decode_uint_value(ip);
  for (size_t i = 0; i < 1 + n_pos_args + n_kwonly_args; i++) ip = mp_decode_uint_skip(ip);
  size_t at = state->ip > code ? state->ip - code : 0;
  return (place){qstr_str(function->context->constants.source_file), qstr_str(name), mp_bytecode_get_source_line(ip, lines_end, at)};
}

static size_t put(char *room, const char *format, place p) {
  size_t n = snprintf(room, MAX_LINE, format, p.file, (unsigned)p.line, p.function);
  return n < MAX_LINE ? n : MAX_LINE - 1;
}

// Says the innermost place in the provider's own files, and then as a traceback the innermost ones in them, and where in the
// library that has led.
EXPORT(WR_EXPORT_STOPPED) void wasmres_v1_stopped(void);
void wasmres_v1_stopped(void) {
  static char text[(MAX_FRAMES + 1) * MAX_LINE];
  place places[MAX_FRAMES], at;
  int count = 0;
  bool found = false;
  for (const mp_code_state_t *s = MP_STATE_VM(wasmres_running); s && count < MAX_FRAMES; s = s->caller) {
    place p = place_of(s);
    bool own = pack_is_own(p.file);
    if (own || count == 0) places[count++] = p;
    if (own && !found) at = p, found = true;
  }
  if (count == 0) return;
  size_t len = put(text, "stopped at %s:%u, in %s", found ? at : *places);
  while (count-- > 0) len += put(text + len, "\n  File \"%s\", line %u, in %s", places[count]);
  log_text(WR_LOG_ERROR, text, len);
}
