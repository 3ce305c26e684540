// Where a request is, for the log: the host asks when it has ended one that took too long.
#include <stdio.h>
#include <string.h>

#include "engine.h"

enum {
  MAX_PLACES = 6, // that are told; the host keeps eight lines
  MAX_LINE = 320, // bytes of each
};

EXPORT(WR_EXPORT_STOPPED) void wasmres_v1_stopped(void);
void wasmres_v1_stopped(void) {
  static char stack[MAX_PLACES * MAX_LINE], text[sizeof stack + MAX_LINE];
  static place places[MAX_PLACES];
  if (!ctx) return;
  int count = places_running(places, MAX_PLACES);
  size_t len = 0;
  for (int i = 0; i < count; i++) {
    const place *p = &places[i];
    len += snprintf(stack + len, MAX_LINE, "%s    at %s (%s:%d:%d)", i > 0 ? "\n" : "", *p->function ? p->function : "<anonymous>",
                    p->file, p->line, p->column);
  }
  if (count == 0) return;
  failure_told_at(text, sizeof text, stack);
  log_line(WR_LOG_ERROR, text);
}
