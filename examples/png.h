/* png.h - images in memory, labels, contact sheets, PNG and animated PNG files. Part of the examples. SPDX: MIT

   In one file of a program:  #define EXAMPLES_IMPLEMENTATION  and include this header; elsewhere include it plainly.
   Needs the C library only. 8 bits per channel, RGB, no alpha. The compressor is a plain deflate (LZ77 with hash
   chains, one set of Huffman codes per 32 K symbols, RFC 1951); every row takes the PNG filter with the least sum of
   magnitudes.

   [image] pixels, text, contact sheet   [bytes] growing buffer   [deflate] compression   [png] chunks and files */
#ifndef EXAMPLES_PNG_H
#define EXAMPLES_PNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct image {
    int width, height;
    unsigned char *rgb; /* 3 bytes per pixel, rows from the top */
} image;

bool image_create(image *im, int width, int height); /* black; false: out of memory or a size below 1 */
void image_destroy(image *im);
void image_fill(image *im, int x, int y, int width, int height, uint32_t rgb);       /* clipped; rgb = 0xRRGGBB */
void image_blit(image *to, const image *from, int x, int y);                         /* clipped copy */
void image_text(image *im, int x, int y, int scale, uint32_t rgb, const char *text); /* 5x7 font; clipped */
int image_text_width(int scale, const char *text);

/* A contact sheet: equal pictures in a grid below a title line. captions[i] is written below picture i. */
bool image_sheet(image *sheet, const image *pictures, const char *const *captions, int count, int columns,
                 const char *title);

/* tolerance: how far a channel may be off, of 255; 0 is exact; 1 saves a third of the file and cannot be seen. */
bool png_write(const char *path, const image *im, int tolerance);

/* An animation, one frame at a time; frames after the first store only the rectangle that changed. */
typedef struct apng {
    FILE *file;
    image last; /* what a viewer shows before the next frame */
    int frames, sequence;
    int delay_num, delay_den; /* seconds per frame as a fraction */
    int tolerance;            /* as for png_write */
    long control_offset;      /* of the acTL chunk, patched when the number of frames is known */
    bool failed;
} apng;

bool apng_begin(apng *a, const char *path, int width, int height, int delay_num, int delay_den, int tolerance);
bool apng_frame(apng *a, const image *im); /* of the size given at the beginning */
bool apng_end(apng *a);                    /* writes the frame count and closes; false if anything failed on the way */

#ifdef __cplusplus
}
#endif
#endif /* EXAMPLES_PNG_H */

#if defined(EXAMPLES_IMPLEMENTATION) && !defined(EXAMPLES_PNG_IMPLEMENTED)
#define EXAMPLES_PNG_IMPLEMENTED

#include <stdlib.h>
#include <string.h>

/* ---- [image] ----------------------------------------------------------------------------------------------------- */

bool image_create(image *im, int width, int height) {
    im->width = width;
    im->height = height;
    im->rgb = NULL;
    if (width < 1 || height < 1 || (size_t)height > SIZE_MAX / 3 / (size_t)width) return false;
    im->rgb = (unsigned char *)calloc((size_t)width * (size_t)height, 3);
    return im->rgb != NULL;
}

void image_destroy(image *im) {
    free(im->rgb);
    im->rgb = NULL;
}

static unsigned char *image_pixel(const image *im, int x, int y) {
    return im->rgb + 3 * ((size_t)y * (size_t)im->width + (size_t)x);
}

void image_fill(image *im, int x, int y, int width, int height, uint32_t rgb) {
    int row, column, x0 = x < 0 ? 0 : x, y0 = y < 0 ? 0 : y;
    int x1 = x + width < im->width ? x + width : im->width, y1 = y + height < im->height ? y + height : im->height;
    for (row = y0; row < y1; ++row) {
        for (column = x0; column < x1; ++column) {
            unsigned char *p = image_pixel(im, column, row);
            p[0] = (unsigned char)(rgb >> 16), p[1] = (unsigned char)(rgb >> 8), p[2] = (unsigned char)rgb;
        }
    }
}

void image_blit(image *to, const image *from, int x, int y) {
    int row, skip = x < 0 ? -x : 0, n = from->width - skip;
    if (n > to->width - x - skip) n = to->width - x - skip;
    if (n <= 0) return;
    for (row = 0; row < from->height; ++row) {
        if (y + row < 0 || y + row >= to->height) continue;
        memcpy(image_pixel(to, x + skip, y + row), image_pixel(from, skip, row), 3 * (size_t)n);
    }
}

enum { IMAGE_GLYPHS = 91, IMAGE_GLYPH_ROWS = 8 };

/* Glyphs of ASCII 32..122, seven rows each, eight with a tail; a row is a letter whose low five bits are the pixels,
   left to right. */
static const char image_font[IMAGE_GLYPHS][IMAGE_GLYPH_ROWS + 1] = {
    "@@@@@@@", "DDDDD@D", "@@@@@@@", "@@@@@@@", "@@@@@@@", "XYBDHSC", "@@@@@@@", "DDH@@@@", "BDHHHDB", "HDBBBDH",
    "@UN_NU@", "@DD_DD@", "@@@@LDH", "@@@_@@@", "@@@@@LL", "@ABDHP@", "NQSUYQN", "DLDDDDN", "NQABDH_", "_BDBAQN",
    "BFJR_BB", "_P^AAQN", "FHP^QQN", "_ABDDDD", "NQQNQQN", "NQQOABL", "@LL@LL@", "@LL@LDH", "BDHPHDB", "@@_@_@@",
    "HDBABDH", "NQABD@D", "@@@@@@@", "NQQ_QQQ", "^QQ^QQ^", "NQPPPQN", "^QQQQQ^", "_PP^PP_", "_PP^PPP", "NQPWQQN",
    "QQQ_QQQ", "NDDDDDN", "GBBBBRL", "QRTXTRQ", "PPPPPP_", "Q[UUQQQ", "QYUUSQQ", "NQQQQQN", "^QQ^PPP", "NQQQURM",
    "^QQ^TRQ", "OPPNAA^", "_DDDDDD", "QQQQQQN", "QQQQQJD", "QQQUU[Q", "QQJDJQQ", "QQJDDDD", "_ABDHP_", "@@@@@@@",
    "@@@@@@@", "@@@@@@@", "DJQ@@@@", "@@@@@@_", "@@@@@@@", "@@NAOQO", "PPVYQQ^", "@@NPPQN", "AAMSQQO", "@@NQ_PN",
    "FIH\\HHH", "@@OQQOAN", "PPVYQQQ", "D@LDDDN", "B@FBBBRL", "PPRTXTR", "LDDDDDN", "@@ZUUQQ", "@@VYQQQ", "@@NQQQN",
    "@@^QQ^PP", "@@OQQOAA", "@@VYPPP", "@@OPNA^", "HH\\HHIF", "@@QQQSM", "@@QQQJD", "@@QQUUJ", "@@QJDJQ", "@@QQQOAN",
    "@@_BDH_"};

void image_text(image *im, int x, int y, int scale, uint32_t rgb, const char *text) {
    int row, column;
    for (; *text; ++text, x += 6 * scale) {
        int c = *text >= 32 && *text < 32 + IMAGE_GLYPHS ? *text : '?';
        for (row = 0; row < IMAGE_GLYPH_ROWS && image_font[c - 32][row]; ++row)
            for (column = 0; column < 5; ++column)
                if (image_font[c - 32][row] & (16 >> column))
                    image_fill(im, x + column * scale, y + row * scale, scale, scale, rgb);
    }
}

int image_text_width(int scale, const char *text) { return (int)strlen(text) * 6 * scale; }

bool image_sheet(image *sheet, const image *pictures, const char *const *captions, int count, int columns,
                 const char *title) {
    enum { GAP = 6, TITLE = 26, CAPTION = 15 };
    const uint32_t paper = 0x20242b, ink = 0xe8ecf2, faint = 0xa9b2c0;
    int i, w, h, rows;
    if (count < 1) return false;
    if (columns > count) columns = count;
    rows = (count + columns - 1) / columns;
    w = pictures[0].width, h = pictures[0].height;
    if (!image_create(sheet, columns * (w + GAP) + GAP, TITLE + rows * (h + CAPTION + GAP))) return false;
    image_fill(sheet, 0, 0, sheet->width, sheet->height, paper);
    image_text(sheet, GAP + 2, 7, image_text_width(2, title) + 2 * GAP < sheet->width ? 2 : 1, ink, title);
    for (i = 0; i < count; ++i) {
        int x = GAP + i % columns * (w + GAP), y = TITLE + i / columns * (h + CAPTION + GAP);
        image_blit(sheet, &pictures[i], x, y);
        image_text(sheet, x + 2, y + h + 4, 1, faint, captions[i]);
    }
    return true;
}

/* ---- [bytes] ----------------------------------------------------------------------------------------------------- */

typedef struct png_bytes {
    unsigned char *data;
    size_t size, capacity;
    uint32_t bits; /* not yet whole bytes, least significant first (deflate order) */
    int bit_count;
    bool failed; /* out of memory: everything after is a no-op */
} png_bytes;

static bool png_reserve(png_bytes *b, size_t extra) {
    size_t capacity = b->capacity ? b->capacity : 4096;
    unsigned char *data;
    if (b->failed) return false;
    while (capacity < b->size + extra) capacity *= 2;
    if (capacity == b->capacity) return true;
    data = (unsigned char *)realloc(b->data, capacity);
    if (!data) return b->failed = true, false;
    b->data = data;
    b->capacity = capacity;
    return true;
}

static void png_put(png_bytes *b, const void *data, size_t size) {
    if (size == 0 || !png_reserve(b, size)) return;
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static void png_put_byte(png_bytes *b, int value) {
    unsigned char byte = (unsigned char)value;
    png_put(b, &byte, 1);
}

static void png_put32(png_bytes *b, uint32_t v) { /* big endian */
    unsigned char bytes[4];
    bytes[0] = (unsigned char)(v >> 24), bytes[1] = (unsigned char)(v >> 16);
    bytes[2] = (unsigned char)(v >> 8), bytes[3] = (unsigned char)v;
    png_put(b, bytes, 4);
}

static void png_put_bits(png_bytes *b, uint32_t value, int count) {
    b->bits |= value << b->bit_count;
    b->bit_count += count;
    while (b->bit_count >= 8) {
        png_put_byte(b, (int)(b->bits & 255u));
        b->bits >>= 8;
        b->bit_count -= 8;
    }
}

/* ---- [deflate] --------------------------------------------------------------------------------------------------- */

enum {
    DEFLATE_LITERALS = 286,
    DEFLATE_DISTANCES = 30,
    DEFLATE_BLOCK = 32768,
    DEFLATE_WINDOW = 32768,
    DEFLATE_HASH = 1 << 15,
    DEFLATE_CHAIN = 24 /* candidates tried per position: more is smaller and slower */
};

typedef struct deflate_symbol {
    uint16_t length, value;
} deflate_symbol; /* length 0: literal value; else distance value */

typedef struct deflate_code {
    int count;
    uint32_t frequency[DEFLATE_LITERALS];
    unsigned char bits[DEFLATE_LITERALS]; /* code length per symbol, 0: unused */
    uint16_t code[DEFLATE_LITERALS];      /* bit-reversed, as deflate sends the most significant bit first */
} deflate_code;

typedef struct deflate_state {
    png_bytes *out;
    const unsigned char *data;
    size_t size;
    int head[DEFLATE_HASH], previous[DEFLATE_WINDOW];
    deflate_symbol symbols[DEFLATE_BLOCK];
    int symbol_count;
    deflate_code literal, distance;
} deflate_state;

/* Length and distance share one scheme (RFC 1951, 3.2.5): groups of `per` codes, each group one more extra bit. */
static int deflate_bucket(int value, int first, int per_log2, int *extra_bits, int *extra) {
    int offset = value - first, shift = 0, per = 1 << per_log2;
    while (offset >> shift >= 2 * per) ++shift;
    *extra_bits = shift;
    *extra = offset & ((1 << shift) - 1);
    return shift * per + (offset >> shift);
}

static int deflate_length_code(int length, int *extra_bits, int *extra) {
    if (length == 258) return *extra_bits = *extra = 0, 285;
    return 257 + deflate_bucket(length, 3, 2, extra_bits, extra);
}

static int deflate_distance_code(int distance, int *extra_bits, int *extra) {
    return deflate_bucket(distance, 1, 1, extra_bits, extra);
}

/* Huffman code lengths by merging the two rarest nodes; repeated with flattened frequencies until all fit max_bits. */
static void deflate_lengths(deflate_code *c, int max_bits) {
    uint32_t weight[2 * DEFLATE_LITERALS];
    int parent[2 * DEFLATE_LITERALS], nodes, i, longest, flatten = 0;
    do {
        int alive = 0;
        for (i = 0; i < c->count; ++i) {
            weight[i] = c->frequency[i] ? (c->frequency[i] >> flatten) + 1u : 0u;
            alive += weight[i] != 0;
        }
        nodes = c->count;
        for (; alive > 1; --alive, ++nodes) {
            int least = -1, second = -1;
            for (i = 0; i < nodes; ++i) {
                if (!weight[i]) continue;
                if (least < 0 || weight[i] < weight[least]) second = least, least = i;
                else if (second < 0 || weight[i] < weight[second]) second = i;
            }
            weight[nodes] = weight[least] + weight[second];
            weight[least] = weight[second] = 0;
            parent[least] = parent[second] = nodes;
        }
        longest = 0;
        for (i = 0; i < c->count; ++i) {
            int node = i, depth = 0;
            if (c->frequency[i])
                for (depth = nodes == c->count; node < nodes - 1; node = parent[node]) ++depth;
            c->bits[i] = (unsigned char)depth;
            if (depth > longest) longest = depth;
        }
        ++flatten;
    } while (longest > max_bits);
}

static void deflate_assign(deflate_code *c, int max_bits) {
    uint32_t next = 0;
    int bits, i, k;
    deflate_lengths(c, max_bits);
    for (bits = 1; bits <= max_bits; ++bits, next <<= 1) {
        for (i = 0; i < c->count; ++i) {
            uint32_t reversed = 0;
            if (c->bits[i] != bits) continue;
            for (k = 0; k < bits; ++k) reversed |= (next >> k & 1u) << (bits - 1 - k);
            c->code[i] = (uint16_t)reversed;
            ++next;
        }
    }
}

static void deflate_put(deflate_state *s, const deflate_code *c, int symbol) {
    png_put_bits(s->out, c->code[symbol], c->bits[symbol]);
}

/* The two tables of code lengths, themselves Huffman coded (no run lengths: the tables are short). */
static void deflate_put_tables(deflate_state *s) {
    static const unsigned char order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    deflate_code lengths;
    int i;
    memset(&lengths, 0, sizeof lengths);
    lengths.count = 19;
    for (i = 0; i < DEFLATE_LITERALS; ++i) ++lengths.frequency[s->literal.bits[i]];
    for (i = 0; i < DEFLATE_DISTANCES; ++i) ++lengths.frequency[s->distance.bits[i]];
    deflate_assign(&lengths, 7);
    png_put_bits(s->out, DEFLATE_LITERALS - 257, 5);
    png_put_bits(s->out, DEFLATE_DISTANCES - 1, 5);
    png_put_bits(s->out, 19 - 4, 4);
    for (i = 0; i < 19; ++i) png_put_bits(s->out, lengths.bits[order[i]], 3);
    for (i = 0; i < DEFLATE_LITERALS; ++i) deflate_put(s, &lengths, s->literal.bits[i]);
    for (i = 0; i < DEFLATE_DISTANCES; ++i) deflate_put(s, &lengths, s->distance.bits[i]);
}

static void deflate_count(deflate_state *s) {
    int i, bits, extra;
    memset(&s->literal, 0, sizeof s->literal);
    memset(&s->distance, 0, sizeof s->distance);
    s->literal.count = DEFLATE_LITERALS;
    s->distance.count = DEFLATE_DISTANCES;
    s->literal.frequency[256] = 1;
    s->distance.frequency[0] = 1; /* a block without matches still needs one distance code */
    for (i = 0; i < s->symbol_count; ++i) {
        deflate_symbol symbol = s->symbols[i];
        if (symbol.length == 0) {
            ++s->literal.frequency[symbol.value];
        } else {
            ++s->literal.frequency[deflate_length_code(symbol.length, &bits, &extra)];
            ++s->distance.frequency[deflate_distance_code(symbol.value, &bits, &extra)];
        }
    }
}

static void deflate_flush(deflate_state *s, bool last) {
    int i, bits, extra;
    deflate_count(s);
    deflate_assign(&s->literal, 15);
    deflate_assign(&s->distance, 15);
    png_put_bits(s->out, last ? 1 : 0, 1);
    png_put_bits(s->out, 2, 2); /* dynamic codes */
    deflate_put_tables(s);
    for (i = 0; i < s->symbol_count; ++i) {
        deflate_symbol symbol = s->symbols[i];
        if (symbol.length == 0) {
            deflate_put(s, &s->literal, symbol.value);
            continue;
        }
        deflate_put(s, &s->literal, deflate_length_code(symbol.length, &bits, &extra));
        png_put_bits(s->out, (uint32_t)extra, bits);
        deflate_put(s, &s->distance, deflate_distance_code(symbol.value, &bits, &extra));
        png_put_bits(s->out, (uint32_t)extra, bits);
    }
    deflate_put(s, &s->literal, 256);
    s->symbol_count = 0;
}

static int deflate_hash(const unsigned char *p) {
    return (int)(((uint32_t)p[0] << 10 ^ (uint32_t)p[1] << 5 ^ (uint32_t)p[2]) & (DEFLATE_HASH - 1));
}

static void deflate_remember(deflate_state *s, size_t at) {
    int h;
    if (at + 3 > s->size) return;
    h = deflate_hash(s->data + at);
    s->previous[at % DEFLATE_WINDOW] = s->head[h];
    s->head[h] = (int)at;
}

/* The longest earlier copy of what comes at `at`; a far copy must be longer to be worth its extra bits. */
static int deflate_match(const deflate_state *s, size_t at, int *distance) {
    size_t limit = s->size - at < 258 ? s->size - at : 258;
    int best = 0, tries, candidate;
    if (limit < 3) return 0;
    candidate = s->head[deflate_hash(s->data + at)];
    for (tries = 0; tries < DEFLATE_CHAIN && candidate >= 0; ++tries) {
        size_t n = 0, gap = at - (size_t)candidate;
        int next = s->previous[(size_t)candidate % DEFLATE_WINDOW];
        if (gap >= DEFLATE_WINDOW) break;
        while (n < limit && s->data[(size_t)candidate + n] == s->data[at + n]) ++n;
        if ((int)n > best && (n > 5 || (n > 3 && gap < 4096) || (n == 3 && gap < 64))) {
            best = (int)n;
            *distance = (int)gap;
            if (n == limit) break;
        }
        if (next >= candidate) break; /* the ring was overwritten */
        candidate = next;
    }
    return best;
}

static uint32_t deflate_adler(const unsigned char *data, size_t size) {
    uint32_t a = 1, b = 0;
    size_t i;
    for (i = 0; i < size; ++i) {
        a = (a + data[i]) % 65521u;
        b = (b + a) % 65521u;
    }
    return b << 16 | a;
}

/* zlib stream (RFC 1950) of data, appended to out. */
static void deflate(png_bytes *out, const unsigned char *data, size_t size) {
    deflate_state *s = (deflate_state *)malloc(sizeof *s);
    size_t at = 0;
    int i;
    if (!s || size > 0x7fffffffu) {
        out->failed = true;
        free(s);
        return;
    }
    s->out = out, s->data = data, s->size = size, s->symbol_count = 0;
    for (i = 0; i < DEFLATE_HASH; ++i) s->head[i] = -1;
    png_put_byte(out, 0x78);
    png_put_byte(out, 0x9c);
    while (at < size) {
        int distance = 0, length = deflate_match(s, at, &distance);
        deflate_symbol *symbol = &s->symbols[s->symbol_count++];
        symbol->length = (uint16_t)length;
        symbol->value = (uint16_t)(length ? distance : data[at]);
        for (i = 0; i < (length ? length : 1); ++i) deflate_remember(s, at++);
        if (s->symbol_count == DEFLATE_BLOCK) deflate_flush(s, at == size);
    }
    if (s->symbol_count > 0 || size == 0) deflate_flush(s, true);
    if (out->bit_count) png_put_bits(out, 0, 8 - out->bit_count);
    png_put32(out, deflate_adler(data, size));
    free(s);
}

/* ---- [png] ------------------------------------------------------------------------------------------------------- */

static uint32_t png_crc(const unsigned char *data, size_t size) {
    uint32_t crc = 0xffffffffu;
    size_t i;
    int k;
    for (i = 0; i < size; ++i) {
        crc ^= data[i];
        for (k = 0; k < 8; ++k) crc = crc >> 1 ^ (crc & 1u ? 0xedb88320u : 0u);
    }
    return ~crc;
}

static bool png_chunk(FILE *file, const char *type, const png_bytes *body) {
    png_bytes chunk = {NULL, 0, 0, 0, 0, false};
    bool ok;
    png_put32(&chunk, (uint32_t)body->size);
    png_put(&chunk, type, 4);
    png_put(&chunk, body->data, body->size);
    if (!chunk.failed) png_put32(&chunk, png_crc(chunk.data + 4, chunk.size - 4));
    ok = !body->failed && !chunk.failed && fwrite(chunk.data, 1, chunk.size, file) == chunk.size;
    free(chunk.data);
    return ok;
}

static bool png_header(FILE *file, int width, int height) {
    static const unsigned char signature[8] = {137, 80, 78, 71, 13, 10, 26, 10};
    static const unsigned char format[5] = {8, 2, 0, 0, 0}; /* 8 bits, RGB, deflate, adaptive filters, not interlaced */
    png_bytes body = {NULL, 0, 0, 0, 0, false};
    bool ok = fwrite(signature, 1, 8, file) == 8;
    png_put32(&body, (uint32_t)width);
    png_put32(&body, (uint32_t)height);
    png_put(&body, format, 5);
    ok = png_chunk(file, "IHDR", &body) && ok;
    free(body.data);
    return ok;
}

static int png_paeth(int a, int b, int c) {
    int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/* One row through one of the five filters. Residuals are rounded to multiples of 2 tolerance + 1, so that `seen`, what
   a viewer will see, differs from the row by at most the tolerance. Returns the sum of magnitudes: the guess of its
   cost. */
static long png_filter(int type, const unsigned char *row, const unsigned char *above, int count, int tolerance,
                       unsigned char *out, unsigned char *seen) {
    long cost = 0;
    int i, step = 2 * tolerance + 1;
    for (i = 0; i < count; ++i) {
        int a = i >= 3 ? seen[i - 3] : 0, b = above ? above[i] : 0, c = above && i >= 3 ? above[i - 3] : 0;
        int guess = type == 0 ? 0 : type == 1 ? a : type == 2 ? b : type == 3 ? (a + b) / 2 : png_paeth(a, b, c);
        int off = row[i] - guess, times = (off >= 0 ? off + tolerance : off - tolerance) / step;
        int near = guess + times * step;
        near = near < 0 ? 0 : near > 255 ? 255 : near;
        seen[i] = (unsigned char)near;
        out[i] = (unsigned char)((near - guess) & 255);
        cost += abs(times);
    }
    return cost;
}

/* Filters and compresses the rectangle of the image. */
static void png_compress(png_bytes *out, const image *im, int x, int y, int width, int height, int tolerance) {
    size_t stride = 3 * (size_t)width, total = (stride + 1) * (size_t)height;
    unsigned char *rows = (unsigned char *)malloc(total + 4 * stride), *seen, *above, *trial, *trial_seen, *swap;
    int row, type;
    if (!rows) {
        out->failed = true;
        return;
    }
    seen = rows + total, above = seen + stride, trial = above + stride, trial_seen = trial + stride;
    for (row = 0; row < height; ++row) {
        const unsigned char *pixels = image_pixel(im, x, y + row), *up = row ? above : NULL;
        unsigned char *best = rows + (stride + 1) * (size_t)row;
        long least = png_filter(0, pixels, up, (int)stride, tolerance, best + 1, seen);
        best[0] = 0;
        for (type = 1; type < 5; ++type) {
            long cost = png_filter(type, pixels, up, (int)stride, tolerance, trial, trial_seen);
            if (cost >= least) continue;
            least = cost;
            best[0] = (unsigned char)type;
            memcpy(best + 1, trial, stride);
            swap = seen, seen = trial_seen, trial_seen = swap;
        }
        swap = above, above = seen, seen = swap;
    }
    deflate(out, rows, total);
    free(rows);
}

bool png_write(const char *path, const image *im, int tolerance) {
    png_bytes body = {NULL, 0, 0, 0, 0, false}, empty = {NULL, 0, 0, 0, 0, false};
    FILE *file = fopen(path, "wb");
    bool ok;
    if (!file) return false;
    png_compress(&body, im, 0, 0, im->width, im->height, tolerance);
    ok = png_header(file, im->width, im->height) && png_chunk(file, "IDAT", &body) && png_chunk(file, "IEND", &empty);
    free(body.data);
    return fclose(file) == 0 && ok;
}

static bool apng_control(apng *a) {
    png_bytes body = {NULL, 0, 0, 0, 0, false};
    bool ok;
    png_put32(&body, (uint32_t)a->frames);
    png_put32(&body, 0); /* play for ever */
    ok = png_chunk(a->file, "acTL", &body);
    free(body.data);
    return ok;
}

bool apng_begin(apng *a, const char *path, int width, int height, int delay_num, int delay_den, int tolerance) {
    memset(a, 0, sizeof *a);
    a->delay_num = delay_num, a->delay_den = delay_den, a->tolerance = tolerance;
    a->file = fopen(path, "wb");
    if (!a->file || !image_create(&a->last, width, height)) return a->failed = true, false;
    a->failed = !png_header(a->file, width, height);
    a->control_offset = ftell(a->file);
    if (!apng_control(a)) a->failed = true;
    return !a->failed;
}

/* The rectangle in which two images differ: x, y, width, height; a single pixel where they are equal. */
static void apng_changed(const image *a, const image *b, int box[4]) {
    int row, left = a->width, right = 0, top = a->height, bottom = 0;
    for (row = 0; row < a->height; ++row) {
        const unsigned char *p = image_pixel(a, 0, row), *q = image_pixel(b, 0, row);
        int first = 0, end = a->width;
        if (memcmp(p, q, 3 * (size_t)a->width) == 0) continue;
        while (memcmp(p + 3 * first, q + 3 * first, 3) == 0) ++first;
        while (memcmp(p + 3 * (end - 1), q + 3 * (end - 1), 3) == 0) --end;
        if (first < left) left = first;
        if (end > right) right = end;
        if (row < top) top = row;
        bottom = row + 1;
    }
    if (bottom == 0) left = top = 0, right = bottom = 1;
    box[0] = left, box[1] = top, box[2] = right - left, box[3] = bottom - top;
}

static bool apng_frame_control(apng *a, const int box[4]) {
    static const unsigned char plain[2] = {0, 0}; /* leave the frame in place, overwrite */
    png_bytes body = {NULL, 0, 0, 0, 0, false};
    bool ok;
    png_put32(&body, (uint32_t)a->sequence++);
    png_put32(&body, (uint32_t)box[2]);
    png_put32(&body, (uint32_t)box[3]);
    png_put32(&body, (uint32_t)box[0]);
    png_put32(&body, (uint32_t)box[1]);
    png_put32(&body, (uint32_t)a->delay_num << 16 | (uint32_t)a->delay_den);
    png_put(&body, plain, 2);
    ok = png_chunk(a->file, "fcTL", &body);
    free(body.data);
    return ok;
}

bool apng_frame(apng *a, const image *im) {
    png_bytes body = {NULL, 0, 0, 0, 0, false};
    int box[4];
    if (a->failed || im->width != a->last.width || im->height != a->last.height) return a->failed = true, false;
    box[0] = box[1] = 0, box[2] = im->width, box[3] = im->height;
    if (a->frames) apng_changed(im, &a->last, box);
    if (!apng_frame_control(a, box)) a->failed = true;
    if (a->frames) png_put32(&body, (uint32_t)a->sequence++);
    png_compress(&body, im, box[0], box[1], box[2], box[3], a->tolerance);
    if (!png_chunk(a->file, a->frames ? "fdAT" : "IDAT", &body)) a->failed = true;
    free(body.data);
    image_blit(&a->last, im, 0, 0);
    ++a->frames;
    return !a->failed;
}

bool apng_end(apng *a) {
    png_bytes empty = {NULL, 0, 0, 0, 0, false};
    if (a->file) {
        if (!png_chunk(a->file, "IEND", &empty)) a->failed = true;
        if (fseek(a->file, a->control_offset, SEEK_SET) != 0 || !apng_control(a)) a->failed = true;
        if (fclose(a->file) != 0) a->failed = true;
        a->file = NULL;
    }
    image_destroy(&a->last);
    return !a->failed;
}

#endif /* EXAMPLES_IMPLEMENTATION */
