// QuickJS with its check of the stack, and functions that need its internals. For WASI QuickJS leaves the check out, and
// a script that recurses too deep would trap where it can get a RangeError. Beside that, __wasi__ says that there are no
// threads, which cutils.h has seen.
#include <sys/time.h>
#include <time.h>

#include "engine.h"

// While a provider is built there is no clock.
static int read_clock(clockid_t id, struct timespec *t) {
  *t = (struct timespec){0};
  return memory_is_prepared() ? 0 : clock_gettime(id, t);
}

static int read_time(struct timeval *t, void *zone) {
  *t = (struct timeval){0};
  return memory_is_prepared() ? 0 : gettimeofday(t, zone);
}

#define clock_gettime read_clock
#define gettimeofday read_time
#include "cutils.h"

#define __STDC_NO_ATOMICS__ 1
#undef __wasi__

#include "quickjs.c"

void clock_start(void) {
  ctx->time_origin = js__now_ms();
  JSValue performance = JS_GetPropertyStr(ctx, ctx->global_obj, "performance");
  JSAtom name = JS_NewAtom(ctx, "timeOrigin");
  int slot = object_slot(performance, name);
  JS_VALUE_GET_OBJ(performance)->prop[slot].u.value = js_float64(ctx->time_origin);
  JS_FreeAtom(ctx, name);
  JS_FreeValue(ctx, performance);
}

bool module_is_loaded(const char *name) {
  JSAtom atom = JS_NewAtom(ctx, name);
  bool found = js_find_loaded_module_by_name(ctx, atom) != NULL;
  JS_FreeAtom(ctx, atom);
  return found;
}

// Makes the functions that an object has, which QuickJS otherwise makes when one is first used: in each request again.
static void make_functions(JSValueConst value) {
  if (!JS_IsObject(value)) return;
  JSObject *p = JS_VALUE_GET_OBJ(value);
  for (int i = 0; i < p->shape->prop_count; i++) {
    JSShapeProperty *property = &get_shape_prop(p->shape)[i];
    if ((property->flags & JS_PROP_TMASK) == JS_PROP_AUTOINIT)
      JS_AutoInitProperty(ctx, p, property->atom, &p->prop[i], property);
  }
}

void functions_make(void) {
  static const char *const names[] = {"Array", "Date", "JSON", "Map", "Math", "Number", "Object", "Promise", "RegExp",
                                      "Set", "String", "Uint8Array"};
  make_functions(ctx->global_obj);
  for (size_t i = 0; i < countof(names); i++) {
    JSValue value = JS_GetPropertyStr(ctx, ctx->global_obj, names[i]);
    JSValue prototype = JS_GetPropertyStr(ctx, value, "prototype");
    make_functions(value);
    make_functions(prototype);
    JS_FreeValue(ctx, prototype);
    JS_FreeValue(ctx, value);
  }
}

static bool is_of_sdk(JSFunctionBytecode *b) {
  char name[16];
  return strncmp(JS_AtomGetStrRT(JS_GetRuntime(ctx), name, sizeof name, b->filename), "wasmres:", 8) == 0;
}

void sources_drop(void) {
  JSRuntime *rt = JS_GetRuntime(ctx);
  struct list_head *el;
  list_for_each(el, &rt->gc_obj_list) {
    JSGCObjectHeader *object = list_entry(el, JSGCObjectHeader, link);
    if (JS_GC_TYPE(object) != JS_GC_OBJ_TYPE_FUNCTION_BYTECODE) continue;
    JSFunctionBytecode *b = (JSFunctionBytecode *)object;
    if (!is_of_sdk(b) && !failure_is_located()) continue; // what a bundler made is no text of the author
    js_free_rt(rt, b->source);
    b->source = NULL, b->source_len = 0;
  }
}

// ---- small blocks

// The blocks of the first arena of a class that requests find.
static int first_blocks(int class) {
  int size = arena_block_sizes[class];
  return size <= 64 ? 8 : size <= 128 ? 4 : size <= 256 ? 2 : 1;
}

static void drop_free(JSArenaState *s, int class) {
  struct list_head *el, *next;
  list_for_each_safe(el, next, &s->free_arena_list[class]) {
    list_del(el);
    init_list_head(el); // an arena whose last block is freed leaves this list as well
  }
}

// Begins an arena with so many blocks, and returns where it ends. It counts a block that it does not have as used, so
// that it is never freed.
static uint8_t *begin_arena(JSRuntime *rt, JSArena *arena, int class, int count) {
  int block_size = arena_block_sizes[class];
  *arena = (JSArena){.block_size_idx = class, .n_blocks = count + 1, .n_used_blocks = 1};
  for (int i = 0; i < count; i++) {
    JSMallocBlockHeader *block = arena_get_block(arena, i, block_size);
    block->u.free_next = i + 1 < count ? i + 1 : JS_ARENA_FREE_NIL;
    block->block_size_idx = class;
  }
  list_add(&arena->link, &rt->arena_state.arena_list[class]);
  list_add(&arena->free_link, &rt->arena_state.free_arena_list[class]);
  return arena->blocks + count * block_size;
}

void blocks_settle(void) {
  JSRuntime *rt = JS_GetRuntime(ctx);
  size_t size = 0;
  for (int class = 0; class < JS_ARENA_BLOCK_SIZE_COUNT; class++)
    size += sizeof(JSArena) + first_blocks(class) * arena_block_sizes[class];
  uint8_t *at = malloc(size);
  if (!at) return;
  for (int class = 0; class < JS_ARENA_BLOCK_SIZE_COUNT; class++) {
    drop_free(&rt->arena_state, class);
    at = begin_arena(rt, (JSArena *)at, class, first_blocks(class));
  }
}

// Clears a block that is free but for its header.
static void clear_arena(JSArena *arena) {
  int block_size = arena_block_sizes[arena->block_size_idx];
  for (unsigned i = arena->first_free_block; i != JS_ARENA_FREE_NIL;) {
    JSMallocBlockHeader *block = arena_get_block(arena, i, block_size);
    memset(block->user_data, 0, block_size - sizeof *block);
    i = block->u.free_next;
  }
}

void blocks_clear(void) {
  JSArenaState *s = &JS_GetRuntime(ctx)->arena_state;
  struct list_head *el;
  for (int class = 0; class < JS_ARENA_BLOCK_SIZE_COUNT; class++)
    list_for_each(el, &s->free_arena_list[class]) clear_arena(list_entry(el, JSArena, free_link));
}

// ---- objects

bool object_is_ordinary(JSValueConst value) { return JS_GetClassID(value) == JS_CLASS_OBJECT; }

int object_size(JSValueConst object) { return JS_VALUE_GET_OBJ(object)->shape->prop_count; }

int object_slot(JSValueConst object, JSAtom name) {
  JSObject *p = JS_VALUE_GET_OBJ(object);
  JSProperty *found;
  return find_own_property(&found, p, name) ? (int)(found - p->prop) : -1;
}

JSValueConst object_value(JSValueConst object, int slot) { return JS_VALUE_GET_OBJ(object)->prop[slot].u.value; }

JSValue object_like(JSValueConst sample, JSValue *values) {
  JSShape *shape = JS_VALUE_GET_OBJ(sample)->shape;
  bool failed = false;
  for (int i = 0; i < shape->prop_count; i++) failed = failed || JS_IsException(values[i]);
  JSValue object = failed ? JS_EXCEPTION : JS_NewObjectFromShape(ctx, js_dup_shape(shape), JS_CLASS_OBJECT, NULL);
  failed = JS_IsException(object);
  for (int i = 0; i < shape->prop_count; i++) {
    if (failed) JS_FreeValue(ctx, values[i]);
    else JS_VALUE_GET_OBJ(object)->prop[i].u.value = values[i];
  }
  return object;
}

// ---- functions that run

static void copy_atom(char *room, size_t size, JSAtom atom) {
  char text[128];
  snprintf(room, size, "%s", JS_AtomGetStrRT(JS_GetRuntime(ctx), text, sizeof text, atom));
}

int places_running(place *places, int most) {
  int count = 0;
  for (JSStackFrame *sf = JS_GetRuntime(ctx)->current_stack_frame; sf && count < most; sf = sf->prev_frame) {
    JSObject *p = JS_VALUE_GET_OBJ(sf->cur_func);
    if (!js_class_has_bytecode(p->class_id) || !sf->cur_pc) continue;
    JSFunctionBytecode *b = p->u.func.function_bytecode;
    place *found = &places[count++];
    copy_atom(found->file, sizeof found->file, b->filename);
    copy_atom(found->function, sizeof found->function, b->func_name ? b->func_name : JS_ATOM_empty_string);
    found->line = find_line_num(ctx, b, sf->cur_pc - b->byte_code_buf - 1, &found->column);
  }
  return count;
}
