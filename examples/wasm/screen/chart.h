// Draws a bar chart on a card, with a title and a line that sums it up.

#ifndef CHART_H
#define CHART_H

#include "wasmres.h"

enum {
  CHART_MIN_WIDTH = 160,
  CHART_MIN_HEIGHT = 120,
  CHART_MAX_SIDE = 2048,
  CHART_MAX_BARS = 32,
  CHART_MAX_VALUE = 999999999,
};

typedef struct chart_bar {
  wr_str label;
  uint32_t value; // CHART_MAX_VALUE at most
} chart_bar;

typedef struct chart {
  wr_str title;
  bool light; // dark otherwise
  uint32_t width, height;
  uint32_t count; // 1 to CHART_MAX_BARS
  chart_bar bars[CHART_MAX_BARS];
} chart;

// Writes the picture, as PNG, to the content that was begun. Texts that have no place are cut or left out.
wr_code chart_draw(wr_request *r, const chart *c);

#endif
