/* What every guest in C does, whatever host it is for; answer/answer.go is the same in Go. */
#define TEXT "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore!"

static unsigned visits; /* the requests this instance has seen: more than one tells that it was not clean */
static char *end;       /* of the answer so far */

static void add(const char *p, unsigned n) { __builtin_memcpy(end, p, n), end += n; }
#define ADD(s) add(s, sizeof(s) - 1)

static void add_number(unsigned n) {
  char digits[10], *d = digits + sizeof digits;
  do *--d = '0' + n % 10; while (n /= 10);
  add(d, digits + sizeof digits - d);
}

#if KIB
static char document[KIB << 10];

/* Makes the document, as guests that parse, render or index something do when they start. */
__attribute__((export_name("_initialize"))) void prepare(void) {
  unsigned x = 1;
  for (unsigned i = 0; i < sizeof document; i++) {
    x = x * 1664525 + 1013904223;
    document[i] = 'a' + (x >> 24) % 26;
  }
}

static void add_document(void) { add_number(sizeof document), add(document + sizeof document - 32, 32); }
#else
static void add_document(void) { ADD("0"); }
#endif

/* Writes the answer to a request to out and gives its length. Quoting is for URIs, which have nothing to escape. */
static unsigned answer(const char *uri, unsigned n, char *out) {
  visits++, end = out;
  switch (uri[0]) {
  case 't': ADD(TEXT); break;
  case 'f':
    ADD("resource \""), add(uri, n), ADD("\", whose name has "), add_number(n), ADD(" bytes: "), add(TEXT, 48);
    break;
  case 'v': ADD("visit "), add_number(visits); break;
  case 'd': add_document(); break;
  default: ADD("unknown");
  }
  return end - out;
}
