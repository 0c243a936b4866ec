/* libyaml events to a node tree.  libyaml's types stay in this file. */
#include "model/yaml/node.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/utf8.h"

/* An anchor and its node; the latest of a name counts. */
typedef struct anchor {
  struct anchor *prev;
  const char *name;
  tf_ynode *node;
} anchor;

/* A child of a collection being read. */
typedef struct child {
  struct child *next;
  tf_ynode *node;
} child;

typedef struct {
  tf_arena *arena;
  tf_diags *diags;
  uint16_t file;
  const char *text, *end;
  yaml_parser_t *parser;
  const char *seen;  /* the byte of the text at which ... */
  size_t seen_index; /* ... libyaml's character index is */
  anchor *anchors;
  int depth;
  size_t nodes;
} reader;

/* What is being read; a failure is reported where it happens. */
static tf_ynode *read_node(reader *r, yaml_event_t *ev);

static bool no_memory(const reader *r) {
  return tf_out_of_memory_at(r->diags, (tf_loc){r->file, 0, 0, 0});
}

/* The same where a node is expected. */
static tf_ynode *no_node(const reader *r) {
  no_memory(r);
  return NULL;
}

static tf_loc loc_of(const reader *r, yaml_mark_t m) {
  return (tf_loc){r->file, (uint32_t)m.line + 1, (uint32_t)m.column + 1, 1};
}

/* libyaml counts characters, nodes keep bytes: advances from the place last asked for. */
static const char *byte_of(reader *r, yaml_mark_t m) {
  while (r->seen_index < m.index && r->seen < r->end) {
    do
      r->seen++;
    while (r->seen < r->end && ((unsigned char)*r->seen & 0xc0) == 0x80);
    r->seen_index++;
  }
  while (r->seen_index > m.index && r->seen > r->text) {
    do
      r->seen--;
    while (r->seen > r->text && ((unsigned char)*r->seen & 0xc0) == 0x80);
    r->seen_index--;
  }
  return r->seen;
}

/* Whether the line of a place has a mark of a template: what such a file says is known only once it
 * is rendered. */
static bool in_template(const reader *r, tf_loc at) {
  const char *p = r->text;
  for (uint32_t line = 1; line < at.line && p < r->end; line += p[-1] == '\n')
    p++;
  for (; p + 1 < r->end && *p != '\n'; p++)
    if (*p == '{' && strchr("{%#", p[1])) return true;
  return false;
}

static void fail_template(const reader *r, tf_loc at) {
  tf_fail(r->diags, at, TF_E_YAML,
          "a template, not YAML: give what it renders to (Timeloop's front end writes "
          "parsed-processed-input.yaml)");
}

/* Takes the next event; libyaml's own errors are reported here.  The caller deletes it. */
static bool next_event(reader *r, yaml_event_t *ev) {
  if (yaml_parser_parse(r->parser, ev)) return true;
  const yaml_parser_t *p = r->parser;
  if (p->error == YAML_MEMORY_ERROR) return no_memory(r);
  tf_loc at = loc_of(r, p->problem_mark);
  if (p->error == YAML_READER_ERROR) at = (tf_loc){r->file, 1, 1, 1};
  const char *why = p->problem ? p->problem : "not YAML", *byte = byte_of(r, p->problem_mark);
  if (byte < r->end && *byte == '\t') why = "a tab may not stand here; indent with spaces";
  bool context = p->context && p->context_mark.line != p->problem_mark.line;
  if (in_template(r, at)) {
    fail_template(r, at);
    return false;
  }
  tf_fail(r->diags, at, TF_E_YAML, "%s", why);
  if (context) tf_note(r->diags, loc_of(r, p->context_mark), "%s", p->context);
  return false;
}

static tf_ynode *new_node(reader *r, tf_ykind kind, const yaml_event_t *ev, const char *tag) {
  tf_loc at = loc_of(r, ev->start_mark);
  if (++r->nodes > TF_YAML_MAX_NODES) {
    tf_fail(r->diags, at, TF_E_LIMIT, "more than %d nodes in one file", TF_YAML_MAX_NODES);
    return NULL;
  }
  tf_ynode *n = TF_NEW(r->arena, tf_ynode);
  if (!n) return no_node(r);
  n->kind = kind;
  n->at = at;
  n->weight = 1;
  if (tag) n->tag = tf_arena_strndup(r->arena, tag, strlen(tag));
  return n;
}

/* An anchor is known only once its node is complete, so no node can hold itself. */
static bool add_anchor(reader *r, const char *name, tf_ynode *node) {
  if (!name) return true;
  anchor *a = TF_NEW(r->arena, anchor);
  if (!a) return no_memory(r);
  *a = (anchor){r->anchors, name, node};
  r->anchors = a;
  return true;
}

static const char *keep_name(reader *r, const yaml_char_t *name) {
  const char *s = (const char *)name;
  return s ? tf_arena_strndup(r->arena, s, strlen(s)) : NULL;
}

static tf_ynode *find_alias(reader *r, const yaml_event_t *ev) {
  const char *name = (const char *)ev->data.alias.anchor;
  for (anchor *a = r->anchors; a; a = a->prev)
    if (strcmp(a->name, name) == 0) return a->node;
  tf_fail(r->diags, loc_of(r, ev->start_mark), TF_E_YAML, "no anchor '&%.60s' before this alias",
          name);
  return NULL;
}

/* The text of a block scalar starts on the line after its header; its indentation is what the first
 * non-blank line has in the source beyond what it has in the value. */
static void find_block_text(tf_ynode *n) {
  const char *p = n->src;
  while (p < n->src_end && !tf_line_break(p, n->src_end))
    p++;
  p += tf_line_break(p, n->src_end);
  n->src = p;
  n->text_at = (tf_loc){n->at.file, n->at.line + 1, 1, 1};
  const char *value = n->text;
  while (*value == '\n') {
    while (p < n->src_end && !tf_line_break(p, n->src_end))
      p++;
    p += tf_line_break(p, n->src_end);
    value++;
  }
  size_t have = 0, want = 0;
  while (p + have < n->src_end && p[have] == ' ')
    have++;
  while (value[want] == ' ')
    want++;
  uint32_t indent = have > want ? (uint32_t)(have - want) : 0;
  for (uint32_t i = 0; i < indent && n->src < n->src_end && *n->src == ' '; i++)
    n->src++;
  n->text_at.col = indent + 1;
}

static tf_ystyle style_of(yaml_scalar_style_t s) {
  switch (s) {
  case YAML_SINGLE_QUOTED_SCALAR_STYLE: return TF_Y_SINGLE;
  case YAML_DOUBLE_QUOTED_SCALAR_STYLE: return TF_Y_DOUBLE;
  case YAML_LITERAL_SCALAR_STYLE: return TF_Y_LITERAL;
  case YAML_FOLDED_SCALAR_STYLE: return TF_Y_FOLDED;
  default: return TF_Y_PLAIN;
  }
}

/* Skips "&anchor" and "!tag", which libyaml counts as part of the scalar. */
static void skip_properties(tf_ynode *n) {
  while (n->src < n->src_end && (*n->src == '&' || *n->src == '!')) {
    const char *p = n->src;
    while (p < n->src_end && *p != ' ' && !tf_line_break(p, n->src_end))
      p++;
    while (p < n->src_end && *p == ' ')
      p++;
    uint32_t wide = (uint32_t)(p - n->src);
    n->src = p;
    n->text_at.col += wide;
    n->at.col += wide;
  }
}

static tf_ynode *read_scalar(reader *r, yaml_event_t *ev) {
  tf_ynode *n = new_node(r, TF_Y_SCALAR, ev, (const char *)ev->data.scalar.tag);
  if (!n) return NULL;
  n->style = style_of(ev->data.scalar.style);
  n->len = ev->data.scalar.length;
  n->text = tf_arena_strndup(r->arena, (const char *)ev->data.scalar.value, n->len);
  if (!n->text) return no_node(r);
  n->src = byte_of(r, ev->start_mark);
  n->src_end = r->end;
  n->text_at = n->at;
  bool bare = ev->data.scalar.anchor || ev->data.scalar.tag;
  if (bare) skip_properties(n);
  if (n->style == TF_Y_SINGLE || n->style == TF_Y_DOUBLE) {
    n->src += n->src < n->src_end;
    n->text_at.col++;
  }
  if (n->style == TF_Y_LITERAL || n->style == TF_Y_FOLDED) find_block_text(n);
  bool one_line = ev->start_mark.line == ev->end_mark.line;
  size_t columns = ev->end_mark.column + 1;
  n->at.len = one_line && columns > n->at.col ? (uint32_t)(columns - n->at.col) : 1;
  return add_anchor(r, keep_name(r, ev->data.scalar.anchor), n) ? n : NULL;
}

/* Adds the weight of a part; aliases count as the node they stand for. */
static bool add_weight(reader *r, tf_ynode *n, const tf_ynode *part) {
  n->weight += part->weight;
  if (n->weight <= TF_YAML_MAX_NODES) return true;
  return tf_fail(r->diags, n->at, TF_E_YAML, "aliases here stand for more than %d nodes",
                 TF_YAML_MAX_NODES);
}

/* The nodes up to the end of the collection, as a list in order; false after an error. */
static bool read_children(reader *r, tf_ynode *n, yaml_event_type_t end, child **first,
                          size_t *count) {
  child **tail = first;
  *count = 0;
  for (;;) {
    yaml_event_t ev;
    if (!next_event(r, &ev)) return false;
    if (ev.type == end) {
      bool one_line = ev.end_mark.line + 1 == n->at.line && ev.end_mark.column + 1 > n->at.col;
      if (one_line) n->at.len = (uint32_t)(ev.end_mark.column + 1) - n->at.col;
      yaml_event_delete(&ev);
      return true;
    }
    tf_ynode *node = read_node(r, &ev);
    yaml_event_delete(&ev);
    if (!node || !add_weight(r, n, node)) return false;
    child *c = TF_NEW(r->arena, child);
    if (!c) return no_memory(r);
    c->node = node;
    *tail = c;
    tail = &c->next;
    ++*count;
  }
}

static int by_text(const void *pa, const void *pb) {
  const tf_ynode *a = (*(const tf_ypair *const *)pa)->key;
  const tf_ynode *b = (*(const tf_ypair *const *)pb)->key;
  size_t len = a->len < b->len ? a->len : b->len;
  int c = memcmp(a->text, b->text, len);
  if (c == 0) c = (a->len > b->len) - (a->len < b->len);
  if (c == 0) c = (a->at.line > b->at.line) - (a->at.line < b->at.line);
  return c ? c : (a->at.col > b->at.col) - (a->at.col < b->at.col);
}

/* Reports keys given twice, each with a note where the first stands.  The map stays usable;
 * false only without memory. */
static bool check_keys(reader *r, const tf_ynode *map) {
  const tf_ypair **sorted = TF_ARRAY(r->arena, const tf_ypair *, map->n);
  if (!sorted) return no_memory(r);
  for (size_t i = 0; i < map->n; i++)
    sorted[i] = &map->pairs[i];
  qsort(sorted, map->n, sizeof *sorted, by_text);
  for (size_t i = 1, first = 0; i < map->n; i++) {
    const tf_ynode *a = sorted[first]->key, *b = sorted[i]->key;
    bool same = a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
    if (!same) {
      first = i;
      continue;
    }
    tf_fail(r->diags, b->at, TF_E_DUP, "key '%.60s' given twice", b->text);
    tf_note(r->diags, a->at, "first given here");
  }
  return true;
}

static tf_ynode *read_list(reader *r, yaml_event_t *ev) {
  tf_ynode *n = new_node(r, TF_Y_LIST, ev, (const char *)ev->data.sequence_start.tag);
  if (!n) return NULL;
  const char *name = keep_name(r, ev->data.sequence_start.anchor);
  child *c = NULL;
  if (!read_children(r, n, YAML_SEQUENCE_END_EVENT, &c, &n->n)) return NULL;
  n->items = TF_ARRAY(r->arena, const tf_ynode *, n->n);
  if (!n->items) return no_node(r);
  for (size_t i = 0; c; c = c->next)
    n->items[i++] = c->node;
  return add_anchor(r, name, n) ? n : NULL;
}

static tf_ynode *read_map(reader *r, yaml_event_t *ev) {
  tf_ynode *n = new_node(r, TF_Y_MAP, ev, (const char *)ev->data.mapping_start.tag);
  if (!n) return NULL;
  const char *name = keep_name(r, ev->data.mapping_start.anchor);
  child *c = NULL;
  size_t count;
  if (!read_children(r, n, YAML_MAPPING_END_EVENT, &c, &count)) return NULL;
  tf_ypair *pairs = TF_ARRAY(r->arena, tf_ypair, count / 2);
  if (!pairs) return no_node(r);
  for (; c && c->next; c = c->next->next) {
    if (c->node->kind != TF_Y_SCALAR && in_template(r, c->node->at)) {
      fail_template(r, c->node->at);
      return NULL;
    }
    if (c->node->kind != TF_Y_SCALAR) {
      tf_fail(r->diags, c->node->at, TF_E_TYPE, "a key must be text, not %s",
              tf_ynode_what(c->node));
      continue;
    }
    pairs[n->n++] = (tf_ypair){c->node, c->next->node};
  }
  n->pairs = pairs;
  return check_keys(r, n) && add_anchor(r, name, n) ? n : NULL;
}

static tf_ynode *read_node(reader *r, yaml_event_t *ev) {
  if (ev->type == YAML_SCALAR_EVENT) return read_scalar(r, ev);
  if (ev->type == YAML_ALIAS_EVENT) return find_alias(r, ev);
  if (r->depth >= TF_YAML_MAX_DEPTH) {
    tf_fail(r->diags, loc_of(r, ev->start_mark), TF_E_YAML, "nested deeper than %d",
            TF_YAML_MAX_DEPTH);
    return NULL;
  }
  r->depth++;
  tf_ynode *n = ev->type == YAML_SEQUENCE_START_EVENT ? read_list(r, ev) : read_map(r, ev);
  r->depth--;
  return n;
}

/* The character set of YAML, in UTF-8: anything else is a binary file. */
static bool check_characters(reader *r) {
  uint32_t line = 1, col = 1;
  for (const char *p = r->text; p < r->end;) {
    uint32_t c;
    size_t n = tf_utf8_next(p, r->end, &c), b = tf_line_break(p, r->end);
    bool control = (c < 0x20 && c != '\t' && !b) || (c >= 0x7f && c < 0xa0 && c != 0x85);
    tf_loc at = {r->file, line, col, 1};
    if (n == 0)
      return tf_fail(r->diags, at, TF_E_YAML, "byte 0x%02x is not UTF-8 text",
                     (unsigned)(unsigned char)*p);
    if (control || c == 0xfeff || c == 0xfffe || c == 0xffff)
      return tf_fail(r->diags, at, TF_E_YAML, "character U+%04X may not stand in YAML",
                     (unsigned)c);
    p += b ? b : n;
    line += b > 0;
    col = b ? 1 : col + 1;
  }
  return true;
}

/* Takes events until the document starts; false after an error or at the end of the file. */
static bool find_document(reader *r) {
  for (;;) {
    yaml_event_t ev;
    if (!next_event(r, &ev)) return false;
    yaml_event_type_t type = ev.type;
    yaml_event_delete(&ev);
    if (type == YAML_DOCUMENT_START_EVENT) return true;
    if (type == YAML_STREAM_END_EVENT)
      return tf_fail(r->diags, (tf_loc){r->file, 0, 0, 0}, TF_E_YAML, "the file is empty");
  }
}

/* After the document nothing may follow. */
static bool find_end(reader *r) {
  for (;;) {
    yaml_event_t ev;
    if (!next_event(r, &ev)) return false;
    yaml_event_type_t type = ev.type;
    tf_loc at = loc_of(r, ev.start_mark);
    yaml_event_delete(&ev);
    if (type == YAML_STREAM_END_EVENT) return true;
    if (type == YAML_DOCUMENT_START_EVENT)
      return tf_fail(r->diags, at, TF_E_YAML, "a second document; a file holds one");
  }
}

static tf_ynode *read_document(reader *r) {
  yaml_event_t ev;
  if (!find_document(r) || !next_event(r, &ev)) return NULL;
  tf_ynode *root = read_node(r, &ev);
  yaml_event_delete(&ev);
  return root && find_end(r) ? root : NULL;
}

const tf_ynode *tf_yaml_read(tf_arena *a, uint16_t file, const char *text, size_t len,
                             tf_diags *d) {
  reader r = {.arena = a, .diags = d, .file = file, .text = text, .end = text + len, .seen = text};
  if (len > TF_YAML_MAX_BYTES) {
    tf_fail(d, (tf_loc){file, 0, 0, 0}, TF_E_IO, "larger than %d MiB", TF_YAML_MAX_BYTES >> 20);
    return NULL;
  }
  if (!check_characters(&r)) return NULL;
  yaml_parser_t parser;
  if (!yaml_parser_initialize(&parser)) return no_node(&r);
  r.parser = &parser;
  yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
  tf_ynode *root = read_document(&r);
  yaml_parser_delete(&parser);
  return root;
}

bool tf_ynode_empty(const tf_ynode *n) {
  return n->kind == TF_Y_SCALAR && n->style == TF_Y_PLAIN && n->len == 0;
}

bool tf_ynode_is(const tf_ynode *n, const char *text) {
  return n->kind == TF_Y_SCALAR && strlen(text) == n->len && memcmp(n->text, text, n->len) == 0;
}

const tf_ynode *tf_ymap_get(const tf_ynode *map, const char *key) {
  if (map->kind != TF_Y_MAP) return NULL;
  for (size_t i = 0; i < map->n; i++)
    if (tf_ynode_is(map->pairs[i].key, key)) return map->pairs[i].value;
  return NULL;
}

const char *tf_ynode_what(const tf_ynode *n) {
  if (tf_ynode_empty(n)) return "nothing";
  return n->kind == TF_Y_MAP ? "a map" : n->kind == TF_Y_LIST ? "a list" : "a single value";
}
