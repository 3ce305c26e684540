// What LLVM's option -enable-emscripten-sjlj takes the place of: see unwinding.c.
#pragma once

typedef unsigned long jmp_buf[1];

int setjmp(jmp_buf env) __attribute__((returns_twice));
void longjmp(jmp_buf env, int value) __attribute__((noreturn));
