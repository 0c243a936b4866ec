/* Params: named numbers that may refer to each other in any order. */
#include <string.h>

#include "base/names.h"
#include "model/spec/number.h"

typedef enum { WAITING, ACTIVE, FAILED, KNOWN } state;

typedef struct {
  const char *name;
  tf_loc at;
  const tf_ynode *text; /* what evaluates to its value, from byte `off` on */
  size_t off;
  bool set; /* by a setting */
  state state;
  tf_value value;
  int caller; /* ACTIVE: the param whose evaluation asked for it, -1: none */
} param;

struct tf_params {
  size_t n;
  param *all;
  int current; /* innermost one in evaluation, -1: none */
};

static param *find(const tf_params *p, const char *name, size_t len) {
  for (size_t i = 0; i < p->n; i++)
    if (strlen(p->all[i].name) == len && memcmp(p->all[i].name, name, len) == 0)
      return &p->all[i];
  return NULL;
}

const char *tf_param_name(const tf_params *p, size_t i) {
  return i < p->n ? p->all[i].name : NULL;
}

bool tf_param_find(const tf_params *p, const char *name, tf_loc *at) {
  const param *q = find(p, name, strlen(name));
  if (q) *at = q->at;
  return q != NULL;
}

static bool fail_cycle(tf_reader *r, const param *again, tf_lex *from) {
  const tf_params *p = r->params;
  tf_fail(r->diags, tf_lex_at(from), TF_E_CYCLE, "param '%.60s' is defined by itself",
          again->name);
  int notes = 0;
  for (int i = p->current; i >= 0 && &p->all[i] != again && notes < 8; i = p->all[i].caller) {
    tf_note(r->diags, p->all[i].at, "through param '%.60s'", p->all[i].name);
    notes++;
  }
  return false;
}

/* "?" waits for a setting. */
static bool read_value(tf_reader *r, param *q) {
  if (strcmp(q->text->text + q->off, "?") == 0)
    return tf_fail(r->diags, q->text->at, TF_E_OPEN, "param '%.60s' is open: give it with --set %.60s=VALUE", q->name, q->name);
  tf_lex x = tf_lex_start(q->text, q->off, r->diags);
  bool ok = tf_parse_number(r, &x, &q->value);
  return ok && x.tok.kind != TF_T_END ? tf_lex_fail(&x, "an operator or the end") : ok;
}

/* Evaluates the text of a param that is waiting. */
static void evaluate(tf_reader *r, param *q) {
  tf_params *p = r->params;
  q->state = ACTIVE;
  q->caller = p->current;
  p->current = (int)(q - p->all);
  q->state = read_value(r, q) ? KNOWN : FAILED;
  p->current = q->caller;
}

tf_param_state tf_param_value(tf_reader *r, const char *name, size_t len, tf_lex *from,
                              tf_value *out) {
  param *q = find(r->params, name, len);
  if (!q) return TF_PARAM_UNKNOWN;
  if (q->state == WAITING) evaluate(r, q);
  if (q->state == ACTIVE) {
    fail_cycle(r, q, from);
    q->state = FAILED;
  }
  *out = q->value;
  return q->state == KNOWN ? TF_PARAM_KNOWN : TF_PARAM_FAILED;
}

/* "NAME=VALUE" as a file of its own, so that messages can point into it. */
static const tf_ynode *setting_node(tf_reader *r, const tf_setting *s) {
  size_t name = strlen(s->name), value = strlen(s->value);
  char *text = tf_arena_alloc(r->arena, name + value + 2);
  tf_ynode *n = TF_NEW(r->arena, tf_ynode);
  if (!text || !n) return NULL;
  memcpy(text, s->name, name);
  text[name] = '=';
  memcpy(text + name + 1, s->value, value);
  n->kind = TF_Y_SCALAR;
  n->text = n->src = text;
  n->len = name + value + 1;
  n->src_end = text + n->len;
  n->at = (tf_loc){tf_diags_add_file(r->diags, "--set", text, n->len), 1, 1, (uint32_t)n->len};
  n->text_at = n->at;
  return n;
}

static bool apply_setting(tf_reader *r, const tf_setting *s) {
  const tf_ynode *n = setting_node(r, s);
  if (!n) return tf_no_memory(r);
  size_t len = strlen(s->name);
  tf_loc at = tf_ynode_place(n, 0, len ? len : 1);
  param *q = find(r->params, s->name, len);
  if (!q) {
    tf_near near = tf_near_start(s->name, len);
    char hint[80];
    for (size_t i = 0; i < r->params->n; i++)
      tf_near_offer(&near, r->params->all[i].name);
    tf_fail(r->diags, at, TF_E_NAME, "no param '%.60s' to set%s", s->name,
            r->params->n ? tf_near_text(&near, hint, sizeof hint)
                         : "; the files have no params");
    return true;
  }
  if (q->set) {
    tf_fail(r->diags, at, TF_E_DUP, "param '%.60s' set twice", q->name);
    tf_note(r->diags, q->at, "first set here");
    return true;
  }
  q->set = true;
  q->at = at;
  q->text = n;
  q->off = len + 1;
  return true;
}

static void add_param(tf_reader *r, const tf_ynode *key, const tf_ynode *value) {
  const char *name = tf_read_name(r, key, "a param", false);
  if (!name || find(r->params, name, key->len)) return;
  bool ok = tf_yschema_kind(value, TF_Y_SCALAR, name, r->diags);
  r->params->all[r->params->n++] =
      (param){.name = name, .at = key->at, .text = value, .state = ok ? WAITING : FAILED};
}

bool tf_params_read(tf_reader *r, const tf_ynode *section, const tf_setting *set,
                    size_t n_set) {
  size_t n = section ? section->n : 0;
  r->params = TF_NEW(r->arena, tf_params);
  if (!r->params) return tf_no_memory(r);
  r->params->current = -1;
  if (n > TF_MAX_PARAMS) {
    tf_fail(r->diags, section->at, TF_E_LIMIT, "more than %d params", TF_MAX_PARAMS);
    n = TF_MAX_PARAMS;
  }
  r->params->all = TF_ARRAY(r->arena, param, n);
  if (!r->params->all) return tf_no_memory(r);
  for (size_t i = 0; i < n; i++)
    add_param(r, section->pairs[i].key, section->pairs[i].value);
  for (size_t i = 0; i < n_set; i++)
    if (!apply_setting(r, &set[i])) return false;
  for (size_t i = 0; i < r->params->n; i++)
    if (r->params->all[i].state == WAITING) evaluate(r, &r->params->all[i]);
  return true;
}
