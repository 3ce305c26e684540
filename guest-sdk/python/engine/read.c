// A read that needs nothing of the SDK's modules in Python but the handler, which may be async: the variables as they are, or
// numbers and bools, and an answer that is a short text or JSON. Others are for the function of engine.serve.
//
// A route's attribute quick says what it needs, a tuple: the handler, names of the variables that it takes, for each None or
// the name of its type, the name of the parameter for the request or None, the route's variables, the MIME type or None, ttl
// in milliseconds, and the scope. It is None where that does not suffice.
#include <string.h>

#include "engine.h"
#include "py/builtin.h"
#include "py/objgenerator.h"
#include "py/objlist.h"
#include "py/objstr.h"
#include "py/objtype.h"
#include "py/runtime.h"

enum {
  MAX_VARS = 8,
  SMALL = 4096, // bytes of a text that is sent with its fields
};

enum { FUNCTION, NAMES, KINDS, REQUEST, VARIABLES, MIME_TYPE, TTL, SCOPE, QUICK };

typedef struct var {
  bytes name, value;
} var;

typedef struct reading {
  bytes uri;
  uint64_t route, max_bytes;
  uint32_t vars;
  var var[MAX_VARS];
} reading;

static bool take_reading(bytes rest, reading *r) {
  *r = (reading){.max_bytes = SMALL};
  for (field f; wire_take(&rest, &f);) {
    bool text = f.type == WIRE_BYTES, number = f.type == WIRE_NUMBER;
    if (f.number == 1 && text) r->uri = f.text;
    else if (f.number == 2 && number) r->route = f.bits;
    else if (f.number == 3 && text && r->vars < MAX_VARS && var_take(f.text, &r->var[r->vars].name, &r->var[r->vars].value)) r->vars++;
    else if (f.number == 9 && number) r->max_bytes = f.bits < SMALL ? f.bits : SMALL;
    else if (f.number <= 3 || f.number == 9) return false;
  }
  return rest.len == 0;
}

static mp_obj_t text_of(bytes s) { return mp_obj_new_str((const char *)s.at, s.len); }

// The route for a reading, MP_OBJ_NULL when there is none.
static mp_obj_t route_of(mp_obj_t provider, const reading *r) {
  if (r->route == 0) {
    mp_obj_t resources = mp_load_attr(provider, MP_QSTR_resources);
    mp_map_elem_t *e = mp_map_lookup(mp_obj_dict_get_map(resources), text_of(r->uri), MP_MAP_LOOKUP);
    return e ? e->value : MP_OBJ_NULL;
  }
  size_t count;
  mp_obj_t *templates;
  mp_obj_list_get(mp_load_attr(provider, MP_QSTR_templates), &count, &templates);
  return r->route <= count ? templates[r->route - 1] : MP_OBJ_NULL;
}

// The place of a name among others, count when it is not there.
static size_t place_of(bytes name, const mp_obj_t *names, size_t count) {
  size_t i = 0;
  for (; i < count; i++) {
    size_t len;
    const char *at = mp_obj_str_get_data(names[i], &len);
    if (len == name.len && memcmp(at, name.at, len) == 0) break;
  }
  return i;
}

// Writes the handler's arguments but for the request, each a name and a value, and how many there are; false when the SDK has
// to look at them.
static bool arguments(const mp_obj_t *quick, const reading *r, mp_obj_t *named, size_t *n) {
  size_t count;
  mp_obj_t *names, *kinds;
  mp_obj_get_array(quick[NAMES], &count, &names);
  mp_obj_get_array(quick[KINDS], &count, &kinds);
  for (uint32_t v = 0; v < r->vars; v++) {
    size_t i = place_of(r->var[v].name, names, count);
    if (i == count) continue; // only the request has it
    for (size_t before = 0; before < *n; before++)
      if (named[2 * before] == names[i]) return false; // a list
    mp_obj_t value = convert(r->var[v].value, kinds[i]);
    if (value == MP_OBJ_NULL) return false;
    named[2 * *n] = names[i];
    named[2 * *n + 1] = value;
    ++*n;
  }
  return true;
}

// What an answer is when it is a coroutine, which has not run yet: nothing that it awaits takes time, so it returns now. What
// suspends is a generator, whose values are for the SDK.
static mp_obj_t settled(mp_obj_t answer) {
  if (!mp_obj_is_type(answer, &mp_type_gen_instance))
    return mp_obj_is_instance_type(mp_obj_get_type(answer)) ? mp_call_function_1(MP_STATE_VM(wasmres_settled), answer) : answer;
  mp_obj_t value;
  switch (mp_obj_gen_resume(answer, mp_const_none, MP_OBJ_NULL, &value)) {
  case MP_VM_RETURN_YIELD: return mp_call_function_2(MP_STATE_VM(wasmres_resumed), value, answer);
  case MP_VM_RETURN_EXCEPTION: nlr_raise(value);
  default: return value;
  }
}

static bool is_json(mp_obj_t answer) {
  const mp_obj_type_t *type = mp_obj_get_type(answer);
  if (type == &mp_type_list || type == &mp_type_tuple) {
    size_t count;
    mp_obj_t *elements;
    mp_obj_get_array(answer, &count, &elements);
    for (size_t i = 0; i < count; i++)
      if (mp_obj_is_instance_type(mp_obj_get_type(elements[i]))) return false; // which may be a content
    return true;
  }
  return type == &rows_type || type == &mp_type_dict || type == &mp_type_bool || mp_obj_is_int(answer) || mp_obj_is_float(answer);
}

static const MP_DEFINE_STR_OBJ(json_type_obj, "application/json");
#define json_type MP_OBJ_FROM_PTR(&json_type_obj)

static uint32_t send(const mp_obj_t *quick, const reading *r, mp_obj_t mime_type, bytes text) {
  const char *mime = "text/plain";
  size_t len = strlen(mime);
  if (mime_type != mp_const_none) mime = mp_obj_str_get_data(mime_type, &len);
  frame_content(r->uri, (bytes){(const uint8_t *)mime, len}, text, mp_obj_get_int(quick[TTL]), mp_obj_get_int(quick[SCOPE]));
  int32_t signal = frame_emit();
  switch (signal) {
  case WR_SIGNAL_CANCELLED: return WR_CODE_CANCELLED;
  case WR_SIGNAL_DEADLINE: return WR_CODE_DEADLINE;
  case WR_SIGNAL_TOO_LARGE: return WR_CODE_TOO_LARGE;
  case WR_SIGNAL_BAD_FRAME: return WR_CODE_INTERNAL;
  }
  return WR_CODE_OK;
}

// Writes a value as JSON; false when there is something in it that has no form there.
static bool __attribute__((noinline)) print_json(vstr_t *v, mp_obj_t value) {
  mp_print_ext_t print = {.item_separator = ", ", .key_separator = ": "};
  vstr_init_print(v, 128, &print.base);
  nlr_buf_t jump;
  if (nlr_push(&jump) == 0) {
    mp_obj_print_helper(&print.base, value, PRINT_JSON);
    nlr_pop();
    return true;
  }
  mp_obj_t error = MP_OBJ_FROM_PTR(jump.ret_val);
  if (mp_obj_get_type(error) != &mp_type_TypeError) nlr_raise(error);
  return false;
}

// Sends an answer; false when the SDK has to.
static bool answer(const mp_obj_t *quick, const reading *r, mp_obj_t value, uint32_t *code) {
  if (mp_obj_is_str(value)) {
    size_t len;
    const char *at = mp_obj_str_get_data(value, &len);
    if (len > r->max_bytes) return false;
    *code = send(quick, r, quick[MIME_TYPE], (bytes){(const uint8_t *)at, len});
    return true;
  }
  vstr_t v;
  if (!is_json(value) || !print_json(&v, value) || v.len > r->max_bytes) return false;
  *code = send(quick, r, json_type, (bytes){(const uint8_t *)v.buf, v.len});
  return true;
}

static uint32_t code_of(mp_obj_t result) { return (uint32_t)mp_obj_get_int(result); }

// Runs the handler and sends what it answers, as code says; false when no handler has run.
static bool __attribute__((noinline)) run(bytes request, const reading *r, uint32_t *code) {
  mp_obj_t provider = MP_STATE_VM(wasmres_provider), route = route_of(provider, r);
  if (route == MP_OBJ_NULL) return false;
  mp_obj_t described = mp_load_attr(route, MP_QSTR_quick), named[2 * (MAX_VARS + 1)], asked = mp_const_none;
  if (described == mp_const_none) return false;
  mp_obj_t *quick;
  size_t count = 0;
  mp_obj_get_array_fixed_n(described, QUICK, &quick);
  if (!arguments(quick, r, named, &count)) return false;
  if (quick[REQUEST] != mp_const_none) {
    mp_obj_t encoded = mp_obj_new_bytes(request.at, request.len); // which it decodes when it is asked for something
    asked = mp_call_function_2(mp_load_attr(provider, MP_QSTR_request_type), encoded, quick[VARIABLES]);
    named[2 * count] = quick[REQUEST], named[2 * count + 1] = asked;
    count++;
  }
  mp_obj_t value = settled(mp_call_function_n_kw(quick[FUNCTION], 0, count, named));
  if (answer(quick, r, value, code)) return true;
  mp_obj_t rest[] = {route, asked, value};
  *code = code_of(mp_call_function_n_kw(MP_STATE_VM(wasmres_finish), 3, 0, rest));
  return true;
}

bool read_quickly(bytes request, uint32_t *code) {
  reading r;
  if (!take_reading(request, &r)) return false;
  frame_begin();
  nlr_buf_t jump;
  if (nlr_push(&jump) == 0) {
    bool done = run(request, &r, code);
    nlr_pop();
    return done;
  }
  *code = code_of(mp_call_function_1(MP_STATE_VM(wasmres_fail), MP_OBJ_FROM_PTR(jump.ret_val)));
  return true;
}
