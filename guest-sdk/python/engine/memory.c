// The heap. It begins small, so that an idle provider is, and grows by pieces until the host refuses more. Garbage is
// collected when a request has made much of it: most make little, and each finds the memory as it was after start.
#include <string.h>

#include "engine.h"
#include "py/gc.h"
#include "py/mpstate.h"

enum {
  FIRST = 192 << 10,  // bytes of the first piece
  PIECE = 1 << 20,    // bytes of others, at least
  GARBAGE = 8 << 20,  // bytes of memory below which garbage is left alone
};

static char first[FIRST];
static size_t grown; // bytes

void *memory_take(size_t size) {
  size_t pages = (size + 65535) >> 16, at = __builtin_wasm_memory_grow(0, pages);
  if (at == SIZE_MAX) return NULL;
  grown += pages << 16;
  return (void *)(at << 16);
}

void memory_init(void) { gc_init(first, first + sizeof first); }

void memory_settle(void) {
  for (mp_state_mem_area_t *area = &MP_STATE_MEM(area); area; area = area->next) {
    area->gc_last_free_atb_index = area->gc_last_used_block / 4 + 1; // a byte of the table describes four blocks
    area->gc_last_run_atb_index = area->gc_last_free_atb_index;
  }
}

void memory_add(void *at, size_t size) {
  if (size >= 4096) gc_add(at, (char *)at + size);
}

static void collect(void) {
  char here;
  gc_collect_start();
  gc_collect_stack((void **)((uintptr_t)&here & ~(uintptr_t)3), (size_t)(stack_top - &here) / sizeof(void *));
  gc_collect_end();
}

enum { BLOCK = MICROPY_BYTES_PER_GC_BLOCK };

// A byte of the table describes four blocks, two bits each: 0 where a block is free.
static void clear_free(mp_state_mem_area_t *area) {
  for (size_t i = 0; i < area->gc_alloc_table_byte_len * 4; i++)
    if ((area->gc_alloc_table_start[i / 4] >> 2 * (i % 4) & 3) == 0) memset(area->gc_pool_start + i * BLOCK, 0, BLOCK);
}

static char *volatile stack_bottom = (char *)64; // wasm-ld --stack-first

void memory_clean(void) {
  collect();
  for (mp_state_mem_area_t *area = &MP_STATE_MEM(area); area; area = area->next) clear_free(area);
  memset(stack_bottom, 0, (size_t)((char *)__builtin_frame_address(0) - 1024 - stack_bottom));
}

size_t gc_get_max_new_split(void) { return SIZE_MAX; }

// wasm-opt's pass spill-pointers has put the pointers of all frames into the stack in linear memory.
void gc_collect(void) {
  if (grown >= GARBAGE) collect();
}
