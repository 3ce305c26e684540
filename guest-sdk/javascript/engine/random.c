// Math.random. That of QuickJS is seeded once, while the provider starts: every request would get the same numbers.
#include "engine.h"

static uint64_t state = 0x9e3779b97f4a7c15; // never zero

// SplitMix64, whose every seed is a good one.
static uint64_t next(void) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

EXPORT(WR_EXPORT_SEED) void wasmres_v1_seed(uint64_t seed);
void wasmres_v1_seed(uint64_t seed) { state = seed; }

static JSValue math_random(JSContext *c, JSValueConst this, int argc, JSValueConst *argv) {
  return JS_NewFloat64(c, (double)(next() >> 11) * 0x1p-53);
}

void random_init(void) {
  JSValue global = JS_GetGlobalObject(ctx), math = JS_GetPropertyStr(ctx, global, "Math");
  JSValue function = JS_NewCFunction(ctx, math_random, "random", 0);
  JS_DefinePropertyValueStr(ctx, math, "random", function, JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
  JS_FreeValue(ctx, math);
  JS_FreeValue(ctx, global);
}
