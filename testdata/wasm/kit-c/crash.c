// A provider that crashes as its URI says, after it has used what a host grants, the time and random numbers.
#define WASMRES_IMPLEMENTATION
#include "wasmres.h"

static uint64_t drawn;

WASMRES_SEED(seed) { drawn = seed; }

static volatile int64_t sink;
static volatile int zero;

__attribute__((noinline)) static int64_t work(int64_t n, int64_t times) {
  for (int64_t i = 0; i < times; i++) n = (n * 31 + i) % 100003;
  return n;
}

__attribute__((noinline)) static int64_t deeper(int64_t n) {
  volatile char room[64];
  room[n % 64] = (char)n;
  return deeper(n + 1) + room[n % 64];
}

typedef wr_code (*wrong)(int64_t, int64_t, int64_t);

static wr_code read_crash(wr_request *r) {
  int64_t n;
  wr_code code = wr_var_int(r, "n", 0, 1000000, &n);
  if (code) return code;
  wr_kv_entry entry;
  wr_str value, plain = WR_S("");
  code = wr_kv_put(r, WR_S("seed"), wr_var(r, "n"), NULL, &entry);
  if (!code) code = wr_kv_get(r, WR_S("seed"), &value, &entry);
  if (code) return code;
  wr_config(r, "plain", &plain);
  int64_t w = work(n + (int64_t)value.len + (int64_t)plain.len, (int64_t)(drawn % 5000));
  wr_str kind = wr_var(r, "kind");
  switch (kind.len ? kind.at[0] : 0) {
  case 't': __builtin_trap();
  case 'p': sink = *(volatile int *)(uintptr_t)(0xf0000000u + (unsigned)w * 4); break; // pointer
  case 'd': sink = w / zero; break;                                                    // divide
  case 's': sink = deeper(w); break;                                                   // stack
  case 'f': return ((wrong)(uintptr_t)(w + 100000))(1, 2, 3);                          // function
  case 'm':                                                                            // memory
    while (__builtin_wasm_memory_grow(0, 16) != (size_t)-1) work(w, 100);
    __builtin_trap();
  case 'c': // calls
    for (;;) wr_kv_get(r, WR_S("seed"), &value, &entry);
  }
  for (;;) sink = work(sink, 1000);
}

static const wr_route routes[] = {{.uri_template = "crash://{kind}/{n}", .read = read_crash}};
static const wr_capability capabilities[] = {{.name = "kv", .reason = "keeps values", .optional = true}};

WASMRES_PROVIDER(.name = "crash", .version = "1.0.0", .routes = WR_ARRAY(routes), .capabilities = WR_ARRAY(capabilities))
