#include "engine.h"

// QuickJS writes a lone surrogate as the three bytes ED A0…BF xx, which is no UTF-8; U+FFFD has three bytes as well. A
// text that has such bytes is a copy, which may be changed: only texts of ASCII are given as they stand.
static void mend(char *at, size_t len) {
  for (char *end = at + len; at + 3 <= end; at++) {
    if ((uint8_t)*at != 0xed || (uint8_t)at[1] < 0xa0) continue;
    at[0] = (char)0xef, at[1] = (char)0xbf, at[2] = (char)0xbd;
  }
}

utf8 utf8_of(JSValueConst text) {
  utf8 s;
  s.at = JS_ToCStringLen(ctx, &s.len, text);
  if (s.at && __builtin_memchr(s.at, 0xed, s.len)) mend((char *)s.at, s.len);
  return s;
}

void utf8_free(utf8 s) { JS_FreeCString(ctx, s.at); }
