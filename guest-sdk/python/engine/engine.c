// The life of a provider: started once, then asked.
#include <stdio.h>
#include <string.h>

#include "engine.h"
#include "py/builtin.h"
#include "py/cstack.h"
#include "py/pystack.h"
#include "py/runtime.h"

enum { CALLS_STACK = 72 << 10 }; // bytes of stack that calls take before MicroPython raises RecursionError

struct hot hot __attribute__((aligned(4096)));
char failed[MAX_FAILURE];

MP_REGISTER_ROOT_POINTER(mp_obj_t wasmres_provider);
MP_REGISTER_ROOT_POINTER(mp_obj_t wasmres_serve);   // function (operation, request): the code
MP_REGISTER_ROOT_POINTER(mp_obj_t wasmres_finish);  // function (route, request or None, answer of a handler): the code
MP_REGISTER_ROOT_POINTER(mp_obj_t wasmres_fail);    // function (error): the code
MP_REGISTER_ROOT_POINTER(mp_obj_t wasmres_settled); // function (answer): what it returns when it is like a coroutine
MP_REGISTER_ROOT_POINTER(mp_obj_t wasmres_resumed); // function (value, generator): the stream of the value and those that follow

// serve(provider, serve, finish, fail, settled, resumed): names what answers requests.
static mp_obj_t serve(size_t argc, const mp_obj_t *argv) {
  if (MP_STATE_VM(wasmres_serve) != MP_OBJ_NULL)
    mp_raise_TypeError(MP_ERROR_TEXT("there is a Provider already: a module is one"));
  MP_STATE_VM(wasmres_provider) = argv[0];
  MP_STATE_VM(wasmres_serve) = argv[1];
  MP_STATE_VM(wasmres_finish) = argv[2];
  MP_STATE_VM(wasmres_fail) = argv[3];
  MP_STATE_VM(wasmres_settled) = argv[4];
  MP_STATE_VM(wasmres_resumed) = argv[5];
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(serve_obj, 6, 6, serve);

// report(error): logs it with its traceback.
static mp_obj_t report(mp_obj_t error) {
  failure_log(error);
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_1(report_obj, report);

// seed(): an unpredictable number of 64 bits, another for each request; 0 while the provider starts.
static mp_obj_t seed(void) { return mp_obj_new_int_from_ull(hot.seed); }
static MP_DEFINE_CONST_FUN_OBJ_0(seed_obj, seed);

static const mp_rom_map_elem_t engine_globals[] = {
  {MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR__wasmres_engine)},
  {MP_ROM_QSTR(MP_QSTR_serve), MP_ROM_PTR(&serve_obj)},
  {MP_ROM_QSTR(MP_QSTR_report), MP_ROM_PTR(&report_obj)},
  {MP_ROM_QSTR(MP_QSTR_seed), MP_ROM_PTR(&seed_obj)},
};
static MP_DEFINE_CONST_DICT(engine_dict, engine_globals);
const mp_obj_module_t engine_module = {.base = {&mp_type_module}, .globals = (mp_obj_dict_t *)&engine_dict};
MP_REGISTER_MODULE(MP_QSTR__wasmres_engine, engine_module);

// The module random takes the seed when a number is drawn.
EXPORT(WR_EXPORT_SEED) void wasmres_v1_seed(uint64_t seed);
void wasmres_v1_seed(uint64_t seed) { hot.seed = seed, hot.seeds = true; }

bool random_take_seed(uint32_t *seed) {
  bool fresh = hot.seeds;
  *seed = (uint32_t)(hot.seed >> 32 ^ hot.seed);
  hot.seeds = false;
  return fresh;
}

static bool evaluated;

// Forgets what an earlier evaluation has left, but for the library.
static void forget(void) {
  mp_obj_dict_t *globals = &MP_STATE_VM(dict_main);
  mp_obj_dict_init(globals, 1);
  mp_globals_set(globals);
  mp_locals_set(globals);
  mp_obj_dict_store(MP_OBJ_FROM_PTR(globals), MP_OBJ_NEW_QSTR(MP_QSTR___name__), MP_OBJ_NEW_QSTR(MP_QSTR___main__));
  mp_obj_dict_store(MP_OBJ_FROM_PTR(globals), MP_OBJ_NEW_QSTR(MP_QSTR___file__), MP_OBJ_NEW_QSTR(qstr_from_str(pack_entry())));
  pack_forget_modules();
  MP_STATE_VM(wasmres_serve) = MP_OBJ_NULL;
  *failed = 0;
}

static void __attribute__((noinline)) run_entry(void) {
  const mp_compiled_module_t *code = pack_code(pack_entry());
  code->context->module.globals = mp_globals_get();
  mp_call_function_0(mp_make_function_from_proto_fun(code->rc, code->context, NULL));
}

// Runs the entry as the module __main__.
static void evaluate(void) {
  nlr_buf_t jump;
  evaluated = true;
  if (nlr_push(&jump) != 0) {
    failure_summary(failed, sizeof failed, MP_OBJ_FROM_PTR(jump.ret_val));
    failure_log(MP_OBJ_FROM_PTR(jump.ret_val));
    return;
  }
  forget();
  run_entry();
  nlr_pop();
  if (MP_STATE_VM(wasmres_serve) == MP_OBJ_NULL) snprintf(failed, sizeof failed, "%s makes no Provider", pack_entry());
}

void boot(void) {
  mp_cstack_init_with_top(stack_top, CALLS_STACK);
  mp_pystack_init(hot.calls, hot.calls + sizeof hot.calls);
  memory_init();
  mp_init();
  frame_reset();
}

// The entry runs later, with an operation: only then the host answers what it asks for.
EXPORT(WR_EXPORT_INITIALIZE) void _initialize(void);
void _initialize(void) {}

EXPORT(WR_EXPORT_WARM) void wasmres_v1_warm(void);
void wasmres_v1_warm(void) {
  if (*failed) __builtin_trap(); // a manifest that was packed in hides it until here
  memory_settle();
}

static uint32_t __attribute__((noinline)) run(uint32_t op, uint32_t len) {
  bytes taken = request_take(len);
  uint32_t code = WR_CODE_INVALID_PARAMS;
  if (op == WR_OP_READ && read_quickly(taken, &code)) return code;
  mp_obj_t request = request_decode(taken);
  if (request == MP_OBJ_NULL) return refuse(code, "malformed request");
  return (uint32_t)mp_obj_get_int(mp_call_function_2(MP_STATE_VM(wasmres_serve), mp_obj_new_int_from_uint(op), request));
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
  uint32_t code = run(op, len);
  nlr_pop();
  return code;
}

EXPORT(WR_EXPORT_CALL) uint32_t wasmres_v1(uint32_t op, uint32_t len);
uint32_t wasmres_v1(uint32_t op, uint32_t len) {
  if (!pack_entry()) return refuse(WR_CODE_INTERNAL, "no provider is packed into the engine");
  request_forget();
  MP_STATE_VM(wasmres_running) = NULL;
  if (!evaluated || op == WR_OP_CONFIGURE) evaluate();
  if (*failed) return refuse(WR_CODE_INTERNAL, failed);
  return op == WR_OP_CONFIGURE ? WR_CODE_OK : answer(op, len);
}
