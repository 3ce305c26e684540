// Writes a PNG picture of up to 256 colours, row by row, in memory that does not grow with it.

#ifndef PNG_H
#define PNG_H

#include "wasmres.h"

enum { PNG_MAX_WIDTH = 2048, PNG_CHUNK = 8 << 10 };

typedef struct png {
  wr_request *r;                // the content that was begun takes the bytes; what fails stays with it
  uint32_t width, height, rows; // rows is how many were written
  uint8_t last[PNG_MAX_WIDTH];  // the row before
  uint8_t run;                  // a byte that came run_length times, and was not compressed yet
  uint32_t run_length;
  uint32_t adler_low, adler_high;
  uint32_t bits, bit_count; // that are no whole byte yet
  uint8_t data[PNG_CHUNK];
  uint32_t data_length;
} png;

// Fills the table of the checksum, once.
void png_warm(void);

// Begins a picture of 1 to PNG_MAX_WIDTH by 1 or more pixels. Colours are red, green and blue, of three bytes each, and
// 256 at most.
void png_begin(png *p, wr_request *r, uint32_t width, uint32_t height, const uint8_t (*colours)[3], uint32_t count);

// Writes the next row: the number of a colour for each pixel. The picture ends with the last row.
wr_code png_row(png *p, const uint8_t *pixels);

#endif
