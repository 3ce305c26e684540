// Letters of 5 by 8 dots.

#ifndef FONT_H
#define FONT_H

#include "wasmres.h"

enum { FONT_WIDTH = 5, FONT_ADVANCE = 6, FONT_HEIGHT = 8 };

// Takes a character off *text, and gives its columns, in which the lowest bit is the top; NULL at the end. A character
// there is no letter for is a box.
const uint8_t *font_take(wr_str *text);

// How many characters a text has.
uint32_t font_count(wr_str text);

#endif
