// The Request as an object of the SDK's class Request.
#include <stdlib.h>

#include "engine.h"

static uint8_t *encoded;
static size_t room;

bool request_reserve(size_t len) {
  uint8_t *more = len > room ? realloc(encoded, len) : encoded;
  if (!more) return false;
  if (len > room) room = len;
  encoded = more;
  return true;
}

static bool take_text(bytes *text, const field *f) {
  *text = f->text;
  return f->type == WIRE_BYTES;
}

static bool take_number(uint64_t *n, const field *f, uint64_t most) {
  *n = f->bits;
  return f->type == WIRE_NUMBER && f->bits <= most;
}

static bool take_field(asked *a, const field *f) {
  bytes name, value;
  switch (f->number) {
  case 1: return take_text(&a->uri, f);
  case 2: return take_number(&a->route, f, UINT32_MAX);
  case 3: return f->type == WIRE_BYTES && var_take(f->text, &name, &value);
  case 4: return take_text(&a->cursor, f);
  case 5: return take_number(&a->limit, f, UINT32_MAX);
  case 6: return take_number(&a->offset, f, UINT64_MAX);
  case 7: return take_number(&a->length, f, UINT64_MAX);
  case 8: return take_text(&a->if_none_match, f);
  case 9: return take_number(&a->max_bytes, f, UINT64_MAX);
  case 10: return take_text(&a->argument, f);
  case 11: return take_text(&a->typed, f);
  case 12: return take_text(&a->principal, f);
  case 13: return take_text(&a->meta, f);
  }
  return true;
}

static bool take_all(asked *a, bytes rest) {
  bytes before = rest;
  for (field f; wire_take(&rest, &f); before = rest) {
    if (!take_field(a, &f)) return false;
    if (f.number == 3 && !a->vars.at) a->vars = before;
  }
  return rest.len == 0;
}

static JSValue text_of(bytes s) {
  return s.at ? JS_NewStringLen(ctx, (const char *)s.at, s.len) : JS_UNDEFINED;
}

static JSValue number_of(uint64_t n) {
  return n > 0 ? JS_NewInt64(ctx, (int64_t)(n & INT64_MAX)) : JS_UNDEFINED;
}

// ---- variables

enum { MAX_VARIABLES = 16 }; // of a template, for the quick way

// Takes the next variable off the fields of a request; false after the last one.
static bool next_var(bytes *fields, bytes *name, bytes *value) {
  for (field f; wire_take(fields, &f);)
    if (f.number == 3) return var_take(f.text, name, value);
  return false;
}

// QuickJS takes bytes for an atom for Latin-1, if they are those of one.
static JSAtom atom_of(bytes s) {
  for (size_t i = 0; i < s.len; i++) {
    if (s.at[i] < 0x80) continue;
    JSValue text = text_of(s);
    JSAtom atom = JS_ValueToAtom(ctx, text);
    JS_FreeValue(ctx, text);
    return atom;
  }
  return JS_NewAtomLen(ctx, (const char *)s.at, s.len);
}

// Appends to the array at *array, which is made if it is undefined.
static bool append(JSValue *array, JSValue element) {
  int64_t len = 0;
  if (JS_IsUndefined(*array)) *array = JS_NewArray(ctx);
  if (JS_IsException(*array) || JS_IsException(element) || JS_GetLength(ctx, *array, &len)) {
    JS_FreeValue(ctx, element);
    return false;
  }
  return JS_DefinePropertyValueUint32(ctx, *array, (uint32_t)len, element, JS_PROP_C_W_E) > 0;
}

static bool is_exploded(JSValueConst variables, int slot) {
  return slot >= 0 && JS_VALUE_GET_BOOL(object_value(variables, slot)) != 0;
}

// Fills values, by the slots of the route's variables. False when a request has others, or not all of them.
static bool fill_vars(JSValue *values, int count, JSValueConst variables, bytes fields) {
  bytes name, value;
  while (next_var(&fields, &name, &value)) {
    JSAtom atom = atom_of(name);
    int slot = object_slot(variables, atom);
    JS_FreeAtom(ctx, atom);
    if (slot < 0) return false;
    JSValue text = text_of(value);
    if (JS_IsException(text)) return false;
    if (is_exploded(variables, slot)) {
      if (!append(&values[slot], text)) return false;
      continue;
    }
    JS_FreeValue(ctx, values[slot]);
    values[slot] = text;
  }
  for (int i = 0; i < count; i++)
    if (JS_IsUndefined(values[i])) return false;
  return true;
}

static bool add_var(JSValueConst vars, JSAtom name, bytes value, bool exploded) {
  JSValue text = text_of(value);
  if (!exploded) return JS_DefinePropertyValue(ctx, vars, name, text, JS_PROP_C_W_E) > 0;
  JSValue array = JS_GetProperty(ctx, vars, name);
  bool first = JS_IsUndefined(array);
  bool done = append(&array, text);
  if (!done || !first) {
    JS_FreeValue(ctx, array);
    return done;
  }
  return JS_DefinePropertyValue(ctx, vars, name, array, JS_PROP_C_W_E) > 0;
}

// Makes the variables of a request, one by one.
static JSValue some_vars(JSValueConst variables, bytes fields) {
  JSValue vars = JS_NewObjectProto(ctx, JS_NULL);
  bytes name, value;
  for (bool done = !JS_IsException(vars); done && next_var(&fields, &name, &value);) {
    JSAtom atom = atom_of(name);
    bool exploded = !JS_IsUndefined(variables) && is_exploded(variables, object_slot(variables, atom));
    done = add_var(vars, atom, value, exploded);
    JS_FreeAtom(ctx, atom);
  }
  return vars;
}

static JSValue vars_of(const asked *a, JSValueConst route) {
  JSValue variables = JS_IsUndefined(route) ? JS_UNDEFINED : JS_GetProperty(ctx, route, atoms.variables);
  JSValue values[MAX_VARIABLES];
  int count = JS_IsObject(variables) ? object_size(variables) : 0;
  JSValue vars = JS_UNDEFINED;
  if (count > 0 && count <= MAX_VARIABLES) {
    for (int i = 0; i < count; i++) values[i] = JS_UNDEFINED;
    if (fill_vars(values, count, variables, a->vars)) vars = object_like(variables, values);
    else
      for (int i = 0; i < count; i++) JS_FreeValue(ctx, values[i]);
  }
  if (JS_IsUndefined(vars)) vars = some_vars(variables, a->vars);
  JS_FreeValue(ctx, variables);
  return vars;
}

// ---- the request

static bool put(JSValueConst object, const char *name, JSValue value) {
  return JS_DefinePropertyValueStr(ctx, object, name, value, JS_PROP_C_W_E) > 0;
}

// Gives undefined when the principal is malformed.
static JSValue principal_of(bytes rest) {
  bytes subject = {0}, tenant = {0}, claims = {0};
  JSValue scopes = JS_NewArray(ctx), principal = JS_NewObject(ctx);
  bool good = true;
  for (field f; good && wire_take(&rest, &f);) {
    switch (f.number) {
    case 1: good = take_text(&subject, &f); break;
    case 2: good = take_text(&tenant, &f); break;
    case 3: good = f.type == WIRE_BYTES && append(&scopes, text_of(f.text)); break;
    case 4: good = take_text(&claims, &f); break;
    }
  }
  good = put(principal, "scopes", scopes) && good && rest.len == 0;
  good = good && put(principal, "subject", text_of(subject)) && put(principal, "tenant", text_of(tenant)) &&
         put(principal, "claims", text_of(claims));
  if (good) return principal;
  JS_FreeValue(ctx, principal);
  return JS_UNDEFINED;
}

bool request_take(asked *a, uint32_t len) {
  *a = (asked){0};
  if (len > WR_MAX_REQUEST || !request_reserve(len + 1)) return false;
  return take_all(a, (bytes){encoded, host_take(WR_CHANNEL_REQUEST, encoded, 0, len)});
}

// The order is that of the class's fields: see lib/request.js.
JSValue request_object(const asked *a, JSValueConst sample, JSValueConst uri, JSValueConst route) {
  JSValue principal = a->principal.at ? principal_of(a->principal) : JS_UNDEFINED;
  if (a->principal.at && JS_IsUndefined(principal)) return JS_UNDEFINED;
  JSValue values[] = {
    JS_DupValue(ctx, uri), vars_of(a, route), number_of(a->route), text_of(a->cursor), number_of(a->limit),
    number_of(a->offset), number_of(a->length), text_of(a->if_none_match), number_of(a->max_bytes),
    text_of(a->argument), text_of(a->typed), principal, text_of(a->meta),
  };
  return object_like(sample, values);
}
