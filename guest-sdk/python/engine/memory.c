// The heap. It begins small, so that an idle provider is, and grows by pieces until the host refuses more. Garbage is
// collected when a request has made much of it: most make little, and each finds the memory as it was after start.
#include "engine.h"
#include "py/gc.h"
#include "py/mpstate.h"

enum {
  FIRST = 192 << 10,  // bytes of the first piece
  PIECE = 1 << 20,    // bytes of others, at least
  GARBAGE = 8 << 20,  // bytes of memory below which garbage is left alone
};

static char first[FIRST];
char *stack_top;
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

size_t gc_get_max_new_split(void) { return SIZE_MAX; }

// wasm-opt's pass spill-pointers has put the pointers of all frames into the stack in linear memory.
void gc_collect(void) {
  if (grown < GARBAGE) return;
  char here;
  gc_collect_start();
  gc_collect_stack((void **)((uintptr_t)&here & ~(uintptr_t)3), (size_t)(stack_top - &here) / sizeof(void *));
  gc_collect_end();
}
