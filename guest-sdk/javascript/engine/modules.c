// Imports. A provider imports "wasmres" and, by relative paths, files that were packed with it. The modules of the SDK
// have names that begin with "wasmres:", which only they themselves may import.
#include <string.h>

#include "engine.h"

static const char own[] = "wasmres:", sdk[] = "wasmres:/index.js", host[] = "wasmres:host";

static bool begins(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

static bool is_relative(const char *name) { return begins(name, "./") || begins(name, "../"); }

// Follows a relative path from the folder of base; false when that leads out of the project. path has room for both.
static bool follow(char *path, const char *base, const char *name) {
  const char *slash = strrchr(base, '/');
  size_t len = slash ? (size_t)(slash - base) : 0;
  memcpy(path, base, len);
  for (;;) {
    size_t n = strcspn(name, "/");
    if (n == 2 && begins(name, "..")) {
      if (len == 0) return false;
      while (len > 0 && path[len - 1] != '/') len--;
      if (len > 0) len--;
    } else if (n > 0 && !(n == 1 && *name == '.')) {
      if (len > 0) path[len++] = '/';
      memcpy(path + len, name, n);
      len += n;
    }
    if (name[n] == 0) break;
    name += n + 1;
  }
  path[len] = 0;
  return true;
}

// Gives the name of the file that a relative path leads to; NULL after an exception.
static char *find(JSContext *c, const char *base, const char *name) {
  char *path = js_malloc(c, strlen(base) + strlen(name) + 2);
  if (!path) return NULL;
  bool inside = follow(path, base, name);
  if (inside && (module_is_loaded(path) || pack_find(path).text)) return path;
  js_free(c, path);
  if (inside) JS_ThrowReferenceError(c, "%s: there is no file \"%s\", or none that can be imported", base, name);
  else JS_ThrowReferenceError(c, "%s: \"%s\" is outside of the project", base, name);
  return NULL;
}

static char *normalize(JSContext *c, const char *base, const char *name, void *opaque) {
  if (strcmp(name, "wasmres") == 0) return js_strdup(c, sdk);
  if (begins(name, own) && begins(base, own)) return js_strdup(c, name);
  if (is_relative(name)) return find(c, base, name);
  JS_ThrowReferenceError(c, "%s: there is no module \"%s\": a provider imports \"wasmres\", and its own files by "
                            "relative paths, as in \"./other.js\"", base, name);
  return NULL;
}

static int init_host(JSContext *c, JSModuleDef *m) {
  if (JS_SetModuleExportList(c, m, engine_functions, engine_functions_count) < 0) return -1;
  if (JS_SetModuleExportList(c, m, operation_functions, operation_functions_count) < 0) return -1;
  if (JS_SetModuleExportList(c, m, frame_functions, frame_functions_count) < 0) return -1;
  return JS_SetModuleExportList(c, m, service_functions, service_functions_count);
}

static JSModuleDef *host_module(JSContext *c) {
  JSModuleDef *m = JS_NewCModule(c, host, init_host);
  if (!m) return NULL;
  JS_AddModuleExportList(c, m, engine_functions, engine_functions_count);
  JS_AddModuleExportList(c, m, operation_functions, operation_functions_count);
  JS_AddModuleExportList(c, m, frame_functions, frame_functions_count);
  JS_AddModuleExportList(c, m, service_functions, service_functions_count);
  return m;
}

static JSModuleDef *load(JSContext *c, const char *name, void *opaque, JSValueConst attributes) {
  if (strcmp(name, host) == 0) return host_module(c);
  source s = pack_find(name);
  if (!s.text) { // normalize has seen that it is loaded
    JS_ThrowReferenceError(c, "\"%s\" was imported before with other attributes", name);
    return NULL;
  }
  JSValue module = JS_Eval(c, s.text, s.len, name, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
  if (JS_IsException(module)) return NULL;
  JSModuleDef *m = JS_VALUE_GET_PTR(module);
  JS_FreeValue(c, module); // the runtime keeps it
  return m;
}

// Attributes, as in with { type: "json" }, are for editors: what a file is, its name has said when it was packed.
static int any_attributes(JSContext *c, void *opaque, JSValueConst attributes) { return 0; }

void modules_init(JSRuntime *rt) { JS_SetModuleLoaderFunc2(rt, normalize, load, any_attributes, NULL); }
