// What of MicroPython the engine has, where that differs from its level of extra features.
#pragma once

#include <alloca.h>
#include <stddef.h>
#include <stdint.h>

#define MICROPY_CONFIG_ROM_LEVEL (MICROPY_CONFIG_ROM_LEVEL_EXTRA_FEATURES)

// The language.
#define MICROPY_COMP_ALLOW_TOP_LEVEL_AWAIT (1)
#define MICROPY_CPYTHON_COMPAT (1)
#define MICROPY_ENABLE_COMPILER (1)
#define MICROPY_ENABLE_DOC_STRING (1)
#define MICROPY_ENABLE_SOURCE_LINE (1)
#define MICROPY_ERROR_REPORTING (MICROPY_ERROR_REPORTING_DETAILED)
#define MICROPY_FLOAT_IMPL (MICROPY_FLOAT_IMPL_DOUBLE)
#define MICROPY_LONGINT_IMPL (MICROPY_LONGINT_IMPL_MPZ)
#define MICROPY_PY_ALL_INPLACE_SPECIAL_METHODS (1)
#define MICROPY_PY_ALL_SPECIAL_METHODS (1)
#define MICROPY_PY_BUILTINS_COMPILE (0)
#define MICROPY_PY_BUILTINS_HELP (0)
#define MICROPY_PY_BUILTINS_INPUT (0)
#define MICROPY_PY_BUILTINS_ROUND_INT (1)
#define MICROPY_PY_BUILTINS_STR_UNICODE (1)
#define MICROPY_PY_DELATTR_SETATTR (1)
#define MICROPY_PY_COLLECTIONS_NAMEDTUPLE__ASDICT (1)
#define MICROPY_PY_DESCRIPTORS (1)
#define MICROPY_PY_FUNCTION_ATTRS (1)
#define MICROPY_PY_REVERSE_SPECIAL_METHODS (1)
#define MICROPY_PY_RE_MATCH_GROUPS (1)
#define MICROPY_PY_RE_MATCH_SPAN_START_END (1)
#define MICROPY_PY_STR_BYTES_CMP_WARN (0)
#define MICROPY_PY_SYS_EXC_INFO (1)
#define MICROPY_WARNINGS (0)

// Memory and calls.
#define MICROPY_ENABLE_GC (1)
#define MICROPY_ENABLE_PYSTACK (1)
#define MICROPY_GC_SPLIT_HEAP (1)
#define MICROPY_GC_SPLIT_HEAP_AUTO (1)
#define MICROPY_NLR_SETJMP (1)
#define MICROPY_STACK_CHECK (1)
#define MP_PLAT_ALLOC_HEAP(size) memory_take(size)
#define MP_PLAT_FREE_HEAP(at)
void *memory_take(size_t size);

// Modules. What the host knows, as time and files, is in the SDK's modules of Python.
#define MICROPY_MODULE_WEAK_LINKS (1)
#define MICROPY_PY_ASYNCIO (0)
#define MICROPY_PY_CRYPTOLIB (0)
#define MICROPY_PY_DEFLATE (0)
#define MICROPY_PY_FRAMEBUF (0)
#define MICROPY_PY_HASHLIB (1)
#define MICROPY_PY_HASHLIB_MD5 (0)
#define MICROPY_PY_HASHLIB_SHA1 (0)
#define MICROPY_PY_IO (1)
#define MICROPY_PY_MACHINE (0)
#define MICROPY_PY_OS (0)
#define MICROPY_PY_PLATFORM (0)
#define MICROPY_PY_RANDOM (1)
#define MICROPY_PY_SELECT (0)
#define MICROPY_PY_SSL (0)
#define MICROPY_PY_SYS_PLATFORM "wasmres"
#define MICROPY_PY_SYS_STDFILES (0)
#define MICROPY_PY_SYS_STDIO_BUFFER (0)
#define MICROPY_PY_THREAD (0)
#define MICROPY_PY_TIME (0)
#define MICROPY_PY_UCTYPES (0)
#define MICROPY_PY_VFS (0)
#define MICROPY_PY_WEBSOCKET (0)
#define MICROPY_READER_VFS (0)
#define MICROPY_VFS (0)

// The port.
#define MICROPY_ENABLE_SCHEDULER (0)
#define MICROPY_HELPER_REPL (0)
#define MICROPY_HW_BOARD_NAME "wasmres"
#define MICROPY_HW_MCU_NAME "wasm32"
#define MICROPY_KBD_EXCEPTION (0)
#define MICROPY_PERSISTENT_CODE_LOAD (0)
#define MICROPY_USE_INTERNAL_ERRNO (1)
#define MICROPY_USE_INTERNAL_PRINTF (1)
#define MP_SSIZE_MAX (0x7fffffff)
#define MP_STATE_PORT MP_STATE_VM
typedef long mp_off_t;

// The innermost function of Python that runs, whose place is written in loops, too: see where.c.
#define MICROPY_PORT_RUNNING MP_STATE_VM(wasmres_running)
#define MICROPY_VM_HOOK_LOOP code_state->ip = ip;

// What micropython.patch has the compiler call.
extern const struct _mp_obj_fun_builtin_fixed_t functions_define_obj, functions_annotate_obj;
extern const struct _mp_obj_fun_builtin_var_t functions_list_obj, functions_tuple_obj, functions_set_obj;
#define MICROPY_PORT_BUILTINS \
  {MP_ROM_QSTR(MP_QSTR___define__), MP_ROM_PTR(&functions_define_obj)}, \
  {MP_ROM_QSTR(MP_QSTR___annotate__), MP_ROM_PTR(&functions_annotate_obj)}, \
  {MP_ROM_QSTR(MP_QSTR___list__), MP_ROM_PTR(&functions_list_obj)}, \
  {MP_ROM_QSTR(MP_QSTR___tuple__), MP_ROM_PTR(&functions_tuple_obj)}, \
  {MP_ROM_QSTR(MP_QSTR___set__), MP_ROM_PTR(&functions_set_obj)},
