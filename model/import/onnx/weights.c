/* Weights: the tensors of the workload whose numbers the model has, as a file that an emitted
 * library reads (docs/FORMATS.md). */
#define _POSIX_C_SOURCE 200809L /* fseeko, openat */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "model/import/onnx/onnx.h"

enum {
  VERSION = 1,
  FLOAT32 = 1,
  BFLOAT16 = 2,
  INT8 = 4,
  UINT8 = 5,
  HEAD = 40,
  LINE = 64,
  CHUNK = 4096,
  MOST_PATH = 4096
};

/* Numbers of a tensor, wherever they stand. */
typedef struct {
  ox_reading read;
  int64_t offset; /* their first byte in `file` */
  FILE *file;     /* another file, of which `piece` is what was read last; NULL: none */
  uint8_t piece[CHUNK * sizeof(double)];
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
  int type;         /* FLOAT32, BFLOAT16, or INT8: integers of 8 bits as such, the others FLOAT32 */
  int n;
  row *rows;
  uint64_t head, bytes; /* of header and table; of the file */
} writing;

/* ---- data in other files -------------------------------------------------------------------- */
/* The value of a key of external data; NULL: it has none. */
static const char *external(const Onnx__TensorProto *t, const char *key) {
  for (size_t i = 0; i < t->n_external_data; i++)
    if (t->external_data[i]->key && !strcmp(t->external_data[i]->key, key))
      return t->external_data[i]->value;
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

/* Opens a file below the folder, through no symbolic link: what a model names is read from its own
 * folder alone.  Waits for nothing, as a pipe would make it.  -1 with errno. */
static int open_below(const char *folder, const char *path) {
  int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (at >= 0) {
    const size_t n = strcspn(path, "/");
    const bool last = !path[n];
    char name[MOST_PATH];
    memcpy(name, path, n);
    name[n] = '\0';
    const int next =
        n ? openat(at, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | (last ? O_NONBLOCK : O_DIRECTORY))
          : dup(at);
    const int why = errno;
    close(at);
    errno = why;
    if (last || next < 0) return next;
    at = next;
    path += n + 1;
  }
  return -1;
}

/* Whether a part of the path is a symbolic link. */
static bool is_link(const char *folder, const char *path) {
  char part[2 * MOST_PATH];
  struct stat s;
  for (size_t n = 0; path[n];) {
    n += strcspn(path + n, "/");
    snprintf(part, sizeof part, "%s/%.*s", folder, (int)n, path);
    if (lstat(part, &s) == 0 && S_ISLNK(s.st_mode)) return true;
    n += path[n] == '/';
  }
  return false;
}

static FILE *open_external(const writing *w, const char *name, const char *location) {
  const char *slash = strrchr(w->path, '/');
  char folder[MOST_PATH];
  struct stat s;
  const int len = slash ? (int)(slash - w->path) + 1 : 2;
  if (len >= MOST_PATH || strlen(location) >= MOST_PATH)
    return (void)ox_fail(w->g, TF_E_LIMIT, "weight '%.60s': a path of more than %d bytes", name,
                         MOST_PATH),
           NULL;
  snprintf(folder, sizeof folder, "%.*s", len, slash ? w->path : "./");
  const int fd = open_below(folder, location);
  const char *why = fd >= 0                     ? NULL
                    : is_link(folder, location) ? "a symbolic link, which is not followed"
                                                : strerror(errno);
  if (!why && (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode))) why = "no regular file";
  FILE *f = why ? NULL : fdopen(fd, "rb");
  if (!f && fd >= 0) close(fd);
  if (!f)
    ox_fail(w->g, TF_E_IO, "weight '%.60s': '%s%.200s': %s", name, slash ? folder : "", location,
            why ? why : strerror(errno));
  return f;
}

static bool find_external(const writing *w, const char *name, const Onnx__TensorProto *t,
                          size_t size, numbers *x) {
  const char *location = external(t, "location"), *offset = external(t, "offset"),
             *length = external(t, "length");
  int64_t many = (int64_t)size;
  struct stat s;
  x->offset = 0;
  if (!location)
    return ox_fail(w->g, TF_E_MISSING, "weight '%.60s' lies in a file without a name", name);
  if (!stays_below(location))
    return ox_fail(w->g, TF_E_NAME,
                   "weight '%.60s' lies in '%.200s', outside of the model's folder", name,
                   location);
  if ((offset && !whole_number(offset, &x->offset)) || (length && !whole_number(length, &many)) ||
      many != (int64_t)size)
    return ox_fail(w->g, TF_E_SHAPE,
                   "weight '%.60s': offset '%.20s', length '%.20s' where %zu bytes are needed",
                   name, offset ? offset : "0", length ? length : "", size);
  if (!(x->file = open_external(w, name, location))) return false;
  const int64_t all = fstat(fileno(x->file), &s) == 0 ? (int64_t)s.st_size : -1;
  if (all < x->offset || (uint64_t)(all - x->offset) < size)
    return ox_fail(w->g, TF_E_SHAPE,
                   "weight '%.60s' needs %zu bytes from byte %" PRId64 " on of a file of %" PRId64,
                   name, size, x->offset, all);
  return fseeko(x->file, (off_t)x->offset, SEEK_SET) == 0 ||
         ox_fail(w->g, TF_E_IO, "weight '%.60s': its file cannot be read", name);
}

/* ---- numbers -------------------------------------------------------------------------------- */
static bool open_numbers(const writing *w, const char *name, const Onnx__TensorProto *t, int64_t n,
                         numbers *x) {
  const size_t each = ox_bytes_of(t->data_type);
  int64_t size;
  *x = (numbers){.read.t = t};
  if (!each)
    return ox_fail(w->g, TF_E_TYPE, "weight '%.60s': data of type %s are not read", name,
                   ox_type_name(t->data_type));
  if (!tf_mul(n, (int64_t)each, &size))
    return ox_fail(w->g, TF_E_OVERFLOW, "weight '%.60s' has too many bytes", name);
  if (t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
    return find_external(w, name, t, (size_t)size, x);
  if (ox_open_numbers(w->g, t, n, &x->read)) return true;
  const bool none = !ox_has_numbers(w->g, t);
  return none ? ox_fail(w->g, TF_E_MISSING,
                        "weight '%.60s' has a shape and no numbers: they were taken out", name)
              : ox_fail(w->g, TF_E_SHAPE,
                        "weight '%.60s' has not the numbers that its shape asks for", name);
}

/* The next n numbers of another file, at most CHUNK. */
static bool read_piece(const writing *w, const char *name, numbers *x, size_t n) {
  if (!x->file) return true;
  x->read.raw = x->piece;
  x->read.next = 0;
  return fread(x->piece, ox_bytes_of(x->read.t->data_type), n, x->file) == n ||
         ox_fail(w->g, TF_E_IO, "weight '%.60s': its file cannot be read", name);
}

/* What a source holds: one list of numbers, or the four of a BatchNormalization. */
typedef struct {
  const ox_source *source;
  numbers list[4];
  int n;
} held;

static bool open_held(const writing *w, const ox_tensor *t, int64_t n, held *h) {
  h->source = &t->source;
  h->n = 0;
  if (t->source.number) return true;
  const int many = t->source.fold ? 4 : 1;
  bool ok = true;
  for (; h->n < many && ok; h->n++)
    ok = open_numbers(w, t->from, many > 1 ? t->source.batch[h->n] : t->source.data, n,
                      &h->list[h->n]);
  return ok;
}

static void close_held(held *h) {
  for (int k = 0; k < h->n; k++)
    if (h->list[k].file) fclose(h->list[k].file);
}

/* The next number, which is the i-th: y = (x - mean) / sqrt(variance + epsilon) * scale + shift, as
 * x * factor + rest.
 */
static double next_held(held *h, int64_t i) {
  if (h->source->number) return h->source->number[i];
  const double first = ox_next_number(&h->list[0].read);
  if (!h->source->fold) return first;
  const double factor = first / sqrt(ox_next_number(&h->list[3].read) + h->source->epsilon);
  if (h->source->fold == OX_SCALE) return factor;
  const double shift = ox_next_number(&h->list[1].read);
  return shift - ox_next_number(&h->list[2].read) * factor;
}

/* ---- the file ------------------------------------------------------------------------------- */
static int type_of(const writing *w, const ox_tensor *t) {
  if (w->type != INT8) return w->type;
  return t->bits == 0 || t->bits > 8 ? FLOAT32 : t->no_sign ? UINT8 : INT8;
}

static uint64_t bytes_each(int type) { return type == FLOAT32 ? 4 : type == BFLOAT16 ? 2 : 1; }

static bool has_numbers(const ox_tensor *t) {
  return t->op < 0 && t->name && (t->source.data || t->source.number || t->source.fold);
}

static uint64_t row_bytes(const ox_tensor *t) {
  return 24 + 8 * (uint64_t)t->rank + (strlen(t->name) + 7) / 8 * 8;
}

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
      if (!tf_mul(n, t->shape[r], &n))
        return ox_fail(w->g, TF_E_OVERFLOW, "weight '%.60s' is too large", t->name);
    w->rows[w->n++] = (row){.tensor = z, .elements = n};
    w->bytes += row_bytes(t);
  }
  w->head = w->bytes;
  for (int i = 0; i < w->n; i++) {
    w->rows[i].offset = (w->bytes + LINE - 1) / LINE * LINE;
    w->bytes = w->rows[i].offset + bytes_each(type_of(w, &g->tensor[w->rows[i].tensor])) *
                                       (uint64_t)w->rows[i].elements;
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
    put_number(w->out, n, 4), put_number(w->out, (uint64_t)type_of(w, t), 4),
        put_number(w->out, (uint64_t)t->rank, 8);
    put_number(w->out, w->rows[i].offset, 8);
    for (int r = 0; r < t->rank; r++)
      put_number(w->out, (uint64_t)t->shape[r], 8);
    fwrite(t->name, 1, n, w->out);
    put_number(w->out, 0, (int)((8 - n % 8) % 8));
  }
}

/* The number's bits in the file's type; bfloat16 is rounded to nearest, ties to even. */
static uint32_t bits_of(int type, double number) {
  const float x = (float)number;
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if (bytes_each(type) == 1) return (uint32_t)(int32_t)number;
  if (type == FLOAT32) return bits;
  return isnan(x) ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/* Zeros up to its place, then the numbers, piece by piece; `at` moves to their end. */
static bool put_row(const writing *w, const row *r, uint64_t *at) {
  held h;
  const ox_tensor *t = &w->g->tensor[r->tensor];
  const int type = type_of(w, t);
  const size_t each = bytes_each(type);
  bool ok = open_held(w, t, r->elements, &h);
  for (; ok && *at < r->offset; ++*at)
    fputc(0, w->out);
  for (int64_t i = 0; ok && i < r->elements; i += CHUNK) {
    uint8_t bytes[4 * CHUNK];
    const int64_t n = r->elements - i < CHUNK ? r->elements - i : CHUNK;
    for (int k = 0; k < h.n && ok; k++)
      ok = read_piece(w, t->from, &h.list[k], (size_t)n);
    for (int64_t k = 0; k < n && ok; k++) {
      const uint32_t bits = bits_of(type, next_held(&h, i + k));
      for (size_t b = 0; b < each; b++)
        bytes[each * (size_t)k + b] = (uint8_t)(bits >> 8 * b);
    }
    if (ok) fwrite(bytes, each, (size_t)n, w->out);
    *at += each * (uint64_t)n;
  }
  close_held(&h);
  return ok;
}

bool ox_write_weights(ox_net *g, const char *path, const char *dtype, FILE *out) {
  writing w = {.g = g,
               .out = out,
               .path = path,
               .type = !dtype                   ? FLOAT32
                       : !strcmp(dtype, "bf16") ? BFLOAT16
                       : !strcmp(dtype, "int8") ? INT8
                                                : FLOAT32};
  if (!ox_name_tensors(g) || !lay_out(&w)) return false;
  uint64_t at = w.head;
  bool ok = true;
  put_head(&w);
  for (int i = 0; i < w.n; i++)
    ok = put_row(&w, &w.rows[i], &at) && ok;
  return ok && (!ferror(out) ||
                ox_fail(g, TF_E_IO, "the weights cannot be written: %s", strerror(errno)));
}
