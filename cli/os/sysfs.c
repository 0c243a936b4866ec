#include "cli/os/sysfs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line: a list may name more than a thousand processors one by one, and the flags of one are
 * many. */
enum { LIST_ROOM = 8192 };

bool sysfs_line(const char *root, const char *path, char *line, size_t size) {
  char name[512];
  snprintf(name, sizeof name, "%s/%s", root, path);
  FILE *f = fopen(name, "r");
  bool ok = f && fgets(line, (int)size, f);
  if (f) fclose(f);
  if (ok) line[strcspn(line, "\n")] = '\0';
  return ok && *line;
}

bool sysfs_value(const char *root, const char *path, const char *key, char *value, size_t size) {
  char name[512], line[LIST_ROOM];
  snprintf(name, sizeof name, "%s/%s", root, path);
  FILE *f = fopen(name, "r");
  bool found = false;
  while (f && !found && fgets(line, sizeof line, f)) {
    char *colon = strchr(line, ':');
    size_t n = strlen(key);
    if (!colon || strncmp(line, key, n) != 0 ||
        strspn(line + n, " \t") != (size_t)(colon - line) - n)
      continue;
    colon += 1 + strspn(colon + 1, " \t");
    colon[strcspn(colon, "\n")] = '\0';
    snprintf(value, size, "%s", colon);
    found = true;
  }
  if (f) fclose(f);
  return found;
}

int64_t sysfs_list(const char *list, sysfs_set *out) {
  int64_t n = 0;
  memset(out, 0, sizeof *out);
  for (char *p = (char *)(uintptr_t)list; *p;) {
    char *end;
    long from = strtol(p, &end, 10), to = from;
    if (end == p || from < 0) return 0;
    if (*end == '-') to = strtol(end + 1, &end, 10);
    if (to < from || to >= SYSFS_CPUS) return 0;
    for (long i = from; i <= to; i++) {
      n += !out->has[i];
      out->has[i] = true;
    }
    p = end + (*end == ',');
    if (end == p && *p) return 0;
  }
  return n;
}

/* The first processor of the core that processor i is of; i where that is not known. */
static int64_t core_of(const char *root, int64_t i) {
  char path[128], text[128];
  snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%" PRId64 "/topology/thread_siblings_list",
           i);
  const int64_t first = sysfs_line(root, path, text, sizeof text) ? strtol(text, NULL, 10) : i;
  return first >= 0 && first < SYSFS_CPUS ? first : i;
}

/* Of the processors of a set: how many cores they are of. */
static int64_t cores_of(const char *root, const sysfs_set *s) {
  sysfs_set seen = {{0}};
  int64_t n = 0;
  for (int64_t i = 0; i < SYSFS_CPUS; i++) {
    if (!s->has[i]) continue;
    const int64_t core = core_of(root, i);
    n += !seen.has[core];
    seen.has[core] = true;
  }
  return n;
}

bool sysfs_processors_read(const char *root, sysfs_processors *out) {
  char text[LIST_ROOM];
  sysfs_set online;
  *out = (sysfs_processors){0};
  if (sysfs_line(root, "sys/devices/system/cpu/online", text, sizeof text))
    out->online = sysfs_list(text, &online);
  if (!out->online) return false;
  if (!sysfs_value(root, "proc/self/status", "Cpus_allowed_list", text, sizeof text) ||
      !sysfs_list(text, &out->may))
    out->may = online;
  for (int64_t i = SYSFS_CPUS - 1; i >= 0; i--) {
    out->may.has[i] = out->may.has[i] && online.has[i];
    if (!out->may.has[i]) continue;
    out->allowed++;
    out->first = i;
  }
  out->cores = cores_of(root, &online);
  out->allowed_cores = cores_of(root, &out->may);
  return out->allowed > 0;
}

int64_t sysfs_allowed(const sysfs_processors *p, const char *list) {
  sysfs_set s;
  int64_t n = 0;
  sysfs_list(list, &s);
  for (int i = 0; i < SYSFS_CPUS; i++)
    n += s.has[i] && p->may.has[i];
  return n;
}
