/* What sm_90a has besides, for emulate.hpp: barriers in shared memory that count arrivals and bytes, boxes of tensors
 * that come and go by themselves, products that a warpgroup (128 threads) begins and waits for.  A box comes, and a
 * product reads its operands, at a moment by seed between begin and wait.  Warps have vector clocks, which barriers
 * bring together, and each 16 bytes of shared memory know who touched them last: who touches what is on its way, or
 * what nobody has ordered before, is told whatever the order.  So are threads that wait for what never comes, a write
 * by threads that is read as boxes and products read (the asynchronous proxy) without a fence in between, descriptors
 * that lead out of shared memory, arrivals and bytes that no phase takes, and registers that a warpgroup does not get. */
#ifndef TILEFLOW_HOPPER_HPP
#define TILEFLOW_HOPPER_HPP
#include <vector>

#define __grid_constant__
typedef int cudaDeviceAttr;
enum { cudaDevAttrMultiProcessorCount = 16 };
/* Few, so that each block of a persistent grid has several tiles. */
static inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int) { return *value = 2, cudaSuccess; }

enum CUtensorMapDataType { CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT32 };
/* A tensor as boxes are taken from it: innermost rank first; bytes of an element; steps in bytes, of all ranks but the
 * innermost. */
struct tensor_map {
  unsigned char *base;
  CUtensorMapDataType type;
  int rank, element;
  int64_t extent[5], step[5];
  int box[5], each[5]; /* elements that are taken along each rank, and from one to the next */
};

namespace emulation {
enum { GROUP = 128, MOST_WARPS = 32, MOST_GROUPS = 8, MOST_MEMBERS = 2, MOST_NAMED = 16, PIECE = 16, ALL_REGISTERS = 65536 };
enum { MOST_BYTES = (1 << 20) - 1 };

struct clocks {
  uint32_t of[MOST_WARPS];
  void join(const clocks &o) {
    for (int i = 0; i < MOST_WARPS; i++)
      if (o.of[i] > of[i]) of[i] = o.of[i];
  }
};

/* 16 bytes of shared memory. */
struct place {
  uint32_t wrote, read[MOST_WARPS]; /* moments of the writer's clock, and of each reader's */
  int writer;                       /* a warp; -1: nobody */
  int coming, leaving;              /* boxes on their way to it; products and boxes that read it */
  int thread;                       /* that wrote last by itself; -1: a box came */
  uint32_t fences;                  /* that it had had */
  bool barrier;
};

struct barrier {
  bool there, known;
  int count, pending, bytes;
  unsigned phase;
  bool filled; /* bytes are expected in this phase */
  clocks gathering, gathered; /* of the phase at hand; of those that are over */
  uint32_t since;             /* when it was made, and by which warp and thread */
  int by, thread;
};

/* A box on its way. */
struct box {
  tensor_map map;
  int64_t at[5];
  size_t place; /* in shared memory */
  int to;       /* its barrier; -1: it leaves */
  clocks begun;
  int thread, group;
  bool gone;
};

struct tile_product {
  int n, flight;
  bool rows, more, turned_a, turned_b;
  uint64_t a, b;
  uint32_t of_rows[GROUP][4];
  const uint32_t *rows_at[GROUP]; /* where they stand in each thread's registers */
  bool done;
  int group;
};
/* Sums that products add to: nobody's until they are waited for. */
struct flight {
  float *d[GROUP];
  int n;
  std::vector<float> sums; /* 64 x n */
  bool over;
};
struct warpgroup {
  bool fenced;
  int groups, registers;
  std::vector<tile_product> products;
  std::vector<flight> flights;
};

static clocks clock_of[MOST_WARPS];
static std::vector<place> places;
static std::vector<barrier> barriers;
static std::vector<box> boxes;
static warpgroup warpgroups[MOST_GROUPS];
static int64_t free_registers[MOST_MEMBERS]; /* of each block */
static size_t members, threads_of, bytes_of;  /* of a cluster: blocks, and what each has; a block alone is one, too */
static size_t fibers_of_row;                  /* threads along x */
static long long tiles_brought;               /* to rings, in all */
static int tiles_there[MOST_MEMBERS], tiles_at_most; /* in a block: brought and not given back */
static size_t window;                         /* where the block whose product is at hand has its shared memory */
static uint32_t *fences;      /* [threads] fences of the asynchronous proxy */
static int *stores;           /* [threads] groups of boxes that leave */
enum { ALL_NAMED = MOST_NAMED * MOST_MEMBERS };
static int named[ALL_NAMED];          /* threads that stand there */
static int passed[ALL_NAMED];         /* and those that came by and did not wait */
static clocks passed_with[ALL_NAMED]; /* what they had done */
static std::vector<const char *> waits_for; /* [threads] */

static inline int warp_now() { return (int)(now / LANES); }
static inline size_t member_now() { return now / threads_of; }
static inline size_t spot_of(const void *at) { return (size_t)((const unsigned char *)at - shared); }

/* ---- who touched what ---- */

static inline void told(const char *what, size_t piece) {
  char why[160];
  snprintf(why, sizeof why, "%s: shared memory, byte %zu", what, piece * PIECE);
  fail(why);
}

static inline void ordered(const place &p, size_t i, int warp, bool write) {
  if (p.barrier) told("data where a barrier is", i);
  if (p.coming) told("a race: before a box has come", i);
  if (p.writer >= 0 && p.writer != warp && clock_of[warp].of[p.writer] < p.wrote)
    told(write ? "a race: two writes" : "a race: a read that nothing orders behind the write", i);
  for (int k = 0; write && k < MOST_WARPS; k++)
    if (k != warp && clock_of[warp].of[k] < p.read[k]) told("a race: a write that nothing orders behind the read", i);
  if (write && p.leaving) told("a race: a write of what is still being read", i);
}

static inline void inside(size_t from, size_t bytes, const char *who) {
  char why[120];
  if (from / bytes_of == (from + bytes - 1) / bytes_of && from + bytes <= shared_bytes) return;
  snprintf(why, sizeof why, "%s where no shared memory is, byte %zu", who, from);
  fail(why);
}

/* A thread's own access. */
static void touch_shared(const void *at, size_t bytes, bool write) {
  const size_t from = spot_of(at);
  for (size_t i = from / PIECE; i < (from + bytes + PIECE - 1) / PIECE; i++) {
    place &p = places[i];
    ordered(p, i, warp_now(), write);
    if (write)
      p.wrote = clock_of[warp_now()].of[warp_now()], p.writer = warp_now(), p.thread = (int)now, p.fences = fences[now];
    else
      p.read[warp_now()] = clock_of[warp_now()].of[warp_now()];
  }
}

/* What a product or a box begins to read for the warps from `first` on. */
static inline void leave(size_t from, size_t bytes, int first, int warps, const char *who) {
  inside(from, bytes, who);
  for (size_t i = from / PIECE; i < (from + bytes + PIECE - 1) / PIECE; i++) {
    for (int w = first; w < first + warps; w++)
      ordered(places[i], i, w, false);
    if (places[i].thread >= 0 && fences[places[i].thread] == places[i].fences)
      told("a fence of the asynchronous proxy is missing behind a thread's write", i);
    places[i].leaving++;
  }
}
static inline void left(size_t from, size_t bytes, int first, int warps) {
  for (size_t i = from / PIECE; i < (from + bytes + PIECE - 1) / PIECE; i++) {
    places[i].leaving--;
    for (int w = first; w < first + warps; w++)
      places[i].read[w] = clock_of[w].of[w];
  }
}

/* ---- barriers ---- */

static inline barrier &barrier_at(const uint64_t *at, bool make) {
  const size_t from = spot_of(at);
  if (!is_shared(at, 8) || from % 8) fail("a barrier where no shared memory is, or misaligned");
  barrier &b = barriers[from / 8];
  if (!make && !b.there) fail("a barrier that nobody has made");
  if (!make && b.by != warp_now() && clock_of[warp_now()].of[b.by] < b.since)
    fail("a barrier before all know that it has been made");
  return b;
}

static inline void release(clocks &to) {
  to.join(clock_of[warp_now()]);
  clock_of[warp_now()].of[warp_now()]++;
}

static inline void turn(barrier &b) {
  if (b.pending || b.bytes) return;
  b.phase ^= 1, b.pending = b.count;
  if (!b.filled) tiles_there[(size_t)(&b - barriers.data()) * 8 / bytes_of]--; /* given back */
  b.filled = false;
  b.gathered.join(b.gathering);
}

/* Whether all threads of the block have ended. */
static inline bool is_gone(size_t member) {
  size_t done = 0;
  for (size_t i = 0; i < threads_of; i++)
    done += fibers[member * threads_of + i].done;
  return done == threads_of;
}

static inline void arrive(barrier &b, int bytes) {
  if (!b.pending) fail("more arrivals at a barrier than a phase takes");
  b.bytes += bytes;
  if (bytes) {
    int &there = tiles_there[(size_t)(&b - barriers.data()) * 8 / bytes_of];
    b.filled = true, tiles_brought++;
    if (++there > tiles_at_most) tiles_at_most = there;
  }
  if (b.bytes > MOST_BYTES) fail("more bytes at a barrier than it can count");
  b.pending--;
  release(b.gathering);
  turn(b);
}

/* ---- boxes ---- */

static inline size_t box_bytes(const tensor_map &m) {
  size_t bytes = (size_t)m.element;
  for (int r = 0; r < m.rank; r++)
    bytes *= (size_t)m.box[r];
  return bytes;
}

/* Row by row of the box: where it stands in the tensor (NULL: nowhere), and elements of it that are there. */
template <class F> static inline void rows_of(const box &b, F each) {
  const tensor_map &m = b.map;
  size_t rows = box_bytes(m) / (size_t)(m.element * m.box[0]);
  for (size_t i = 0; i < rows; i++) {
    size_t rest = i;
    int64_t at = b.at[0] * m.element;
    bool there = b.at[0] >= 0;
    for (int r = 1; r < m.rank; r++) {
      const int64_t x = b.at[r] + (int64_t)(rest % (size_t)m.box[r]) * m.each[r];
      rest /= (size_t)m.box[r];
      there = there && x >= 0 && x < m.extent[r];
      at += x * m.step[r];
    }
    int64_t n = m.extent[0] - b.at[0];
    if (n > m.box[0]) n = m.box[0];
    each(i, there && n > 0 ? m.base + at : NULL, there && n > 0 ? n : 0);
  }
}

/* The byte of the row's piece: eight pieces change places by the row, which the address says. */
static inline size_t swizzled(size_t byte) { return byte ^ (byte >> 7 & 7) << 4; }

static inline void move(box &b) {
  const size_t element = (size_t)b.map.element;
  rows_of(b, [&](size_t row, unsigned char *at, int64_t n) {
    for (size_t k = 0; k < (size_t)b.map.box[0]; k++) {
      unsigned char *const here = shared + swizzled(b.place + (row * (size_t)b.map.box[0] + k) * element);
      if (b.to < 0 && (int64_t)k < n) memcpy(at + element * k, here, element);
      if (b.to >= 0 && (int64_t)k < n) memcpy(here, at + element * k, element);
      if (b.to >= 0 && (int64_t)k >= n) memset(here, 0, element);
    }
  });
  b.gone = true;
  const size_t bytes = box_bytes(b.map);
  if (b.to >= 0 && is_gone(b.place / bytes_of)) fail("a box for a block that has ended");
  if (b.to < 0) return left(b.place, bytes, b.thread / LANES, 1);
  for (size_t i = b.place / PIECE; i < (b.place + bytes) / PIECE; i++)
    places[i].coming--;
  barrier &to = barriers[(size_t)b.to];
  to.bytes -= (int)bytes;
  to.gathering.join(b.begun);
  turn(to);
}

static inline box box_of(const tensor_map *map, const void *at, const int64_t *where) {
  box b = {};
  b.map = *map, b.thread = (int)now, b.place = spot_of(at);
  for (int r = 0; r < map->rank; r++)
    b.at[r] = where[r];
  if (b.place % 1024) fail("a box that does not stand on 1024 bytes of shared memory");
  if (where[0] * map->element % 16) fail("a box that does not begin on 16 bytes of the tensor's rows");
  inside(b.place, box_bytes(*map), "a box");
  return b;
}

/* What it touches of the tensor. */
static inline void touch_tensor(const box &b, bool write) {
  rows_of(b, [&](size_t, unsigned char *at, int64_t n) {
    const int64_t bytes = n * b.map.element;
    array *a = n ? array_of(at, (size_t)bytes) : NULL;
    if (n && !a) fail("a box of what is in no array");
    if (!n) return;
    (write ? a->counted.from_registers : a->counted.to_shared) += bytes;
    touch_all(at, (size_t)bytes, (int)now, write, a);
  });
}

static CUtensorMapDataType data_type; /* what products multiply, as boxes bring it: halves, or bytes of float8 */

static inline void bring(void *to, const tensor_map *map, uint64_t *at, const int64_t *where, bool reads) {
  barrier &bar = barrier_at(at, false);
  if (!bar.known) fail("a barrier that boxes do not know: its fence is missing");
  data_type = map->type;
  box b = box_of(map, to, where);
  b.to = (int)(spot_of(at) / 8);
  if (reads) touch_tensor(b, false);
  const size_t bytes = box_bytes(*map);
  for (size_t i = b.place / PIECE; i < (b.place + bytes) / PIECE; i++) {
    ordered(places[i], i, warp_now(), true);
    places[i].coming++, places[i].writer = warp_now(), places[i].thread = -1;
    places[i].wrote = clock_of[warp_now()].of[warp_now()];
  }
  memset(shared + b.place, 0xff, bytes);
  release(b.begun);
  boxes.push_back(b);
}

/* The same place of the other block. */
template <class T> static inline T *at_member(T *at, size_t member) {
  return (T *)(shared + spot_of(at) % bytes_of + member * bytes_of);
}

static inline void take(const tensor_map *map, const void *from, const int64_t *where) {
  box b = box_of(map, from, where);
  b.to = -1, b.group = stores[now];
  touch_tensor(b, true);
  leave(b.place, box_bytes(*map), warp_now(), 1, "a box");
  boxes.push_back(b);
}

static inline void forget_gone() {
  size_t n = 0;
  for (size_t i = 0; i < boxes.size(); i++)
    if (!boxes[i].gone) boxes[n++] = boxes[i];
  boxes.resize(n);
}

/* ---- products of a warpgroup ---- */

static int maps_made; /* in all calls */
static inline int bytes_of_type(CUtensorMapDataType t) { return t == CU_TENSOR_MAP_DATA_TYPE_UINT8 ? 1 : t == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 ? 4 : 2; }
static inline int element_bytes() { return bytes_of_type(data_type); }
static inline int step_of() { return 32 / element_bytes(); } /* elements of the sum at a time */

/* Byte of an operand's element by its descriptor: x along rows of a or columns of b. */
static inline size_t element_at(uint64_t d, bool turned, int x, int k) {
  const size_t start = (size_t)(d & 0x3fff) << 4, leading = (size_t)(d >> 16 & 0x3fff) << 4,
               step = (size_t)(d >> 32 & 0x3fff) << 4;
  if (d >> 62 != 1) fail("a descriptor without the swizzle of 128 bytes");
  if (d >> 49 & 7) fail("a descriptor whose rows do not begin on 1024 bytes");
  if (turned && element_bytes() == 1) fail("a product of bytes whose neighbours are across the sum");
  const size_t byte = turned ? start + (size_t)(x / 64) * leading + (size_t)(k / 8) * step + (size_t)(k % 8) * 128 +
                                   (size_t)(x % 64) * 2
                             : start + (size_t)(x / 8) * step + (size_t)(x % 8) * 128 + (size_t)(k * element_bytes());
  return swizzled(byte) + window;
}

/* Pieces of an operand, each once. */
template <class F> static inline void pieces_of(uint64_t d, bool turned, int n, F each) {
  for (int x = 0; x < n; x += turned ? 8 : 1)
    for (int k = 0; k < step_of(); k += turned ? 1 : 16 / element_bytes())
      each(element_at(d, turned, x, k));
}

static inline float number_of(uint16_t h) {
  return data_type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 ? wide_f16(h) : wide_bf16(h);
}

static inline float number_at(size_t byte) {
  uint16_t h;
  if (element_bytes() == 1) return wide_e4m3(shared[byte]);
  memcpy(&h, shared + byte, 2);
  return number_of(h);
}

static inline void look_from(const warpgroup &g) {
  window = (size_t)(&g - warpgroups) * GROUP / threads_of * bytes_of;
}

static inline void compute(warpgroup &g, tile_product &p) {
  look_from(g);
  const int step = step_of();
  std::vector<float> a((size_t)(64 * step)), b((size_t)(step * p.n));
  for (int r = 0; r < 64; r++)
    for (int k = 0; k < step; k++)
      if (!p.rows) {
        a[(size_t)(r * step + k)] = number_at(element_at(p.a, p.turned_a, r, k));
      } else {
        const int lane = r / 16 * LANES + r % 8 * 4 + k % 8 / 2, i = r % 16 / 8 + k / 8 * 2;
        const uint16_t h = (uint16_t)(p.of_rows[lane][i] >> (k % 2 * 16));
        a[(size_t)(r * step + k)] = number_of(h);
      }
  for (int x = 0; x < p.n; x++)
    for (int k = 0; k < step; k++)
      b[(size_t)(k * p.n + x)] = number_at(element_at(p.b, p.turned_b, x, k));
  float *const sums = g.flights[(size_t)p.flight].sums.data();
  for (int r = 0; r < 64; r++) {
    float *const row = sums + r * p.n;
    for (int x = 0; x < p.n && !p.more; x++)
      row[x] = 0;
    float product[32];
    for (int x = 0; x < p.n && step == 32; x++) {
      for (int k = 0; k < step; k++)
        product[k] = a[(size_t)(r * step + k)] * b[(size_t)(k * p.n + x)];
      row[x] = short_sum(row[x], product, step);
    }
    for (int k = 0; k < step && step == 16; k++) {
      const float of_a = a[(size_t)(r * step + k)];
      const float *const of_b = &b[(size_t)(k * p.n)];
      for (int x = 0; x < p.n; x++)
        row[x] += of_a * of_b[x];
    }
  }
  p.done = true;
  multiplied++;
}

static inline float &sum_of(flight &f, int lane, int i) {
  return f.sums[(size_t)((lane / 32 * 16 + lane % 32 / 4 + i / 2 % 2 * 8) * f.n + i / 4 * 8 + lane % 4 * 2 + i % 2)];
}

struct asked {
  float *d;
  const uint32_t *rows;
  uint64_t a, b;
  int n;
  bool more, turned_a, turned_b;
};

/* The sums that d are: a flight that has begun, or a new one, from now on nobody's. */
static inline int flight_of(warpgroup &g, void **all, int n) {
  for (size_t i = 0; i < g.flights.size(); i++)
    if (!g.flights[i].over && g.flights[i].d[0] == ((asked *)all[0])->d) {
      if (g.flights[i].n != n) fail("products of other widths for sums that are under way");
      return (int)i;
    }
  flight f;
  f.n = n, f.over = false;
  f.sums.resize((size_t)(64 * n));
  for (int l = 0; l < GROUP; l++) {
    f.d[l] = ((asked *)all[l])->d;
    for (int i = 0; i < n / 2; i++)
      sum_of(f, l, i) = f.d[l][i], f.d[l][i] = NAN;
  }
  g.flights.push_back(f);
  return (int)g.flights.size() - 1;
}

static inline void begin_product(void **all) {
  const int group = (int)(now / GROUP);
  warpgroup &g = warpgroups[group];
  const asked &one = *(asked *)all[0];
  look_from(g);
  if (!g.fenced) fail("a product without a fence behind what was done with registers");
  for (int l = 1; l < GROUP; l++) {
    const asked &o = *(asked *)all[l];
    if (o.b != one.b || o.more != one.more || (!one.rows && o.a != one.a)) fail("a warpgroup whose descriptors differ");
  }
  tile_product p = {};
  p.n = one.n, p.rows = one.rows != NULL, p.more = one.more, p.turned_a = one.turned_a, p.turned_b = one.turned_b;
  p.a = one.a, p.b = one.b, p.group = g.groups;
  for (int l = 0; l < GROUP && p.rows; l++)
    p.rows_at[l] = ((asked *)all[l])->rows, memcpy(p.of_rows[l], p.rows_at[l], sizeof p.of_rows[l]);
  const int first = group * (GROUP / LANES), warps = GROUP / LANES;
  if (!p.rows)
    pieces_of(p.a, p.turned_a, 64, [&](size_t at) { leave(at, PIECE, first, warps, "a product of rows"); });
  pieces_of(p.b, p.turned_b, p.n, [&](size_t at) { leave(at, PIECE, first, warps, "a product of columns"); });
  p.flight = flight_of(g, all, p.n);
  g.products.push_back(p);
  of_shared.to_registers += (p.rows ? 0 : 64 * 32) + p.n * 32;
}

static inline void end_flights(warpgroup &g) {
  for (size_t i = 0; i < g.flights.size(); i++) {
    bool open = false;
    for (size_t k = 0; k < g.products.size(); k++)
      open = open || g.products[k].flight == (int)i;
    flight &f = g.flights[i];
    for (int l = 0; l < GROUP && !open && !f.over; l++)
      for (int e = 0; e < f.n / 2; e++)
        f.d[l][e] = sum_of(f, l, e);
    f.over = f.over || !open;
  }
  if (g.products.empty()) g.flights.clear();
}

/* All but the latest groups come to their end, in order. */
static inline void finish(int group, int latest) {
  warpgroup &g = warpgroups[group];
  const int first = group * (GROUP / LANES), warps = GROUP / LANES;
  look_from(g);
  std::vector<tile_product> later;
  for (size_t i = 0; i < g.products.size(); i++) {
    tile_product &p = g.products[i];
    if (p.group >= g.groups - latest) {
      later.push_back(p);
      continue;
    }
    for (int l = 0; l < GROUP && p.rows; l++)
      if (memcmp(p.of_rows[l], p.rows_at[l], sizeof p.of_rows[l])) fail("rows of a product that have changed before it was waited for");
    if (!p.done) compute(g, p);
    if (!p.rows) pieces_of(p.a, p.turned_a, 64, [&](size_t at) { left(at, PIECE, first, warps); });
    pieces_of(p.b, p.turned_b, p.n, [&](size_t at) { left(at, PIECE, first, warps); });
  }
  g.products = later;
  end_flights(g);
  g.fenced = false;
}

/* ---- turns ---- */

enum { IN_GROUP = IN_WARP + 1, AT_RING, AT_NAMED, FOR_REGISTERS, AT_CLUSTER };
struct ring_wait {
  const uint64_t *at;
  unsigned parity;
};
static std::vector<ring_wait> ring_waits; /* [threads] */
static std::vector<int> wants;            /* [threads] a barrier's number; registers */

static inline bool ready(size_t i) {
  const int waits = (int)fibers[i].waits;
  if (waits == AT_RING) return barriers[spot_of(ring_waits[i].at) / 8].phase != ring_waits[i].parity;
  return waits == NOWHERE;
}

static inline bool run_lanes(size_t first, size_t n) {
  const size_t from = draw((unsigned)n);
  bool any = false;
  for (size_t i = 0; i < n; i++) {
    const size_t k = first + (from + i) % n;
    if (fibers[k].done || !ready(k)) continue;
    fibers[k].waits = NOWHERE;
    resume(k);
    any = true;
  }
  return any;
}

/* Whether n threads from `first` on have come to the same; then it is done. */
static inline bool act_together(size_t first, size_t n, int waits) {
  void *operands[GROUP];
  for (size_t i = 0; i < n; i++) {
    const fiber &f = fibers[first + i];
    if (f.done || (int)f.waits != waits) return false;
    if (f.what != fibers[first].what) fail("threads that do different things together");
    operands[i] = f.operands;
  }
  now = first;
  threadIdx = fibers[first].thread;
  other_turns.turn(first);
  fibers[first].act(operands);
  for (size_t i = 0; i < n; i++)
    fibers[first + i].waits = NOWHERE;
  return true;
}

static inline bool meet(size_t from, size_t n, int waits, int id, size_t count) {
  clocks all = {};
  size_t there = 0;
  const size_t by = id < 0 ? 0 : (size_t)passed[id];
  for (size_t i = from; i < n; i++)
    there += !fibers[i].done && (int)fibers[i].waits == waits && (id < 0 || wants[i] == id);
  if (there + by < count || !there) return false;
  if (there + by > count) fail("more threads at a barrier than it is for");
  if (by) all.join(passed_with[id]), passed[id] = 0;
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = from; i < n; i++) {
      if (fibers[i].done || (int)fibers[i].waits != waits || (id >= 0 && wants[i] != id)) continue;
      if (pass == 0) all.join(clock_of[i / LANES]);
      if (pass == 1) clock_of[i / LANES].join(all);
    }
  for (size_t i = from; i < n; i++)
    if (!fibers[i].done && (int)fibers[i].waits == waits && (id < 0 || wants[i] == id)) {
      if (i % LANES == 0) clock_of[i / LANES].of[i / LANES]++;
      fibers[i].waits = NOWHERE;
    }
  return true;
}

static inline bool give_registers(size_t first) {
  for (size_t i = first; i < first + GROUP; i++)
    if (fibers[i].done || (int)fibers[i].waits != FOR_REGISTERS || wants[i] != wants[first]) return false;
  warpgroup &g = warpgroups[first / GROUP];
  const int64_t more = (int64_t)(wants[first] - g.registers) * GROUP;
  if (more > free_registers[first / threads_of]) return false;
  free_registers[first / threads_of] -= more;
  g.registers = wants[first];
  for (size_t i = first; i < first + GROUP; i++)
    fibers[i].waits = NOWHERE;
  return true;
}

/* Boxes come and products are done when they like; `one`: at least one, if there is any. */
static inline bool some_end(bool one) {
  bool any = false;
  const size_t first = boxes.empty() ? 0 : draw((unsigned)boxes.size());
  for (size_t i = 0; i < boxes.size(); i++) {
    box &b = boxes[(first + i) % boxes.size()];
    if (b.gone || !(one ? !any : !draw(6))) continue;
    move(b);
    any = true;
  }
  forget_gone();
  for (int k = 0; k < MOST_GROUPS && !one; k++)
    for (size_t i = 0; i < warpgroups[k].products.size(); i++) {
      tile_product &p = warpgroups[k].products[i];
      if (p.done) continue;
      if (draw(4)) break; /* in order */
      compute(warpgroups[k], p);
    }
  return any;
}

static inline void stuck() {
  static const char *const at[] = {"nothing",
                                   "a barrier of all threads",
                                   "the other lanes of its warp",
                                   "the other threads of its warpgroup",
                                   "a barrier in shared memory whose phase nobody ends",
                                   "a named barrier",
                                   "registers that nobody gives back",
                                   "a barrier of all threads of its cluster"};
  for (size_t i = 0; i < n_threads; i++)
    if (!fibers[i].done) {
      char why[160];
      now = i, threadIdx = fibers[i].thread;
      snprintf(why, sizeof why, "waits for ever for %s", at[(int)fibers[i].waits]);
      fail(why);
    }
}

static inline bool all_done(size_t n) {
  size_t done = 0;
  for (size_t i = 0; i < n; i++)
    done += fibers[i].done;
  return done == n;
}

/* Warps in an order by seed, each as far as it goes. */
static bool go_on_rings(size_t n) {
  const size_t warps = (n + LANES - 1) / LANES, first = draw((unsigned)warps), step = draw(2) ? 1 : warps - 1;
  bool any = false;
  for (size_t i = 0; i < warps; i++) {
    const size_t w = (first + i * step) % warps * LANES;
    if (!draw(3)) continue;
    any = run_lanes(w, LANES) || any;
    while (act_together(w, LANES, IN_WARP))
      any = run_lanes(w, LANES) || true;
  }
  for (size_t g = 0; g + GROUP <= n; g += GROUP) {
    any = act_together(g, GROUP, IN_GROUP) || any;
    any = give_registers(g) || any;
  }
  for (int id = 1; id < ALL_NAMED; id++)
    any = (named[id] && meet(0, n, AT_NAMED, id, (size_t)named[id])) || any;
  bool met = meet(0, n, AT_CLUSTER, -1, n);
  for (size_t i = 0; i < members; i++)
    met = meet(i * threads_of, (i + 1) * threads_of, AT_BARRIER, -1, threads_of) || met;
  moment += met;
  any = some_end(false) || any || met;
  if (all_done(n)) return false;
  if (any) return true;
  bool turned = false;
  for (size_t i = 0; i < n; i++)
    turned = turned || (!fibers[i].done && ready(i));
  if (!turned && !some_end(true)) stuck();
  return true;
}

static void begin_rings(size_t n) {
  static bool first = true;
  threads_of = n / members, bytes_of = shared_bytes / members;
  for (size_t i = 0; i < n; i++)
    fibers[i].thread.y %= (unsigned)(threads_of / fibers_of_row);
  if (n % GROUP || n / GROUP > MOST_GROUPS) fail("warpgroups that are not whole");
  memset((void *)clock_of, 0, sizeof clock_of);
  for (int w = 0; w < MOST_WARPS; w++)
    clock_of[w].of[w] = 1;
  place empty = {};
  empty.writer = empty.thread = -1;
  places.assign(shared_bytes / PIECE + 1, empty);
  barriers.assign(shared_bytes / 8 + 1, barrier());
  memset((void *)barriers.data(), 0, barriers.size() * sizeof barriers[0]);
  boxes.clear();
  fences = (uint32_t *)room(first ? NULL : fences, n * sizeof *fences);
  stores = (int *)room(first ? NULL : stores, n * sizeof *stores);
  memset(tiles_there, 0, sizeof tiles_there);
  memset(fences, 0, n * sizeof *fences), memset(stores, 0, n * sizeof *stores);
  memset(named, 0, sizeof named), memset(passed, 0, sizeof passed), memset((void *)passed_with, 0, sizeof passed_with);
  ring_waits.assign(n, ring_wait());
  wants.assign(n, 0);
  const int all = (int)(ALL_REGISTERS / threads_of / 8 * 8), registers = all < 255 ? all : 248;
  memset(free_registers, 0, sizeof free_registers); /* what its threads have when it begins is all */
  for (int g = 0; g < MOST_GROUPS; g++) {
    warpgroups[g].fenced = false, warpgroups[g].groups = 0, warpgroups[g].registers = registers;
    warpgroups[g].products.clear(), warpgroups[g].flights.clear();
  }
  first = false;
}

static void end_rings() {
  for (size_t i = 0; i < boxes.size(); i++)
    if (!boxes[i].gone) fail(boxes[i].to < 0 ? "a block that ends before its boxes have left" : "a box that nobody waits for");
  for (int g = 0; g < MOST_GROUPS; g++)
    if (!warpgroups[g].products.empty()) fail("a product that nobody waits for");
  for (int id = 0; id < ALL_NAMED; id++)
    if (passed[id]) fail("a turn that nobody takes");
  for (size_t i = 0; i < barriers.size(); i++)
    if (barriers[i].there && barriers[i].bytes) fail("a barrier that still waits for bytes");
}

/* Whose turn it is: the threads of a cluster are one behind the other. */
static size_t cluster_at;
static void turn_to(size_t thread) {
  const size_t member = thread / threads_of;
  shared_from = member * bytes_of;
  blockIdx.x = (unsigned)(cluster_at * members + member);
}

static void begin_cluster(size_t n) {
  cluster_at = blockIdx.x;
  begin_rings(n);
}

static inline void say_rings() {
  if (getenv("TILEFLOW_WORDS")) printf("rings: %lld tiles came, at most %d at a time\n", tiles_brought, tiles_at_most), printf("maps: %d made\n", maps_made);
  tiles_brought = tiles_at_most = 0;
}

/* Clusters of `size` blocks, as if each were a block with as many times the threads and shared memory. */
template <class F> static inline void start_roles(size_t blocks, dim3 threads, size_t bytes, size_t size, F what) {
  const size_t each = (bytes + 1023) / 1024 * 1024;
  members = size, fibers_of_row = threads.x;
  if (blocks % size) fail("blocks that are not whole clusters");
  other_turns = roles{begin_cluster, go_on_rings, end_rings, touch_shared, size, turn_to};
  start(blocks / size, dim3(threads.x, (unsigned)(threads.y * size)), each * size, [&] {
    gridDim = dim3((unsigned)blocks), blockDim = threads;
    what();
  });
  other_turns = roles{NULL, NULL, NULL, NULL, 0, NULL};
  say_rings();
  shared_from = 0;
}

static inline void wait_as(int how) { stop((waiting)how); }

static inline void group_together(const char *what, void *operands, void (*act)(void **)) {
  fiber &f = fibers[now];
  f.what = what, f.operands = operands, f.act = act;
  wait_as(IN_GROUP);
}
} // namespace emulation

#define START_ROLES(part, blocks, threads, bytes, stream, ...)                                                         \
  ((void)(stream), emulation::start_roles((size_t)(blocks), threads, bytes, 1, [&] { part(__VA_ARGS__); }))
#define START_CLUSTERS(part, blocks, threads, bytes, stream, ...)                                                      \
  ((void)(stream), emulation::start_roles((size_t)(blocks), threads, bytes, 2, [&] { part(__VA_ARGS__); }), cudaSuccess)
template <class P> static inline cudaError_t blocks_of_clusters(P, int *blocks, dim3, size_t) { return *blocks = *blocks / 2 * 2, cudaSuccess; }

static inline uint32_t shared_at(const void *at) {
  if (!emulation::is_shared(at, 1)) emulation::fail("an operand where no shared memory is");
  return (uint32_t)(emulation::spot_of(at) - emulation::shared_from);
}
static inline int cluster_member() { return (int)emulation::member_now(); }
static inline void cluster_meet() { emulation::wait_as(emulation::AT_CLUSTER); }

static inline void barrier_init(uint64_t *at, int count) {
  using namespace emulation;
  barrier &b = barrier_at(at, true);
  if (b.there) fail("a barrier that is made twice");
  memset((void *)&b, 0, sizeof b);
  b.there = true, b.count = b.pending = count, b.by = warp_now(), b.thread = (int)now;
  b.since = clock_of[warp_now()].of[warp_now()];
  place &p = places[spot_of(at) / PIECE];
  if (p.coming || p.leaving || p.writer >= 0) fail("a barrier where data are");
  p.barrier = true;
}
static inline void barrier_known() {
  using namespace emulation;
  for (size_t i = 0; i < barriers.size(); i++)
    if (barriers[i].there && barriers[i].thread == (int)now) barriers[i].known = true;
}
static inline void barrier_arrive(uint64_t *at) { emulation::arrive(emulation::barrier_at(at, false), 0); }
static inline void barrier_arrive_at(uint64_t *at, int to) {
  using namespace emulation;
  if (to < 0 || (size_t)to >= members) fail("an arrival at a block that the cluster has not");
  if (is_gone((size_t)to)) fail("an arrival at a block that has ended");
  arrive(barrier_at(at_member(at, (size_t)to), false), 0);
}
static inline void barrier_expect(uint64_t *at, int bytes) { emulation::arrive(emulation::barrier_at(at, false), bytes); }
static inline void barrier_wait(uint64_t *at, unsigned parity) {
  using namespace emulation;
  barrier &b = barrier_at(at, false);
  if (parity > 1) fail("a parity that is neither 0 nor 1");
  if (b.phase == parity || draw(2)) {
    ring_waits[now].at = at, ring_waits[now].parity = parity;
    wait_as(AT_RING);
  }
  clock_of[warp_now()].join(barriers[spot_of(at) / 8].gathered);
}

template <class... C> static inline void load_box(void *to, const tensor_map *map, uint64_t *barrier, C... at) {
  const int64_t where[] = {at...};
  if ((int)sizeof...(at) != map->rank) emulation::fail("a box of another rank");
  emulation::bring(to, map, barrier, where, true);
}
template <class... C> static inline void load_box_for_all(void *to, const tensor_map *map, uint64_t *barrier, C... at) {
  using namespace emulation;
  const int64_t where[] = {at...};
  if ((int)sizeof...(at) != map->rank) fail("a box of another rank");
  for (size_t i = 0; i < members; i++) {
    if (is_gone(i)) fail("a box for a block that has ended");
    bring(at_member((unsigned char *)to, i), map, at_member(barrier, i), where, i == 0);
  }
}
template <class... C> static inline void store_box(const tensor_map *map, const void *from, C... at) {
  const int64_t where[] = {at...};
  if ((int)sizeof...(at) != map->rank) emulation::fail("a box of another rank");
  emulation::take(map, from, where);
}
static inline void store_end() { emulation::stores[emulation::now]++; }
/* What has been read leaves at once. */
template <int left> static inline void store_wait() {
  using namespace emulation;
  for (size_t i = 0; i < boxes.size(); i++)
    if (!boxes[i].gone && boxes[i].to < 0 && boxes[i].thread == (int)now && boxes[i].group < stores[now] - left) move(boxes[i]);
  forget_gone();
}
static inline void proxy_fence() { emulation::fences[emulation::now]++; }

static inline void group_meet(int id, int threads) {
  using namespace emulation;
  if (id < 1 || id >= MOST_NAMED || threads % LANES) fail("a named barrier that there is not");
  id += (int)member_now() * MOST_NAMED;
  named[id] = threads;
  wants[now] = id;
  wait_as(AT_NAMED);
}

static inline void turn_wait(int id) { group_meet(id, 256); }
static inline void turn_pass(int id) {
  using namespace emulation;
  if (id < 1 || id >= MOST_NAMED) fail("a named barrier that there is not");
  id += (int)member_now() * MOST_NAMED;
  named[id] = 256;
  if (++passed[id] > 256) fail("more threads at a barrier than it is for");
  passed_with[id].join(clock_of[warp_now()]);
  clock_of[warp_now()].of[warp_now()]++;
}
static inline bool any_lane(bool x) {
  struct lane {
    bool x, any;
  } mine = {x, false};
  emulation::together("any_lane", &mine, [](void **all) {
    bool any = false;
    for (int l = 0; l < emulation::LANES; l++)
      any = any || ((lane *)all[l])->x;
    for (int l = 0; l < emulation::LANES; l++)
      ((lane *)all[l])->any = any;
  });
  return mine.any;
}

/* Sums that are under way are nobody's: whoever uses them reads what is not a number. */
template <int n> static inline void sums_hold(float *) {}
static inline void multiply_begin() {
  emulation::group_together("multiply_begin", NULL,
                            [](void **) { emulation::warpgroups[emulation::now / emulation::GROUP].fenced = true; });
}
static inline void multiply_end() {
  emulation::group_together("multiply_end", NULL,
                            [](void **) { emulation::warpgroups[emulation::now / emulation::GROUP].groups++; });
}
template <int left> static inline void multiply_wait() {
  emulation::group_together("multiply_wait", NULL,
                            [](void **) { emulation::finish((int)(emulation::now / emulation::GROUP), left); });
}
template <int n, bool turned_a, bool turned_b>
static inline void multiply_tiles(float *d, uint64_t a, uint64_t b, bool more) {
  emulation::asked mine = {d, NULL, a, b, n, more, turned_a, turned_b};
  emulation::group_together("multiply_tiles", &mine, emulation::begin_product);
}
template <int n, bool turned_b>
static inline void multiply_rows(float *d, const uint32_t *a, uint64_t b, bool more) {
  emulation::asked mine = {d, a, 0, b, n, more, false, turned_b};
  emulation::group_together("multiply_rows", &mine, emulation::begin_product);
}

namespace emulation {
static inline void want_registers(int n, bool more) {
  const warpgroup &g = warpgroups[now / GROUP];
  if (n % 8 || n < 24 || n > 256) fail("registers that are not 24 to 256, in eights");
  if (more ? n < g.registers : n > g.registers) fail(more ? "fewer registers asked for as more" : "more registers asked for as fewer");
  wants[now] = n;
  wait_as(FOR_REGISTERS);
}
} // namespace emulation
template <int n> static inline void registers_fewer() { emulation::want_registers(n, false); }
template <int n> static inline void registers_more() { emulation::want_registers(n, true); }

/* As the driver does: cudaErrorInvalidValue where it would refuse. */
/* Of a box in steps the driver is told all that it spans, and takes one element of each step, the last one, too, where
 * that is cut short; along the first rank there are no steps. */
static inline cudaError_t map_make(tensor_map *m, CUtensorMapDataType type, const void *base, int rank, const int64_t *extent,
                                   const int64_t *step, const int *box, const int *each = NULL) {
  const int bytes = emulation::bytes_of_type(type);
  bool ok = (uintptr_t)base % 16 == 0 && rank >= 1 && rank <= 5 && box[0] * bytes <= 128 && box[0] * bytes % 16 == 0;
  *m = tensor_map();
  m->type = type, m->element = bytes;
  m->base = (unsigned char *)(uintptr_t)base, m->rank = rank;
  for (int r = 0; r < rank; r++) {
    m->each[r] = each && r ? each[r] : 1;
    if (m->each[r] < 1 || m->each[r] > 8) return cudaErrorInvalidValue;
    m->extent[r] = extent[r], m->step[r] = r ? step[r] * bytes : bytes;
    m->box[r] = (box[r] + m->each[r] - 1) / m->each[r];
    ok = ok && extent[r] > 0 && extent[r] <= INT64_C(1) << 32 && box[r] > 0 && box[r] <= 256;
    ok = ok && (!r || (m->step[r] % 16 == 0 && m->step[r] > 0 && m->step[r] < INT64_C(1) << 40));
  }
  emulation::maps_made++;
  return ok ? cudaSuccess : cudaErrorInvalidValue;
}
#endif
