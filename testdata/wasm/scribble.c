// A provider that writes all over its memory, and grows it, before it answers. Tests build it:
// clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -o scribble.wasm scribble.c
#define IMPORT(name) __attribute__((import_module("wasmres_v1"), import_name(name)))
#define EXPORT(name) __attribute__((export_name(name)))

IMPORT("emit") int emit(const void *frame, unsigned size);
IMPORT("take") unsigned take(unsigned channel, void *to, unsigned from, unsigned size);

// a manifest: name "c", operations describe and read
static const char manifest[] = "\x4a\x05\x12\x01" "c" "\x40\x05";
// a content: URI "x:1", text "done"
static const char answer[] = "\x1a\x0b\x0a\x03x:1\x1a\x04" "done";

static unsigned char field[1 << 20];
static unsigned state = 2463534242u;

static unsigned next(void) {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

static void scribble(unsigned char *area, unsigned size) {
  for (int i = 0; i < 60; i++)
    area[next() % size] ^= next();
}

EXPORT("wasmres_v1") unsigned provider(unsigned operation, unsigned size) {
  if (operation == 0) {
    emit(manifest, sizeof manifest - 1);
    return 0;
  }
  unsigned char request[64];
  take(0, request, 0, sizeof request);
  for (unsigned i = 0; i < size; i++)
    state += request[i % sizeof request];
  scribble(field, sizeof field);
  if (request[4] == '2') {
    unsigned char *grown = (unsigned char *)(__builtin_wasm_memory_grow(0, 5) << 16);
    scribble(grown, 5 << 16);
  }
  emit(answer, sizeof answer - 1);
  return 0;
}
