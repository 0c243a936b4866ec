/* Words held (docs/SEMANTICS.md section 4, D12; thesis Eq. 3.12, 3.13).  Instances used: mesh.c. */
#include "base/checked.h"
#include "model/cost/zeros.h"

/* The part of dim d of z's producer, of length `len`, that one instance of z's home holds. */
static int64_t narrowed(struct tf_model *m, int z, int d, int64_t len) {
  const tf_plan *p = m->plan;
  int leaf = p->tree->op_node[p->wl->tensors[z].producer];
  const tf_path *path = &p->path[leaf];
  for (int k = 0; k < path->n; k++)
    if (tf_plan_selects(p, z, path->loops[k]) && p->loops[path->loops[k]].dim == d)
      len =
          tf_instance_part(len, m->ev.trip[path->loops[k]], tf_step(&m->ev, leaf, path->loops[k]));
  return len;
}

int64_t tf_home_share(struct tf_model *m, int z, const tf_ival *box) {
  const tf_tensor *t = &m->plan->wl->tensors[z];
  int64_t words = 1;
  for (int r = 0; r < t->rank; r++) {
    int64_t len = narrowed(m, z, m->plan->wl->ops[t->producer].dims[r], box[r].len);
    words = tf_sat_mul(words, len < t->extent[r] ? len : t->extent[r]);
  }
  return words;
}

/* Bits at home at `level` in scopes from node n to before node `end`. */
static int64_t homes_in(struct tf_model *m, int n, int end, int level) {
  const tf_plan *p = m->plan;
  int64_t bits = 0;
  for (int i = p->kept_from[n]; i < p->kept_from[end]; i++) {
    const int z = p->kept[i];
    if (p->home_level[z] == level && tf_counts_home(m, z))
      bits = tf_sat_add(
          bits, tf_held_bits(m, level, z, m->res.counts[level * p->wl->n_tensors + z].peak));
  }
  return bits;
}

static int64_t times(const struct tf_model *m, int level) {
  return m->plan->arch->memories[level].double_buffered || (m->part && m->part->double_buffered)
             ? 2
             : 1;
}

/* Words that the children of a scope hold of one tensor: the sum of their boxes, and the hull. */
typedef struct {
  int64_t sum, box;
  int holders;
} held;

static held held_of(const struct tf_model *m, const tf_node *n, int level, int z) {
  const tf_plan *p = m->plan;
  const int key = level * p->wl->n_tensors + z, end = p->held_from[key + 1];
  held h = {0, 1, 0};
  int64_t len[TF_MAX_RANK] = {0};
  for (int k = p->held_from[key], c = 0; k < end && c < n->n_children; c++) {
    int64_t most = 0;
    const int past = p->tree->nodes[n->children[c]].end;
    for (; k < end && p->slices[p->held[k]].node < past; k++) {
      const int i = p->held[k];
      if (p->slices[i].node < n->children[c] || !tf_counts_slice(m, i)) continue;
      for (int r = 0; r < p->wl->tensors[z].rank; r++) {
        int64_t l = m->rank_len[m->views->rank_at[i] + r];
        len[r] = l > len[r] ? l : len[r];
      }
      int64_t words = m->box[i];
      most = words > most ? words : most;
    }
    h.holders += most > 0;
    h.sum = tf_sat_add(h.sum, most);
  }
  for (int r = 0; r < p->wl->tensors[z].rank; r++)
    h.box = tf_sat_mul(h.box, len[r]);
  return h;
}

/* Whether several slices of the tensor are held at the level somewhere. */
static bool several(const tf_plan *p, int level, int z) {
  const int key = level * p->wl->n_tensors + z;
  return p->held_from[key + 1] - p->held_from[key] > 1;
}

/* Bits that children sharing a memory's content would count twice: their boxes of one tensor minus
 * the hull of these, which may be the larger. */
static int64_t shared_twice(struct tf_model *m, const tf_node *n, int level) {
  const tf_sizing sizing = m->sizing;
  int64_t twice = 0;
  for (int z = 0; z < m->plan->wl->n_tensors; z++) {
    const held h = several(m->plan, level, z) ? held_of(m, n, level, z) : (held){0};
    if (h.holders < 2) continue;
    if (sizing == TF_SIZE_LIKELY && tf_is_packed(m, level, z)) {
      if (h.sum > h.box) continue; /* they may differ in size */
      m->sizing = TF_SIZE_MOST;
    }
    const int64_t bits = tf_held_bits(m, level, z, h.sum - h.box);
    m->sizing = sizing;
    twice = tf_sat_add(twice, tf_sat_mul(bits, times(m, level)));
  }
  return twice;
}

/* Whether a format packs some tensor that m-tile n holds. */
static bool holds_packed(const struct tf_model *m, int n, int level) {
  const tf_view *v = &m->views->node[n];
  bool packed = false;
  for (int i = v->first; i < v->first + v->n_slices; i++)
    packed |= tf_counts_slice(m, i) && tf_is_packed(m, level, m->plan->slices[i].tensor);
  return packed;
}

/* Bits that m-tile n holds: at its peak moment, if known; otherwise, and for a part, the sum of its
 * largest slices. */
static int64_t tile_bits(const struct tf_model *m, int n, int level) {
  const tf_view *v = &m->views->node[n];
  int64_t bits = 0;
  for (int i = v->first; i < v->first + v->n_slices; i++)
    if (tf_counts_slice(m, i))
      bits = tf_sat_add(bits, tf_held_bits(m, level, m->plan->slices[i].tensor, m->box[i]));
  if (!m->part && !m->quick && !m->estimated && m->at_once[n] >= 0 &&
      (m->sizing == TF_SIZE_WORDS || !holds_packed(m, n, level)))
    bits = m->at_once[n];
  return tf_sat_mul(bits, times(m, level));
}

/* Bits that one instance of memory `level` must hold for node n. */
static int64_t need(struct tf_model *m, int n, int level, int *worst) {
  const tf_plan *p = m->plan;
  const tf_node *node = &p->tree->nodes[n];
  if (node->kind == TF_OP || (node->kind == TF_TILE && node->level > level)) return 0;
  if (node->kind == TF_TILE && node->level == level) {
    *worst = n;
    return tf_sat_add(homes_in(m, n, node->end, level), tile_bits(m, n, level));
  }
  const tf_scope_row *row = node->kind == TF_SCOPE ? tf_scope_at(node->scope) : NULL;
  int64_t total = 0;
  for (int c = 0; c < node->n_children; c++) {
    int w = n;
    int64_t b = need(m, node->children[c], level, &w);
    bool add = (row && row->words == TF_HELD_UNION) ||
               (row && row->words == TF_HELD_SUM && tf_shared_instance(m->views, n, level));
    if (b > total && !add) *worst = w;
    total = add ? tf_sat_add(total, b) : b > total ? b : total;
    if (add) *worst = n;
  }
  if (row && row->words == TF_HELD_UNION) total -= shared_twice(m, node, level);
  int64_t kept = node->kind == TF_SCOPE ? homes_in(m, n, n + 1, level) : 0;
  if (kept) *worst = n;
  return tf_sat_add(total, kept);
}

static int64_t words_of(int64_t bits, int64_t word) { return bits / word + (bits % word != 0); }

/* Peaks per tensor: the most that m-tiles hold of it, or its slice at home. */
static void tensor_peaks(struct tf_model *m) {
  const tf_plan *p = m->plan;
  int nt = p->wl->n_tensors;
  tf_home_rooms(m);
  for (int z = 0; z < nt; z++)
    m->res.counts[p->home_level[z] * nt + z].peak = m->home_words[z];
  for (int i = 0; i < p->n_tile_slices; i++) {
    const tf_slice *s = &p->slices[i];
    int64_t words = m->box[i], *peak = &m->res.counts[s->level * nt + s->tensor].peak;
    *peak = words > *peak ? words : *peak;
    m->res.nodes[s->node].held =
        tf_sat_add(m->res.nodes[s->node].held, tf_held_bits(m, s->level, s->tensor, words));
  }
  for (int n = 0; n < p->tree->n_nodes; n++)
    if (p->tree->nodes[n].kind == TF_TILE)
      m->res.nodes[n].held =
          words_of(m->res.nodes[n].held, p->arch->memories[p->tree->nodes[n].level].word_bits);
}

/* Bits of the workload's inputs and outputs that the outermost memory holds, throughout. */
static int64_t inputs_outputs(const struct tf_model *m) {
  const tf_plan *p = m->plan;
  int64_t bits = 0;
  for (int z = 0; z < p->wl->n_tensors; z++)
    if (p->home_scope[z] < 0 && p->home_level[z] == 0)
      bits = tf_sat_add(bits, tf_held_bits(m, 0, z, m->res.counts[z].peak));
  return bits;
}

/* Words that one instance of the memory must hold. */
static int64_t level_words(struct tf_model *m, int l, tf_sizing sizing, int *worst) {
  m->sizing = sizing;
  const int64_t bits =
      tf_sat_add(need(m, 0, l, worst), l == 0 ? inputs_outputs(m) : tf_home_bits(m, l));
  m->sizing = TF_SIZE_WORDS;
  return words_of(bits, m->plan->arch->memories[l].word_bits);
}

int64_t tf_likely_words(struct tf_model *m, int level) {
  int worst = 0;
  return level_words(m, level, TF_SIZE_LIKELY, &worst);
}

static void over_capacity(tf_result *out, int level, int node, tf_violation v) {
  v.code = TF_E_CAPACITY;
  v.node = node;
  v.level = level;
  v.unit = v.axis = -1;
  if (v.have >= 0 && v.need > v.have) tf_violate(out, v);
}

/* What each part of a memory must hold. */
static void part_capacities(struct tf_model *m, int l, tf_result *out) {
  const tf_mem_parts *parts = &m->plan->arch->memories[l].parts;
  for (int i = 0; i < parts->n; i++) {
    int worst = 0;
    m->part = &parts->list[i];
    int64_t words = level_words(m, l, TF_SIZE_WORDS, &worst);
    m->res.levels[l].parts[i].peak = words;
    if (m->zeros) words = level_words(m, l, TF_SIZE_KEPT, &worst);
    over_capacity(out, l, worst,
                  (tf_violation){.need = words, .have = m->part->capacity_words, .part = m->part});
    m->part = NULL;
  }
}

static void capacities(struct tf_model *m, tf_result *out) {
  const tf_arch *a = m->plan->arch;
  for (int l = 0; l < a->n_memories; l++) {
    int worst = 0;
    int64_t words = level_words(m, l, TF_SIZE_WORDS, &worst);
    m->res.levels[l].peak = words;
    if (m->zeros) {
      m->zeros->res.most[l] = level_words(m, l, TF_SIZE_MOST, &worst);
      words = m->zeros->res.held[l] = level_words(m, l, TF_SIZE_KEPT, &worst);
    }
    over_capacity(out, l, worst,
                  (tf_violation){.need = words, .have = a->memories[l].capacity_words});
    part_capacities(m, l, out);
  }
}

void tf_resources(struct tf_model *m, tf_result *out) {
  tensor_peaks(m);
  capacities(m, out);
  tf_meshes_check(m, out);
}
