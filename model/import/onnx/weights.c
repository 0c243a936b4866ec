/* Weights: the tensors of the workload whose numbers the model has, as a file that an emitted library reads
 * (docs/FORMATS.md). */
#define _POSIX_C_SOURCE 200809L /* fseeko */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "model/import/onnx/onnx.h"
#include "model/import/onnx/tensor.h"

enum { VERSION = 1, FLOAT32 = 1, BFLOAT16 = 2, HEAD = 40, LINE = 64, CHUNK = 4096, MOST_PATH = 4096 };

/* Numbers of a tensor of the file, wherever they stand. */
typedef struct {
  const Onnx__TensorProto *t;
  const uint8_t *raw; /* NULL: in fields of their own */
  uint8_t *own;
} numbers;

/* One row of the table, in the order of the workload's tensors. */
typedef struct {
  int tensor;
  int64_t elements;
  uint64_t offset;
} row;

typedef struct {
  ox_net *g;
  FILE *out;
  const char *path; /* of the model */
  int type;         /* FLOAT32 or BFLOAT16 */
  int n;
  row *rows;
  uint64_t head, bytes; /* of header and table; of the file */
} writing;

/* ---- data in other files -------------------------------------------------------------------------------------- */
/* The value of a key of external data; NULL: it has none. */
static const char *external(const Onnx__TensorProto *t, const char *key) {
  for (size_t i = 0; i < t->n_external_data; i++)
    if (t->external_data[i]->key && !strcmp(t->external_data[i]->key, key)) return t->external_data[i]->value;
  return NULL;
}

/* A path below the model's folder: neither from the root nor through `..`. */
static bool stays_below(const char *path) {
  if (*path == '/' || !*path) return false;
  for (const char *at = path; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
    if (at[0] == '.' && at[1] == '.' && (at[2] == '/' || !at[2])) return false;
  return true;
}

static bool whole_number(const char *text, int64_t *out) {
  char *end;
  errno = 0;
  const long long n = strtoll(text, &end, 10);
  *out = n;
  return end != text && !*end && !errno && n >= 0;
}

/* Those bytes of the file, of which it has to have them all before room is made. */
static bool read_bytes(const writing *w, const char *name, FILE *f, int64_t from, size_t size, uint8_t **out) {
  const bool ends = fseeko(f, 0, SEEK_END) == 0;
  const int64_t all = ends ? (int64_t)ftello(f) : -1;
  if (all < from || (uint64_t)(all - from) < size)
    return ox_fail(w->g, TF_E_SHAPE, "weight '%.60s' needs %zu bytes from byte %" PRId64 " on of a file of %" PRId64,
                   name, size, from, all);
  *out = malloc(size + 1);
  w->g->oom |= !*out;
  if (!*out || (fseeko(f, (off_t)from, SEEK_SET) == 0 && fread(*out, 1, size, f) == size)) return *out != NULL;
  free(*out);
  *out = NULL;
  return ox_fail(w->g, TF_E_IO, "weight '%.60s': its file cannot be read", name);
}

static bool read_external(const writing *w, const char *name, const Onnx__TensorProto *t, size_t size, numbers *x) {
  const char *location = external(t, "location"), *offset = external(t, "offset"), *length = external(t, "length");
  const char *slash = strrchr(w->path, '/');
  int64_t from = 0, many = (int64_t)size;
  char path[MOST_PATH];
  if (!location) return ox_fail(w->g, TF_E_MISSING, "weight '%.60s' lies in a file without a name", name);
  if (!stays_below(location))
    return ox_fail(w->g, TF_E_NAME, "weight '%.60s' lies in '%.200s', outside of the model's folder", name, location);
  if ((offset && !whole_number(offset, &from)) || (length && !whole_number(length, &many)) || many != (int64_t)size)
    return ox_fail(w->g, TF_E_SHAPE, "weight '%.60s': offset '%.20s', length '%.20s' where %zu bytes are needed", name,
                   offset ? offset : "0", length ? length : "", size);
  if (snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - w->path) + 1 : 0, w->path, location) >= MOST_PATH)
    return ox_fail(w->g, TF_E_LIMIT, "weight '%.60s': a path of more than %d bytes", name, MOST_PATH);
  FILE *f = fopen(path, "rb");
  if (!f) return ox_fail(w->g, TF_E_IO, "weight '%.60s': '%.200s': %s", name, path, strerror(errno));
  const bool ok = read_bytes(w, name, f, from, size, &x->own);
  fclose(f);
  x->raw = x->own;
  return ok;
}

/* ---- numbers -------------------------------------------------------------------------------------------------- */
static bool open_numbers(const writing *w, const char *name, const Onnx__TensorProto *t, int64_t n, numbers *x) {
  const size_t each = ox_bytes_of(t->data_type);
  const bool raw = t->has_raw_data && t->raw_data.len > 0;
  int64_t size;
  *x = (numbers){.t = t};
  if (!each) return ox_fail(w->g, TF_E_TYPE, "weight '%.60s': data of type %d are not read", name, t->data_type);
  if (!tf_mul(n, (int64_t)each, &size)) return ox_fail(w->g, TF_E_OVERFLOW, "weight '%.60s' has too many bytes", name);
  if (t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
    return read_external(w, name, t, (size_t)size, x);
  if (raw && t->raw_data.len == (size_t)size) return (x->raw = t->raw_data.data) != NULL;
  if (!raw && ox_is_listed(t, n)) return true;
  const bool none = !raw && !t->n_float_data && !t->n_int64_data && !t->n_int32_data && !t->n_double_data;
  return none ? ox_fail(w->g, TF_E_MISSING, "weight '%.60s' has a shape and no numbers: they were taken out", name)
              : ox_fail(w->g, TF_E_SHAPE, "weight '%.60s' has not the numbers that its shape asks for", name);
}

static double number_at(const numbers *x, int64_t i) {
  const int type = x->t->data_type;
  return x->raw ? ox_element(type, x->raw + (size_t)i * ox_bytes_of(type)) : ox_listed(x->t, i);
}

/* What a source holds: one list of numbers, or the four of a BatchNormalization. */
typedef struct {
  const ox_source *from;
  numbers of[4];
  int n;
} held;

static bool open_held(const writing *w, const ox_tensor *t, int64_t n, held *h) {
  *h = (held){.from = &t->source};
  if (t->source.number) return true;
  const int many = t->source.fold ? 4 : 1;
  bool ok = true;
  for (; h->n < many && ok; h->n++)
    ok = open_numbers(w, t->from, many > 1 ? t->source.batch[h->n] : t->source.data, n, &h->of[h->n]);
  return ok;
}

static void close_held(held *h) {
  for (int k = 0; k < h->n; k++)
    free(h->of[k].own);
}

/* y = (x - mean) / sqrt(variance + epsilon) * scale + shift, as x * factor + rest. */
static double held_at(const held *h, int64_t i) {
  if (h->from->number) return h->from->number[i];
  if (!h->from->fold) return number_at(&h->of[0], i);
  const double factor = number_at(&h->of[0], i) / sqrt(number_at(&h->of[3], i) + h->from->epsilon);
  return h->from->fold == OX_SCALE ? factor : number_at(&h->of[1], i) - number_at(&h->of[2], i) * factor;
}

/* ---- the file ------------------------------------------------------------------------------------------------- */
static uint64_t bytes_each(const writing *w) { return w->type == BFLOAT16 ? 2 : 4; }

static bool has_numbers(const ox_tensor *t) {
  return t->op < 0 && t->name && (t->source.data || t->source.number || t->source.fold);
}

static uint64_t row_bytes(const ox_tensor *t) { return 24 + 8 * (uint64_t)t->rank + (strlen(t->name) + 7) / 8 * 8; }

/* Where each lies: at a cache line of its own. */
static bool lay_out(writing *w) {
  const ox_net *g = w->g;
  w->rows = TF_ARRAY(g->arena, row, (size_t)g->n_tensors + 1);
  if (!w->rows) return !(w->g->oom = true);
  w->bytes = HEAD;
  for (int z = 0; z < g->n_tensors; z++) {
    const ox_tensor *t = &g->tensor[z];
    int64_t n = 1;
    if (!has_numbers(t)) continue;
    for (int r = 0; r < t->rank; r++)
      if (!tf_mul(n, t->shape[r], &n)) return ox_fail(w->g, TF_E_OVERFLOW, "weight '%.60s' is too large", t->name);
    w->rows[w->n++] = (row){.tensor = z, .elements = n};
    w->bytes += row_bytes(t);
  }
  w->head = w->bytes;
  for (int i = 0; i < w->n; i++) {
    w->rows[i].offset = (w->bytes + LINE - 1) / LINE * LINE;
    w->bytes = w->rows[i].offset + bytes_each(w) * (uint64_t)w->rows[i].elements;
  }
  return true;
}

static void put_number(FILE *out, uint64_t x, int bytes) {
  for (int i = 0; i < bytes; i++)
    fputc((int)(x >> 8 * i & 0xff), out);
}

static void put_head(const writing *w) {
  fputs("TFWEIGHT", w->out);
  put_number(w->out, VERSION, 4), put_number(w->out, (uint64_t)w->n, 4);
  put_number(w->out, w->head, 8), put_number(w->out, w->bytes, 8), put_number(w->out, 0, 8);
  for (int i = 0; i < w->n; i++) {
    const ox_tensor *t = &w->g->tensor[w->rows[i].tensor];
    const size_t n = strlen(t->name);
    put_number(w->out, n, 4), put_number(w->out, (uint64_t)w->type, 4), put_number(w->out, (uint64_t)t->rank, 8);
    put_number(w->out, w->rows[i].offset, 8);
    for (int r = 0; r < t->rank; r++)
      put_number(w->out, (uint64_t)t->shape[r], 8);
    fwrite(t->name, 1, n, w->out);
    put_number(w->out, 0, (int)((8 - n % 8) % 8));
  }
}

/* The number's bits in the file's type; bfloat16 is rounded to nearest, ties to even. */
static uint32_t bits_of(const writing *w, double number) {
  const float x = (float)number;
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if (w->type == FLOAT32) return bits;
  return isnan(x) ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/* Zeros up to its place, then the numbers; `at` moves to their end. */
static bool put_row(const writing *w, const row *r, uint64_t *at) {
  held h;
  const size_t each = bytes_each(w);
  const bool ok = open_held(w, &w->g->tensor[r->tensor], r->elements, &h);
  for (; ok && *at < r->offset; ++*at)
    fputc(0, w->out);
  for (int64_t i = 0; ok && i < r->elements; i += CHUNK) {
    uint8_t bytes[4 * CHUNK];
    const int64_t n = r->elements - i < CHUNK ? r->elements - i : CHUNK;
    for (int64_t k = 0; k < n; k++) {
      const uint32_t bits = bits_of(w, held_at(&h, i + k));
      for (size_t b = 0; b < each; b++)
        bytes[each * (size_t)k + b] = (uint8_t)(bits >> 8 * b);
    }
    fwrite(bytes, each, (size_t)n, w->out);
    *at += each * (uint64_t)n;
  }
  close_held(&h);
  return ok;
}

bool ox_write_weights(ox_net *g, const char *path, const char *dtype, FILE *out) {
  writing w = {.g = g, .out = out, .path = path, .type = dtype && !strcmp(dtype, "bf16") ? BFLOAT16 : FLOAT32};
  if (!ox_name_tensors(g) || !lay_out(&w)) return false;
  uint64_t at = w.head;
  bool ok = true;
  put_head(&w);
  for (int i = 0; i < w.n; i++)
    ok = put_row(&w, &w.rows[i], &at) && ok;
  return ok && (!ferror(out) || !(g->oom = true));
}
