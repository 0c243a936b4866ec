/* Files -> sections -> tf_spec. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "base/names.h"
#include "model/input/dims.h"
#include "model/input/kinds.h"
#include "model/input/lex.h"
#include "model/input/number.h"
#include "model/input/reader.h"
#include "model/input/table/sections.h"
#include "model/input/workload_read.h"

enum {
#define X(id, key, kinds, required, json, words) S_##id,
  TF_SECTIONS(X)
#undef X
      N_S
};
static const tf_yrow sections[N_S] = {TF_SECTIONS(TF_KEY_ROW)};

/* A tf_spec with the memory behind it. */
typedef struct {
  tf_spec spec; /* first, so that a tf_spec * is a pointer to the whole */
  tf_arena *arena;
  const tf_params *params; /* NULL: reading ended before them */
} owned_spec;

enum { MAX_FILES = 1000 };

/* ---- sections ----------------------------------------------------------------------- */
/* The key by which a file of Timeloop's or TileFlow's own format shows, NULL if none. */
static const tf_ynode *foreign_key(const tf_ynode *root) {
  static const char *const keys[] = {"problem", "check", "tileflow-mapper", "macro",
                                     "mapper",  "ERT",   "architecture",    "mapping"};
  for (size_t i = 0; i < root->n; i++) {
    const tf_ynode *key = root->pairs[i].key, *value = root->pairs[i].value;
    for (size_t k = 0; k < 6; k++)
      if (tf_ynode_is(key, keys[k])) return key;
    bool arch = tf_ynode_is(key, keys[6]) && tf_ymap_get(value, "subtree");
    bool mapping = tf_ynode_is(key, keys[7]) && value->kind != TF_Y_SCALAR;
    if (arch || mapping) return key;
  }
  return NULL;
}

/* What the files say, as far as it was read. */
typedef struct {
  const tf_ynode *key[N_S], *section[N_S]; /* where it stands first; NULL: in no file */
  tf_param_files params;
} sections_read;

/* Params may stand in every file. */
static void add_params(sections_read *all, const tf_ynode *root, const tf_ynode *map) {
  bool shared = true;
  for (size_t i = 0; i < root->n; i++)
    for (int s = S_ARCH; s <= S_INSTR; s++)
      shared &= !tf_ynode_is(root->pairs[i].key, sections[s].key);
  all->params.map[all->params.n] = map;
  all->params.shared[all->params.n++] = shared;
}

/* All other sections in one; a key that a file gives twice has been reported. */
static void add_section(tf_diags *d, const tf_ynode *key, int s, const tf_ynode *value,
                        sections_read *all) {
  const tf_ynode *first = all->key[s];
  if (first && first->at.file != key->at.file) {
    tf_fail(d, key->at, TF_E_DUP, "section '%s' given twice", key->text);
    tf_note(d, first->at, "first given here");
  }
  if (first) return;
  all->key[s] = key;
  all->section[s] = value;
}

/* Adds the sections of one file to those found so far. */
static void merge(tf_diags *d, const tf_ynode *root, sections_read *all) {
  const tf_ynode *v[N_S];
  if (!tf_yschema_kind(root, TF_Y_MAP, "a file", d)) return;
  const tf_ynode *foreign = foreign_key(root);
  if (foreign) {
    tf_fail(d, foreign->at, TF_E_KEY,
            "'%s' as Timeloop and TileFlow write it; `tileflow import` makes the native form",
            foreign->text);
    return;
  }
  tf_yschema_check(root, sections, N_S, "a file", v, d);
  for (size_t i = 0; i < root->n; i++)
    for (int s = 0; s < N_S; s++)
      if (s != S_PARAMS && tf_ynode_is(root->pairs[i].key, sections[s].key))
        add_section(d, root->pairs[i].key, s, v[s], all);
  if (v[S_PARAMS]) add_params(all, root, v[S_PARAMS]);
}

/* The text of a mapping is a literal block: only there do its lines stand in the file as
 * they are. */
static void read_mapping(tf_diags *d, const tf_ynode *node, tf_spec *spec) {
  if (node->style != TF_Y_LITERAL) {
    tf_fail(d, node->at, TF_E_TYPE, "'mapping' must be a literal block: mapping: |");
    return;
  }
  spec->mapping_text = node->text;
  spec->mapping_at = node->text_at;
}

/* An op that no unit can run, wherever it is placed. */
static void check_kinds(tf_diags *d, const tf_arch *a, const tf_op *op) {
  uint32_t all = 0;
  char missing[120];
  size_t used = 0;
  for (int u = 0; u < a->n_units; u++) {
    if ((op->kinds & ~a->units[u].kinds) == 0) return;
    all |= a->units[u].kinds;
  }
  uint32_t lacking = op->kinds & ~all ? op->kinds & ~all : op->kinds;
  missing[0] = '\0';
  for (int k = 0; k < TF_N_KINDS && used < sizeof missing; k++) {
    if (!(lacking & (1u << k))) continue;
    int n = snprintf(missing + used, sizeof missing - used, "%s%s", used ? ", " : "",
                     tf_kind_key((tf_kind)k));
    used += n > 0 ? (size_t)n : 0;
  }
  tf_fail(d, op->at, TF_E_UNITKIND,
          op->kinds & ~all ? "no compute unit runs op '%.60s': none lists %s"
                           : "no compute unit runs op '%.60s': none lists all of %s",
          op->name, missing);
  tf_note(d, a->units[0].at, "the compute units are listed from here");
}

/* Tensors that a format or a rule names must be the workload's. */
static void check_choice(tf_diags *d, const tf_workload *wl, const tf_selection *c) {
  for (int i = 0; i < c->n; i++) {
    tf_near near = tf_near_start(c->names[i].name, strlen(c->names[i].name));
    char hint[80];
    bool found = false;
    for (int z = 0; z < wl->n_tensors && !found; z++) {
      found = !strcmp(wl->tensors[z].name, c->names[i].name);
      tf_near_offer(&near, wl->tensors[z].name);
    }
    if (found) continue;
    tf_fail(d, c->names[i].at, TF_E_NAME, "the workload has no tensor '%.60s'%s", c->names[i].name,
            tf_near_text(&near, hint, sizeof hint));
    tf_note(d, wl->at, "the workload is given here");
  }
}

static int tensor_named(const tf_workload *wl, const char *name) {
  for (int z = 0; z < wl->n_tensors; z++)
    if (!strcmp(wl->tensors[z].name, name)) return z;
  return -1;
}

static int memory_named(const tf_arch *a, const tf_ynode *node, tf_diags *d) {
  tf_near near = tf_near_start(node->text, node->len);
  char hint[80];
  for (int l = 0; l < a->n_memories; l++) {
    if (tf_ynode_is(node, a->memories[l].name)) return l;
    tf_near_offer(&near, a->memories[l].name);
  }
  tf_fail(d, node->at, TF_E_NAME, "no memory '%.60s'%s", node->text,
          tf_near_text(&near, hint, sizeof hint));
  tf_note(d, a->memories[0].at, "the memories are listed from here");
  return -1;
}

/* One row of `home`: an input or output, and its memory. */
static void read_home(tf_reader *r, const tf_ypair *row, const tf_arch *a, const tf_workload *wl) {
  const tf_chosen c = {row->key->text, row->key->at};
  const tf_selection one = {1, (tf_chosen[]){c}};
  const size_t before = tf_diags_errors(r->diags);
  const int z = tensor_named(wl, c.name);
  check_choice(r->diags, wl, &one);
  if (!tf_yschema_kind(row->value, TF_Y_SCALAR, c.name, r->diags)) return;
  const int l = memory_named(a, row->value, r->diags);
  if (z >= 0 && wl->tensors[z].producer >= 0 && wl->tensors[z].n_consumers) {
    tf_fail(r->diags, c.at, TF_E_OUTPUT,
            "'%.60s' is an intermediate: it lives where the mapping says ('keep'); only inputs and "
            "outputs have a 'home'",
            c.name);
    tf_note(r->diags, wl->ops[wl->tensors[z].producer].at, "an op makes it");
  }
  if (tf_diags_errors(r->diags) > before) return;
  a->memories[l].home.names[a->memories[l].home.n++] = c;
}

static void read_homes(tf_reader *r, const tf_ynode *map, const tf_arch *a, const tf_workload *wl) {
  for (int l = 0; l < a->n_memories; l++)
    if (!(a->memories[l].home.names = TF_ARRAY(r->arena, tf_chosen, map->n + 1))) {
      tf_no_memory(r);
      return;
    }
  for (size_t i = 0; i < map->n; i++)
    read_home(r, &map->pairs[i], a, wl);
}

/* ---- layouts ------------------------------------------------------------------------ */

/* The rank of z that dim d indexes, where the tensor is made, or else first read; -1: none does, or
 * several do. */
static int rank_by_dim(const tf_workload *wl, int z, int d) {
  const int maker = wl->tensors[z].producer;
  const tf_ref *ref = NULL;
  int found = -1;
  for (int o = 0; o < wl->n_ops && !ref; o++)
    for (int i = 0; i < wl->ops[o].n_reads && !ref; i++)
      if (wl->ops[o].reads[i].tensor == z) ref = &wl->ops[o].reads[i];
  for (int r = 0; r < wl->tensors[z].rank; r++) {
    bool here = maker >= 0 && wl->ops[maker].dims[r] == d;
    for (int t = 0; maker < 0 && ref && t < ref->index[r].n_terms; t++)
      here = here || ref->index[r].terms[t].dim == d;
    if (here && found >= 0) return -1;
    if (here) found = r;
  }
  return found;
}

/* "k", "k/4" or "k%4"; a rank may be given by its number, from 0 on. */
static bool read_laid_part(tf_reader *r, const tf_ynode *node, const tf_workload *wl, int z,
                           tf_laid_part *p) {
  if (!tf_yschema_kind(node, TF_Y_SCALAR, "a part of a layout", r->diags)) return false;
  tf_lex x = tf_lex_start(node, 0, r->diags);
  const bool number = x.tok.kind == TF_T_NUMBER && x.tok.value.whole,
             name = x.tok.kind == TF_T_NAME;
  const int dim = name ? tf_find_dim(wl, tf_lex_text(&x), x.tok.len) : -1;
  if (!name && !number) return tf_lex_fail(&x, "a dim, or the number of a rank");
  const int64_t rank = number ? x.tok.value.i : dim >= 0 ? rank_by_dim(wl, z, dim) : -1;
  if (rank < 0 || rank >= wl->tensors[z].rank)
    return tf_fail(r->diags, tf_lex_at(&x), TF_E_NAME,
                   "no rank of '%.60s' is '%.*s', or several are: ranks may be told by their "
                   "numbers, from 0 on",
                   wl->tensors[z].name, (int)x.tok.len, tf_lex_text(&x));
  *p = (tf_laid_part){.rank = (int)rank, .part = TF_LAYOUT_WHOLE, .by = 1};
  tf_lex_next(&x);
  if (x.tok.kind == TF_T_END) return true;
  p->part = tf_lex_is(&x, '%') ? TF_LAYOUT_MOD : TF_LAYOUT_DIV;
  if (!tf_lex_is(&x, '%') && !tf_lex_is(&x, '/')) return tf_lex_fail(&x, "'/' or '%' and a number");
  tf_lex_next(&x);
  p->by = x.tok.kind == TF_T_NUMBER && x.tok.value.whole ? x.tok.value.i : 0;
  if (p->by < 1 || p->by > INT32_MAX) return tf_lex_fail(&x, "a whole number of 1 or more");
  tf_lex_next(&x);
  return x.tok.kind == TF_T_END || tf_lex_fail(&x, "the end");
}

/* Whether each rank occurs once whole, or once divided and once as the rest, by the same number. */
static bool lays_all(const tf_laid *l, int rank) {
  int64_t high[TF_MAX_RANK] = {0}, low[TF_MAX_RANK] = {0};
  bool ok = true;
  for (int i = 0; i < l->n; i++) {
    const tf_laid_part *p = &l->parts[i];
    if (p->part != TF_LAYOUT_MOD) ok = ok && !high[p->rank], high[p->rank] = p->by;
    if (p->part != TF_LAYOUT_DIV) ok = ok && !low[p->rank], low[p->rank] = p->by;
  }
  for (int k = 0; k < rank; k++)
    ok = ok && high[k] && high[k] == low[k];
  return ok;
}

/* One row of a memory: a tensor, and the order of its ranks. */
static void read_laid(tf_reader *r, const tf_ypair *row, tf_memory *mem, const tf_workload *wl) {
  const tf_selection one = {1, (tf_chosen[]){{row->key->text, row->key->at}}};
  const size_t before = tf_diags_errors(r->diags);
  const int z = tensor_named(wl, row->key->text);
  tf_laid *l = &mem->laid.list[mem->laid.n];
  check_choice(r->diags, wl, &one);
  if (!tf_yschema_kind(row->value, TF_Y_LIST, row->key->text, r->diags) || z < 0) return;
  *l = (tf_laid){.tensor = one.names[0], .n = (int)row->value->n};
  if (row->value->n > 2 * TF_MAX_RANK) {
    tf_fail(r->diags, row->value->at, TF_E_LIMIT, "%zu parts of a layout, at most %d",
            row->value->n, 2 * TF_MAX_RANK);
    return;
  }
  l->parts = TF_ARRAY(r->arena, tf_laid_part, row->value->n + 1);
  if (!l->parts) {
    tf_no_memory(r);
    return;
  }
  for (int i = 0; i < l->n; i++)
    read_laid_part(r, row->value->items[i], wl, z, &l->parts[i]);
  if (tf_diags_errors(r->diags) == before && !lays_all(l, wl->tensors[z].rank))
    tf_fail(r->diags, row->value->at, TF_E_INDEX,
            "a layout names each rank of '%.60s' once, or as r/N and r%%N", wl->tensors[z].name);
  if (tf_diags_errors(r->diags) == before) mem->laid.n++;
}

static void read_layouts(tf_reader *r, const tf_ynode *map, const tf_arch *a,
                         const tf_workload *wl) {
  for (size_t i = 0; i < map->n; i++) {
    const tf_ypair *row = &map->pairs[i];
    const int level = memory_named(a, row->key, r->diags);
    if (!tf_yschema_kind(row->value, TF_Y_MAP, row->key->text, r->diags) || level < 0) continue;
    tf_memory *mem = &a->memories[level];
    if (!mem->line) {
      tf_fail(r->diags, row->key->at, TF_E_MISSING,
              "'%.60s' has no lines: a layout has no meaning without 'line'", mem->name);
      tf_note(r->diags, mem->at, "the memory is given here");
      continue;
    }
    mem->laid = (tf_laids){0, TF_ARRAY(r->arena, tf_laid, row->value->n + 1)};
    if (!mem->laid.list) {
      tf_no_memory(r);
      return;
    }
    for (size_t k = 0; k < row->value->n; k++)
      read_laid(r, &row->value->pairs[k], mem, wl);
  }
}

/* Tiles are fetched for ops that read the tensor. */
static void check_fetched(tf_diags *d, const tf_workload *wl, const tf_selection *c) {
  for (int i = 0; i < c->n; i++)
    for (int z = 0; z < wl->n_tensors; z++) {
      bool read = false;
      for (int o = 0; o < wl->n_ops; o++)
        read |= tf_op_times_read(&wl->ops[o], z) > 0;
      if (!read && !strcmp(wl->tensors[z].name, c->names[i].name))
        tf_fail(d, c->names[i].at, TF_E_OUTPUT,
                "no op reads '%.60s': rules of tiles are of what is fetched to be read",
                c->names[i].name);
    }
}

static void check_rules(tf_diags *d, const tf_workload *wl, const tf_rules *rules) {
  for (int i = 0; i < rules->n; i++) {
    check_choice(d, wl, &rules->list[i].target);
    check_choice(d, wl, &rules->list[i].on);
    if (rules->list[i].tiles) check_fetched(d, wl, &rules->list[i].target);
  }
}

static void check_choices(tf_diags *d, const tf_arch *a, const tf_workload *wl) {
  for (int l = 0; l < a->n_memories; l++) {
    for (int i = 0; i < a->memories[l].formats.n; i++)
      check_choice(d, wl, &a->memories[l].formats.list[i].tensors);
    check_rules(d, wl, &a->memories[l].gating);
    check_rules(d, wl, &a->memories[l].skipping);
  }
  for (int u = 0; u < a->n_units; u++) {
    check_rules(d, wl, &a->units[u].gating);
    check_rules(d, wl, &a->units[u].skipping);
  }
}

/* A section inside of another one, as YAML takes it where it is indented too far.  Its params are
 * unknown then: nothing else is said of what it stands in. */
static bool stands_inside(tf_diags *d, const tf_ynode *section, int of) {
  bool some = false;
  for (size_t i = 0; section->kind == TF_Y_MAP && i < section->n; i++)
    for (int s = 0; s < N_S; s++) {
      const tf_ynode *key = section->pairs[i].key;
      if (!tf_ynode_is(key, sections[s].key)) continue;
      tf_fail(d, key->at, TF_E_KEY,
              "'%s' is a section of its own: it stands beside '%s', not in it (indent it as '%s:')",
              sections[s].key, sections[of].key, sections[of].key);
      some = true;
    }
  return some;
}

/* params first: every other section may use them; architecture before workload: its
 * word-bits are the default of tensors. */
static bool read_sections(tf_reader *r, sections_read *all, const tf_setting *set, size_t n_set,
                          tf_spec *spec) {
  static const int of[TF_N_OF] = {[TF_OF_ARCH] = S_ARCH,
                                  [TF_OF_WORKLOAD] = S_WORKLOAD,
                                  [TF_OF_MAPPING] = S_MAPPING,
                                  [TF_OF_INSTR] = S_INSTR};
  const tf_ynode **s = all->section;
  for (int i = 0; i < TF_N_OF; i++)
    all->params.file[i] = all->key[of[i]] ? all->key[of[i]]->at.file : 0;
  if (!tf_params_read(r, &all->params, set, n_set)) return false;
  r->file = all->params.file[TF_OF_ARCH];
  if (s[S_ARCH] && !stands_inside(r->diags, s[S_ARCH], S_ARCH))
    spec->arch = tf_read_arch(r, s[S_ARCH]);
  r->file = all->params.file[TF_OF_WORKLOAD];
  if (s[S_WORKLOAD] && !stands_inside(r->diags, s[S_WORKLOAD], S_WORKLOAD))
    spec->workload = tf_read_workload(r, s[S_WORKLOAD], spec->arch);
  r->file = all->params.file[TF_OF_INSTR];
  if (s[S_INSTR]) spec->instrs = tf_read_instrs(r, s[S_INSTR], spec->arch, &spec->n_instrs);
  if (s[S_MAPPING]) read_mapping(r->diags, s[S_MAPPING], spec);
  for (int o = 0; spec->arch && spec->workload && o < spec->workload->n_ops; o++)
    check_kinds(r->diags, spec->arch, &spec->workload->ops[o]);
  if (spec->arch && spec->workload) check_choices(r->diags, spec->arch, spec->workload);
  if (spec->arch && spec->workload && s[S_HOME])
    read_homes(r, s[S_HOME], spec->arch, spec->workload);
  if (spec->arch && spec->workload && s[S_LAYOUT])
    read_layouts(r, s[S_LAYOUT], spec->arch, spec->workload);
  return true;
}

/* Parses every text and gathers its sections; false if a text is no YAML document. */
static bool read_all(tf_reader *r, const tf_text *texts, size_t n, sections_read *all) {
  bool whole = true;
  all->params.map = TF_ARRAY(r->arena, const tf_ynode *, n + 1);
  all->params.shared = TF_ARRAY(r->arena, bool, n + 1);
  if (!all->params.map || !all->params.shared) return tf_no_memory(r);
  for (size_t i = 0; i < n; i++) {
    const char *text = texts[i].text;
    whole = whole && text;
    if (!text) continue;
    size_t len = texts[i].len;
    bool mark = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    text += mark ? 3 : 0;
    len -= mark ? 3 : 0;
    uint16_t file = tf_diags_add_file(r->diags, texts[i].name, text, len);
    const tf_ynode *root = tf_yaml_read(r->arena, file, text, len, r->diags);
    if (root) merge(r->diags, root, all);
    whole = whole && root;
  }
  return whole;
}

/* Where a file is missing and no params were found, they may have been in it: what uses them is not
 * checked, so that one cause is one error. */
tf_spec *tf_spec_read_texts(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set,
                            tf_diags *d) {
  TF_IN_C_LOCALE;
  sections_read all = {.params = {.n = 0}};
  size_t before = tf_diags_errors(d);
  tf_arena *arena = tf_arena_new();
  tf_reader r = {.arena = arena, .diags = d};
  owned_spec *s = arena ? TF_NEW(arena, owned_spec) : NULL;
  if (!s) {
    tf_no_memory(&r);
    tf_arena_free(arena);
    return NULL;
  }
  s->arena = arena;
  bool whole = false;
  if (n > MAX_FILES || n_set > MAX_FILES)
    tf_fail(d, (tf_loc){0, 0, 0, 0}, TF_E_LIMIT, "more than %d files or settings", MAX_FILES);
  else
    whole = read_all(&r, texts, n, &all);
  if (whole || all.params.n) read_sections(&r, &all, set, n_set, &s->spec);
  s->params = r.params;
  if (tf_diags_errors(d) == before && tf_arena_failed(arena)) tf_no_memory(&r);
  if (tf_diags_errors(d) == before) return &s->spec;
  tf_spec_free(&s->spec);
  return NULL;
}

tf_spec *tf_spec_read(const char *const *paths, size_t n_paths, const tf_setting *set, size_t n_set,
                      tf_diags *d) {
  TF_IN_C_LOCALE;
  size_t before = tf_diags_errors(d);
  tf_text *texts = calloc(n_paths + 1, sizeof *texts);
  if (!texts) {
    tf_out_of_memory(d);
    return NULL;
  }
  for (size_t i = 0; i < n_paths; i++)
    texts[i] = tf_text_read(paths[i], d);
  tf_spec *s = tf_spec_read_texts(texts, n_paths, set, n_set, d);
  for (size_t i = 0; i < n_paths; i++)
    free((void *)(uintptr_t)texts[i].text);
  free(texts);
  if (tf_diags_errors(d) == before) return s;
  tf_spec_free(s);
  return NULL;
}

const char *tf_spec_param(const tf_spec *s, size_t i, double *value) {
  const tf_params *p = ((const owned_spec *)s)->params;
  return p ? tf_param_number(p, i, value) : NULL;
}

void tf_spec_free(tf_spec *s) {
  if (s) tf_arena_free(((owned_spec *)s)->arena);
}
