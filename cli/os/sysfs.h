/* What Linux reports in /sys and /proc; below ROOT, which is "" for this computer. */
#ifndef CLI_OS_SYSFS_H
#define CLI_OS_SYSFS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SYSFS_CPUS = 4096 };

/* The first line of ROOT/path, without its line end; false if there is none. */
bool sysfs_line(const char *root, const char *path, char *line, size_t size);

/* The value after the first `key` and a colon in ROOT/path. */
bool sysfs_value(const char *root, const char *path, const char *key, char *value, size_t size);

typedef struct {
  bool has[SYSFS_CPUS];
} sysfs_set;

/* Reads a list of processors such as 0-3,8; their number, 0 if it is none. */
int64_t sysfs_list(const char *list, sysfs_set *out);

/* The processors of a computer, and those of them that this process may run on (its affinity). */
typedef struct {
  int64_t online, cores; /* cores: those with a processor online */
  int64_t allowed, allowed_cores;
  int64_t first; /* the first that is allowed */
  sysfs_set may;
} sysfs_processors;

bool sysfs_processors_read(const char *root, sysfs_processors *out);

/* How many of a list the process may run on. */
int64_t sysfs_allowed(const sysfs_processors *p, const char *list);
#endif
