/* Views: tensors whose words are another's, in their order, under other coordinates.  They stand
 * between the groups of a network, where what is passed on lies whole in the outermost memory:
 * nothing moves. */
#include "base/locale.h"
#include "base/names.h"
#include "model/input/workload_read.h"

static const tf_ynode *view_named(const tf_ypair *row) {
  const tf_ynode *of = row->value->kind == TF_Y_MAP ? tf_ymap_get(row->value, "view") : NULL;
  return of && of->kind == TF_Y_SCALAR ? of : NULL; /* else reported where rows are read */
}

static bool link(tf_wl_reader *w, const tf_ynode *key, const tf_ynode *of) {
  tf_workload *wl = w->wl;
  tf_diags *d = w->base->diags;
  const int t = tf_find_tensor(w, key->text, key->len), z = tf_find_tensor(w, of->text, of->len);
  char hint[80];
  tf_near near = tf_near_start(of->text, of->len);
  if (t < 0) return true; /* reported with the other rows */
  if (z < 0) {
    for (int i = 0; i < wl->n_tensors; i++)
      if (wl->tensors[i].producer >= 0) tf_near_offer(&near, wl->tensors[i].name);
    return tf_fail(d, of->at, TF_E_NAME, "no op uses a tensor '%.60s'%s", of->text,
                   tf_near_text(&near, hint, sizeof hint));
  }
  if (wl->tensors[z].producer < 0 || wl->tensors[z].view_of)
    return tf_fail(d, of->at, TF_E_OUTPUT, "a view is of what an op makes; no op makes '%.60s'",
                   of->text);
  if (wl->tensors[t].producer >= 0) {
    tf_fail(d, of->at, TF_E_OUTPUT, "'%.60s' is a view, and an op makes it", key->text);
    tf_note(d, wl->tensors[t].at, "made here");
    return false;
  }
  wl->tensors[t].view_of = z + 1;
  return true;
}

void tf_link_views(tf_wl_reader *w, const tf_ynode *tensors) {
  tf_workload *wl = w->wl;
  if (tensors->kind != TF_Y_MAP) return;
  for (size_t i = 0; i < tensors->n; i++) {
    const tf_ynode *of = view_named(&tensors->pairs[i]);
    if (of && !link(w, tensors->pairs[i].key, of)) w->failed = true;
  }
  for (int t = 0; t < wl->n_tensors; t++)
    if (wl->tensors[t].view_of)
      wl->tensors[t].producer = wl->tensors[wl->tensors[t].view_of - 1].producer;
}

static bool has(const int *list, int n, int x) {
  for (int i = 0; i < n; i++)
    if (list[i] == x) return true;
  return false;
}

/* Whoever reads the view is among the consumers of what it is a view of: each once, in op order. */
static bool add_consumers(tf_wl_reader *w, const tf_tensor *view) {
  tf_tensor *z = &w->wl->tensors[view->view_of - 1];
  int *all = TF_ARRAY(w->base->arena, int, (size_t)z->n_consumers + (size_t)view->n_consumers);
  int n = 0;
  if (!all) return tf_no_memory(w->base);
  for (int o = 0; o < w->wl->n_ops; o++)
    if (has(z->consumers, z->n_consumers, o) || has(view->consumers, view->n_consumers, o))
      all[n++] = o;
  z->consumers = all;
  z->n_consumers = n;
  return true;
}

void tf_close_views(tf_wl_reader *w, const tf_ynode *tensors) {
  for (size_t i = 0; i < tensors->n; i++) {
    const tf_ynode *key = tensors->pairs[i].key, *of = view_named(&tensors->pairs[i]);
    tf_tensor *t = of ? &w->wl->tensors[tf_find_tensor(w, key->text, key->len)] : NULL;
    if (!t || !t->view_of) continue;
    const tf_tensor *z = &w->wl->tensors[t->view_of - 1];
    const bool same = tf_tensor_words(t) == tf_tensor_words(z) && t->word_bits == z->word_bits;
    if (!same)
      tf_fail(w->base->diags, of->at, TF_E_RANGE,
              "a view of %lld words of %d bits of '%.60s', which has %lld of %d",
              (long long)tf_tensor_words(t), t->word_bits, z->name, (long long)tf_tensor_words(z),
              z->word_bits);
    if (!same || !add_consumers(w, t)) w->failed = true;
  }
}

bool tf_no_views(const tf_workload *wl, tf_diags *d) {
  TF_IN_C_LOCALE;
  for (int t = 0; t < wl->n_tensors; t++)
    if (wl->tensors[t].view_of)
      return tf_fail(d, wl->tensors[t].at, TF_E_INDEX,
                     "'%.60s' is a view of '%.60s': views stand between the groups of a network "
                     "(tileflow plan), within none of them",
                     wl->tensors[t].name, wl->tensors[wl->tensors[t].view_of - 1].name);
  return true;
}
