// The provider screen draws pictures: the numbers in a URI as a bar chart, in PNG.

#define WASMRES_IMPLEMENTATION // in one file of a provider
#include "wasmres.h"

#include "chart.h"
#include "png.h"

WASMRES_WARM { png_warm(); } // every request finds the table

// Reads "Mon-12", or "12", as a bar.
static wr_code read_bar(wr_request *r, wr_str value, chart_bar *bar) {
  size_t at = value.len;
  int64_t n;
  while (at > 0 && value.at[at - 1] != '-') at--;
  if (at == 1) at = 0; // a sign
  bar->label = (wr_str){value.at, at > 0 ? at - 1 : 0};
  if (!wr_parse_int((wr_str){value.at + at, value.len - at}, &n) || n < 0 || n > CHART_MAX_VALUE)
    return wr_invalid(r, "\"%.*s\" is no bar: write 12 or Mon-12, with a whole number from 0 to %d", WR_ARG(value),
                      CHART_MAX_VALUE);
  bar->value = (uint32_t)n;
  return WR_CODE_OK;
}

static wr_code read_bars(wr_request *r, chart *c) {
  wr_str value;
  for (wr_texts values = wr_vars(r, "values"); wr_next(&values, &value);) {
    if (c->count == CHART_MAX_BARS) return wr_invalid(r, "a chart has at most %d bars", CHART_MAX_BARS);
    wr_code code = read_bar(r, value, &c->bars[c->count++]);
    if (code) return code;
  }
  return c->count > 0 ? WR_CODE_OK : wr_invalid(r, "a chart has values, as in screen://bars/3/1/4");
}

// Reads the length of a side, if it is given.
static wr_code read_side(wr_request *r, const char *name, int64_t shortest, uint32_t *side) {
  int64_t n = *side;
  wr_code code = wr_var(r, name).len > 0 ? wr_var_int(r, name, shortest, CHART_MAX_SIDE, &n) : WR_CODE_OK;
  *side = (uint32_t)n;
  return code;
}

static wr_code read_theme(wr_request *r, chart *c) {
  wr_str theme = wr_var(r, "theme");
  c->light = wr_equal(theme, WR_S("light"));
  if (c->light || theme.len == 0 || wr_equal(theme, WR_S("dark"))) return WR_CODE_OK;
  return wr_invalid(r, "there is no theme \"%.*s\", only dark and light", WR_ARG(theme));
}

static wr_code read_chart(wr_request *r) {
  static chart c;
  c = (chart){.title = wr_var(r, "title"), .width = 640, .height = 360};
  wr_code code = read_bars(r, &c);
  if (!code) code = read_side(r, "width", CHART_MIN_WIDTH, &c.width);
  if (!code) code = read_side(r, "height", CHART_MIN_HEIGHT, &c.height);
  if (!code) code = read_theme(r, &c);
  if (!code) code = wr_begin(r, &(wr_content){.kind = WR_KIND_BLOB});
  return code ? code : chart_draw(r, &c);
}

// Pictures to begin with. Others are as near: a template does not say which there are.
static const struct {
  wr_str uri, title;
} samples[] = {
  {WR_S("screen://bars/Mon-12/Tue-18/Wed-9/Thu-22/Fri-15?title=Visitors"), WR_S("Visitors of a week")},
  {WR_S("screen://bars/3/1/4/1/5/9/2/6/5/3/5/8/9/7/9?title=Digits%20of%20pi&theme=light"), WR_S("Digits of pi")},
  {WR_S("screen://bars/Q1-1200/Q2-3400/Q3-2800/Q4-5100?title=Sales&theme=light&width=320&height=180"),
   WR_S("Sales of a year, small")},
};

static void describe_sample(wr_request *r, uint64_t i, wr_entry *e) {
  (void)r;
  e->uri = samples[i].uri;
  e->name = e->title = samples[i].title;
  e->mime = WR_S("image/png");
}

static wr_code list_samples(wr_request *r) { return wr_each(r, sizeof samples / sizeof *samples, describe_sample); }

static const wr_completer completers[] = {
  {.variable = "theme", .words = WR_WORDS("dark", "light")},
  {.variable = "width", .words = WR_WORDS("320", "640", "1280")},
  {.variable = "height", .words = WR_WORDS("180", "360", "720")},
};

static const wr_route routes[] = {
  {.uri_template = "screen://bars{/values*}{?title,theme,width,height}",
   .read = read_chart,
   .name = "bars",
   .title = "Bar chart",
   .description = "Numbers as bars, each with a label if it has one: screen://bars/Mon-12/Tue-18?title=Visitors.",
   .mime = "image/png",
   .ttl_ms = 3600000, // the same URI is the same picture
   .cache_scope = WR_CACHE_PUBLIC,
   .completers = WR_ARRAY(completers)},
};

WASMRES_PROVIDER(
  .name = "screen",
  .version = "1.0.0",
  .title = "Screen",
  .description = "Draws pictures of numbers.",
  .routes = WR_ARRAY(routes),
  .list = list_samples,
  .uri_prefixes = WR_WORDS("screen://"))
