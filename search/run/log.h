/* The log of a search: a line that identifies what is searched, then a record for each task,
 * written as the search goes.  A run that is killed in the middle of a record loses that record
 * only. */
#ifndef SEARCH_RUN_LOG_H
#define SEARCH_RUN_LOG_H
#include <stdio.h>

#include "search/run/task.h"

/* What must match for a log to be resumed. */
typedef struct {
  const char *strategy, *objective;
  uint64_t seed, space; /* space: tf_identity of architecture, workload, mapping and starts */
} tf_log_head;

typedef struct {
  tf_arena *arena;
  int n;
  tf_logged *tasks; /* ascending no */
  size_t whole;     /* bytes of the text up to the end of the last complete record */
} tf_log;

/* Reads a log's text.  Errors, with line and column, go to d. */
bool tf_log_read(const char *name, const char *text, size_t len, const tf_log_head *head,
                 tf_log *out, tf_diags *d);
void tf_log_free(tf_log *l);
const tf_logged *tf_log_find(const tf_log *l, int64_t no);

void tf_log_write_task(FILE *f, const tf_task *t);

/* Opens the log file of a search: a new one, which must not exist; or, to resume, an existing one,
 * which is read into out and truncated after its last complete record.  NULL with errors in d. */
FILE *tf_log_open(const char *path, bool resume, const tf_log_head *head, tf_log *out, tf_diags *d);
#endif
