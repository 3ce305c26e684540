// The declarations of wasmtime's C API that this package uses. A test compiles them together with the headers of the library.

#ifndef WASMRES_API_H
#define WASMRES_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef WASMTIME_API_H
typedef struct wasm_config_t wasm_config_t;
typedef struct wasm_engine_t wasm_engine_t;
typedef struct wasm_trap_t wasm_trap_t;
typedef struct wasm_frame_t wasm_frame_t;
typedef struct wasm_valtype_t wasm_valtype_t;
typedef struct wasm_functype_t wasm_functype_t;
typedef struct wasm_externtype_t wasm_externtype_t;
typedef struct wasm_globaltype_t wasm_globaltype_t;
typedef struct wasm_memorytype_t wasm_memorytype_t;
typedef struct wasm_importtype_t wasm_importtype_t;
typedef struct wasmtime_error wasmtime_error_t;
typedef struct wasmtime_module wasmtime_module_t;
typedef struct wasmtime_linker wasmtime_linker_t;
typedef struct wasmtime_instance_pre wasmtime_instance_pre_t;
typedef struct wasmtime_store wasmtime_store_t;
typedef struct wasmtime_context wasmtime_context_t;
typedef struct wasmtime_caller wasmtime_caller_t;

typedef struct { size_t size; char *data; } wasm_byte_vec_t;
typedef wasm_byte_vec_t wasm_name_t;
typedef struct { size_t size; wasm_frame_t **data; } wasm_frame_vec_t;
typedef struct { size_t size; wasm_valtype_t **data; } wasm_valtype_vec_t;
typedef struct { size_t size; wasm_importtype_t **data; } wasm_importtype_vec_t;

typedef struct { uint64_t store_id; size_t private_1; } wasmtime_instance_t;
typedef struct { uint64_t store_id; void *private_1; } wasmtime_func_t;
typedef struct { uint64_t store_id; uint32_t private_1, private_2, private_3; } wasmtime_global_t;
typedef struct { struct { uint64_t store_id; uint32_t private_1; }; uint32_t private_2; } wasmtime_memory_t;
typedef struct {
	uint8_t kind;
	union { wasmtime_func_t func; wasmtime_global_t global; wasmtime_memory_t memory; } of;
} wasmtime_extern_t;
typedef struct {
	uint8_t kind;
	union { int32_t i32; int64_t i64; uint64_t bits; uint64_t room[3]; } of;
} wasmtime_val_t;
typedef union { int32_t i32; uint64_t bits; uint64_t v128[2]; } wasmtime_val_raw_t;

typedef wasm_trap_t *(*wasmtime_func_unchecked_callback_t)(void *, wasmtime_caller_t *, wasmtime_val_raw_t *, size_t);
typedef struct {
	void *env;
	uint8_t *(*get_memory)(void *, size_t *, size_t *);
	wasmtime_error_t *(*grow_memory)(void *, size_t);
	void (*finalizer)(void *);
} wasmtime_linear_memory_t;
typedef struct {
	void *env;
	wasmtime_error_t *(*new_memory)(void *, const wasm_memorytype_t *, size_t, size_t, size_t, size_t, wasmtime_linear_memory_t *);
	void (*finalizer)(void *);
} wasmtime_memory_creator_t;
typedef uint8_t wasmtime_strategy_t;
#endif

_Static_assert(sizeof(wasmtime_val_t) == 32 && offsetof(wasmtime_val_t, of) == 8, "wasmtime_val_t");
_Static_assert(sizeof(wasmtime_val_raw_t) == 16, "wasmtime_val_raw_t");
_Static_assert(sizeof(wasmtime_extern_t) == 32 && offsetof(wasmtime_extern_t, of) == 8, "wasmtime_extern_t");
_Static_assert(sizeof(wasmtime_instance_t) == 16, "wasmtime_instance_t");
_Static_assert(sizeof(wasmtime_func_t) == 16, "wasmtime_func_t");
_Static_assert(sizeof(wasmtime_global_t) == 24, "wasmtime_global_t");
_Static_assert(sizeof(wasmtime_memory_t) == 24, "wasmtime_memory_t");
_Static_assert(sizeof(wasmtime_linear_memory_t) == 32, "wasmtime_linear_memory_t");
_Static_assert(sizeof(wasmtime_memory_creator_t) == 24, "wasmtime_memory_creator_t");
_Static_assert(sizeof(wasm_byte_vec_t) == 16 && sizeof(wasm_frame_vec_t) == 16, "vectors");

enum { EXTERN_FUNC = 0, EXTERN_GLOBAL = 1, EXTERN_MEMORY = 3 };
enum { TRAP_INTERRUPT = 10 };
enum { VALUE_I32 = 0, VALUE_I64 = 1, VALUE_F32 = 2, VALUE_F64 = 3 };

wasm_config_t *wasm_config_new(void);
void wasmtime_config_max_wasm_stack_set(wasm_config_t *, size_t);
void wasmtime_config_wasm_threads_set(wasm_config_t *, bool);
void wasmtime_config_wasm_tail_call_set(wasm_config_t *, bool);
void wasmtime_config_wasm_function_references_set(wasm_config_t *, bool);
void wasmtime_config_wasm_gc_set(wasm_config_t *, bool);
void wasmtime_config_wasm_relaxed_simd_set(wasm_config_t *, bool);
void wasmtime_config_wasm_multi_memory_set(wasm_config_t *, bool);
void wasmtime_config_wasm_memory64_set(wasm_config_t *, bool);
void wasmtime_config_wasm_exceptions_set(wasm_config_t *, bool);
void wasmtime_config_wasm_component_model_set(wasm_config_t *, bool);
void wasmtime_config_memory_may_move_set(wasm_config_t *, bool);
void wasmtime_config_memory_reservation_set(wasm_config_t *, uint64_t);
void wasmtime_config_memory_guard_size_set(wasm_config_t *, uint64_t);
void wasmtime_config_memory_reservation_for_growth_set(wasm_config_t *, uint64_t);
void wasmtime_config_memory_init_cow_set(wasm_config_t *, bool);
void wasmtime_config_signals_based_traps_set(wasm_config_t *, bool);
void wasmtime_config_native_unwind_info_set(wasm_config_t *, bool);
void wasmtime_config_host_memory_creator_set(wasm_config_t *, wasmtime_memory_creator_t *);
wasm_engine_t *wasm_engine_new_with_config(wasm_config_t *);
void wasm_engine_delete(wasm_engine_t *);

wasmtime_error_t *wasmtime_error_new(const char *);
void wasmtime_error_message(const wasmtime_error_t *, wasm_name_t *);
void wasmtime_error_delete(wasmtime_error_t *);
void wasm_byte_vec_delete(wasm_byte_vec_t *);

wasm_trap_t *wasmtime_trap_new_code(uint8_t);
bool wasmtime_trap_code(const wasm_trap_t *, uint8_t *);
void wasm_trap_message(const wasm_trap_t *, wasm_byte_vec_t *);
void wasm_trap_trace(const wasm_trap_t *, wasm_frame_vec_t *);
void wasm_trap_delete(wasm_trap_t *);
uint32_t wasm_frame_func_index(const wasm_frame_t *);
void wasm_frame_vec_delete(wasm_frame_vec_t *);

wasmtime_error_t *wasmtime_module_new(wasm_engine_t *, const uint8_t *, size_t, wasmtime_module_t **);
wasmtime_error_t *wasmtime_module_serialize(wasmtime_module_t *, wasm_byte_vec_t *);
wasmtime_error_t *wasmtime_module_deserialize(wasm_engine_t *, const uint8_t *, size_t, wasmtime_module_t **);
void wasmtime_module_imports(const wasmtime_module_t *, wasm_importtype_vec_t *);
void wasmtime_module_delete(wasmtime_module_t *);
void wasm_importtype_vec_delete(wasm_importtype_vec_t *);
const wasm_name_t *wasm_importtype_module(const wasm_importtype_t *);
const wasm_name_t *wasm_importtype_name(const wasm_importtype_t *);
const wasm_externtype_t *wasm_importtype_type(const wasm_importtype_t *);

const wasm_functype_t *wasm_externtype_as_functype_const(const wasm_externtype_t *);
const wasm_globaltype_t *wasm_externtype_as_globaltype_const(const wasm_externtype_t *);
void wasm_externtype_delete(wasm_externtype_t *);
uint8_t wasm_globaltype_mutability(const wasm_globaltype_t *);
const wasm_valtype_t *wasm_globaltype_content(const wasm_globaltype_t *);
uint8_t wasm_valtype_kind(const wasm_valtype_t *);
wasm_valtype_t *wasm_valtype_new(uint8_t);
void wasm_valtype_vec_new_uninitialized(wasm_valtype_vec_t *, size_t);
wasm_functype_t *wasm_functype_new(wasm_valtype_vec_t *, wasm_valtype_vec_t *);
void wasm_functype_delete(wasm_functype_t *);
const wasm_valtype_vec_t *wasm_functype_params(const wasm_functype_t *);
const wasm_valtype_vec_t *wasm_functype_results(const wasm_functype_t *);

wasmtime_linker_t *wasmtime_linker_new(wasm_engine_t *);
wasmtime_error_t *wasmtime_linker_define_func_unchecked(wasmtime_linker_t *, const char *, size_t, const char *, size_t,
	const wasm_functype_t *, wasmtime_func_unchecked_callback_t, void *, void (*)(void *));
wasmtime_error_t *wasmtime_linker_instantiate_pre(const wasmtime_linker_t *, const wasmtime_module_t *, wasmtime_instance_pre_t **);
void wasmtime_linker_delete(wasmtime_linker_t *);
void wasmtime_instance_pre_delete(wasmtime_instance_pre_t *);
wasmtime_error_t *wasmtime_instance_pre_instantiate(const wasmtime_instance_pre_t *, wasmtime_context_t *, wasmtime_instance_t *, wasm_trap_t **);
bool wasmtime_instance_export_get(wasmtime_context_t *, const wasmtime_instance_t *, const char *, size_t, wasmtime_extern_t *);
wasm_externtype_t *wasmtime_extern_type(wasmtime_context_t *, wasmtime_extern_t *);

wasmtime_store_t *wasmtime_store_new(wasm_engine_t *, void *, void (*)(void *));
wasmtime_context_t *wasmtime_store_context(wasmtime_store_t *);
void wasmtime_store_delete(wasmtime_store_t *);
void *wasmtime_context_get_data(const wasmtime_context_t *);
wasmtime_context_t *wasmtime_caller_context(wasmtime_caller_t *);
wasmtime_error_t *wasmtime_func_call_unchecked(wasmtime_context_t *, const wasmtime_func_t *, wasmtime_val_raw_t *, size_t, wasm_trap_t **);
void wasmtime_global_get(wasmtime_context_t *, const wasmtime_global_t *, wasmtime_val_t *);
wasmtime_error_t *wasmtime_global_set(wasmtime_context_t *, const wasmtime_global_t *, const wasmtime_val_t *);
wasmtime_error_t *wasmtime_memory_grow(wasmtime_context_t *, const wasmtime_memory_t *, uint64_t, uint64_t *);

#endif
