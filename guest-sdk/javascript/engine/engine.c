// The life of a provider: started once, then asked.
#include <stdio.h>
#include <string.h>

#include "engine.h"

enum { GARBAGE = 8 << 20 }; // bytes a request may take before cycles are looked for

JSContext *ctx;

static JSValue answer = JS_UNDEFINED; // function (operation, request): the code, or a promise of it
static char failed[1024];             // why the provider has not started; empty when it has

// Keeps why the provider cannot start.
static void give_up(void) {
  JSValue error = JS_GetException(ctx);
  failure_summary(failed, sizeof failed, error);
  failure_end(error);
  JS_FreeValue(ctx, error);
}

// serve(function): names the function that answers requests.
static JSValue serve(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  JS_FreeValue(c, answer);
  answer = JS_DupValue(c, argv[0]);
  return JS_UNDEFINED;
}

// report(error): logs it with its stack.
static JSValue report(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  failure_log(argv[0]);
  return JS_UNDEFINED;
}

// fault(error): is the same for what ends the request.
static JSValue fault(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  failure_end(argv[0]);
  return JS_UNDEFINED;
}

const JSCFunctionListEntry engine_functions[] = {
  JS_CFUNC_DEF("serve", 1, serve),
  JS_CFUNC_DEF("report", 1, report),
  JS_CFUNC_DEF("fault", 1, fault),
};
const int engine_functions_count = sizeof engine_functions / sizeof *engine_functions;

static bool make_context(void) {
  JSRuntime *rt = memory_runtime();
  if (!rt || !(ctx = JS_NewContext(rt))) return false;
  JS_SetMaxStackSize(rt, (size_t)__builtin_frame_address(0) - STACK_MARGIN);
  JS_SetGCThreshold(rt, SIZE_MAX);
  modules_init(rt);
  jobs_init(rt);
  random_init();
  return true;
}

// Evaluates a source as a module, with all it imports.
static bool evaluate(source s) {
  JSValue result = jobs_settle(JS_Eval(ctx, s.text, s.len, s.name, JS_EVAL_TYPE_MODULE));
  bool done = !JS_IsException(result);
  JS_FreeValue(ctx, result);
  jobs_report();
  return done;
}

static void boot(void) {
  if (!make_context()) {
    snprintf(failed, sizeof failed, "there is not enough memory to start");
    return;
  }
  if (!pack_load()) {
    snprintf(failed, sizeof failed, "no provider is packed into the engine");
    return;
  }
  if (!evaluate(pack_first())) {
    give_up();
    return;
  }
  if (!JS_IsFunction(ctx, answer)) snprintf(failed, sizeof failed, "%s does not call provider", pack_first().name);
}

void __wasm_call_ctors(void);
EXPORT(WR_EXPORT_INITIALIZE) void _initialize(void);
void _initialize(void) {
  __wasm_call_ctors();
  boot();
}

// What every request finds has no garbage, and collecting, which writes to all objects, is for requests that make much.
EXPORT(WR_EXPORT_WARM) void wasmres_v1_warm(void);
void wasmres_v1_warm(void) {
  if (*failed) __builtin_trap(); // a manifest that was packed in hides it until here
  JSRuntime *rt = JS_GetRuntime(ctx);
  JSMemoryUsage usage;
  JS_RunGC(rt);
  JS_ComputeMemoryUsage(rt, &usage);
  JS_SetGCThreshold(rt, (size_t)usage.malloc_size + GARBAGE);
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

// What serve's function throws is a fault of the SDK, or there was no memory to handle one of the provider's.
static uint32_t code_of(JSValue result) {
  uint32_t code = WR_CODE_INTERNAL;
  if (JS_IsException(result)) {
    JSValue error = JS_GetException(ctx);
    failure_end(error);
    JS_FreeValue(ctx, error);
    return code;
  }
  JS_ToUint32(ctx, &code, result);
  JS_FreeValue(ctx, result);
  return code;
}

EXPORT(WR_EXPORT_CALL) uint32_t wasmres_v1(uint32_t op, uint32_t len);
uint32_t wasmres_v1(uint32_t op, uint32_t len) {
  if (*failed) return refuse(WR_CODE_INTERNAL, failed);
  JSValue request = request_decode(len);
  if (JS_IsUndefined(request)) return refuse(WR_CODE_INVALID_PARAMS, "malformed request");
  JSValue arguments[] = {JS_NewUint32(ctx, op), request};
  JSValue result = jobs_settle(JS_Call(ctx, answer, JS_UNDEFINED, 2, (JSValueConst *)arguments));
  uint32_t code = code_of(result);
  jobs_report();
  JS_FreeValue(ctx, request);
  return code;
}
