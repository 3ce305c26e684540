// greeting.wasm, the provider of the examples: make wasm compiles it.
#define WASMRES_IMPLEMENTATION
#include "wasmres.h"

static wr_code greet(wr_request *r) { return wr_print(r, "Hello, %.*s!", WR_ARG(wr_var(r, "name"))); }

static wr_code about(wr_request *r) { return wr_text(r, WR_S("Read greeting://{name}.")); }

static wr_code note(wr_request *r) { return wr_file_send(r, NULL, wr_format(r, "/notes/%.*s", WR_ARG(wr_var(r, "file")))); }

static const wr_completer names[] = {{.variable = "name", .words = WR_WORDS("Ada", "Alan", "Grace")}};

static const wr_route routes[] = {
  {.uri = "greeting://about", .read = about, .name = "about", .mime = "text/plain"},
  {.uri_template = "greeting://{name}", .read = greet, .name = "greeting", .mime = "text/plain", .completers = WR_ARRAY(names)},
  {.uri_template = "note://{file}", .read = note, .name = "note", .mime = "text/plain"},
};

static const wr_capability capabilities[] = {{.name = "fs", .reason = "reads notes", .optional = true}};

WASMRES_PROVIDER(.name = "greeting", .version = "1.0.0", .description = "Greets people.", .routes = WR_ARRAY(routes),
                 .capabilities = WR_ARRAY(capabilities))
