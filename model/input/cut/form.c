#include "model/input/cut/form.h"

#include "base/checked.h"

bool tf_form_add_term(tf_affine *a, int var, int64_t coef) {
  int at = 0;
  while (at < a->n && a->term[at].dim != var)
    at++;
  if (at == a->n && a->n == TF_FORM_TERMS) return false;
  if (at == a->n) a->term[a->n++] = (tf_term){var, 0};
  return tf_add(a->term[at].coef, coef, &a->term[at].coef);
}

bool tf_form_add(tf_affine *a, const tf_affine *b, int64_t factor) {
  int64_t k;
  if (!tf_mul(b->c, factor, &k) || !tf_add(a->c, k, &a->c)) return false;
  for (int i = 0; i < b->n; i++)
    if (!tf_mul(b->term[i].coef, factor, &k) || !tf_form_add_term(a, b->term[i].dim, k))
      return false;
  return true;
}

bool tf_form_scale(tf_affine *a, int64_t factor) {
  bool fits = tf_mul(a->c, factor, &a->c);
  for (int i = 0; i < a->n && fits; i++)
    fits = tf_mul(a->term[i].coef, factor, &a->term[i].coef);
  return fits;
}

bool tf_form_constant(const tf_affine *a) {
  for (int i = 0; i < a->n; i++)
    if (a->term[i].coef != 0) return false;
  return true;
}

bool tf_form_keep(const tf_affine *a, tf_arena *arena, tf_index *out) {
  *out = (tf_index){.terms = TF_ARRAY(arena, tf_term, (size_t)a->n), .c = a->c};
  for (int i = 0; i < a->n && out->terms; i++)
    if (a->term[i].coef != 0) out->terms[out->n_terms++] = a->term[i];
  return out->terms != NULL;
}
