// Messages whose fields both engines read alike, shapes of messages, and errors without an interpreter.
#pragma once

#include "wire.h"

// Takes the name and the value of a variable, which are empty when they are absent; false when it is malformed.
bool var_take(bytes encoded, bytes *name, bytes *value);

typedef struct sql_value {
  uint64_t kind, bits; // bits of a number and of true
  double number;
  bytes text; // also of bytes
} sql_value;

bool sql_value_take(bytes encoded, sql_value *v); // false when it is malformed

// A shape has a letter for each field of a message, and parentheses around the shape of messages within.
const char *shape_next(const char *shape); // the shape from the next field on
bool shape_at_end(const char *shape);

enum { MAX_FAILURE = 1024 }; // bytes of the reason why a provider has not started, with the NUL

uint32_t refuse(uint32_t code, const char *message); // answers with an error of at most MAX_FAILURE bytes; gives the code
