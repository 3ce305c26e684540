// The life of a provider: started once, then asked.
#include <stdio.h>
#include <string.h>

#include "engine.h"
#include "py/builtin.h"
#include "py/compile.h"
#include "py/pystack.h"
#include "py/runtime.h"
#include "py/stackctrl.h"

enum {
  CALLS = 48 << 10,  // bytes for the frames of Python functions: it bounds recursion
  CALLS_STACK = 72 << 10, // bytes of stack that calls take before MicroPython raises RuntimeError
};

static char calls[CALLS];
static char failed[1024]; // why the provider has not started; empty when it has

MP_REGISTER_ROOT_POINTER(mp_obj_t wasmres_serve); // function (operation, request): the code

// serve(function): names the function that answers requests.
static mp_obj_t serve(mp_obj_t function) {
  MP_STATE_VM(wasmres_serve) = function;
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(serve_obj, serve);

// report(error): logs it with its traceback.
static mp_obj_t report(mp_obj_t error) {
  failure_log(error);
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(report_obj, report);

static const mp_rom_map_elem_t engine_globals[] = {
  {MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR__wasmres_engine)},
  {MP_ROM_QSTR(MP_QSTR_serve), MP_ROM_PTR(&serve_obj)},
  {MP_ROM_QSTR(MP_QSTR_report), MP_ROM_PTR(&report_obj)},
};
static MP_DEFINE_CONST_DICT(engine_dict, engine_globals);
const mp_obj_module_t engine_module = {.base = {&mp_type_module}, .globals = (mp_obj_dict_t *)&engine_dict};
MP_REGISTER_MODULE(MP_QSTR__wasmres_engine, engine_module);

MP_REGISTER_ROOT_POINTER(mp_obj_t wasmres_seed); // the function seed of the module random

static void find_seed(void) {
  mp_obj_t module = mp_import_name(MP_QSTR_random, mp_const_none, MP_OBJ_NEW_SMALL_INT(0));
  MP_STATE_VM(wasmres_seed) = mp_load_attr(module, MP_QSTR_seed);
}

EXPORT(WR_EXPORT_SEED) void wasmres_v1_seed(uint64_t seed);
void wasmres_v1_seed(uint64_t seed) {
  nlr_buf_t jump;
  if (*failed || nlr_push(&jump) != 0) return;
  mp_call_function_1(MP_STATE_VM(wasmres_seed), MP_OBJ_NEW_SMALL_INT((seed >> 32 ^ seed) & 0x3fffffff));
  nlr_pop();
}

// Runs the entry as the module __main__.
static void evaluate(source s) {
  nlr_buf_t jump;
  if (nlr_push(&jump) == 0) {
    mp_lexer_t *lexer = mp_lexer_new_from_str_len(qstr_from_str(s.name), s.text, s.len, 0);
    qstr name = lexer->source_name;
    mp_parse_tree_t tree = mp_parse(lexer, MP_PARSE_FILE_INPUT);
    find_seed();
    mp_call_function_0(mp_compile(&tree, name, false));
    nlr_pop();
    return;
  }
  failure_summary(failed, sizeof failed, MP_OBJ_FROM_PTR(jump.ret_val));
  failure_log(MP_OBJ_FROM_PTR(jump.ret_val));
}

static void __attribute__((noinline)) boot(void) {
  mp_stack_ctrl_init();
  mp_stack_set_limit(CALLS_STACK);
  mp_pystack_init(calls, calls + sizeof calls);
  memory_init();
  mp_init();
  frame_reset();
  if (!pack_load()) {
    snprintf(failed, sizeof failed, "no provider is packed into the engine");
    return;
  }
  evaluate(pack_first());
  if (!*failed && MP_STATE_VM(wasmres_serve) == MP_OBJ_NULL)
    snprintf(failed, sizeof failed, "%s makes no Provider", pack_first().name);
}

void __wasm_call_ctors(void);
EXPORT(WR_EXPORT_INITIALIZE) void _initialize(void);
void _initialize(void) {
  __wasm_call_ctors();
  stack_top = __builtin_frame_address(0);
  boot();
}

EXPORT(WR_EXPORT_WARM) void wasmres_v1_warm(void);
void wasmres_v1_warm(void) {
  if (*failed) __builtin_trap(); // a manifest that was packed in hides it until here
  memory_settle();
}

// Answers with an error of this message.
static uint32_t refuse(uint32_t code, const char *message) {
  static uint8_t frame[2 * (sizeof failed + 8)];
  size_t len = strlen(message), inner = len + 3;
  uint8_t *at = frame;
  *at++ = 5 << 3 | WIRE_BYTES;
  *at++ = (inner & 127) | 128, *at++ = (uint8_t)(inner >> 7);
  *at++ = 1 << 3 | WIRE_BYTES;
  *at++ = (len & 127) | 128, *at++ = (uint8_t)(len >> 7);
  memcpy(at, message, len);
  host_emit(frame, at + len - frame);
  return code;
}

// What serve's function raises is a fault of the SDK, or there was no memory to handle one of the provider's.
static uint32_t answer(uint32_t op, uint32_t len) {
  nlr_buf_t jump;
  if (nlr_push(&jump) != 0) {
    mp_obj_t error = MP_OBJ_FROM_PTR(jump.ret_val);
    failure_log(error);
    if (mp_obj_is_subclass_fast(MP_OBJ_FROM_PTR(mp_obj_get_type(error)), MP_OBJ_FROM_PTR(&mp_type_MemoryError)))
      __builtin_trap(); // the host knows that it refused memory, and tells the limit
    return WR_CODE_INTERNAL;
  }
  uint32_t code = WR_CODE_INVALID_PARAMS;
  mp_obj_t request = request_decode(len);
  if (request == MP_OBJ_NULL) refuse(code, "malformed request");
  else code = (uint32_t)mp_obj_get_int(mp_call_function_2(MP_STATE_VM(wasmres_serve), mp_obj_new_int_from_uint(op), request));
  nlr_pop();
  return code;
}

EXPORT(WR_EXPORT_CALL) uint32_t wasmres_v1(uint32_t op, uint32_t len);
uint32_t wasmres_v1(uint32_t op, uint32_t len) {
  if (*failed) return refuse(WR_CODE_INTERNAL, failed);
  return answer(op, len);
}
