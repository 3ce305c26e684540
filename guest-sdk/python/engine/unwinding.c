// Exceptions of MicroPython are jumps out of C functions, which WebAssembly has not. Three steps make them:
//
//  1. LLVM (-enable-emscripten-sjlj) has a function that calls setjmp make its other calls through invoke_…, and look at
//     __THREW__ after each. A jump is a call of emscripten_longjmp.
//  2. emscripten_longjmp sets the global unwinding. The tool in unwind/ puts a test of it after every call that may
//     jump: the function then returns at once.
//  3. So a jump returns from function to function up to invoke_…, which ends the unwinding and resets the stack
//     pointer.
#include <stddef.h>
#include <stdint.h>

#include "engine.h"

// stack.s
void *stack_get(void);
void stack_set(void *);
void unwind_begin(void);
int unwind_end(void);

uintptr_t __THREW__;
int __threwValue;

enum { TABLE = 10 }; // words of a table

// second is of a function's two results, last the number of the last setjmp.
void setTempRet0(uint32_t v) { hot.second = v; }
uint32_t getTempRet0(void) { return hot.second; }

// Tables of setjmp are made and freed in the order of a stack. One that a jump leaves behind is freed with the next one
// below it.
static uint32_t *top = hot.tables + TABLES;

void *malloc(size_t size) {
  top -= (size + 3) / 4;
  if (top < hot.tables) __builtin_trap();
  return top;
}

// A table has as many words as malloc was asked for, which its function knows: LLVM asks for the same everywhere.
void free(void *table) { top = (uint32_t *)table + TABLE; }

// A table has a pair for each place where its function calls setjmp: the number of the last call, and the place. It ends
// with a zero.
uint32_t *saveSetjmp(uint32_t *env, uint32_t place, uint32_t *table, uint32_t size) {
  *env = ++hot.last;
  uint32_t i = 0;
  while (i < size && table[2 * i] && table[2 * i + 1] != place) i++;
  if (i == size) __builtin_trap();
  if (!table[2 * i]) table[2 * i + 2] = 0;
  table[2 * i] = hot.last, table[2 * i + 1] = place;
  hot.second = size;
  return table;
}

uint32_t testSetjmp(uint32_t number, uint32_t *table, uint32_t size) {
  for (uint32_t i = 0; i < size && table[2 * i]; i++)
    if (table[2 * i] == number) return table[2 * i + 1];
  return 0;
}

void emscripten_longjmp(uintptr_t env, int value) {
  if (!__THREW__) __THREW__ = env, __threwValue = value;
  unwind_begin();
}

#define W uint32_t
#define INVOKE(name, parameters, type, arguments) \
  W name parameters { \
    void *stack = stack_get(); \
    W result = ((W(*) type)f)arguments; \
    if (unwind_end()) stack_set(stack); \
    return result; \
  }
#define INVOKE_VOID(name, parameters, type, arguments) \
  void name parameters { \
    void *stack = stack_get(); \
    ((void(*) type)f)arguments; \
    if (unwind_end()) stack_set(stack); \
  }

INVOKE(invoke_i, (void *f), (void), ())
INVOKE(invoke_ii, (void *f, W a), (W), (a))
INVOKE(invoke_iii, (void *f, W a, W b), (W, W), (a, b))
INVOKE(invoke_iiii, (void *f, W a, W b, W c), (W, W, W), (a, b, c))
INVOKE(invoke_iiiii, (void *f, W a, W b, W c, W d), (W, W, W, W), (a, b, c, d))
INVOKE_VOID(invoke_v, (void *f), (void), ())
INVOKE_VOID(invoke_vi, (void *f, W a), (W), (a))
INVOKE_VOID(invoke_vii, (void *f, W a, W b), (W, W), (a, b))
INVOKE_VOID(invoke_viii, (void *f, W a, W b, W c), (W, W, W), (a, b, c))
INVOKE_VOID(invoke_viiii, (void *f, W a, W b, W c, W d), (W, W, W, W), (a, b, c, d))
