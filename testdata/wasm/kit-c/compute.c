// A provider whose reads keep a processor busy for as many thousands of steps as their URI says.
#define WASMRES_IMPLEMENTATION
#include "wasmres.h"

static wr_code read_compute(wr_request *r) {
  int64_t thousands;
  wr_code code = wr_var_int(r, "thousands", 0, 100000000, &thousands);
  if (code) return code;
  volatile uint64_t n = 1;
  for (int64_t i = 0; i < thousands * 1000; i++) n = n * 6364136223846793005u + 1442695040888963407u;
  return wr_text(r, n ? WR_S("done") : WR_S("zero"));
}

static const wr_route routes[] = {{.uri_template = "compute://{thousands}", .read = read_compute}};

WASMRES_PROVIDER(.name = "compute", .version = "1.0.0", .routes = WR_ARRAY(routes))
