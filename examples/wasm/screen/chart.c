#include "chart.h"

#include "font.h"
#include "png.h"

enum { BACK, CARD, GRID, TEXT, MUTED, BARS, SHADES = 16, HIGHEST = BARS + SHADES, COLOURS = HIGHEST + SHADES };

enum { MAX_TICKS = 6, MAX_TEXTS = 2 + MAX_TICKS + 2 * CHART_MAX_BARS };

typedef struct text {
  uint32_t x, y, scale;
  uint8_t colour;
  wr_str letters;
} text;

// Where everything is, in pixels. One unit is a dot of small letters.
typedef struct layout {
  const chart *c;
  uint32_t unit;
  uint32_t margin, inner;            // where the card begins, and what is on it
  uint32_t left, right, top, bottom; // of the bars
  uint32_t slot, bar;                // widths: of a bar with the space beside it, and of a bar
  uint32_t highest, ceiling, step;   // values: the greatest, of the top, and between lines
  text texts[MAX_TEXTS];
  uint32_t text_count;
} layout;

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

// ---- Colours

static void set_colour(uint8_t colour[3], uint32_t rgb) {
  for (int i = 0; i < 3; i++) colour[i] = (uint8_t)(rgb >> (16 - 8 * i));
}

// Colours that lead from one to another.
static void set_shades(uint8_t (*colours)[3], uint32_t from, uint32_t to) {
  for (uint32_t n = 0; n < SHADES; n++)
    for (int i = 0; i < 3; i++) {
      uint32_t a = from >> (16 - 8 * i) & 0xff, b = to >> (16 - 8 * i) & 0xff;
      colours[n][i] = (uint8_t)((a * (SHADES - 1 - n) + b * n) / (SHADES - 1));
    }
}

static void set_colours(uint8_t (*colours)[3], bool light) {
  static const uint32_t dark_ones[] = {0x0f172a, 0x1e293b, 0x334155, 0xf1f5f9, 0x94a3b8};
  static const uint32_t light_ones[] = {0xe2e8f0, 0xffffff, 0xe2e8f0, 0x0f172a, 0x64748b};
  for (int i = 0; i < BARS; i++) set_colour(colours[i], light ? light_ones[i] : dark_ones[i]);
  set_shades(colours + BARS, 0x38bdf8, 0x2563eb);
  set_shades(colours + HIGHEST, 0xfbbf24, 0xea580c);
}

// ---- Layout

// The first characters of a text, as many as have place.
static wr_str fit(wr_str s, uint32_t characters) {
  wr_str rest = s;
  while (characters-- > 0 && font_take(&rest)) continue;
  return (wr_str){s.at, s.len - rest.len};
}

static void add_text(layout *l, uint32_t x, uint32_t y, uint32_t scale, uint8_t colour, wr_str letters) {
  l->texts[l->text_count++] = (text){x, y, scale, colour, letters};
}

static uint32_t text_width(const layout *l, wr_str letters) { return font_count(letters) * FONT_ADVANCE * l->unit; }

static wr_str format_value(wr_request *r, uint32_t value) { return wr_format(r, "%u", (unsigned)value); }

// Finds a round number of which at most five reach the highest value.
static void set_scale(layout *l) {
  for (uint32_t i = 0; i < l->c->count; i++)
    if (l->c->bars[i].value > l->highest) l->highest = l->c->bars[i].value;
  l->step = 1;
  for (uint32_t i = 0; l->step * (MAX_TICKS - 1) < l->highest; i++) // 1, 2, 5, 10, 20, 50 …
    l->step = i % 3 == 1 ? l->step / 2 * 5 : l->step * 2;
  l->ceiling = (l->highest + l->step - 1) / l->step * l->step;
  if (l->ceiling == 0) l->ceiling = 1;
}

static uint32_t y_of(const layout *l, uint32_t value) {
  return l->bottom - (uint32_t)((uint64_t)value * (l->bottom - l->top) / l->ceiling);
}

static void add_head(wr_request *r, layout *l) {
  uint32_t characters = (l->c->width - 2 * l->inner) / FONT_ADVANCE, y = l->inner;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < l->c->count; i++) sum += l->c->bars[i].value;
  const char *plural = l->c->count > 1 ? "s" : "";
  wr_str summary = wr_format(r, "%u value%s, %llu in all, %u at most", (unsigned)l->c->count, plural,
                             (unsigned long long)sum, (unsigned)l->highest);
  if (l->c->title.len > 0) {
    add_text(l, l->inner, y, l->unit + 1, TEXT, fit(l->c->title, characters / (l->unit + 1)));
    y += FONT_HEIGHT * (l->unit + 1) + 4 * l->unit;
  }
  add_text(l, l->inner, y, l->unit, MUTED, fit(summary, characters / l->unit));
  l->top = y + FONT_HEIGHT * l->unit + 14 * l->unit;
}

static void add_ticks(wr_request *r, layout *l) {
  uint32_t width = text_width(l, format_value(r, l->ceiling));
  l->left = l->inner + width + 3 * l->unit;
  for (uint32_t value = 0; value <= l->ceiling; value += l->step) {
    wr_str letters = format_value(r, value);
    uint32_t x = l->inner + width - text_width(l, letters);
    add_text(l, x, y_of(l, value) - FONT_HEIGHT / 2 * l->unit, l->unit, MUTED, letters);
  }
}

static void add_labels(wr_request *r, layout *l) {
  l->slot = (l->right - l->left) / l->c->count;
  l->bar = l->slot * 2 / 3 + (l->slot == 1);
  for (uint32_t i = 0; i < l->c->count; i++) {
    const chart_bar *b = &l->c->bars[i];
    uint32_t middle = l->left + i * l->slot + l->slot / 2;
    wr_str value = format_value(r, b->value), label = fit(b->label, l->slot / (FONT_ADVANCE * l->unit));
    if (text_width(l, value) <= l->slot)
      add_text(l, middle - text_width(l, value) / 2, y_of(l, b->value) - 10 * l->unit, l->unit, TEXT, value);
    add_text(l, middle - text_width(l, label) / 2, l->bottom + 4 * l->unit, l->unit, MUTED, label);
  }
}

static void lay_out(wr_request *r, layout *l, const chart *c) {
  uint32_t unit = least(c->width / 320, c->height / 180);
  *l = (layout){.c = c, .unit = unit > 0 ? unit : 1};
  l->margin = 8 * l->unit;
  l->inner = 2 * l->margin;
  l->right = c->width - l->inner;
  l->bottom = c->height - l->inner - 12 * l->unit;
  set_scale(l);
  add_head(r, l);
  add_ticks(r, l);
  add_labels(r, l);
}

// ---- Rows

// How far a round corner is from the edge, a number of rows below the top.
static uint32_t inset(uint32_t radius, uint32_t row) {
  if (row >= radius) return 0;
  uint32_t up = 2 * (radius - row) - 1, across = 0; // in half pixels
  while ((across + 1) * (across + 1) <= 4 * radius * radius - up * up) across++;
  return radius - across / 2;
}

// Fills a row from left to right, but for corners at a distance from the edge.
static void fill(uint8_t *row, uint32_t left, uint32_t right, uint32_t radius, uint32_t distance, uint8_t colour) {
  uint32_t corner = inset(radius, distance);
  if (left + corner < right - corner) __builtin_memset(row + left + corner, colour, right - left - 2 * corner);
}

static void draw_card(const layout *l, uint32_t y, uint8_t *row) {
  uint32_t end = l->c->height - l->margin;
  if (y < l->margin || y >= end) return;
  fill(row, l->margin, l->c->width - l->margin, 5 * l->unit, least(y - l->margin, end - 1 - y), CARD);
}

static void draw_lines(const layout *l, uint32_t y, uint8_t *row) {
  for (uint32_t value = 0; value <= l->ceiling; value += l->step) {
    if (y_of(l, value) != y) continue;
    uint32_t dash = value == 0 ? 1 : 4; // the lowest line is whole
    for (uint32_t x = l->left; x < l->right; x++)
      if ((x - l->left) % dash < 2) row[x] = GRID;
  }
}

static void draw_bars(const layout *l, uint32_t y, uint8_t *row) {
  uint32_t shade = y < l->top ? 0 : (y - l->top) * SHADES / (l->bottom - l->top + 1);
  for (uint32_t i = 0; i < l->c->count; i++) {
    uint32_t value = l->c->bars[i].value, top = y_of(l, value);
    if (y < top || y >= l->bottom) continue;
    uint32_t left = l->left + i * l->slot + (l->slot - l->bar) / 2;
    uint8_t colour = (uint8_t)((value == l->highest ? HIGHEST : BARS) + shade);
    fill(row, left, left + l->bar, least(l->bar / 4, 4 * l->unit), y - top, colour);
  }
}

static void draw_text(const layout *l, const text *t, uint32_t y, uint8_t *row) {
  if (y < t->y || y >= t->y + FONT_HEIGHT * t->scale) return;
  uint32_t bit = (y - t->y) / t->scale, x = t->x;
  wr_str rest = t->letters;
  for (const uint8_t *columns; (columns = font_take(&rest)); x += FONT_ADVANCE * t->scale)
    for (uint32_t i = 0; i < FONT_WIDTH; i++)
      if (columns[i] >> bit & 1 && x + (i + 1) * t->scale <= l->c->width)
        __builtin_memset(row + x + i * t->scale, t->colour, t->scale);
}

wr_code chart_draw(wr_request *r, const chart *c) {
  static layout l;
  static png picture;
  static uint8_t row[CHART_MAX_SIDE], colours[COLOURS][3];
  _Static_assert((int)CHART_MAX_SIDE <= (int)PNG_MAX_WIDTH, "a row of a chart is one of a picture");
  lay_out(r, &l, c);
  set_colours(colours, c->light);
  png_begin(&picture, r, c->width, c->height, (const uint8_t(*)[3])colours, COLOURS);
  wr_code code = WR_CODE_OK;
  for (uint32_t y = 0; y < c->height && !code; y++) {
    __builtin_memset(row, BACK, c->width);
    draw_card(&l, y, row);
    draw_lines(&l, y, row);
    draw_bars(&l, y, row);
    for (uint32_t i = 0; i < l.text_count; i++) draw_text(&l, &l.texts[i], y, row);
    code = png_row(&picture, row);
  }
  return code;
}
