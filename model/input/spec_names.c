/* What the readers of all sections use: small readers, tensors and dims by their names. */
#include <string.h>

#include "base/names.h"
#include "base/utf8.h"
#include "model/input/workload_read.h"

bool tf_no_memory(const tf_reader *r) { return tf_out_of_memory(r->diags); }

const char *tf_read_name(tf_reader *r, const tf_ynode *node, const char *what, bool dashes) {
  if (tf_is_name(node->text, node->len, dashes)) return node->text;
  tf_fail(r->diags, node->at, TF_E_SYNTAX, "'%.60s' cannot name %s: a letter or _, then %s",
          node->text, what, dashes ? "letters, digits, _ - ." : "letters, digits and _");
  return NULL;
}

/* One line, of what moves no cursor: reports print it as it is. */
static bool is_shown(const char *text, size_t len) {
  for (size_t i = 0, n; i < len; i += n) {
    uint32_t code;
    n = tf_utf8_next(text + i, text + len, &code);
    if (n == 0 || !tf_printable(code)) return false;
  }
  return true;
}

const char *tf_read_title(tf_reader *r, const tf_ynode *node) {
  if (node->len > 0 && is_shown(node->text, node->len)) return node->text;
  tf_fail(r->diags, node->at, TF_E_SYNTAX,
          node->len ? "a name is one line without control characters" : "'name' needs a text");
  return NULL;
}

/* ---- tensors by name ---------------------------------------------------------------- */
enum { BUCKETS = 1024 };

static unsigned bucket_of(const char *s, size_t len) {
  uint32_t h = 2166136261u; /* FNV-1a */
  for (size_t i = 0; i < len; i++)
    h = (h ^ (unsigned char)s[i]) * 16777619u;
  return h % BUCKETS;
}

int tf_find_tensor(const tf_wl_reader *w, const char *name, size_t len) {
  if (!w->buckets) return -1;
  for (int t = w->buckets[bucket_of(name, len)] - 1; t >= 0; t = w->next[t] - 1) {
    const char *have = w->wl->tensors[t].name;
    if (strlen(have) == len && memcmp(have, name, len) == 0) return t;
  }
  return -1;
}

static bool grow_tensors(tf_wl_reader *w) {
  tf_workload *wl = w->wl;
  if (!w->buckets) w->buckets = TF_ARRAY(w->base->arena, int, BUCKETS);
  if (wl->n_tensors < w->tensors_room) return true;
  int room = w->tensors_room ? w->tensors_room * 2 : 16;
  tf_tensor *t = TF_ARRAY(w->base->arena, tf_tensor, (size_t)room);
  int *next = TF_ARRAY(w->base->arena, int, (size_t)room);
  if (!t || !next || !w->buckets) return tf_no_memory(w->base);
  if (wl->n_tensors) {
    memcpy(t, wl->tensors, (size_t)wl->n_tensors * sizeof *t);
    memcpy(next, w->next, (size_t)wl->n_tensors * sizeof *next);
  }
  wl->tensors = t;
  w->next = next;
  w->tensors_room = room;
  return true;
}

int tf_use_tensor(tf_wl_reader *w, const char *name, size_t len, int rank, tf_loc at) {
  tf_workload *wl = w->wl;
  int t = tf_find_tensor(w, name, len);
  if (t >= 0) return t;
  if (wl->n_tensors == TF_MAX_TENSORS) {
    tf_fail(w->base->diags, at, TF_E_LIMIT, "more than %d tensors", TF_MAX_TENSORS);
    return -1;
  }
  char *copy = tf_arena_strndup(w->base->arena, name, len);
  if (!copy || !grow_tensors(w)) return -1;
  t = wl->n_tensors++;
  unsigned b = bucket_of(name, len);
  wl->tensors[t] = (tf_tensor){.name = copy,
                               .at = at,
                               .rank = rank,
                               .word_bits = w->arch ? w->arch->word_bits : 16,
                               .producer = -1};
  w->next[t] = w->buckets[b];
  w->buckets[b] = t + 1;
  return t;
}

int tf_find_dim(const tf_workload *wl, const char *name, size_t len) {
  for (int i = 0; i < wl->n_dims; i++)
    if (strlen(wl->dims[i].name) == len && memcmp(wl->dims[i].name, name, len) == 0) return i;
  return -1;
}

int64_t tf_tensor_words(const tf_tensor *z) {
  int64_t n = 1;
  for (int r = 0; r < z->rank; r++)
    n *= z->extent[r];
  return n;
}
