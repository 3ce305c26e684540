// What the SDK knows of a function: the names of its parameters, their annotations, and what it is for. MicroPython
// keeps none of the latter two: micropython.patch has the compiler call functions_define.
#include "engine.h"
#include "py/bc.h"
#include "py/objfun.h"
#include "py/objtuple.h"
#include "py/objtype.h"
#include "py/runtime.h"

MP_REGISTER_ROOT_POINTER(mp_obj_t wasmres_functions); // a dict: the function to its doc and annotations

mp_obj_t functions_define(mp_obj_t function, mp_obj_t doc, mp_obj_t annotations) {
  if (MP_STATE_VM(wasmres_functions) == MP_OBJ_NULL) MP_STATE_VM(wasmres_functions) = mp_obj_new_dict(8);
  mp_obj_t both[] = {doc, annotations};
  mp_obj_dict_store(MP_STATE_VM(wasmres_functions), function, mp_obj_new_tuple(2, both));
  return function;
}
MP_DEFINE_CONST_FUN_OBJ_3(functions_define_obj, functions_define);

// In the body of a class: keeps the annotation of an attribute in __annotations__, as the name that it begins with.
static mp_obj_t annotate(mp_obj_t attribute, mp_obj_t annotation) {
  mp_obj_t key = MP_OBJ_NEW_QSTR(MP_QSTR___annotations__);
  mp_map_elem_t *e = mp_map_lookup(&mp_locals_get()->map, key, MP_MAP_LOOKUP_ADD_IF_NOT_FOUND);
  if (e->value == MP_OBJ_NULL) e->value = mp_obj_new_dict(4);
  mp_obj_dict_store(e->value, attribute, annotation);
  return mp_const_none;
}
MP_DEFINE_CONST_FUN_OBJ_2(functions_annotate_obj, annotate);

// What displays with starred elements make, as [*a, b].
static mp_obj_t new_list(size_t count, const mp_obj_t *elements) { return mp_obj_new_list(count, (mp_obj_t *)elements); }
MP_DEFINE_CONST_FUN_OBJ_VAR(functions_list_obj, 0, new_list);
static mp_obj_t new_tuple(size_t count, const mp_obj_t *elements) { return mp_obj_new_tuple(count, elements); }
MP_DEFINE_CONST_FUN_OBJ_VAR(functions_tuple_obj, 0, new_tuple);
static mp_obj_t new_set(size_t count, const mp_obj_t *elements) { return mp_obj_new_set(count, (mp_obj_t *)elements); }
MP_DEFINE_CONST_FUN_OBJ_VAR(functions_set_obj, 0, new_set);

MP_REGISTER_ROOT_POINTER(mp_obj_t wasmres_methods); // a dict: a type to a dict of further methods; MP_OBJ_NULL without

// extend(type, methods): values of the type have these methods too, where they have no others of their names.
static mp_obj_t extend(mp_obj_t type, mp_obj_t methods) {
  if (MP_STATE_VM(wasmres_methods) == MP_OBJ_NULL) MP_STATE_VM(wasmres_methods) = mp_obj_new_dict(8);
  mp_obj_dict_store(MP_STATE_VM(wasmres_methods), type, methods);
  return mp_const_none;
}
static MP_DEFINE_CONST_FUN_OBJ_2(extend_obj, extend);

static mp_obj_t method_of(mp_obj_t type, qstr name) {
  mp_map_elem_t *e = mp_map_lookup(mp_obj_dict_get_map(MP_STATE_VM(wasmres_methods)), type, MP_MAP_LOOKUP);
  if (e) e = mp_map_lookup(mp_obj_dict_get_map(e->value), MP_OBJ_NEW_QSTR(name), MP_MAP_LOOKUP);
  return e ? e->value : MP_OBJ_NULL;
}

void functions_find_method(mp_obj_t obj, const mp_obj_type_t *type, qstr name, mp_obj_t *dest) {
  mp_obj_t method = method_of(MP_OBJ_FROM_PTR(type), name);
  if (method != MP_OBJ_NULL) mp_convert_member_lookup(obj, type, method, dest);
  else if (type == &mp_type_type && (method = method_of(obj, name)) != MP_OBJ_NULL) dest[0] = method; // as str.title
}

MP_REGISTER_ROOT_POINTER(mp_obj_t wasmres_attributes); // a dict: a function to the dict of its attributes that were set

static mp_map_elem_t *attribute(mp_obj_t function, qstr name) {
  mp_obj_t all = MP_STATE_VM(wasmres_attributes);
  mp_map_elem_t *e = all ? mp_map_lookup(mp_obj_dict_get_map(all), function, MP_MAP_LOOKUP) : NULL;
  return e ? mp_map_lookup(mp_obj_dict_get_map(e->value), MP_OBJ_NEW_QSTR(name), MP_MAP_LOOKUP) : NULL;
}

static void set_attribute(mp_obj_t function, qstr name, mp_obj_t value) {
  if (MP_STATE_VM(wasmres_attributes) == MP_OBJ_NULL) MP_STATE_VM(wasmres_attributes) = mp_obj_new_dict(8);
  mp_map_t *all = mp_obj_dict_get_map(MP_STATE_VM(wasmres_attributes));
  mp_map_elem_t *e = mp_map_lookup(all, function, MP_MAP_LOOKUP_ADD_IF_NOT_FOUND);
  if (e->value == MP_OBJ_NULL) e->value = mp_obj_new_dict(2);
  mp_obj_dict_store(e->value, MP_OBJ_NEW_QSTR(name), value);
}

static mp_obj_t about(mp_obj_t function);

// Loads and sets attributes of functions of Python; false where the function itself has to.
bool functions_attr(mp_obj_t function, qstr name, mp_obj_t *dest) {
  if (dest[0] == MP_OBJ_SENTINEL && dest[1] != MP_OBJ_NULL) {
    set_attribute(function, name, dest[1]);
    dest[0] = MP_OBJ_NULL; // done
    return true;
  }
  mp_map_elem_t *e = dest[0] == MP_OBJ_NULL ? attribute(function, name) : NULL;
  if (e) dest[0] = e->value;
  else if (dest[0] == MP_OBJ_NULL && name == MP_QSTR___doc__) dest[0] = ((mp_obj_tuple_t *)MP_OBJ_TO_PTR(about(function)))->items[0];
  else if (dest[0] == MP_OBJ_NULL && name == MP_QSTR___annotations__) dest[0] = ((mp_obj_tuple_t *)MP_OBJ_TO_PTR(about(function)))->items[1];
  return dest[0] != MP_OBJ_NULL && dest[0] != MP_OBJ_SENTINEL;
}

// What __wrapped__ leads to, as functools.wraps sets it.
static mp_obj_t unwrapped(mp_obj_t function) {
  mp_map_elem_t *e;
  for (int i = 0; i < 100 && (e = attribute(function, MP_QSTR___wrapped__)); i++) function = e->value;
  return function;
}

// A class was made: its attributes learn their names, and the class that it inherits from learns of it.
void functions_class_made(mp_obj_t made, mp_obj_t locals, size_t count, const mp_obj_t *bases, mp_map_t *named) {
  mp_map_t *map = mp_obj_dict_get_map(locals);
  mp_obj_t call[4];
  for (size_t i = 0; i < map->alloc; i++) {
    if (!mp_map_slot_is_filled(map, i) || !mp_obj_is_instance_type(mp_obj_get_type(map->table[i].value))) continue;
    mp_obj_t value = map->table[i].value;
    mp_load_method_maybe(MP_OBJ_FROM_PTR(mp_obj_get_type(value)), MP_QSTR___set_name__, call);
    if (call[0] == MP_OBJ_NULL) continue;
    call[1] = value, call[2] = made, call[3] = map->table[i].key;
    mp_call_method_n_kw(2, 0, call);
  }
  for (size_t i = 0; i < count; i++) {
    mp_load_method_maybe(bases[i], MP_QSTR___init_subclass__, call);
    if (call[0] == MP_OBJ_NULL) continue;
    mp_obj_t all[1 + 2 * 8] = {made};
    size_t n = 0;
    for (size_t k = 0; k < named->alloc && n < 8; k++) {
      if (!mp_map_slot_is_filled(named, k) || named->table[k].key == MP_OBJ_NEW_QSTR(MP_QSTR_metaclass)) continue;
      all[1 + 2 * n] = named->table[k].key, all[2 + 2 * n] = named->table[k].value, n++;
    }
    mp_obj_t function = call[0];
    if (call[1] != MP_OBJ_NULL) function = mp_obj_new_bound_meth(function, made), mp_call_function_n_kw(function, 0, n, all + 1);
    else mp_call_function_n_kw(function, 1, n, all);
    return;
  }
}

// about(function): its doc, None without one, and its annotations, a dict.
static mp_obj_t about(mp_obj_t function) {
  mp_obj_t none[] = {mp_const_none, MP_OBJ_NULL};
  mp_obj_t all = MP_STATE_VM(wasmres_functions);
  function = unwrapped(function);
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
  function = unwrapped(function);
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
  {MP_ROM_QSTR(MP_QSTR_extend), MP_ROM_PTR(&extend_obj)},
  {MP_ROM_QSTR(MP_QSTR_parameters), MP_ROM_PTR(&parameters_obj)},
};
static MP_DEFINE_CONST_DICT(functions_dict, functions_globals);
const mp_obj_module_t functions_module = {.base = {&mp_type_module}, .globals = (mp_obj_dict_t *)&functions_dict};
MP_REGISTER_MODULE(MP_QSTR__wasmres_functions, functions_module);
