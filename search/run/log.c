/* The log as text:
 *   tileflow-search-log 1 STRATEGY OBJECTIVE SEED SPACE
 *   task NO SHAPE EVALS EXHAUSTED COST BESTS
 *   best BY VALUE CYCLES ENERGY EDP TRAFFIC HELD TRIPS...
 *   end NO
 * Reals are written as %a, which reads back exactly. */
#include "search/run/log.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"

/* ---- writing ------------------------------------------------------------------------------ */
static void write_head(FILE *f, const tf_log_head *h) {
  fprintf(f, "tileflow-search-log 1 %s %s %" PRIu64 " %016" PRIx64 "\n", h->strategy, h->objective,
          h->seed, h->space);
}

void tf_log_write_task(FILE *f, const tf_task *t) {
  int n = 0;
  for (int by = 0; by < TF_N_BY; by++)
    n += t->best[by].found;
  fprintf(f, "task %" PRId64 " %016" PRIx64 " %" PRId64 " %d %a %d\n", t->no, t->shape, t->evals,
          t->exhausted, t->cost, n);
  for (int by = 0; by < TF_N_BY; by++) {
    const tf_task_best *b = &t->best[by];
    if (!b->found) continue;
    fprintf(f, "best %d %a %a %a %a %a %a", by, b->value, b->figures.cycles, b->figures.energy_pj,
            b->figures.edp, b->figures.traffic_words, b->figures.held_words);
    for (int i = 0; i < t->n_loops; i++)
      fprintf(f, " %" PRId64, b->trips[i]);
    fputc('\n', f);
  }
  fprintf(f, "end %" PRId64 "\n", t->no);
}

/* ---- reading ------------------------------------------------------------------------------ */
typedef struct {
  const char *p, *end, *line_start;
  uint32_t line;
  uint16_t file;
  tf_diags *diags;
  tf_log *out;
  int room;
  bool bad;
} reader;

static bool fail(reader *r, size_t len, const char *what) {
  tf_loc at = {r->file, r->line, (uint32_t)(r->p - r->line_start) + 1, len ? (uint32_t)len : 1};
  if (!r->bad) tf_fail(r->diags, at, TF_E_SYNTAX, "search log: expected %s", what);
  r->bad = true;
  return false;
}

/* The next word of the line; empty at the end. */
static size_t word(reader *r) {
  while (r->p < r->end && *r->p == ' ')
    r->p++;
  size_t n = 0;
  while (r->p + n < r->end && r->p[n] != ' ' && r->p[n] != '\n')
    n++;
  return n;
}

static bool text(reader *r, const char *want) {
  size_t n = word(r);
  if (r->bad || n != strlen(want) || memcmp(r->p, want, n) != 0) return fail(r, n, want);
  r->p += n;
  return true;
}

/* Copies a word into a terminated buffer, for strto... */
static bool copy_word(reader *r, char *buf, size_t size, const char *what) {
  size_t n = word(r);
  if (r->bad || n == 0 || n >= size) return fail(r, n, what);
  memcpy(buf, r->p, n);
  buf[n] = '\0';
  return true;
}

static bool integer(reader *r, int64_t least, int64_t *out) {
  char buf[32], *end;
  if (!copy_word(r, buf, sizeof buf, "a whole number")) return false;
  errno = 0;
  *out = strtoll(buf, &end, 10);
  if (*end || errno || *out < least) return fail(r, strlen(buf), "a whole number");
  r->p += strlen(buf);
  return true;
}

static bool hash(reader *r, uint64_t *out) {
  char buf[32], *end;
  if (!copy_word(r, buf, sizeof buf, "16 hexadecimal digits")) return false;
  *out = strtoull(buf, &end, 16);
  if (*end || strlen(buf) != 16) return fail(r, strlen(buf), "16 hexadecimal digits");
  r->p += 16;
  return true;
}

static bool real(reader *r, double *out) {
  char buf[48], *end;
  if (!copy_word(r, buf, sizeof buf, "a number")) return false;
  *out = strtod(buf, &end);
  if (*end || isnan(*out) || *out < 0) return fail(r, strlen(buf), "a number, 0 or more");
  r->p += strlen(buf);
  return true;
}

static bool line_end(reader *r) {
  size_t n = word(r);
  if (r->bad || n > 0 || r->p == r->end) return fail(r, n, "the end of the line");
  r->p++;
  r->line++;
  r->line_start = r->p;
  return true;
}

static bool read_best(reader *r, tf_logged *t) {
  int64_t by;
  if (!text(r, "best") || !integer(r, 0, &by)) return false;
  if (by >= TF_N_BY || t->best[by].there) return fail(r, 1, "another figure");
  tf_figures *f = &t->best[by].figures;
  bool ok = real(r, &t->best[by].value) && real(r, &f->cycles) && real(r, &f->energy_pj) &&
            real(r, &f->edp) && real(r, &f->traffic_words) && real(r, &f->held_words);
  if (!ok) return false;
  size_t room = 1;
  for (const char *p = r->p; p < r->end && *p != '\n'; p++)
    room += *p == ' ';
  int64_t *trips = TF_ARRAY(r->out->arena, int64_t, room);
  if (!trips) return fail(r, 1, "memory");
  int n = 0;
  while (word(r) > 0)
    if (!integer(r, 1, &trips[n++])) return false;
  t->best[by].trips = trips;
  t->best[by].n_trips = n;
  t->best[by].there = true;
  return line_end(r);
}

static tf_logged *add_logged(reader *r) {
  if (r->out->n == r->room) {
    int room = r->room ? 2 * r->room : 64;
    tf_logged *list = TF_ARRAY(r->out->arena, tf_logged, (size_t)room);
    if (!list) return NULL;
    if (r->out->n) memcpy(list, r->out->tasks, (size_t)r->out->n * sizeof *list);
    r->out->tasks = list;
    r->room = room;
  }
  tf_logged *t = &r->out->tasks[r->out->n];
  *t = (tf_logged){0};
  return t;
}

static bool read_task(reader *r) {
  tf_logged *t = add_logged(r);
  int64_t exhausted, n, no;
  if (!t) return tf_out_of_memory(r->diags);
  bool ok = text(r, "task") && integer(r, 0, &t->no) && hash(r, &t->shape) &&
            integer(r, 0, &t->evals) && integer(r, 0, &exhausted) && real(r, &t->cost) &&
            integer(r, 0, &n) && line_end(r);
  if (!ok) return false;
  t->exhausted = exhausted != 0;
  for (int64_t i = 0; i < n; i++)
    if (!read_best(r, t)) return false;
  if (!text(r, "end") || !integer(r, 0, &no)) return false;
  if (no != t->no) return fail(r, 1, "the number of the task");
  if (!line_end(r)) return false;
  r->out->n++;
  return true;
}

/* Length of the text up to the end of the last complete record: past the last "end" line. */
static size_t whole_of(const char *text_, size_t len) {
  size_t whole = 0;
  for (size_t start = 0, i = 0; i < len; i++) {
    if (text_[i] != '\n') continue;
    if (start == 0 || (i - start > 4 && !memcmp(text_ + start, "end ", 4))) whole = i + 1;
    start = i + 1;
  }
  return whole;
}

static bool same_head(reader *r, const tf_log_head *h) {
  char seed[24], space[24];
  snprintf(seed, sizeof seed, "%" PRIu64, h->seed);
  snprintf(space, sizeof space, "%016" PRIx64, h->space);
  if (!text(r, "tileflow-search-log") || !text(r, "1")) return false;
  if (!text(r, h->strategy) || !text(r, h->objective) || !text(r, seed))
    tf_note(r->diags, (tf_loc){0},
            "resume with the strategy, the objective and the seed of the log");
  else if (!text(r, space))
    tf_note(r->diags, (tf_loc){0},
            "the log was written for another architecture, workload or mapping");
  return !r->bad && line_end(r);
}

/* Sorts by number: tasks of one batch end in any order, and those interrupted are written when the
 * log is resumed. */
static int by_no(const void *a, const void *b) {
  const tf_logged *x = a, *y = b;
  return (x->no > y->no) - (x->no < y->no);
}

bool tf_log_read(const char *name, const char *bytes, size_t len, const tf_log_head *head,
                 tf_log *out, tf_diags *d) {
  *out = (tf_log){.arena = tf_arena_new()};
  if (!out->arena) return tf_out_of_memory(d);
  out->whole = whole_of(bytes, len);
  reader r = {.p = bytes,
              .end = bytes + out->whole,
              .line_start = bytes,
              .line = 1,
              .diags = d,
              .out = out,
              .file = tf_diags_add_file(d, name, bytes, len)};
  if (!same_head(&r, head)) return false;
  while (r.p < r.end)
    if (!read_task(&r)) return false;
  if (out->n) qsort(out->tasks, (size_t)out->n, sizeof *out->tasks, by_no);
  for (int i = 1; i < out->n; i++)
    if (out->tasks[i].no == out->tasks[i - 1].no) return fail(&r, 1, "each task once");
  return true;
}

void tf_log_free(tf_log *l) {
  tf_arena_free(l->arena);
  *l = (tf_log){0};
}

const tf_logged *tf_log_find(const tf_log *l, int64_t no) {
  int lo = 0, hi = l->n;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (l->tasks[mid].no < no)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < l->n && l->tasks[lo].no == no ? &l->tasks[lo] : NULL;
}

/* ---- files -------------------------------------------------------------------------------- */
static char *slurp(FILE *f, size_t *len) {
  size_t room = 1 << 16, n = 0;
  char *buf = malloc(room);
  while (buf) {
    n += fread(buf + n, 1, room - n, f);
    if (n < room) break;
    if (!tf_grow_text(&buf, &room, 2 * room)) {
      free(buf);
      buf = NULL;
    }
  }
  *len = n;
  return buf;
}

static FILE *open_old(const char *path, const tf_log_head *head, tf_log *out, tf_diags *d) {
  FILE *f = fopen(path, "r+b");
  size_t len = 0;
  char *bytes = f ? slurp(f, &len) : NULL;
  bool ok = bytes != NULL;
  if (!f)
    tf_fail(d, (tf_loc){0}, TF_E_IO, "cannot open the log '%.120s': %s", path, strerror(errno));
  else if (!bytes)
    tf_out_of_memory(d);
  ok = ok && tf_log_read(path, bytes, len, head, out, d);
  if (ok && (fseek(f, (long)out->whole, SEEK_SET) || ftruncate(fileno(f), (off_t)out->whole)))
    ok = tf_fail(d, (tf_loc){0}, TF_E_IO, "cannot write to '%.120s': %s", path, strerror(errno));
  free(bytes);
  if (ok || !f) return f;
  fclose(f);
  return NULL;
}

FILE *tf_log_open(const char *path, bool resume, const tf_log_head *head, tf_log *out,
                  tf_diags *d) {
  *out = (tf_log){0};
  if (resume) return open_old(path, head, out, d);
  struct stat old;
  bool special = stat(path, &old) == 0 &&
                 !S_ISREG(old.st_mode); /* a device, a pipe: opening it destroys nothing */
  FILE *f = fopen(path, special ? "wb" : "wxb");
  if (f) write_head(f, head);
  if (f && fflush(f) == 0) return f;
  int why = errno;
  tf_fail(d, (tf_loc){0}, TF_E_IO, "cannot write the log '%.120s': %s", path, strerror(why));
  if (!f && why == EEXIST)
    tf_note(d, (tf_loc){0}, "--resume goes on from it; remove it to start anew");
  if (f) fclose(f);
  if (f && !special) unlink(path);
  return NULL;
}
