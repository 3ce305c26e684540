// QuickJS with its check of the stack. For WASI it leaves that out, and a script that recurses too deep would trap
// where it can get a RangeError. Beside that, __wasi__ says that there are no threads, which cutils.h has seen.
#include "cutils.h"

#define __STDC_NO_ATOMICS__ 1
#undef __wasi__

#include "quickjs.c"
