//go:build wasmtime && cgo && linux && amd64

#define _GNU_SOURCE
#include <pthread.h>
#include <sys/resource.h>

#include "sandbox.h"
#include "_cgo_export.h"

// Guests run on the stacks of threads. The meter bounds the depth of guests to 32 MiB at most, so that it is first: what the
// meter stops, it stops at the same place on all engines.
static const size_t THREAD_STACK = 48u << 20, HOST_STACK = 8u << 20;

// prepare_stacks runs before Go starts its first thread. It only reserves address space.
__attribute__((constructor)) static void prepare_stacks(void) {
	pthread_attr_t attr;
	if (pthread_getattr_default_np(&attr) == 0) {
		size_t size = 0;
		if (pthread_attr_getstacksize(&attr, &size) == 0 && size < THREAD_STACK && pthread_attr_setstacksize(&attr, THREAD_STACK) == 0) {
			pthread_setattr_default_np(&attr);
		}
		pthread_attr_destroy(&attr);
	}
	struct rlimit limit; // of the first thread
	if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < THREAD_STACK) {
		limit.rlim_cur = limit.rlim_max < THREAD_STACK ? limit.rlim_max : THREAD_STACK;
		setrlimit(RLIMIT_STACK, &limit);
	}
}

size_t stack_bytes(void) {
	size_t least = THREAD_STACK;
	pthread_attr_t attr;
	if (pthread_getattr_default_np(&attr) == 0) {
		size_t size = 0;
		if (pthread_attr_getstacksize(&attr, &size) == 0 && size < least) {
			least = size;
		}
		pthread_attr_destroy(&attr);
	}
	struct rlimit limit;
	if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < least) {
		least = limit.rlim_cur;
	}
	return least > 2 * HOST_STACK ? least - HOST_STACK : least / 2;
}

// creating is the sandbox whose memory wasmtime asks for on this thread.
static _Thread_local sandbox *creating;

static uint8_t *get_memory(void *env, size_t *size, size_t *capacity) {
	sandbox *s = env;
	*size = s->size;
	*capacity = s->span > 0 ? s->span : s->size;
	return s->base;
}

static wasmtime_error_t *resize_memory(void *env, size_t size) {
	sandbox *s = env;
	return wasmtimeReallocate(s->host, size, &s->base, &s->size) ? NULL : wasmtime_error_new("the host refuses the memory");
}

static wasmtime_error_t *new_memory(void *env, const wasm_memorytype_t *type, size_t minimum, size_t maximum, size_t reserved,
	size_t guard, wasmtime_linear_memory_t *memory) {
	sandbox *s = creating;
	if (s == NULL || s->base != NULL) {
		return wasmtime_error_new("an instance has one memory");
	}
	if (reserved > s->reach || guard > s->reach - reserved) { // the code would run over what is after the memory
		return wasmtime_error_new("the code needs more address space than the memory has");
	}
	memory->env = s;
	memory->get_memory = get_memory;
	memory->grow_memory = resize_memory;
	memory->finalizer = NULL;
	return resize_memory(s, minimum);
}

wasm_engine_t *new_engine(size_t stack, bool guards) {
	wasm_config_t *c = wasm_config_new();
	// The proposals that admission permits: those of WebAssembly 2.0.
	wasmtime_config_wasm_threads_set(c, false);
	wasmtime_config_wasm_tail_call_set(c, false);
	wasmtime_config_wasm_function_references_set(c, false);
	wasmtime_config_wasm_gc_set(c, false);
	wasmtime_config_wasm_relaxed_simd_set(c, false);
	wasmtime_config_wasm_multi_memory_set(c, false);
	wasmtime_config_wasm_memory64_set(c, false);
	wasmtime_config_wasm_exceptions_set(c, false);
	wasmtime_config_wasm_component_model_set(c, false);
	// The memory is that of the host. Without guards it reserves nothing beside it: so the code compares each address with its size.
	wasmtime_memory_creator_t creator = {NULL, new_memory, NULL};
	wasmtime_config_host_memory_creator_set(c, &creator);
	wasmtime_config_memory_may_move_set(c, true);
	wasmtime_config_memory_reservation_set(c, guards ? (uint64_t)INDEX_SPAN_PAGES * WASM_PAGE : 0);
	wasmtime_config_memory_guard_size_set(c, guards ? (uint64_t)OFFSET_SPAN_PAGES * WASM_PAGE : 0);
	wasmtime_config_memory_reservation_for_growth_set(c, 0);
	wasmtime_config_memory_init_cow_set(c, false);
	wasmtime_config_signals_based_traps_set(c, guards); // without, the signals of the process are Go's alone
	wasmtime_config_native_unwind_info_set(c, false);
	wasmtime_config_max_wasm_stack_set(c, stack);
	return wasm_engine_new_with_config(c);
}

static wasm_trap_t *call_host(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *values, size_t n) {
	sandbox *s = wasmtime_context_get_data(wasmtime_caller_context(caller));
	uint64_t stack[MAX_VALUES];
	for (size_t i = 0; i < n; i++) {
		stack[i] = values[i].bits;
	}
	if (!wasmtimeCallHost(s->host, (size_t)env, stack, n)) {
		return wasmtime_trap_new_code(TRAP_INTERRUPT);
	}
	for (size_t i = 0; i < n; i++) {
		values[i].bits = stack[i];
	}
	return NULL;
}

wasmtime_error_t *define_function(wasmtime_linker_t *linker, const char *module, size_t module_len, const char *name, size_t name_len,
	const wasm_functype_t *type, size_t index) {
	return wasmtime_linker_define_func_unchecked(linker, module, module_len, name, name_len, type, call_host, (void *)index, NULL);
}

outcome new_sandbox(sandbox *s, wasm_engine_t *engine, const wasmtime_instance_pre_t *pre) {
	outcome o = {NULL, NULL};
	s->store = wasmtime_store_new(engine, s, NULL);
	s->context = wasmtime_store_context(s->store);
	creating = s;
	o.error = wasmtime_instance_pre_instantiate(pre, s->context, &s->instance, &o.trap);
	creating = NULL;
	return o;
}

void close_sandbox(sandbox *s) { wasmtime_store_delete(s->store); }

outcome call_function(sandbox *s, wasmtime_func_t f, uint64_t *stack, size_t n) {
	wasmtime_val_raw_t values[MAX_VALUES];
	for (size_t i = 0; i < n; i++) {
		values[i].v128[1] = 0;
		values[i].bits = stack[i];
	}
	outcome o = {NULL, NULL};
	o.error = wasmtime_func_call_unchecked(s->context, &f, values, MAX_VALUES, &o.trap);
	for (size_t i = 0; i < n; i++) {
		stack[i] = values[i].bits;
	}
	return o;
}

wasmtime_error_t *grow_memory(sandbox *s, wasmtime_memory_t memory) {
	uint64_t before;
	return wasmtime_memory_grow(s->context, &memory, 1, &before);
}

uint64_t read_global(sandbox *s, wasmtime_global_t g) {
	wasmtime_val_t value;
	wasmtime_global_get(s->context, &g, &value);
	return value.kind == VALUE_I32 || value.kind == VALUE_F32 ? (uint32_t)value.of.i32 : value.of.bits;
}

wasmtime_error_t *write_global(sandbox *s, wasmtime_global_t g, uint8_t kind, uint64_t bits) {
	wasmtime_val_t value = {.kind = kind, .of.bits = bits};
	return wasmtime_global_set(s->context, &g, &value);
}
