#include "cli/os/host.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/host/host_measure.h"
#include "cli/os/sysfs.h"
#include "tileflow/emit.h"

static const tf_loc nowhere = {0};
enum { MAX_CACHES = 8 };

/* Whether a flag is in a list of flags. */
static bool has_flag(const char *flags, const char *flag) {
  size_t n = strlen(flag);
  for (const char *p = strstr(flags, flag); p; p = strstr(p + 1, flag))
    if ((p == flags || p[-1] == ' ') && (p[n] == ' ' || !p[n])) return true;
  return false;
}

/* ---- facts ------------------------------------------------------------------------------ */

typedef struct {
  int level, index;
  int64_t kib, shared; /* shared: number of processors that share it */
} cache;

/* Vector registers and units of an instruction set. */
typedef struct {
  const char *name, *flag;
  int lanes, registers; /* fp32 words a register */
  bool fma;
} isa;

typedef struct {
  char model[128], clock_from[160];
  sysfs_processors there;
  int64_t cpus, cores,
      all_cores; /* all_cores: the computer's, where only some are described; else 0 */
  bool kept;     /* --cores: one processor a core */
  double clock_hz;
  int n_caches;
  cache caches[MAX_CACHES]; /* outermost first, without instruction caches */
  const isa *isa;
  const host_measured *m; /* NULL: nothing is measured */
} host;

/* Whether a number of KiB is one, and its bits can be counted. */
static bool is_size(int64_t kib) { return kib >= 1 && kib <= INT64_MAX / 8192; }

static bool has_level(const host *h, int level) {
  for (int i = 0; i < h->n_caches; i++)
    if (h->caches[i].level == level) return true;
  return false;
}

/* Line `what` of cache i of the first processor that this process may use. */
static bool cache_line(const char *root, const host *h, int i, const char *what, char *text,
                       size_t size) {
  char path[128];
  snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%" PRId64 "/cache/index%d/%s",
           h->there.first, i, what);
  return sysfs_line(root, path, text, size);
}

static void read_caches(const char *root, host *h) {
  for (int i = 0; i < MAX_CACHES; i++) {
    char text[512];
    cache c = {.index = i};
    if (!cache_line(root, h, i, "type", text, sizeof text) ||
        (strcmp(text, "Data") != 0 && strcmp(text, "Unified") != 0))
      continue;
    c.level = cache_line(root, h, i, "level", text, sizeof text) ? atoi(text) : 0;
    if (!cache_line(root, h, i, "size", text, sizeof text)) continue;
    char *end;
    c.kib = strtol(text, &end, 10);
    if (*end == 'M') c.kib = is_size(c.kib) ? c.kib * 1024 : 0;
    c.shared = cache_line(root, h, i, "shared_cpu_list", text, sizeof text)
                   ? sysfs_allowed(&h->there, text)
                   : 1;
    if (c.level < 1 || c.level > 4 || has_level(h, c.level) || !is_size(c.kib) || c.shared < 1)
      continue;
    int at = h->n_caches++;
    while (at > 0 && h->caches[at - 1].level < c.level) {
      h->caches[at] = h->caches[at - 1];
      at--;
    }
    h->caches[at] = c;
  }
}

/* The cores and processors that this process may use. */
static bool read_cores(const char *root, host *h) {
  if (!sysfs_processors_read(root, &h->there)) return false;
  h->cpus = h->there.allowed;
  h->cores = h->there.allowed_cores;
  if (h->there.allowed < h->there.online) h->all_cores = h->there.cores;
  return true;
}

/* Leaves n of the cores, one processor each, and of the caches what these share. */
static bool keep_cores(host *h, int64_t n, tf_diags *d) {
  const int64_t threads = (h->cpus + h->cores - 1) / h->cores;
  if (n > h->cores)
    return tf_fail(d, nowhere, TF_E_USAGE,
                   "--cores %" PRId64 " is more than the %" PRId64 " that this %s", n, h->cores,
                   h->all_cores ? "process may run on" : "computer has");
  for (int i = 0; i < h->n_caches; i++) {
    const int64_t shared = (h->caches[i].shared + threads - 1) / threads;
    h->caches[i].shared = shared < n ? shared : n;
  }
  h->all_cores = h->there.cores;
  h->kept = true;
  h->cores = h->cpus = n;
  return true;
}

static void read_clock(const char *root, host *h, cli_text *notes) {
  static const char *const file[] = {"sys/devices/system/cpu/cpu0/cpufreq/base_frequency",
                                     "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"};
  char text[128];
  for (size_t i = 0; i < 2 && !(h->clock_hz > 0); i++)
    if (sysfs_line(root, file[i], text, sizeof text)) {
      h->clock_hz = strtod(text, NULL) * 1e3;
      snprintf(h->clock_from, sizeof h->clock_from, "/%s", file[i]);
    }
  if (!(h->clock_hz > 0) && sysfs_value(root, "proc/cpuinfo", "cpu MHz", text, sizeof text)) {
    h->clock_hz = strtod(text, NULL) * 1e6;
    snprintf(h->clock_from, sizeof h->clock_from,
             "/proc/cpuinfo, cpu MHz: at the moment of reading");
  }
  if (h->clock_hz > 0) return;
  h->clock_hz = 2e9;
  snprintf(h->clock_from, sizeof h->clock_from, "assumption: the system reports no clock");
  cli_printf(notes, "tileflow: note: no clock in /sys or /proc/cpuinfo: 2 GHz assumed\n");
}

static void read_isa(const char *root, host *h, cli_text *notes) {
  static const isa known[] = {{"AVX-512", "avx512f", 16, 32, true},
                              {"AVX2", "avx2", 8, 16, true},
                              {"AVX", "avx", 8, 16, false},
                              {"SSE2", "sse2", 4, 16, false},
                              {"Advanced SIMD", "asimd", 4, 32, true},
                              {"no vectors known", "", 1, 16, false}};
  char flags[8192];
  if (!sysfs_value(root, "proc/cpuinfo", "flags", flags, sizeof flags) &&
      !sysfs_value(root, "proc/cpuinfo", "Features", flags, sizeof flags)) {
    flags[0] = '\0';
    cli_printf(notes, "tileflow: note: no flags in /proc/cpuinfo: one word at a time assumed\n");
  }
  h->isa = known;
  while (*h->isa->flag && !has_flag(flags, h->isa->flag))
    h->isa++;
}

/* ---- writing ---------------------------------------------------------------------------- */

/* A line of YAML with its source in a comment. */
static void put_line(cli_text *out, const char *from, const char *fmt, ...) TF_PRINTF(3, 4);
static void put_line(cli_text *out, const char *from, const char *fmt, ...) {
  char line[128];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(line, sizeof line, fmt, ap);
  va_end(ap);
  cli_printf(out, "%-38s # %s\n", line, from);
}

/* The source of a measured figure, as text. */
static const char *measured(const host_figure *f, const char *what, char *text, size_t size) {
  snprintf(text, size, "measured%s; the middle half of the rounds within %.2g %%", what,
           100 * f->spread);
  return text;
}

/* Words a cycle that cache i delivers: measured, or assumed. */
static void put_bandwidth(const host *h, int i, int64_t cores, cli_text *out) {
  const cache *c = &h->caches[i];
  const host_figure *read = h->m ? &h->m->read[i] : NULL, *write = h->m ? &h->m->write[i] : NULL;
  char from[160];
  if (read && c->level == 1)
    put_line(out, measured(read, "", from, sizeof from), "    bandwidth: {read: %.3g, write: %.3g}",
             read->value / 4, write->value / 4);
  else if (read)
    put_line(out,
             measured(read, c->shared > 1 ? ", reads of one core, times the cores" : ", reads",
                      from, sizeof from),
             "    bandwidth: %.3g", read->value / 4 * (double)cores);
  else if (c->level == 1)
    put_line(out, "assumption: two loads and a store a cycle",
             "    bandwidth: {read: %d, write: %d}", 2 * h->isa->lanes, h->isa->lanes);
  else if (c->level == 2)
    put_line(out, "assumption: a vector a cycle", "    bandwidth: %d", h->isa->lanes);
  else
    put_line(out, "assumption: 16 bytes a cycle for each core", "    bandwidth: %" PRId64,
             4 * cores);
}

static void put_caches(const host *h, cli_text *out) {
  int64_t above = 1; /* instances of the memory above */
  for (int i = 0; i < h->n_caches; i++) {
    const cache *c = &h->caches[i];
    char from[96];
    int64_t n = (h->cpus + c->shared - 1) / c->shared, mesh = n / above > 0 ? n / above : 1;
    int64_t cores = h->cores / n > 0 ? h->cores / n : 1;
    cli_printf(out, "  - name: L%d\n", c->level);
    snprintf(from, sizeof from,
             "cpu%" PRId64 "/cache/index%d/shared_cpu_list: one for %" PRId64 " of %" PRId64 " %s",
             h->there.first, c->index, c->shared, h->cpus, h->kept ? "cores" : "processors");
    if (mesh > 1) put_line(out, from, "    mesh: [%" PRId64 ", 1]", mesh);
    snprintf(from, sizeof from, "cpu%" PRId64 "/cache/index%d/size", h->there.first, c->index);
    put_line(out, from, "    capacity: %" PRId64 " KiB", c->kib);
    put_bandwidth(h, i, cores, out);
    if (mesh > 1)
      put_line(out, "each fetches on its own", "    network: {multicast: false, reduce: false}");
    above = n;
  }
}

/* Two vector units; their joint rate is measured, or assumed. */
static void put_multiplier(const host *h, cli_text *out) {
  const isa *v = h->isa;
  char from[160];
  if (h->m)
    put_line(out, measured(&h->m->mac, ", multiply-adds of a core", from, sizeof from),
             "  - name: fma");
  else
    put_line(out,
             v->fma ? "assumption: two vector units, a multiply-add each a cycle"
                    : "assumption: two vector units, a multiply and an add for a multiply-add",
             "  - name: fma");
  cli_printf(out,
             "    below: REG\n    mesh: [%d, 2]\n    rate: %.3g\n"
             "    ops: [mac, add, sub, mul, max, min, neg, relu, abs, select]\n",
             v->lanes,
             h->m     ? h->m->mac.value / (2 * v->lanes)
             : v->fma ? 1
                      : 0.5);
}

static void put_math(const host *h, cli_text *out) {
  const isa *v = h->isa;
  char from[160];
  put_line(out,
           h->m ? measured(&h->m->exp, ", exp of a row in the first cache", from, sizeof from)
                : "assumption: ten vector instructions for one of these",
           "  - name: math");
  cli_printf(out,
             "    below: REG\n    mesh: [%d, 2]\n    rate: %.3g\n"
             "    ops: [add, sub, mul, max, min, neg, relu, abs, select, div, exp, log, sqrt, "
             "tanh, erf, sigmoid, gelu, silu, floor, ceil, round, trunc, sin, cos, fmod]\n",
             v->lanes, h->m ? h->m->exp.value / (2 * v->lanes) : 0.1);
}

/* Notes for figures without a key: tiles hold another type of data than the file's words, and the
 * model has no calls. */
static void put_beside(const host_measured *m, cli_text *out) {
  char from[160];
  cli_printf(out, "# A call and its return: %.3g cycles (%s).\n", m->call.value,
             measured(&m->call, "", from, sizeof from));
  if (m->tile.value > 0)
    cli_printf(out, "# Tiles of bfloat16: %.4g multiply-adds a cycle of a core (%s).\n",
               m->tile.value, measured(&m->tile, "", from, sizeof from));
}

/* Figures by which kernels are ranked, as far as they can be measured or read; the rest have
 * defaults in FORMATS.md. */
static void put_core(const host *h, cli_text *out) {
  char from[160];
  const long page = sysconf(_SC_PAGESIZE);
  if (!(h->m->latency.value > 0) || page <= 0) return;
  cli_printf(out, "  core:\n");
  put_line(out, measured(&h->m->latency, ", multiply-adds one after the other", from, sizeof from),
           "    latency: %.2g", h->m->latency.value);
  put_line(out, "sysconf(_SC_PAGESIZE)", "    page: %ld B", page);
  if (h->n_caches && h->caches[h->n_caches - 1].level == 1)
    put_line(out, "two thirds of the first cache", "    stays: %" PRId64 " KiB",
             h->caches[h->n_caches - 1].kib * 2 / 3);
}

static void put_units(const host *h, cli_text *out) {
  const isa *v = h->isa;
  char from[96];
  snprintf(from, sizeof from, "%s (/proc/cpuinfo): %d registers of %d words", v->name, v->registers,
           v->lanes);
  cli_printf(out, "  - name: REG\n");
  put_line(out, from, "    capacity: %d", v->lanes * v->registers);
  cli_printf(out, "  compute:\n");
  put_multiplier(h, out);
  put_math(h, out);
}

static void put_memory(const host *h, cli_text *out) {
  char from[160];
  if (h->m) {
    const host_figure *f = &h->m->read[h->n_caches];
    put_line(out, measured(f, ", reads of one core", from, sizeof from), "    bandwidth: %.3g GB/s",
             f->value * h->clock_hz * 1e-9);
  } else {
    put_line(out, "assumption: measure a copy of arrays far larger than the caches",
             "    bandwidth: 40 GB/s");
  }
}

/* Runs the loops; uses the clock that they measure. */
static bool measure(host *h, host_measured *m, tf_diags *d) {
  int64_t bytes[MAX_CACHES];
  const bool tiles = !strcmp(tf_emit_isa("bf16"), "amx");
  if (h->n_caches >= HOST_CACHES) h->n_caches = HOST_CACHES - 1;
  for (int i = 0; i < h->n_caches; i++)
    bytes[i] = h->caches[i].kib * 1024;
  if (!host_measure(bytes, h->n_caches, h->clock_hz, tiles, m)) return tf_out_of_memory(d);
  h->m = m;
  if (!(m->clock_hz.value > 0)) return true;
  h->clock_hz = m->clock_hz.value;
  measured(&m->clock_hz, ", additions one after the other", h->clock_from, sizeof h->clock_from);
  return true;
}

static void put_machine(const char *root, const host *h, cli_text *out) {
  char text[128];
  if (h->kept)
    cli_printf(out, "# %s: %" PRId64 " of %" PRId64 " cores (/sys/devices/system/cpu).\n", h->model,
               h->cores, h->all_cores);
  else if (h->all_cores)
    cli_printf(out,
               "# %s: %" PRId64 " of %" PRId64 " cores, %" PRId64 " of %" PRId64
               " processors: those that this process may run on (Cpus_allowed_list of "
               "/proc/self/status).\n",
               h->model, h->cores, h->all_cores, h->cpus, h->there.online);
  else
    cli_printf(out, "# %s: %" PRId64 " cores, %" PRId64 " processors (/sys/devices/system/cpu).\n",
               h->model, h->cores, h->cpus);
  cli_printf(out, "# Caches are modelled as memories that the mapping manages: a tile that fits is "
                  "taken to stay.\n");
  if (h->m) put_beside(h->m, out);
  cli_printf(out, "architecture:\n  name: host\n");
  put_line(out, h->clock_from, "  clock: %.4g GHz", h->clock_hz * 1e-9);
  put_line(out, "fp32", "  word-bits: 32");
  put_line(out, "out-of-order execution and prefetchers", "  overlap: double-buffer");
  cli_printf(out, "  memories:\n  - name: DRAM\n");
  put_memory(h, out);
  if (sysfs_value(root, "proc/meminfo", "MemTotal", text, sizeof text) && is_size(atoll(text)))
    put_line(out, "/proc/meminfo, MemTotal", "    capacity: %lld KiB", atoll(text));
  put_caches(h, out);
  put_units(h, out);
  if (h->m) put_core(h, out);
}

bool cli_host_architecture(const char *root, bool measures, int64_t cores, cli_text *out,
                           cli_text *notes, tf_diags *d) {
  host_measured m;
  host h = {.n_caches = 0};
  if (!read_cores(root, &h))
    return tf_fail(d, nowhere, TF_E_IO,
                   "%s/sys/devices/system/cpu/online does not say which processors there are: "
                   "--host reads what Linux reports",
                   root);
  if (!sysfs_value(root, "proc/cpuinfo", "model name", h.model, sizeof h.model))
    snprintf(h.model, sizeof h.model, "a processor without a name");
  read_caches(root, &h);
  if (cores && !keep_cores(&h, cores, d)) return false;
  read_clock(root, &h, notes);
  read_isa(root, &h, notes);
  if (!h.n_caches)
    cli_printf(
        notes,
        "tileflow: note: no caches in /sys/devices/system/cpu/cpu0/cache: add them by hand\n");
  if (measures) {
    if (!measure(&h, &m, d)) return false;
    put_machine(root, &h, out);
    return true;
  }
  cli_printf(notes, "tileflow: note: the system does not report what DRAM and caches deliver: "
                    "measure the bandwidths marked 'assumption'\n");
  put_machine(root, &h, out);
  return true;
}
