#include "png.h"

static uint32_t crc_table[256];

void png_warm(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; bit++) c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
    crc_table[i] = c;
  }
}

static uint32_t crc(uint32_t c, const uint8_t *at, uint32_t len) {
  for (uint32_t i = 0; i < len; i++) c = crc_table[(c ^ at[i]) & 0xff] ^ c >> 8;
  return c;
}

static void put_number(uint8_t *at, uint32_t n) {
  for (int i = 0; i < 4; i++) at[i] = (uint8_t)(n >> (24 - 8 * i));
}

static void write_chunk(png *p, const char *type, const uint8_t *data, uint32_t len) {
  uint8_t head[8], tail[4];
  put_number(head, len);
  __builtin_memcpy(head + 4, type, 4);
  put_number(tail, ~crc(crc(0xffffffff, head + 4, 4), data, len));
  wr_write(p->r, head, sizeof head);
  wr_write(p->r, data, len);
  wr_write(p->r, tail, sizeof tail);
}

static void flush_data(png *p) {
  if (p->data_length > 0) write_chunk(p, "IDAT", p->data, p->data_length);
  p->data_length = 0;
}

static void put_byte(png *p, uint8_t b) {
  p->data[p->data_length++] = b;
  if (p->data_length == PNG_CHUNK) flush_data(p);
}

// ---- Deflate, with the fixed codes, and matches of runs alone

// Puts bits, the lowest first. There are at most 16 of them.
static void put_bits(png *p, uint32_t bits, uint32_t count) {
  p->bits |= bits << p->bit_count;
  for (p->bit_count += count; p->bit_count >= 8; p->bit_count -= 8) {
    put_byte(p, (uint8_t)p->bits);
    p->bits >>= 8;
  }
}

// Puts a Huffman code, whose highest bit comes first.
static void put_code(png *p, uint32_t code, uint32_t count) {
  uint32_t reversed = 0;
  for (uint32_t i = 0; i < count; i++) reversed |= (code >> i & 1) << (count - 1 - i);
  put_bits(p, reversed, count);
}

// Puts a literal, 0 to 255, or the symbol of a length.
static void put_symbol(png *p, uint32_t symbol) {
  if (symbol < 144) put_code(p, 0x30 + symbol, 8);
  else if (symbol < 256) put_code(p, 0x190 + symbol - 144, 9);
  else if (symbol < 280) put_code(p, symbol - 256, 7);
  else put_code(p, 0xc0 + symbol - 280, 8);
}

// Puts the last byte again, 3 to 258 times.
static void put_match(png *p, uint32_t length) {
  static const uint16_t bases[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                   31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
  uint32_t i = sizeof bases / sizeof *bases - 1;
  while (bases[i] > length) i--;
  uint32_t extra = i < 4 || i == 28 ? 0 : i / 4 - 1;
  put_symbol(p, 257 + i);
  put_bits(p, length - bases[i], extra);
  put_code(p, 0, 5); // one byte back
}

static void end_run(png *p) {
  uint32_t left = p->run_length;
  if (left > 0) put_symbol(p, p->run), left--;
  while (left >= 3) {
    uint32_t length = left < 258 ? left : 258;
    put_match(p, length);
    left -= length;
  }
  while (left-- > 0) put_symbol(p, p->run);
  p->run_length = 0;
}

static void compress(png *p, uint8_t b) {
  p->adler_low = (p->adler_low + b) % 65521;
  p->adler_high = (p->adler_high + p->adler_low) % 65521;
  if (b != p->run) end_run(p);
  p->run = b;
  p->run_length++;
}

static void end_data(png *p) {
  uint8_t adler[4];
  end_run(p);
  put_symbol(p, 256);
  put_bits(p, 0, (8 - p->bit_count) % 8);
  put_number(adler, p->adler_high << 16 | p->adler_low);
  for (int i = 0; i < 4; i++) put_byte(p, adler[i]);
  flush_data(p);
}

// ---- Pictures

void png_begin(png *p, wr_request *r, uint32_t width, uint32_t height, const uint8_t (*colours)[3], uint32_t count) {
  uint8_t header[13] = {0};
  __builtin_memset(p, 0, sizeof *p);
  p->r = r;
  p->width = width;
  p->height = height;
  p->adler_low = 1;
  put_number(header, width);
  put_number(header + 4, height);
  header[8] = 8; // bits for each pixel
  header[9] = 3; // with a palette
  wr_write(r, "\x89PNG\r\n\x1a\n", 8);
  write_chunk(p, "IHDR", header, sizeof header);
  write_chunk(p, "PLTE", colours[0], 3 * count);
  put_byte(p, 0x78); // zlib, with a window of 32 KiB
  put_byte(p, 0x01);
  put_bits(p, 1, 1); // the last block
  put_bits(p, 1, 2); // fixed codes
}

wr_code png_row(png *p, const uint8_t *pixels) {
  compress(p, 2); // what follows is the difference to the row before
  for (uint32_t x = 0; x < p->width; x++) compress(p, (uint8_t)(pixels[x] - p->last[x]));
  __builtin_memcpy(p->last, pixels, p->width);
  if (++p->rows < p->height) return wr_write(p->r, "", 0);
  end_data(p);
  write_chunk(p, "IEND", NULL, 0);
  return wr_write(p->r, "", 0);
}
