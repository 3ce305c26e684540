#ifndef WASMRES_SANDBOX_H
#define WASMRES_SANDBOX_H

#include "api.h"

// MAX_VALUES bounds the parameters, and the results, of functions that cross the border between host and guest.
enum { MAX_VALUES = 16 };

// A sandbox is the C side of an instance.
typedef struct {
	wasmtime_store_t *store;
	wasmtime_context_t *context;
	wasmtime_instance_t instance;
	void *host;    // the instance in Go, which is pinned
	uint8_t *base; // of its memory
	size_t size;   // likewise, in bytes
	size_t span;   // how much it may grow in place; 0 for the size
	size_t reach;  // how much address space it has; 0 for no more than its size
} sandbox;

// An outcome has at most one of them. The caller deletes it.
typedef struct {
	wasmtime_error_t *error;
	wasm_trap_t *trap;
} outcome;

// stack_bytes returns how much stack a guest may use on any thread of this process.
size_t stack_bytes(void);

// An engine with guards leaves it to the processor to check addresses: each memory has this address space, and an access after
// the size of the memory faults. The first part is all that an index of 32 bits can reach, the second what an offset adds.
enum { INDEX_SPAN_PAGES = 1 << 16, OFFSET_SPAN_PAGES = 1 << 9, WASM_PAGE = 1 << 16 };

// new_engine makes an engine with all settings of this package; NULL if it cannot. With guards it handles the signals of faults in
// code of guests for the whole process, and passes others on to the handlers before.
wasm_engine_t *new_engine(size_t stack, bool guards);

// define_function defines the host function with an index.
wasmtime_error_t *define_function(wasmtime_linker_t *, const char *module, size_t module_len, const char *name, size_t name_len,
	const wasm_functype_t *, size_t index);

// new_sandbox makes an instance whose host is set. The caller closes the sandbox also after an error.
outcome new_sandbox(sandbox *, wasm_engine_t *, const wasmtime_instance_pre_t *);
void close_sandbox(sandbox *);

// call_function calls a function with its parameters in stack, which then has its results. n is at most MAX_VALUES, and as many
// as the function has of each.
outcome call_function(sandbox *, wasmtime_func_t, uint64_t *stack, size_t n);

// grow_memory has the memory grow by a page, so that it takes the size that the host gives.
wasmtime_error_t *grow_memory(sandbox *, wasmtime_memory_t);

uint64_t read_global(sandbox *, wasmtime_global_t);
wasmtime_error_t *write_global(sandbox *, wasmtime_global_t, uint8_t kind, uint64_t bits);

#endif
