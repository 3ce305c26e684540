// One operation after the other. This file calls the handlers of reads, and answer.c sends what they return if it is
// short. The scripts of the SDK do the rest.
#include "engine.h"

names atoms;

static JSValue run, answered, fail;          // functions of the SDK: see lib/serve.js
static JSValue sample;                       // of its class Request
static JSValue templates, resources;         // the routes, by number from 1 on and by URI

// serve(run, answered, fail, sample): names the functions that answer operations.
static JSValue serve(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  run = JS_DupValue(c, argv[0]);
  answered = JS_DupValue(c, argv[1]);
  fail = JS_DupValue(c, argv[2]);
  sample = JS_DupValue(c, argv[3]);
  return JS_UNDEFINED;
}

// routes(templates, resources): names the array, and the object, of routes.
static JSValue routes(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  templates = JS_DupValue(c, argv[0]);
  resources = JS_DupValue(c, argv[1]);
  return JS_UNDEFINED;
}

const JSCFunctionListEntry operation_functions[] = {
  JS_CFUNC_DEF("serve", 4, serve),
  JS_CFUNC_DEF("routes", 2, routes),
};
const int operation_functions_count = sizeof operation_functions / sizeof *operation_functions;

void operation_init(void) {
  run = answered = fail = sample = templates = resources = JS_UNDEFINED;
  static const char *const others[] = {"lastModified", "meta", "notModified", "rangeTotal"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) atoms.others[i] = JS_NewAtom(ctx, others[i]);
  atoms.etag = JS_NewAtom(ctx, "etag");
  atoms.bytes = JS_NewAtom(ctx, "bytes");
  atoms.mime_type = JS_NewAtom(ctx, "mimeType");
  atoms.read = JS_NewAtom(ctx, "read");
  atoms.scope = JS_NewAtom(ctx, "scope");
  atoms.text = JS_NewAtom(ctx, "text");
  atoms.ttl = JS_NewAtom(ctx, "ttl");
  atoms.uri = JS_NewAtom(ctx, "uri");
  atoms.variables = JS_NewAtom(ctx, "variables");
}

bool operation_ready(void) { return !JS_IsUndefined(templates); }

// The route that was registered for a request; undefined when there is none, or none that is known here.
static JSValue route_of(const asked *a, JSValueConst uri) {
  if (JS_IsUndefined(templates)) return JS_UNDEFINED;
  if (a->route > 0) return JS_GetPropertyUint32(ctx, templates, (uint32_t)a->route - 1);
  JSAtom name = JS_ValueToAtom(ctx, uri);
  JSValue route = JS_GetProperty(ctx, resources, name);
  JS_FreeAtom(ctx, name);
  return route;
}

// The template that a completion is for; undefined when there is none.
static JSValue template_of(JSValueConst uri) {
  int64_t count = 0;
  if (!JS_IsUndefined(templates)) JS_GetLength(ctx, templates, &count);
  for (uint32_t i = 0; i < count; i++) {
    JSValue route = JS_GetPropertyUint32(ctx, templates, i), own = JS_GetProperty(ctx, route, atoms.uri);
    bool same = JS_IsStrictEqual(ctx, own, uri);
    JS_FreeValue(ctx, own);
    if (same) return route;
    JS_FreeValue(ctx, route);
  }
  return JS_UNDEFINED;
}

// What an operation is about; undefined when it is about no route, or none that is known here.
static JSValue subject_of(uint32_t op, const asked *a, JSValueConst uri) {
  switch (op) {
  case WR_OP_READ: case WR_OP_SUBSCRIBE: case WR_OP_POLL: return route_of(a, uri);
  case WR_OP_COMPLETE: return template_of(uri);
  }
  return JS_UNDEFINED;
}

// Answers a read after an exception.
static JSValue fail_with_exception(void) {
  JSValue error = JS_GetException(ctx);
  JSValue result = JS_Call(ctx, fail, JS_UNDEFINED, 1, (JSValueConst *)&error);
  JS_FreeValue(ctx, error);
  return result;
}

static JSValue read(const asked *a, JSValueConst request, JSValueConst route) {
  JSValue handler = JS_GetProperty(ctx, route, atoms.read);
  JSValue answer = jobs_settle(JS_Call(ctx, handler, route, 1, &request)), result;
  JS_FreeValue(ctx, handler);
  if (JS_IsException(answer)) return fail_with_exception();
  uint32_t code;
  if (answer_send(answer, request, route, a, &code)) {
    result = JS_NewUint32(ctx, code);
  } else if (JS_HasException(ctx)) {
    result = fail_with_exception();
  } else {
    JSValueConst arguments[] = {answer, request, route};
    result = JS_Call(ctx, answered, JS_UNDEFINED, 3, arguments);
  }
  JS_FreeValue(ctx, answer);
  return result;
}

JSValue operation_answer(uint32_t op, const asked *a) {
  JSValue uri = JS_NewStringLen(ctx, (const char *)a->uri.at, a->uri.len);
  JSValue route = subject_of(op, a, uri);
  JSValue request = request_object(a, sample, uri, route), result = request;
  if (JS_IsObject(request)) {
    if (op == WR_OP_READ && !JS_IsUndefined(route)) {
      result = read(a, request, route);
    } else {
      JSValueConst arguments[] = {JS_NewUint32(ctx, op), request, route};
      result = JS_Call(ctx, run, JS_UNDEFINED, 3, arguments);
    }
  }
  if (JS_IsObject(request)) JS_FreeValue(ctx, request);
  JS_FreeValue(ctx, route);
  JS_FreeValue(ctx, uri);
  return result;
}
