// Promises. There is no event loop: when no job and no timer is left, nothing will happen any more.
#include "engine.h"

enum { MAX_REJECTED = 8 }; // unhandled rejections that are kept; more are dropped

static struct {
  JSValue promise, reason;
} rejected[MAX_REJECTED];
static int count;

static void track(JSContext *c, JSValueConst promise, JSValueConst reason, bool handled, void *opaque) {
  if (!handled) {
    if (count == MAX_REJECTED) return;
    rejected[count].promise = JS_DupValue(c, promise);
    rejected[count++].reason = JS_DupValue(c, reason);
    return;
  }
  for (int i = 0; i < count; i++) {
    if (!JS_IsStrictEqual(c, rejected[i].promise, promise)) continue;
    JS_FreeValue(c, rejected[i].promise);
    JS_FreeValue(c, rejected[i].reason);
    rejected[i] = rejected[--count];
    return;
  }
}

void jobs_init(JSRuntime *rt) { JS_SetHostPromiseRejectionTracker(rt, track, NULL); }

void jobs_report(void) {
  while (count > 0) {
    JSValue promise = rejected[--count].promise, reason = rejected[count].reason;
    log_line(WR_LOG_WARN, "a promise was rejected, and nothing handled it:");
    failure_log(reason);
    JS_FreeValue(ctx, promise);
    JS_FreeValue(ctx, reason);
  }
}

// A function that does what is to be done when no job is left, as a timer: whether there was something.
static JSValue idle = JS_UNDEFINED;

void jobs_idle(JSValueConst function) {
  JS_FreeValue(ctx, idle);
  idle = JS_DupValue(ctx, function);
}

// 1 when something was done, 0 when there is nothing, and -1 after an exception.
static int run_idle(void) {
  if (!JS_IsFunction(ctx, idle)) return 0;
  JSValue done = JS_Call(ctx, idle, JS_UNDEFINED, 0, NULL);
  int result = JS_IsException(done) ? -1 : JS_ToBool(ctx, done);
  JS_FreeValue(ctx, done);
  return result;
}

JSValue jobs_settle(JSValue value) {
  if (!JS_IsPromise(value)) return value;
  JSContext *c;
  while (JS_PromiseState(ctx, value) == JS_PROMISE_PENDING) {
    int done = JS_ExecutePendingJob(JS_GetRuntime(ctx), &c);
    if (done == 0) {
      int more = run_idle();
      if (more > 0) continue;
      JS_FreeValue(ctx, value);
      if (more < 0) return JS_EXCEPTION;
      return JS_ThrowTypeError(ctx, "what is awaited never settles: there are no timers and no input to wait for");
    }
    if (done < 0) JS_FreeValue(ctx, JS_GetException(c)); // a job's own failure is that of its promise
  }
  JSValue result = JS_PromiseResult(ctx, value);
  if (JS_PromiseState(ctx, value) == JS_PROMISE_REJECTED) {
    JS_PromiseMarkAsHandled(ctx, value);
    result = JS_Throw(ctx, result);
  }
  JS_FreeValue(ctx, value);
  return result;
}
