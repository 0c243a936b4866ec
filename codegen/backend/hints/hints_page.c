/* The hints as text and as JSON (docs/FORMATS.md). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "codegen/backend/cuda/print/group.h"
#include "codegen/backend/hints/hints.h"
#include "codegen/backend/target.h"
#include "codegen/ir/names.h"
#include "codegen/ir/page.h"

enum { WIDE = 110, IN = 11 };

static const char *const kinds[] = {
#define X(id, word, what) word,
    HINT_KINDS(X)
#undef X
};
static const struct {
  const char *key, *what;
} times[] = {
#define X(id, key, what) {key, what},
    TF_TIMES(X)
#undef X
};

/* A name that is none of CUDA's is a CPU's, and means the default. */
static const char *isa_of(const tf_emit_options *o) {
  return o->isa && tf_target_cuda.owns(o->isa) ? o->isa : "sm_80";
}
static const char *dtype_of(const tf_emit_options *o) { return o->dtype ? o->dtype : "f32"; }
static const char *op_name(const ir_program *p, int op) { return p->tree->workload->ops[op].name; }

/* The next part of the program, from *at on; NULL: none. */
static const ir_stmt *next_part(const ir_program *p, int *at) {
  while (*at < p->body.n && p->body.s[*at]->kind == IR_LET)
    ++*at;
  return *at < p->body.n ? p->body.s[(*at)++] : NULL;
}

/* ---- text ----------------------------------------------------------------------------------- */

/* Wraps text into indented lines. */
static void wrapped(FILE *out, const char *text) {
  int column = WIDE;
  for (const char *word = text; *word;) {
    const int n = (int)strcspn(word, " ");
    if (column + 1 + n > WIDE && n) {
      fprintf(out, "%s%*s", word == text ? "" : "\n", IN, ""), column = IN;
    } else if (n) {
      fputc(' ', out), column++;
    }
    fprintf(out, "%.*s", n, word), column += n;
    word += n + (word[n] == ' ');
  }
  fputc('\n', out);
}

static void words_as_text(FILE *out, const hint_words *w) {
  char line[HINT_MOST_WORDS * (HINT_TEXT + 32)] = "";
  size_t n = 0;
  for (int i = 0; i < w->n && n < sizeof line; i++) {
    const bool quoted = w->word[i].value[0] == '"';
    const int length = (int)strlen(w->word[i].value);
    n += (size_t)snprintf(line + n, sizeof line - n, "%s%s=%.*s", i ? " " : "", w->word[i].name,
                          length - 2 * quoted, w->word[i].value + quoted);
  }
  if (w->n) wrapped(out, line);
}

static void order_as_text(FILE *out, const ir_program *p, const hint_kernel *k) {
  for (int i = 0; i < k->n_digits; i++)
    fprintf(out, "%s%s=%" PRId64, i ? ", " : "; blocks in the order ",
            k->digit[i].dim < 0 ? "(parts)" : p->tree->workload->dims[k->digit[i].dim].name,
            k->digit[i].count);
  if (k->n_digits) fputs(" (fastest first)", out);
}

static void frameworks_as_text(FILE *out, const ir_program *p, const hint_kernel *k) {
  for (int f = 0; f < (k->n_products ? HINT_N_FRAMEWORKS : 1); f++) {
    hint_words w = {.n = 0};
    hint_frameworks[f].say(p, k, &w);
    if (k->n_products)
      fprintf(out, "  %-*s%s\n", IN - 2, hint_frameworks[f].name,
              w.form ? w.form : "no form of theirs");
    words_as_text(out, &w);
    if (w.remark[0]) wrapped(out, w.remark);
  }
}

static void kernel_as_text(FILE *out, const ir_program *p, const hint_kernel *k, int number) {
  fprintf(out, "\npart%d: %s", number, kinds[k->kind]);
  for (int i = 0; i < k->n_products; i++)
    fprintf(out, "%s %s (%" PRId64 " x %" PRId64 ", %" PRId64 " of the sum at a time)",
            i ? "," : "", op_name(p, k->product[i].nest->op), k->product[i].rows,
            k->product[i].columns, k->product[i].depth);
  if (!k->n_products && k->op >= 0) fprintf(out, " %s", op_name(p, k->op));
  fprintf(out, "; %" PRId64 " blocks", k->blocks);
  order_as_text(out, p, k);
  if (k->split > 1) fprintf(out, "; each sum in %" PRId64 " blocks", k->split);
  fprintf(out, "\n       %.6g us of it, bound by %s (%s)\n",
          k->cycles / p->tree->arch->clock_hz * 1e6, times[k->bound].key, times[k->bound].what);
  frameworks_as_text(out, p, k);
}

void hint_table(FILE *out, const ir_program *p, const tf_emit_options *o) {
  const tf_times t = cu_times(p);
  const ir_stmt *part;
  c_plain_text(out, p->tree->workload->name);
  fputs(" on ", out), c_plain_text(out, p->tree->arch->name);
  fprintf(out, " (%s, %s): %.6g us expected, bound by %s (%s)\n", dtype_of(o), isa_of(o),
          t.cycles / p->tree->arch->clock_hz * 1e6, times[t.bound].key, times[t.bound].what);
  for (int at = 0, number = 0; (part = next_part(p, &at)); number++) {
    hint_kernel k;
    hint_find(p, part, number, &k);
    kernel_as_text(out, p, &k, number);
  }
  fputs("\nmapping:\n", out);
  c_mapping_block(out, p->tree);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void words_as_json(FILE *out, const hint_words *w) {
  fputs("{\"form\": ", out);
  if (w->form)
    c_json_text(out, w->form);
  else
    fputs("null", out);
  fputs(", \"parameters\": {", out);
  for (int i = 0; i < w->n; i++)
    fprintf(out, "%s\"%s\": %s", i ? ", " : "", w->word[i].name, w->word[i].value);
  fputs("}, \"remark\": ", out);
  c_json_text(out, w->remark);
  fputs("}", out);
}

static void products_as_json(FILE *out, const ir_program *p, const hint_kernel *k) {
  fputs("\"products\": [", out);
  for (int i = 0; i < k->n_products; i++) {
    const hint_product *h = &k->product[i];
    fputs(i ? ", {\"op\": " : "{\"op\": ", out), c_json_text(out, op_name(p, h->nest->op));
    fprintf(out,
            ", \"rows\": %" PRId64 ", \"columns\": %" PRId64 ", \"sum\": %" PRId64
            ", \"warp_rows\": %" PRId64 ", \"warp_columns\": %" PRId64 "}",
            h->rows, h->columns, h->depth, h->warp_rows, h->warp_columns);
  }
  fputs("], \"order\": [", out);
  for (int i = 0; i < k->n_digits; i++) {
    fputs(i ? ", {\"dim\": " : "{\"dim\": ", out);
    if (k->digit[i].dim < 0)
      fputs("null", out);
    else
      c_json_text(out, p->tree->workload->dims[k->digit[i].dim].name);
    fprintf(out, ", \"blocks\": %" PRId64 ", \"step\": %" PRId64 "}", k->digit[i].count,
            k->digit[i].step);
  }
  fputs("]", out);
}

static void kernel_as_json(FILE *out, const ir_program *p, const hint_kernel *k, int number) {
  fprintf(out, "    {\"kernel\": \"part%d\", \"kind\": \"%s\", \"op\": ", number, kinds[k->kind]);
  c_json_text(out, k->op < 0 ? "" : op_name(p, k->op));
  fprintf(out,
          ", \"blocks\": %" PRId64 ", \"warps\": %" PRId64
          ", \"warpgroups\": %d, \"in_turns\": %s, \"cluster\": %d, \"stages\": %" PRId64
          ", \"split\": %" PRId64 ", \"key_warps\": %" PRId64
          ", \"registers\": %.0f, \"shared_bytes\": %" PRId64
          ",\n     \"cycles\": %.6g, \"seconds\": %.6g, \"bound_by\": \"%s\",\n     ",
          k->blocks, k->warps, k->groups, k->in_turns ? "true" : "false",
          k->cluster ? CU_CLUSTER : 1, k->stages, k->split, k->key_warps, k->registers, k->shared,
          k->cycles, k->cycles / p->tree->arch->clock_hz, times[k->bound].key);
  products_as_json(out, p, k);
  fputs(",\n     \"frameworks\": {", out);
  for (int f = 0; f < HINT_N_FRAMEWORKS; f++) {
    hint_words w = {.n = 0};
    hint_frameworks[f].say(p, k, &w);
    fprintf(out, "%s\n       \"%s\": ", f ? "," : "", hint_frameworks[f].name);
    words_as_json(out, &w);
  }
  fputs("}}", out);
}

void hint_json(FILE *out, const ir_program *p, const tf_emit_options *o) {
  const tf_times t = cu_times(p);
  const ir_stmt *part;
  fputs("{\n  \"tileflow\": ", out), c_json_text(out, o->version ? o->version : "");
  fputs(",\n  \"target\": \"hints\",\n  \"architecture\": ", out),
      c_json_text(out, p->tree->arch->name);
  fprintf(out, ",\n  \"isa\": \"%s\",\n  \"dtype\": \"%s\",\n  \"workload\": ", isa_of(o),
          dtype_of(o));
  c_json_text(out, p->tree->workload->name);
  fprintf(out,
          ",\n"
          "  \"predicted\": {\"cycles\": %.6g, \"seconds\": %.6g, \"bound_by\": \"%s\"},\n"
          "  \"kernels\": [",
          t.cycles, t.cycles / p->tree->arch->clock_hz, times[t.bound].key);
  for (int at = 0, number = 0; (part = next_part(p, &at)); number++) {
    hint_kernel k;
    hint_find(p, part, number, &k);
    fputs(number ? ",\n" : "\n", out);
    kernel_as_json(out, p, &k, number);
  }
  fputs("],\n  \"sources\": {", out);
  for (int f = 0; f < HINT_N_FRAMEWORKS; f++) {
    fprintf(out, "%s\"%s\": ", f ? ", " : "", hint_frameworks[f].name);
    c_json_text(out, hint_frameworks[f].source);
  }
  fputs("}\n}\n", out);
}
