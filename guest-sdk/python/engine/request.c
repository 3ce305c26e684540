// The Request as a dict of Python, by the names of its fields. Fields that are absent have no key; vars is a dict too,
// in which a variable with several values is a list.
#include <string.h>

#include "engine.h"
#include "py/objlist.h"
#include "py/runtime.h"

static uint8_t encoded[WR_MAX_REQUEST]; // of requests that are long

MP_REGISTER_ROOT_POINTER(mp_obj_t wasmres_context); // what the SDK keeps for the operation; MP_OBJ_NULL without

static mp_obj_t text_of(bytes s) { return mp_obj_new_str((const char *)s.at, s.len); }

static void store(mp_obj_t dict, qstr name, mp_obj_t value) { mp_obj_dict_store(dict, MP_OBJ_NEW_QSTR(name), value); }

static bool store_text(mp_obj_t dict, qstr name, const field *f) {
  if (f->type != WIRE_BYTES) return false;
  store(dict, name, text_of(f->text));
  return true;
}

static bool store_number(mp_obj_t dict, qstr name, const field *f) {
  if (f->type != WIRE_NUMBER) return false;
  store(dict, name, mp_obj_new_int_from_ull(f->bits));
  return true;
}

static mp_obj_t found(mp_obj_t dict, mp_obj_t key) {
  mp_map_elem_t *e = mp_map_lookup(mp_obj_dict_get_map(dict), key, MP_MAP_LOOKUP);
  return e ? e->value : MP_OBJ_NULL;
}

// Stores a value of a variable; the second one makes a list of both.
static void add_value(mp_obj_t vars, mp_obj_t name, mp_obj_t value) {
  mp_obj_t before = found(vars, name);
  if (before == MP_OBJ_NULL) {
    mp_obj_dict_store(vars, name, value);
    return;
  }
  if (!mp_obj_is_type(before, &mp_type_list)) mp_obj_dict_store(vars, name, before = mp_obj_new_list(1, &before));
  mp_obj_list_append(before, value);
}

static bool add_var(mp_obj_t request, const field *var) {
  if (var->type != WIRE_BYTES) return false;
  bytes name, value;
  if (!var_take(var->text, &name, &value)) return false;
  mp_obj_t vars = found(request, MP_OBJ_NEW_QSTR(MP_QSTR_vars));
  if (vars == MP_OBJ_NULL) store(request, MP_QSTR_vars, vars = mp_obj_new_dict(2));
  add_value(vars, text_of(name), text_of(value));
  return true;
}

static bool add_principal(mp_obj_t request, const field *principal) {
  if (principal->type != WIRE_BYTES) return false;
  mp_obj_t dict = mp_obj_new_dict(4), scopes = mp_obj_new_list(0, NULL);
  bytes rest = principal->text;
  bool good = true;
  for (field f; good && wire_take(&rest, &f);) {
    switch (f.number) {
    case 1: good = store_text(dict, MP_QSTR_subject, &f); break;
    case 2: good = store_text(dict, MP_QSTR_tenant, &f); break;
    case 3:
      if ((good = f.type == WIRE_BYTES)) mp_obj_list_append(scopes, text_of(f.text));
      break;
    case 4: good = store_text(dict, MP_QSTR_claims, &f); break;
    }
  }
  store(dict, MP_QSTR_scopes, scopes);
  store(request, MP_QSTR_principal, dict);
  return good && rest.len == 0;
}

static bool add_field(mp_obj_t request, const field *f) {
  switch (f->number) {
  case 1: return store_text(request, MP_QSTR_uri, f);
  case 2: return f->bits <= INT32_MAX && store_number(request, MP_QSTR_route, f);
  case 3: return add_var(request, f);
  case 4: return store_text(request, MP_QSTR_cursor, f);
  case 5: return f->bits <= INT32_MAX && store_number(request, MP_QSTR_limit, f);
  case 6: return store_number(request, MP_QSTR_range_offset, f);
  case 7: return store_number(request, MP_QSTR_range_length, f);
  case 8: return store_text(request, MP_QSTR_if_none_match, f);
  case 9: return store_number(request, MP_QSTR_max_bytes, f);
  case 10: return store_text(request, MP_QSTR_argument, f);
  case 11: return store_text(request, MP_QSTR_typed, f);
  case 12: return add_principal(request, f);
  case 13: return store_text(request, MP_QSTR_meta, f);
  }
  return true;
}

bytes request_take(uint32_t len) {
  uint8_t *at = len <= sizeof hot.request ? hot.request : encoded;
  if (len > sizeof encoded) len = sizeof encoded; // which the host does not exceed
  return hot.asked = (bytes){at, host_take(WR_CHANNEL_REQUEST, at, 0, len)};
}

void request_forget(void) {
  hot.asked = (bytes){NULL, 0};
  MP_STATE_VM(wasmres_context) = MP_OBJ_NULL;
}

mp_obj_t request_decode(bytes rest) {
  mp_obj_t request = mp_obj_new_dict(4);
  for (field f; wire_take(&rest, &f);)
    if (!add_field(request, &f)) return MP_OBJ_NULL;
  return rest.len == 0 ? request : MP_OBJ_NULL;
}

// fields(encoded): those of a request, by default of the one that is answered; none when no operation runs.
static mp_obj_t fields(size_t argc, const mp_obj_t *argv) {
  bytes request = hot.asked;
  if (argc > 0) {
    mp_buffer_info_t b;
    mp_get_buffer_raise(argv[0], &b, MP_BUFFER_READ);
    request = (bytes){b.buf, b.len};
  }
  mp_obj_t dict = request_decode(request);
  if (dict == MP_OBJ_NULL) mp_raise_ValueError(MP_ERROR_TEXT("malformed request"));
  return dict;
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(fields_obj, 0, 1, fields);

// context(value): keeps a value until the operation ends. Without one it returns that, or None.
static mp_obj_t context(size_t argc, const mp_obj_t *argv) {
  if (argc > 0) MP_STATE_VM(wasmres_context) = argv[0];
  mp_obj_t kept = MP_STATE_VM(wasmres_context);
  return kept == MP_OBJ_NULL ? mp_const_none : kept;
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(context_obj, 0, 1, context);

static const mp_rom_map_elem_t request_globals[] = {
  {MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR__wasmres_request)},
  {MP_ROM_QSTR(MP_QSTR_fields), MP_ROM_PTR(&fields_obj)},
  {MP_ROM_QSTR(MP_QSTR_context), MP_ROM_PTR(&context_obj)},
};
static MP_DEFINE_CONST_DICT(request_dict, request_globals);
const mp_obj_module_t request_module = {.base = {&mp_type_module}, .globals = (mp_obj_dict_t *)&request_dict};
MP_REGISTER_MODULE(MP_QSTR__wasmres_request, request_module);
