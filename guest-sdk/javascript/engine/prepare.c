// What `wasmres build` runs: it starts the interpreter, compiles the scripts that the entry imports, and runs those of
// the SDK. Scripts of the provider run when it starts, since they may ask the host for something.
#include <stdio.h>
#include <string.h>

#include "engine.h"

static const char first[] = "import \"wasmres\";";

// Compiles a source as a module, with all it imports.
static JSValue compile(source s) {
  JSValue module = JS_Eval(ctx, s.text, s.len, s.name, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
  if (!JS_IsException(module) && JS_ResolveModule(ctx, module) < 0) return JS_EXCEPTION;
  return module;
}

// Whether a script is not imported later: the SDK's modules import each other at the top.
static bool is_done(const char *name) { return strncmp(name, "wasmres:", 8) == 0 || module_is_loaded(name); }

static bool prepare_all(uint32_t len) {
  if (!boot()) return false;
  functions_make();
  if (!pack_load(len)) {
    snprintf(failed, sizeof failed, "the scripts are too large");
    return false;
  }
  JSValue sdk = evaluate(compile((source){"wasmres:/prepare", first, strlen(first)}));
  if (!JS_IsException(sdk)) entry = compile(pack_first());
  snprintf(entry_name, sizeof entry_name, "%s", pack_first().name);
  if (JS_IsException(sdk) || JS_IsException(entry)) {
    give_up();
    return false;
  }
  return true;
}

void __wasm_call_ctors(void);
EXPORT("wasmres_javascript_prepare") uint32_t prepare(uint32_t len);
uint32_t prepare(uint32_t len) {
  __wasm_call_ctors();
  memory_prepare(true);
  if (!prepare_all(len)) return refuse(WR_CODE_INVALID_PARAMS, failed);
  pack_drop(is_done);
  sources_drop();
  JS_RunGC(JS_GetRuntime(ctx));
  memory_clean();
  memory_prepare(false);
  return WR_CODE_OK;
}
