/* The space of schedules, with the interface that every strategy knows (search/common/space.h). */
#include <stdlib.h>
#include <string.h>

#include "model/tree/build.h"
#include "tune/space/schedules.h"

static const char *const form_names[] = {"whole", "stream", "parts", "outside", "far", "plain"};
_Static_assert(sizeof form_names / sizeof *form_names == TF_N_TEMPLATES + 1,
               "a name for each template, and for the plain form");

static void begin(tf_space *space) { ((tune_space *)space)->dead = false; }

/* The index of decision i among the knobs of the chosen form; -1: it belongs to another form. */
static int knob_of(const tune_space *s, int i) {
  const tune_form *f = &s->form[s->space.chosen[TUNE_FORM]];
  return i >= f->first && i < f->first + f->s->n_knobs ? i - f->first : -1;
}

static int domain(tf_space *space, int i, int32_t *out) {
  tune_space *s = (tune_space *)space;
  int64_t value[TF_DOMAIN_MAX];
  int n = 0, of = i == TUNE_FORM ? s->n_forms : i == TUNE_ISA ? s->n_isas : 0;
  if (s->dead) return 0;
  for (; n < of; n++)
    out[n] = n;
  if (of) return n;
  const int k = knob_of(s, i);
  out[0] = 0;
  if (k < 0) return 1;
  const tune_form *f = &s->form[space->chosen[TUNE_FORM]];
  n = csp_values(f->s, &f->stack[k], f->s->knob[k], TF_DOMAIN_MAX, value);
  for (int j = 0; j < n; j++)
    out[j] = (int32_t)value[j];
  return n < 0 ? 0 : n;
}

static void take(tf_space *space, int i, int32_t choice) {
  tune_space *s = (tune_space *)space;
  space->chosen[i] = choice;
  const int k = i < TUNE_FIRST ? -1 : knob_of(s, i);
  if (k < 0 || s->dead) return;
  tune_form *f = &s->form[space->chosen[TUNE_FORM]];
  csp_state_copy(f->s, &f->stack[k + 1], &f->stack[k]);
  s->dead = !csp_fix(f->s, &f->stack[k + 1], f->s->knob[k], choice);
}

/* A neighbour in a random direction. */
static void vary(tf_space *space, tf_rng *rng, const uint32_t *order, int32_t *row) {
  enum { TRIES = 64 };
  tune_space *s = (tune_space *)space;
  const int n = tune_directions(s);
  int32_t *to = malloc((size_t)space->n * sizeof *to);
  (void)order;
  for (int k = 0; to && k < TRIES; k++)
    if (tune_step(s, row, (int)tf_rng_below(rng, (uint32_t)n), to)) {
      memcpy(row, to, (size_t)space->n * sizeof *row);
      break;
    }
  free(to);
}

static const tf_space_kind kind = {.begin = begin, .domain = domain, .take = take, .vary = vary};

/* Copies errors of one text to the same text under another file number. */
static void copy_errors(const tf_diags *from, uint16_t file, tf_diags *to) {
  for (size_t i = 0; i < tf_diags_count(from); i++) {
    const tf_diag *x = tf_diags_at(from, i);
    tf_loc at = x->at;
    at.file = file;
    if (x->note)
      tf_note(to, at, "%s", x->msg);
    else
      tf_fail(to, at, x->code, "%s", x->msg);
  }
}

static void over_mesh(const tune_space *s, tf_build *b, int level, const tf_op *op) {
  const int64_t *mesh =
      level + 1 < s->arch->n_memories ? s->arch->memories[level + 1].mesh : s->arch->units[0].mesh;
  for (int axis = 0; axis < 2 && op->n_out_dims; axis++)
    if (mesh[axis] > 1)
      tf_build_loop(b, (tf_loop){.dim = op->dims[op->n_out_dims - 1],
                                 .axis = axis ? TF_SPATIAL_Y : TF_SPATIAL_X});
}

/* An op's own Tiles: every loop at every memory, spread along the output's last dim. */
static void plain_op(const tune_space *s, tf_build *b, int parent, int o) {
  const tf_op *op = &s->wl->ops[o];
  for (int l = s->wl->n_ops > 1; l < s->arch->n_memories; l++) {
    parent = tf_build_tile(b, parent, l);
    for (int k = 0; k < op->n_dims; k++)
      tf_build_loop(b, (tf_loop){.dim = op->dims[k], .axis = TF_TEMPORAL});
    over_mesh(s, b, l, op);
  }
  tf_build_op(b, parent, o);
}

/* The form for what no template fits, as ops that share no loop: one op after the other,
 * intermediates in the outermost memory. */
static tf_tree *plain(const tune_space *s) {
  tf_build *b = s->arch->n_memories > 1 ? tf_build_new(s->arch, s->wl, NULL) : NULL;
  int parent = -1;
  if (b && s->wl->n_ops > 1) parent = tf_build_scope(b, tf_build_tile(b, -1, 0), TF_SEQ);
  for (int i = 0; b && i < s->wl->n_ops; i++)
    plain_op(s, b, parent, s->wl->topo[i]);
  return tf_build_tree(b);
}

static tf_tree *tree_of(const tune_space *s, int form) {
  if (form < TF_N_TEMPLATES) return tf_search_template(s->arch, s->wl, (tf_template)form);
  return s->n_forms == 0 ? plain(s) : NULL;
}

/* Finds the forms that suit the workload and the constraints; returns the total number of
 * decisions. */
static int find_forms(tune_space *s, const tf_text *more, tf_diags *d) {
  int n = TUNE_FIRST;
  s->n_trees = 0;
  const uint16_t file = more ? tf_diags_add_file(d, more->name, more->text, more->len) : 0;
  for (int t = 0; t <= TF_N_TEMPLATES; t++) {
    tune_form *f = &s->form[s->n_forms];
    tf_diags *aside = tf_diags_new(); /* an error for one form may be none for another */
    const uint16_t at =
        aside && more ? tf_diags_add_file(aside, more->name, more->text, more->len) : 0;
    *f = (tune_form){.name = form_names[t], .first = n, .tree = tree_of(s, t)};
    s->n_trees += f->tree != NULL;
    const int decisions =
        f->tree && aside ? tune_form_system(f, s, &(tune_more){more, at, aside}) : -1;
    if (decisions >= 0) {
      n += decisions;
      s->n_forms++;
    } else {
      if (more && aside && tf_diags_errors(d) == 0) copy_errors(aside, file, d);
      tf_tree_free(f->tree);
      f->tree = NULL;
    }
    tf_diags_free(aside);
  }
  return n;
}

/* The feature of a knob of that name in a form before; -1: none has it. */
static int feature_of(const tune_space *s, int before, const char *name) {
  for (int f = 0; f < before; f++) {
    const csp *x = s->form[f].s;
    for (int k = 0; k < x->n_knobs; k++)
      if (!strcmp(x->var[x->knob[k]].name, name)) return s->form[f].feature[k];
  }
  return -1;
}

/* Numbers the features: first form and instruction set, then names of knobs. */
static bool name_features(tune_space *s) {
  s->n_features = TUNE_FIRST;
  for (int f = 0; f < s->n_forms; f++) {
    tune_form *x = &s->form[f];
    x->feature = TF_ARRAY(s->arena, int, (size_t)x->s->n_knobs + 1);
    for (int k = 0; x->feature && k < x->s->n_knobs; k++) {
      const int known = feature_of(s, f, x->s->var[x->s->knob[k]].name);
      x->feature[k] = known < 0 ? s->n_features++ : known;
    }
    if (!x->feature) return false;
  }
  return true;
}

/* The memory of the fewest words; NULL: none has a limit. */
static const tf_memory *smallest(const tf_arch *a) {
  const tf_memory *out = NULL;
  for (int l = 1; l < a->n_memories; l++)
    if (a->memories[l].capacity_words >= 0 &&
        (!out || a->memories[l].capacity_words < out->capacity_words))
      out = &a->memories[l];
  return out;
}

/* Why no form is left. */
static void say_why(const tune_space *s, const tf_text *more, tf_diags *d) {
  const char *wl = s->wl->name ? s->wl->name : "the workload",
             *arch = s->arch->name ? s->arch->name : "the architecture";
  const tf_memory *small = smallest(s->arch);
  if (s->arch->n_memories == 1)
    tf_fail(d, s->arch->at, TF_E_SHAPE,
            "a schedule has tiles for inner memories, and %.60s has one memory", arch);
  else if (s->n_trees == 0)
    tf_fail(d, s->wl->at, TF_E_SHAPE, "the ops of %.60s fit none of the forms of a schedule", wl);
  else if (more)
    tf_fail(d, s->wl->at, TF_E_SHAPE,
            "the constraints of '%.100s' leave no schedule of %.60s on %.60s", more->name, wl,
            arch);
  else if (small)
    tf_fail(d, s->wl->at, TF_E_SHAPE,
            "no schedule of %.60s fits %.60s: the smallest tiles of every form need more words "
            "than its memories hold; %.40s, the smallest, holds %lld",
            wl, arch, small->name, (long long)small->capacity_words);
  else
    tf_fail(d, s->wl->at, TF_E_SHAPE,
            "no tiles of %.60s spread over the instances and units of %.60s", wl, arch);
}

tune_space *tune_space_new(const tf_arch *arch, const tf_workload *wl, int n_isas,
                           const char *const *isas, const tf_text *more, tf_diags *d) {
  tf_arena *a = tf_arena_new();
  tune_space *s = TF_NEW(a, tune_space);
  tf_diags *wrong = tf_diags_new();
  if (!s || !wrong) {
    tf_arena_free(a);
    tf_diags_free(wrong);
    tf_out_of_memory_at(d, wl->at);
    return NULL;
  }
  *s = (tune_space){.arena = a, .arch = arch, .wl = wl, .n_isas = n_isas, .isa = isas};
  const int n = find_forms(s, more, wrong);
  s->space = (tf_space){.kind = &kind, .n = n, .chosen = TF_ARRAY(a, int32_t, (size_t)n)};
  const bool ok = s->n_forms && s->space.chosen && name_features(s) && !tf_arena_failed(a);
  if (!ok && tf_arena_failed(a))
    tf_out_of_memory_at(d, wl->at);
  else if (!ok && tf_diags_errors(wrong))
    copy_errors(wrong, tf_diags_add_file(d, more->name, more->text, more->len), d);
  else if (!ok)
    say_why(s, more, d);
  tf_diags_free(wrong);
  if (ok) return s;
  tune_space_free(s);
  return NULL;
}

void tune_space_free(tune_space *s) {
  if (!s) return;
  for (int k = 0; k < s->n_forms; k++)
    tf_tree_free(s->form[k].tree);
  tf_arena_free(s->arena);
}
