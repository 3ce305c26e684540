// The life of a provider: started once, then asked.
#include <stdio.h>
#include <string.h>

#include "engine.h"

enum {
  GARBAGE = 8 << 20,        // bytes a request may take before cycles are looked for
  USUAL_REQUEST = 1 << 10,  // bytes for which there is room from the start
  USUAL_FRAME = 4 << 10,
};

JSContext *ctx;

char failed[MAX_FAILURE];
JSValue entry = JS_UNDEFINED;
char entry_name[64];

void give_up(void) {
  JSValue error = JS_GetException(ctx);
  failure_summary(failed, sizeof failed, error);
  failure_end(error);
  JS_FreeValue(ctx, error);
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

// locate(function): names the function that gives a stack with the places of the sources.
static JSValue locate(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  failure_locate(argv[0]);
  return JS_UNDEFINED;
}

// idle(function): names the function that is called when no promise can go on: whether it did something.
static JSValue idle(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  jobs_idle(argv[0]);
  return JS_UNDEFINED;
}

const JSCFunctionListEntry engine_functions[] = {
  JS_CFUNC_DEF("report", 1, report),
  JS_CFUNC_DEF("fault", 1, fault),
  JS_CFUNC_DEF("locate", 1, locate),
  JS_CFUNC_DEF("idle", 1, idle),
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
  operation_init();
  return true;
}

JSValue evaluate(JSValue module) {
  if (JS_IsException(module)) return module;
  JSValue result = jobs_settle(JS_EvalFunction(ctx, module));
  jobs_report();
  return result;
}

bool boot(void) {
  if (make_context()) return true;
  snprintf(failed, sizeof failed, "there is not enough memory to start");
  return false;
}

EXPORT(WR_EXPORT_INITIALIZE) void _initialize(void);
void _initialize(void) {
  if (!ctx) {
    snprintf(failed, sizeof failed, "no provider is packed into the engine");
    return;
  }
  clock_start();
  JSValue result = evaluate(entry);
  if (JS_IsException(result)) {
    give_up();
    return;
  }
  JS_FreeValue(ctx, result);
  if (!operation_ready()) snprintf(failed, sizeof failed, "%s does not call provider", entry_name);
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
  request_reserve(USUAL_REQUEST);
  frame_reserve(USUAL_FRAME);
  blocks_settle();
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
  asked request;
  frame_begin();
  JSValue result = request_take(&request, len) ? operation_answer(op, &request) : JS_UNDEFINED;
  if (JS_IsUndefined(result)) return refuse(WR_CODE_INVALID_PARAMS, "malformed request");
  uint32_t code = code_of(jobs_settle(result));
  jobs_report();
  return code;
}
