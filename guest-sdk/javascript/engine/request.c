// The Request as an object of JavaScript. Fields that are absent are undefined; vars are names and values by turns.
#include <string.h>

#include "engine.h"

static uint8_t encoded[WR_MAX_REQUEST];

static JSValue text_of(const field *f) {
  if (f->type != WIRE_BYTES) return JS_UNDEFINED;
  return JS_NewStringLen(ctx, (const char *)f->text.at, f->text.len);
}

static JSValue number_of(const field *f) {
  return f->type == WIRE_NUMBER ? JS_NewInt64(ctx, (int64_t)(f->bits & INT64_MAX)) : JS_UNDEFINED;
}

// Sets a property; false when the value was malformed, or there is no memory.
static bool set(JSValueConst object, const char *name, JSValue value) {
  if (JS_IsUndefined(value) || JS_IsException(value)) return false;
  return JS_DefinePropertyValueStr(ctx, object, name, value, JS_PROP_C_W_E) > 0;
}

// Appends to the array that is a property, and made if it is not there.
static bool append(JSValueConst object, const char *name, JSValue value) {
  if (JS_IsUndefined(value) || JS_IsException(value)) return false;
  JSValue array = JS_GetPropertyStr(ctx, object, name);
  if (JS_IsUndefined(array)) {
    array = JS_NewArray(ctx);
    if (!set(object, name, JS_DupValue(ctx, array))) return false;
  }
  int64_t len = 0;
  JS_GetLength(ctx, array, &len);
  bool done = JS_DefinePropertyValueUint32(ctx, array, (uint32_t)len, value, JS_PROP_C_W_E) > 0;
  JS_FreeValue(ctx, array);
  return done;
}

static bool append_var(JSValueConst request, const field *var) {
  if (var->type != WIRE_BYTES) return false;
  bytes rest = var->text, name = {0}, value = {0};
  field f;
  while (wire_take(&rest, &f)) {
    if (f.number > 2) continue;
    if (f.type != WIRE_BYTES) return false;
    *(f.number == 1 ? &name : &value) = f.text;
  }
  return rest.len == 0 && append(request, "vars", JS_NewStringLen(ctx, (const char *)name.at, name.len)) &&
         append(request, "vars", JS_NewStringLen(ctx, (const char *)value.at, value.len));
}

static bool fill_principal(JSValueConst principal, bytes rest) {
  field f;
  while (wire_take(&rest, &f)) {
    switch (f.number) {
    case 1: if (!set(principal, "subject", text_of(&f))) return false; break;
    case 2: if (!set(principal, "tenant", text_of(&f))) return false; break;
    case 3: if (!append(principal, "scopes", text_of(&f))) return false; break;
    case 4: if (!set(principal, "claims", text_of(&f))) return false; break;
    }
  }
  return rest.len == 0;
}

static bool set_principal(JSValueConst request, const field *f) {
  if (f->type != WIRE_BYTES) return false;
  JSValue principal = JS_NewObject(ctx);
  return set(request, "principal", JS_DupValue(ctx, principal)) && fill_principal(principal, f->text);
}

static bool set_field(JSValueConst request, const field *f) {
  bool small = f->bits <= UINT32_MAX;
  switch (f->number) {
  case 1: return set(request, "uri", text_of(f));
  case 2: return small && set(request, "route", number_of(f));
  case 3: return append_var(request, f);
  case 4: return set(request, "cursor", text_of(f));
  case 5: return small && set(request, "limit", number_of(f));
  case 6: return set(request, "rangeOffset", number_of(f));
  case 7: return set(request, "rangeLength", number_of(f));
  case 8: return set(request, "ifNoneMatch", text_of(f));
  case 9: return set(request, "maxBytes", number_of(f));
  case 10: return set(request, "argument", text_of(f));
  case 11: return set(request, "typed", text_of(f));
  case 12: return set_principal(request, f);
  case 13: return set(request, "meta", text_of(f));
  }
  return true;
}

static bool fill(JSValueConst request, bytes *rest) {
  field f;
  while (wire_take(rest, &f))
    if (!set_field(request, &f)) return false;
  return true;
}

JSValue request_decode(uint32_t len) {
  if (len > sizeof encoded) return JS_UNDEFINED;
  bytes rest = {encoded, host_take(WR_CHANNEL_REQUEST, encoded, 0, len)};
  JSValue request = JS_NewObject(ctx);
  if (fill(request, &rest) && rest.len == 0) return request;
  JS_FreeValue(ctx, request);
  return JS_UNDEFINED;
}
