// What the SDK knows of a function: the names of its parameters, their annotations, and what it is for. MicroPython
// keeps none of the latter two: micropython.patch has the compiler call functions_define.
#include "engine.h"
#include "py/bc.h"
#include "py/objfun.h"
#include "py/runtime.h"

MP_REGISTER_ROOT_POINTER(mp_obj_t wasmres_functions); // a dict: the function to its doc and annotations

mp_obj_t functions_define(mp_obj_t function, mp_obj_t doc, mp_obj_t annotations) {
  if (MP_STATE_VM(wasmres_functions) == MP_OBJ_NULL) MP_STATE_VM(wasmres_functions) = mp_obj_new_dict(8);
  mp_obj_t both[] = {doc, annotations};
  mp_obj_dict_store(MP_STATE_VM(wasmres_functions), function, mp_obj_new_tuple(2, both));
  return function;
}
MP_DEFINE_CONST_FUN_OBJ_3(functions_define_obj, functions_define);

// about(function): its doc, None without one, and its annotations, a dict.
static mp_obj_t about(mp_obj_t function) {
  mp_obj_t none[] = {mp_const_none, MP_OBJ_NULL};
  mp_obj_t all = MP_STATE_VM(wasmres_functions);
  mp_map_elem_t *e = all ? mp_map_lookup(mp_obj_dict_get_map(all), function, MP_MAP_LOOKUP) : NULL;
  if (e) return e->value;
  none[1] = mp_obj_new_dict(0);
  return mp_obj_new_tuple(2, none);
}
static MP_DEFINE_CONST_FUN_OBJ_1(about_obj, about);

extern const mp_obj_type_t mp_type_closure;

typedef struct closure { // that of py/objclosure.c
  mp_obj_base_t base;
  mp_obj_t fun;
  size_t n_closed;
} closure;

// parameters(function): the names of its parameters, without *args and **kwargs, a tuple, and whether it has **kwargs;
// None for what is no function of Python. Those of a generator and an async function are known too.
static mp_obj_t parameters(mp_obj_t function) {
  size_t closed = 0;
  if (mp_obj_is_obj(function) && mp_obj_get_type(function) == &mp_type_closure) {
    closure *c = MP_OBJ_TO_PTR(function);
    function = c->fun, closed = c->n_closed;
  }
  if (!mp_obj_is_type(function, &mp_type_fun_bc) && !mp_obj_is_type(function, &mp_type_gen_wrap)) return mp_const_none;
  mp_obj_fun_bc_t *f = MP_OBJ_TO_PTR(function);
  const byte *ip = f->bytecode;
  MP_BC_PRELUDE_SIG_DECODE(ip);
  MP_BC_PRELUDE_SIZE_DECODE(ip);
  (void)n_state, (void)n_exc_stack, (void)n_def_pos_args, (void)n_info, (void)n_cell;
  mp_decode_uint(&ip); // the function's own name
  size_t count = n_pos_args + n_kwonly_args;
  mp_obj_tuple_t *names = MP_OBJ_TO_PTR(mp_obj_new_tuple(count - closed, NULL));
  for (size_t i = 0; i < count; i++) {
    qstr name = mp_decode_uint(&ip);
    if (i >= closed) names->items[i - closed] = MP_OBJ_NEW_QSTR(name);
  }
  mp_obj_t both[] = {MP_OBJ_FROM_PTR(names), mp_obj_new_bool(scope_flags & MP_SCOPE_FLAG_VARKEYWORDS)};
  return mp_obj_new_tuple(2, both);
}
static MP_DEFINE_CONST_FUN_OBJ_1(parameters_obj, parameters);

static const mp_rom_map_elem_t functions_globals[] = {
  {MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR__wasmres_functions)},
  {MP_ROM_QSTR(MP_QSTR_about), MP_ROM_PTR(&about_obj)},
  {MP_ROM_QSTR(MP_QSTR_parameters), MP_ROM_PTR(&parameters_obj)},
};
static MP_DEFINE_CONST_DICT(functions_dict, functions_globals);
const mp_obj_module_t functions_module = {.base = {&mp_type_module}, .globals = (mp_obj_dict_t *)&functions_dict};
MP_REGISTER_MODULE(MP_QSTR__wasmres_functions, functions_module);
