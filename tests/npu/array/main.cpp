// Random products on the array in Verilog and on the simulator's cube, from the same blocks: the same sums in the same
// cycles.   array TILEFLOW FOLDER CASES
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "Varray.h"
#include "Varray_array.h"

// Of the machine (-DM=.. and so on, as the Verilog's): multiplied, summed in levels, written.
static int latency() {
  int levels = 0;
  while (1 << levels < K)
    levels++;
  return levels + 2;
}

static unsigned state = 1;
static int draw(int below) {
  state = state * 1664525u + 1013904223u;
  return (int)((state >> 8) % (unsigned)below);
}

using values = std::vector<double>;
struct product {
  int m, n, k;
  bool add;
  values a, b, c;
};

static int parts(int n, int by) { return (n + by - 1) / by; }

static values drawn(int blocks, int size) {
  values v((size_t)(blocks * size));
  for (double &x : v)
    x = draw(17) - 8;
  return v;
}

static product draw_product() {
  product p;
  p.m = 1 + draw(4 * M), p.n = 1 + draw(4 * N), p.k = 1 + draw(4 * K), p.add = draw(2);
  p.a = drawn(parts(p.m, M) * parts(p.k, K), M * K);
  p.b = drawn(parts(p.n, N) * parts(p.k, K), N * K);
  p.c = drawn(parts(p.m, M) * parts(p.n, N), M * N);
  return p;
}

// ---- the Verilog
static void tick(Varray &v) {
  v.clk = 1, v.eval();
  v.clk = 0, v.eval();
}

template <int bits, class block> static void put(block &words, int i, double x) {
  const unsigned per = 32 / bits, mask = bits == 32 ? ~0u : (1u << bits % 32) - 1, at = (unsigned)i % per * bits;
  unsigned &w = words[(size_t)i / per];
  w = (w & ~(mask << at)) | ((unsigned)(int)x & mask) << at;
}

// The cycles after the one in which it starts; the sums are left in p.c.
static int run_verilog(Varray &v, product &p) {
  for (size_t i = 0; i < p.a.size(); i++)
    put<16>(v.array->a[i / (M * K)], (int)(i % (M * K)), p.a[i]);
  for (size_t i = 0; i < p.b.size(); i++)
    put<16>(v.array->b[i / (N * K)], (int)(i % (N * K)), p.b[i]);
  for (size_t i = 0; i < p.c.size(); i++)
    put<32>(v.array->c[i / (M * N)], (int)(i % (M * N)), p.c[i]);
  v.m = p.m, v.n = p.n, v.k = p.k, v.add = p.add, v.start = 1;
  tick(v);
  v.start = 0;
  int cycles = 0;
  for (; v.busy; cycles++)
    tick(v);
  for (size_t i = 0; i < p.c.size(); i++)
    p.c[i] = (int)v.array->c[i / (M * N)][i % (M * N)];
  return cycles;
}

// ---- the simulator
static bool transfer(const std::string &path, values &v, bool out) {
  FILE *f = fopen(path.c_str(), out ? "wb" : "rb");
  const bool ok = f && (out ? fwrite(v.data(), sizeof(double), v.size(), f)
                            : fread(v.data(), sizeof(double), v.size(), f)) == v.size();
  if (f) fclose(f);
  return ok;
}

static void write_program(FILE *f, const product &p) {
  const int a = (int)p.a.size(), b = (int)p.b.size(), c = (int)p.c.size();
  fprintf(f,
          "machine array\nmemory GM\nmemory L0A bytes 1048576\nmemory L0B bytes 1048576\nmemory L0C bytes 1048576\n"
          "queue move\nqueue cube\npath GM L0A move\npath GM L0B move\npath GM L0C move\npath L0C GM move\n"
          "cube cube L0C L0A L0B blocks m %d n %d k %d latency %d\n",
          M, N, K, latency());
  fprintf(f,
          "tensor A f16 %d in\ntensor B f16 %d in\ntensor C f32 %d inout\ncopy L0A[0]:f16 A[0] %d:1:1\n"
          "copy L0B[0]:f16 B[0] %d:1:1\ncopy L0C[0]:f32 C[0] %d:1:1\nbarrier\n",
          a, b, c, a, b, c);
  fprintf(f, "mad L0C[0]:f32 L0A[0]:f16 L0B[0]:f16 %d %d %d %s\nbarrier\ncopy C[0] L0C[0]:f32 %d:1:1\n", p.m, p.n, p.k,
          p.add ? "add" : "set", c);
}

// Its cycles, -1 if it fails; the sums are left in p.c.
static int run_simulator(const std::string &tool, const std::string &dir, product &p) {
  char text[256] = "";
  double cycles = -1;
  FILE *f = fopen((dir + "/p.npu").c_str(), "w");
  if (!f) return -1;
  write_program(f, p);
  fclose(f);
  if (!transfer(dir + "/A.f64", p.a, true) || !transfer(dir + "/B.f64", p.b, true) ||
      !transfer(dir + "/C.f64", p.c, true))
    return -1;
  const std::string run =
      tool + " npu " + dir + "/p.npu --data " + dir + " --json " + dir + "/p.json > " + dir + "/p.log";
  if (system(run.c_str()) || !transfer(dir + "/C.f64", p.c, false) || !(f = fopen((dir + "/p.json").c_str(), "r")))
    return -1;
  while (cycles < 0 && fgets(text, sizeof text, f))
    sscanf(text, " \"cycles\": %lf", &cycles);
  fclose(f);
  return (int)cycles;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  Varray v;
  int wrong = 0;
  const int cases = atoi(argv[3]);
  v.clk = 0, v.start = 0, v.eval();
  for (int i = 0; i < cases; i++) {
    product hard = draw_product(), soft = hard;
    const int a = run_verilog(v, hard), b = run_simulator(argv[1], argv[2], soft);
    if (a == b && hard.c == soft.c) continue;
    printf("%d x %d x %d%s: %d cycles in Verilog, %d simulated, sums %s\n", hard.m, hard.n, hard.k,
           hard.add ? " added" : "", a, b, hard.c == soft.c ? "equal" : "differ");
    wrong++;
  }
  printf("array of %d x %d x %d: %d of %d products the same\n", M, N, K, cases - wrong, cases);
  return wrong != 0;
}
