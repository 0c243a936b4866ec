/* Facts that follow from the ops: extents of tensors, readers, sizes, the order of ops. */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/names.h"
#include "model/input/dims.h"
#include "model/input/masked.h"
#include "model/input/table/coordinates.h"
#include "model/input/table/sections.h"
#include "model/input/workload_read.h"

/* ---- ranges ------------------------------------------------------------------------- */
/* First and last value of an index over the whole iteration space. */
static bool index_range(const tf_workload *wl, const tf_index *x, int64_t *lo, int64_t *hi) {
  *lo = *hi = x->c;
  for (int i = 0; i < x->n_terms; i++) {
    int64_t reach;
    if (!tf_mul(x->terms[i].coef, wl->dims[x->terms[i].dim].extent - 1, &reach)) return false;
    int64_t *end = reach < 0 ? lo : hi;
    if (!tf_add(*end, reach, end)) return false;
  }
  return true;
}

typedef struct {
  int op, read, rank; /* the read, and the rank of its tensor */
} reading;

static tf_loc loc_of(const tf_wl_reader *w, reading x) {
  const tf_op_source *s = &w->source[x.op];
  tf_span span = s->index[x.read][x.rank];
  return tf_ynode_place(s->text, span.from, span.len);
}

static void fail(tf_wl_reader *w) { w->failed = true; }

static bool range_of(tf_wl_reader *w, reading x, int64_t *lo, int64_t *hi) {
  const tf_ref *ref = &w->wl->ops[x.op].reads[x.read];
  if (index_range(w->wl, &ref->index[x.rank], lo, hi)) return true;
  fail(w);
  return tf_fail(w->base->diags, loc_of(w, x), TF_E_RANGE, "the index passes 2^63 - 1");
}

/* Calls f for every rank of every read of the workload. */
static void each_reading(tf_wl_reader *w, void (*f)(tf_wl_reader *, reading, tf_tensor *)) {
  const tf_workload *wl = w->wl;
  for (int o = 0; o < wl->n_ops; o++)
    for (int i = 0; i < wl->ops[o].n_reads; i++) {
      tf_tensor *t = &wl->tensors[wl->ops[o].reads[i].tensor];
      for (int r = 0; r < t->rank; r++)
        f(w, (reading){o, i, r}, t);
    }
}

/* While ranges are collected, lo and extent of an input hold its first and last coordinate; an
 * empty range (lo > extent) means that nothing has been read so far. */
static void widen(tf_wl_reader *w, reading x, tf_tensor *t) {
  int64_t lo, hi;
  if (tf_is_made(t) || !range_of(w, x, &lo, &hi)) return;
  if (lo < t->lo[x.rank]) t->lo[x.rank] = lo;
  if (hi > t->extent[x.rank]) t->extent[x.rank] = hi;
}

static bool new_tensor_ranges(tf_wl_reader *w, tf_tensor *t) {
  size_t n = (size_t)t->rank;
  t->lo = TF_ARRAY(w->base->arena, int64_t, n);
  t->extent = TF_ARRAY(w->base->arena, int64_t, n);
  t->pad = TF_ARRAY(w->base->arena, int64_t, n);
  if (!t->lo || !t->extent || !t->pad) return tf_no_memory(w->base);
  for (int r = 0; r < t->rank; r++) {
    bool made = tf_is_made(t);
    t->lo[r] = made ? 0 : INT64_MAX;
    t->extent[r] = made ? tf_cut_extent(&w->cutting, t->producer, r) : INT64_MIN;
  }
  return true;
}

/* ---- the tensors section ------------------------------------------------------------ */
enum {
#define X(id, key, kinds, required, json, words) T_##id, /* VIEW: views.c reads it */
  TF_TENSOR_KEYS(X)
#undef X
      N_T
};
static const tf_yrow tensor_rows[N_T] = {TF_TENSOR_KEYS(TF_KEY_ROW)};

tf_keys tf_tensor_keys(void) { return (tf_keys){tensor_rows, N_T}; }

/* A list of whole numbers, at most TF_MAX_RANK; *n is what was read. */
static bool read_list(tf_wl_reader *w, const tf_ynode *list, const char *what, int64_t least,
                      int64_t *out) {
  bool ok = true;
  if (list->n > TF_MAX_RANK)
    return tf_fail(w->base->diags, list->at, TF_E_LIMIT, "more than %d numbers", TF_MAX_RANK);
  for (size_t i = 0; i < list->n; i++)
    ok = tf_read_int(w->base, list->items[i], what, least, INT64_MAX, &out[i]) && ok;
  return ok;
}

/* `density: 0.25`, `{n: 2, m: 4, dim: k}`, `{blocks: [4, 4], share: 0.25}`, `{band: [i, j], below:
 * 1, above: 1}` or
 * `{file: nonzeros.txt}`. */
#define X(id, key, kinds, required, json, words) D_##id,
enum { TF_DENSITY_KEYS(X) N_D };
enum { TF_TILES_KEYS(X) N_TILES };
enum { TF_BAND_KEYS(X) N_BAND };
enum { TF_LISTED_KEYS(X) N_LISTED };
#undef X
static const tf_yrow density_rows[N_D] = {TF_DENSITY_KEYS(TF_KEY_ROW)},
                     tiles_rows[N_TILES] = {TF_TILES_KEYS(TF_KEY_ROW)},
                     band_rows[N_BAND] = {TF_BAND_KEYS(TF_KEY_ROW)},
                     listed_rows[N_LISTED] = {TF_LISTED_KEYS(TF_KEY_ROW)};

static bool read_share(tf_wl_reader *w, const tf_ynode *node, double *share) {
  tf_value x;
  if (!tf_read_value(w->base, node, "density", &x)) return false;
  *share = x.f;
  if (x.f > 0 && x.f <= 1) return true;
  return tf_fail(
      w->base->diags, node->at, TF_E_RANGE,
      "'density' is %g, must be more than 0 and at most 1: the share of elements that are not zero",
      x.f);
}

static bool read_tiles(tf_wl_reader *w, const tf_ynode *node, tf_density *out) {
  const tf_ynode *v[N_TILES];
  bool ok = tf_yschema_check(node, tiles_rows, N_TILES, "a density of blocks", v, w->base->diags);
  out->fall = TF_FALL_TILES;
  out->tile = v[D_BLOCKS] ? TF_ARRAY(w->base->arena, int64_t, v[D_BLOCKS]->n + 1) : NULL;
  if (v[D_BLOCKS])
    ok = (out->tile ? read_list(w, v[D_BLOCKS], "blocks", 1, out->tile) : tf_no_memory(w->base)) &&
         ok;
  if (v[D_SHARE]) ok = read_share(w, v[D_SHARE], &out->share) && ok;
  return ok;
}

/* What is left out of both: which elements these are, which needs the tensor. */
static bool read_band(tf_wl_reader *w, const tf_ynode *node, int64_t *below, int64_t *above) {
  const tf_ynode *v[N_BAND];
  bool ok = tf_yschema_check(node, band_rows, N_BAND, "a band", v, w->base->diags);
  if (v[D_BELOW])
    ok = tf_read_int(w->base, v[D_BELOW], "below", -INT32_MAX, INT32_MAX, below) && ok;
  if (v[D_ABOVE])
    ok = tf_read_int(w->base, v[D_ABOVE], "above", -INT32_MAX, INT32_MAX, above) && ok;
  for (size_t i = 0; v[D_BAND] && i < v[D_BAND]->n; i++)
    ok = tf_yschema_kind(v[D_BAND]->items[i], TF_Y_SCALAR, "a dim of a band", w->base->diags) && ok;
  if (v[D_BAND] && v[D_BAND]->n != 2)
    return tf_fail(w->base->diags, v[D_BAND]->at, TF_E_RANK,
                   "'band' is a list of %zu, must be of 2 dims", v[D_BAND]->n);
  if (!ok || *below + *above >= 0) return ok;
  return tf_fail(w->base->diags, v[D_ABOVE]->at, TF_E_RANGE,
                 "'above' is %lld, below the band's other border, %lld", (long long)*above,
                 (long long)-*below);
}

static bool read_listed(tf_wl_reader *w, const tf_ynode *node) {
  const tf_ynode *v[N_LISTED];
  if (!tf_yschema_check(node, listed_rows, N_LISTED, "a density from a file", v, w->base->diags))
    return false;
  return v[D_FILE]->len > 0 ||
         tf_fail(w->base->diags, v[D_FILE]->at, TF_E_MISSING, "'file' needs the name of a file");
}

/* All but the ranks and elements, which need the tensor. */
static bool read_density(tf_wl_reader *w, const tf_ynode *node, tf_density *out) {
  const tf_ynode *v[N_D];
  int64_t below = 0, above = 0;
  if (node->kind == TF_Y_SCALAR) {
    out->fall = TF_FALL_UNIFORM;
    return read_share(w, node, &out->share);
  }
  if (tf_ymap_get(node, "blocks")) return read_tiles(w, node, out);
  out->fall = TF_FALL_KNOWN;
  out->share = 1;
  if (tf_ymap_get(node, "band")) return read_band(w, node, &below, &above);
  if (tf_ymap_get(node, "file")) return read_listed(w, node);
  bool ok = tf_yschema_check(node, density_rows, N_D, "a density", v, w->base->diags);
  if (v[D_N]) ok = tf_read_int(w->base, v[D_N], "n", 1, INT32_MAX, &out->n) && ok;
  if (v[D_M]) ok = tf_read_int(w->base, v[D_M], "m", 1, INT32_MAX, &out->m) && ok;
  if (ok && v[D_N] && out->n > out->m)
    ok = tf_fail(w->base->diags, v[D_N]->at, TF_E_RANGE, "'n' is %lld, must be at most 'm', %lld",
                 (long long)out->n, (long long)out->m);
  out->fall = TF_FALL_BLOCKS;
  out->share = ok ? (double)out->n / (double)out->m : 1;
  return ok;
}

/* `range: [least, most]`, whole numbers. */
static bool read_range(tf_wl_reader *w, const tf_ynode *list, int64_t of[2]) {
  if (list->n != 2)
    return tf_fail(w->base->diags, list->at, TF_E_RANK,
                   "'range' is a list of %zu, must be of 2: [least, most]", list->n);
  bool ok = true;
  for (int i = 0; i < 2; i++)
    ok = tf_read_int(w->base, list->items[i], "range", -INT32_MAX, INT32_MAX, &of[i]) && ok;
  if (!ok || of[0] <= of[1]) return ok;
  return tf_fail(w->base->diags, list->at, TF_E_RANGE,
                 "'range' begins with %lld, above %lld: [least, most]", (long long)of[0],
                 (long long)of[1]);
}

static bool read_row(tf_wl_reader *w, const tf_ynode *key, const tf_ynode *value,
                     const tf_ynode **v, int64_t *bits, int64_t *pad, int64_t *shape) {
  bool no_sign;
  if (!tf_yschema_kind(value, TF_Y_MAP, key->text, w->base->diags)) return false;
  bool ok = tf_yschema_check(value, tensor_rows, N_T, "a tensor", v, w->base->diags);
  if (v[T_BITS]) ok = tf_read_int(w->base, v[T_BITS], "word-bits", 1, 4096, bits) && ok;
  if (v[T_NO_SIGN]) ok = tf_read_bool(w->base, v[T_NO_SIGN], "unsigned", &no_sign) && ok;
  if (v[T_PAD]) ok = read_list(w, v[T_PAD], "pad", 0, pad) && ok;
  if (v[T_SHAPE]) ok = read_list(w, v[T_SHAPE], "shape", 1, shape) && ok;
  int64_t range[2];
  if (v[T_RANGE]) ok = read_range(w, v[T_RANGE], range) && ok;
  tf_density density = {0};
  if (v[T_DENSITY]) ok = read_density(w, v[T_DENSITY], &density) && ok;
  return ok;
}

void tf_read_tensor_rows(tf_wl_reader *w, const tf_ynode *tensors) {
  const tf_ynode *v[N_T];
  int64_t bits = 0, pad[TF_MAX_RANK], shape[TF_MAX_RANK];
  for (size_t i = 0; i < tensors->n; i++)
    if (!read_row(w, tensors->pairs[i].key, tensors->pairs[i].value, v, &bits, pad, shape)) fail(w);
}

static bool same_rank(tf_wl_reader *w, const tf_ynode *list, const tf_tensor *t) {
  if (list->n == (size_t)t->rank) return true;
  fail(w);
  tf_fail(w->base->diags, list->at, TF_E_RANK, "a list of %zu for '%.60s', which has rank %d",
          list->n, t->name, t->rank);
  tf_note(w->base->diags, t->at, "used here");
  return false;
}

static int find_named(tf_wl_reader *w, const tf_ynode *key) {
  int t = tf_find_tensor(w, key->text, key->len);
  if (t >= 0) return t;
  tf_near near = tf_near_start(key->text, key->len);
  char hint[80];
  for (int i = 0; i < w->wl->n_tensors; i++)
    tf_near_offer(&near, w->wl->tensors[i].name);
  fail(w);
  tf_fail(w->base->diags, key->at, TF_E_NAME, "no op uses a tensor '%.60s'%s", key->text,
          tf_near_text(&near, hint, sizeof hint));
  return -1;
}

/* Explicit extents.  With padding they begin where the unpadded reads begin, otherwise at 0. */
static void apply_shape(tf_wl_reader *w, const tf_ynode *node, tf_tensor *t, const int64_t *shape) {
  for (int r = 0; r < t->rank; r++) {
    bool made = tf_is_made(t);
    if (made && shape[r] != t->extent[r]) {
      fail(w);
      tf_fail(w->base->diags, node->items[r]->at, TF_E_RANGE,
              "'shape' is %lld, but what makes '%.60s' gives it %lld", (long long)shape[r], t->name,
              (long long)t->extent[r]);
      tf_note(w->base->diags, t->at, "made here");
    }
    if (made) continue;
    t->lo[r] = t->pad[r] > 0 ? t->lo[r] : 0;
    t->extent[r] = shape[r];
  }
}

/* The dim, as it is written, that indexes a rank alone, where the tensor is made, or else first
 * read; -1: none does. */
static int dim_of_rank(const tf_wl_reader *w, int z, int rank) {
  const tf_workload *wl = w->wl;
  const int maker = wl->tensors[z].producer;
  if (maker >= 0 && wl->ops[maker].out == z)
    return tf_cut_whole(&w->cutting, &w->left[maker].ref.index[rank]);
  for (int o = 0; o < wl->n_ops; o++)
    for (int i = 0; i < wl->ops[o].n_reads; i++) {
      const tf_ref *ref = &wl->ops[o].reads[i];
      if (ref->tensor != z) continue;
      return tf_cut_whole(&w->cutting, &ref->index[rank]);
    }
  return -1;
}

/* The rank that the dim indexes alone; -1 with an error. */
static int find_rank(tf_wl_reader *w, const tf_ynode *dim, int z) {
  tf_tensor *t = &w->wl->tensors[z];
  tf_near near = tf_near_start(dim->text, dim->len);
  char hint[80];
  for (int r = 0; r < t->rank; r++) {
    const int d = dim_of_rank(w, z, r);
    if (d < 0) continue;
    if (tf_ynode_is(dim, w->cutting.was[d].name)) return r;
    tf_near_offer(&near, w->cutting.was[d].name);
  }
  fail(w);
  tf_fail(w->base->diags, dim->at, TF_E_NAME, "no rank of '%.60s' is indexed by '%.60s' alone%s",
          t->name, dim->text, tf_near_text(&near, hint, sizeof hint));
  return -1;
}

static void apply_density(tf_wl_reader *w, const tf_ynode *node, int z) {
  tf_tensor *t = &w->wl->tensors[z];
  if (!read_density(w, node, &t->density)) fail(w);
  if (t->density.fall == TF_FALL_BLOCKS)
    t->density.rank = find_rank(w, tf_ymap_get(node, "dim"), z);
  if (t->density.fall == TF_FALL_TILES && !w->failed) same_rank(w, tf_ymap_get(node, "blocks"), t);
}

/* ---- elements that are known ---------------------------------------------------------- */
static bool check_even(tf_wl_reader *w, int z) {
  const tf_workload *wl = w->wl;
  const tf_tensor *t = &wl->tensors[z];
  bool *even = TF_ARRAY(w->base->arena, bool, (size_t)wl->n_ops);
  if (!even) return tf_no_memory(w->base);
  tf_even_ops(wl, even);
  for (int o = 0; o < wl->n_ops; o++)
    for (int i = 0; i < wl->ops[o].n_reads; i++) {
      const tf_ref *ref = &wl->ops[o].reads[i];
      if (ref->tensor != z) continue;
      if (!tf_is_plain(wl, t, ref))
        return tf_fail(w->base->diags, ref->at, TF_E_INDEX,
                       "it is known which elements of '%.60s' are zero: each rank must be a dim "
                       "alone, over all of it",
                       t->name);
      if (!even[o])
        return tf_fail(
            w->base->diags, ref->at, TF_E_INDEX,
            "it is known which elements of '%.60s' are zero, but not how often each is read: an "
            "operand is padded, or others read what is made by windows or in part",
            t->name);
    }
  tf_mask mask;
  if (!tf_mask_find(wl, w->base->arena, &mask)) return true;
  return tf_fail(w->base->diags, t->at, TF_E_SHAPE,
                 "it is known which elements of '%.60s' are zero, but not how many of the points "
                 "that the mask of '%.60s' leaves need them",
                 t->name, wl->ops[mask.op].name);
}

static bool fill_band(tf_wl_reader *w, const tf_ynode *node, const tf_band *b, tf_tensor *t) {
  if (!tf_band_rows(b, t))
    return tf_fail(w->base->diags, node->at, TF_E_LIMIT, "a band of more than %lld rows of '%.60s'",
                   (long long)TF_COORDINATES_MOST, t->name);
  if (!tf_band_fill(b, t, w->base->arena, &t->density)) return tf_no_memory(w->base);
  return t->density.n_runs > 0 || tf_fail(w->base->diags, node->at, TF_E_RANGE,
                                          "no element of '%.60s' lies in the band", t->name);
}

static bool find_band(tf_wl_reader *w, const tf_ynode *node, int z) {
  const tf_ynode *dims = tf_ymap_get(node, "band");
  int64_t below, above;
  const int i = find_rank(w, dims->items[0], z), j = find_rank(w, dims->items[1], z);
  if (i < 0 || j < 0 || !read_band(w, node, &below, &above)) return false;
  if (i == j)
    return tf_fail(w->base->diags, dims->items[1]->at, TF_E_DUP,
                   "'%.60s' twice: a band has two dims", dims->items[1]->text);
  const tf_band b = i < j ? (tf_band){i, j, below, above} : (tf_band){j, i, above, below};
  return fill_band(w, node, &b, &w->wl->tensors[z]);
}

/* A file is looked for beside the one that names it. */
static bool find_listed(tf_wl_reader *w, const tf_ynode *name, tf_tensor *t) {
  const char *by = tf_diags_file_name(w->base->diags, name->at.file),
             *slash = by ? strrchr(by, '/') : NULL;
  const size_t folder = slash && name->text[0] != '/' ? (size_t)(slash - by) + 1 : 0,
               room = folder + name->len + 3;
  char *path = tf_arena_alloc(w->base->arena, room);
  if (!path) return tf_no_memory(w->base);
  snprintf(path, room, "%.*s%s%s", (int)folder, folder ? by : "",
           strcmp(name->text, "-") != 0 ? "" : "./", name->text);
  return tf_coordinates_read(path, t, w->base->arena, &t->density, w->base->diags) ||
         (tf_note(w->base->diags, name->at, "named here"), false);
}

static bool find_known(tf_wl_reader *w, const tf_ynode *density, int z) {
  if (!check_even(w, z)) return false;
  const tf_ynode *file = tf_ymap_get(density, "file");
  return file ? find_listed(w, file, &w->wl->tensors[z]) : find_band(w, density, z);
}

static void check_tiles(tf_wl_reader *w, const tf_ynode *list, const tf_tensor *t) {
  for (int r = 0; r < t->rank; r++) {
    if (t->extent[r] % t->density.tile[r] == 0) continue;
    fail(w);
    tf_fail(w->base->diags, list->items[r]->at, TF_E_RANGE,
            "blocks of %lld must divide the %lld elements of '%.60s' along rank %d",
            (long long)t->density.tile[r], (long long)t->extent[r], t->name, r);
  }
}

/* Blocks must fill their rank; what is known of elements is found.  needs: extents. */
static void check_density(tf_wl_reader *w, const tf_ynode *key, const tf_ynode *row) {
  const tf_ynode *density = tf_ymap_get(row, "density");
  const int z = tf_find_tensor(w, key->text, key->len);
  if (!density || z < 0) return;
  const tf_tensor *t = &w->wl->tensors[z];
  if (t->density.fall == TF_FALL_TILES) check_tiles(w, tf_ymap_get(density, "blocks"), t);
  if (t->density.fall == TF_FALL_KNOWN && !w->failed && !find_known(w, density, z)) fail(w);
  if (t->density.fall != TF_FALL_BLOCKS || t->extent[t->density.rank] % t->density.m == 0) return;
  fail(w);
  tf_fail(w->base->diags, tf_ymap_get(density, "m")->at, TF_E_RANGE,
          "'m' is %lld, must divide the %lld elements of '%.60s' along '%.60s'",
          (long long)t->density.m, (long long)t->extent[t->density.rank], t->name,
          tf_ymap_get(density, "dim")->text);
}

/* Padding lies around a rank; one that is made in parts has none of its own. */
static void check_pad(tf_wl_reader *w, const tf_ynode *node, const tf_tensor *t, int rank,
                      int64_t pad) {
  if (pad == 0 || !tf_is_made(t) || w->left[t->producer].n_parts[rank] < 2) return;
  fail(w);
  tf_fail(w->base->diags, node->at, TF_E_INDEX,
          "'%.60s' is made in parts along this rank, and cannot be padded there", t->name);
  tf_note(w->base->diags, t->at, "made here");
}

/* What elements of that width cannot be is no promise, but a mistake. */
static void apply_range(tf_wl_reader *w, const tf_ynode *list, tf_tensor *t) {
  int64_t of[2];
  if (!read_range(w, list, of)) return;
  const bool bytes = t->word_bits <= 8 && !tf_is_made(t);
  const int64_t first = t->no_sign ? 0 : -((int64_t)1 << (t->word_bits - 1)),
                last = ((int64_t)1 << (t->word_bits - !t->no_sign)) - 1;
  t->ranged = true, t->least = of[0], t->most = of[1];
  for (int i = 0; i < 2 && bytes; i++) {
    if (of[i] >= first && of[i] <= last) continue;
    fail(w);
    tf_fail(w->base->diags, list->items[i]->at, TF_E_RANGE,
            "'range' has %lld: elements of %d bits%s are %lld to %lld", (long long)of[i],
            t->word_bits, t->no_sign ? " that are unsigned" : "", (long long)first,
            (long long)last);
  }
}

static void apply_row(tf_wl_reader *w, const tf_ynode *key, const tf_ynode *value, bool *shaped) {
  const tf_ynode *v[N_T];
  int no = find_named(w, key);
  if (no < 0) return;
  tf_tensor *t = &w->wl->tensors[no];
  int64_t bits = t->word_bits, pad[TF_MAX_RANK], shape[TF_MAX_RANK];
  if (!read_row(w, key, value, v, &bits, pad, shape)) return;
  t->word_bits = (int)bits;
  t->says_bits = v[T_BITS] != NULL;
  if (v[T_NO_SIGN]) tf_read_bool(w->base, v[T_NO_SIGN], "unsigned", &t->no_sign);
  if (v[T_RANGE]) apply_range(w, v[T_RANGE], t);
  if (v[T_DENSITY]) apply_density(w, v[T_DENSITY], no);
  if (v[T_PAD] && same_rank(w, v[T_PAD], t))
    for (int r = 0; r < t->rank; r++) {
      check_pad(w, v[T_PAD]->items[r], t, r, pad[r]);
      t->pad[r] = pad[r];
      if (!tf_is_made(t) && !tf_add(t->lo[r], pad[r], &t->lo[r])) fail(w);
    }
  if (v[T_VIEW] && !v[T_SHAPE]) {
    fail(w);
    tf_fail(w->base->diags, v[T_VIEW]->at, TF_E_MISSING, "a view needs its extents: 'shape'");
  }
  if (!v[T_SHAPE] || !same_rank(w, v[T_SHAPE], t)) return;
  apply_shape(w, v[T_SHAPE], t, shape);
  shaped[no] = true;
}

/* ---- sizes -------------------------------------------------------------------------- */
/* An input without a shape covers what its reads span, less the pad at both ends. */
static void close_span(tf_wl_reader *w, tf_tensor *t) {
  for (int r = 0; r < t->rank; r++) {
    int64_t last, n;
    bool fits =
        tf_sub(t->extent[r], t->pad[r], &last) && tf_sub(last, t->lo[r], &n) && tf_add(n, 1, &n);
    if (fits && n >= 1) {
      t->extent[r] = n;
      continue;
    }
    fail(w);
    tf_fail(w->base->diags, t->at, TF_E_RANGE,
            fits ? "index %d of '%.60s' reads nothing but its pad"
                 : "index %d of '%.60s' spans more than 2^63 - 1",
            r + 1, t->name);
    return;
  }
}

static void check_size(tf_wl_reader *w, const tf_tensor *t) {
  int64_t n = 1;
  for (int r = 0; r < t->rank; r++) {
    int64_t end;
    bool fits = tf_mul(n, t->extent[r], &n) && tf_add(t->lo[r], t->extent[r], &end) &&
                tf_add(end, t->pad[r], &end) && tf_sub(t->lo[r], t->pad[r], &end);
    if (fits) continue;
    fail(w);
    tf_fail(w->base->diags, t->at, TF_E_RANGE, "tensor '%.60s' has more than 2^63 - 1 words",
            t->name);
    return;
  }
}

static void check_points(tf_wl_reader *w, const tf_op *op) {
  int64_t n = 1;
  for (int i = 0; i < op->n_dims; i++) {
    if (tf_mul(n, w->wl->dims[op->dims[i]].extent, &n)) continue;
    fail(w);
    tf_fail(w->base->diags, op->at, TF_E_RANGE, "op '%.60s' has more than 2^63 - 1 points",
            op->name);
    return;
  }
}

/* Reads must stay in the tensor and its padding; those of an input without a shape do by
 * construction. */
static void check_inside(tf_wl_reader *w, reading x, tf_tensor *t) {
  int64_t lo, hi;
  if (!range_of(w, x, &lo, &hi)) return;
  int64_t first = t->lo[x.rank] - t->pad[x.rank];
  int64_t last = t->lo[x.rank] + t->extent[x.rank] - 1 + t->pad[x.rank];
  if (lo >= first && hi <= last) return;
  fail(w);
  tf_fail(w->base->diags, loc_of(w, x), TF_E_INDEX,
          "reads %lld .. %lld of '%.60s', which holds %lld .. %lld%s", (long long)lo, (long long)hi,
          t->name, (long long)first, (long long)last, t->pad[x.rank] ? " with its pad" : "");
  bool made = tf_is_made(t);
  tf_note(w->base->diags, t->at, made ? "made here" : "first read here");
}

static void check_dims_used(tf_wl_reader *w) {
  bool used[TF_MAX_DIMS] = {false};
  const tf_workload *wl = w->wl;
  for (int o = 0; o < wl->n_ops; o++)
    for (int i = 0; i < wl->ops[o].n_dims; i++)
      used[wl->ops[o].dims[i]] = true;
  for (int i = 0; i < wl->n_dims; i++) {
    if (used[i]) continue;
    fail(w);
    tf_fail(w->base->diags, wl->dims[i].at, TF_E_NAME, "dim '%.60s' is used by no op",
            wl->dims[i].name);
  }
}

void tf_tensor_facts(tf_wl_reader *w, const tf_ynode *tensors) {
  tf_workload *wl = w->wl;
  bool *shaped = TF_ARRAY(w->base->arena, bool, (size_t)wl->n_tensors);
  w->failed = !shaped && !tf_no_memory(w->base);
  for (int t = 0; t < wl->n_tensors && !w->failed; t++)
    w->failed = !new_tensor_ranges(w, &wl->tensors[t]);
  if (w->failed) return;
  each_reading(w, widen);
  for (size_t i = 0; tensors && i < tensors->n; i++)
    apply_row(w, tensors->pairs[i].key, tensors->pairs[i].value, shaped);
  check_dims_used(w);
  if (w->failed) return;
  for (int t = 0; t < wl->n_tensors; t++)
    if (!tf_is_made(&wl->tensors[t]) && !shaped[t]) close_span(w, &wl->tensors[t]);
  if (w->failed) return;
  for (int t = 0; t < wl->n_tensors; t++)
    check_size(w, &wl->tensors[t]);
  for (int o = 0; o < wl->n_ops; o++)
    check_points(w, &wl->ops[o]);
  for (size_t i = 0; tensors && i < tensors->n; i++)
    check_density(w, tensors->pairs[i].key, tensors->pairs[i].value);
  if (!w->failed) each_reading(w, check_inside);
  if (!w->failed && tensors) tf_close_views(w, tensors);
}
