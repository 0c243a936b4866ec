/* The emulation's float8 against the definition of e4m3: all codes, what stands between two of them, and sums as tensor
 * cores make them.  Compiled by groups.sh with the emulation beside it. */
#include "emulate.hpp"

/* By its definition: sign, bits of exponent with bias 7, three bits behind the point. */
static double value(int code) {
  const int e = code >> 3 & 15, m = code & 7;
  return (code & 128 ? -1 : 1) * (e ? ldexp(1 + m / 8.0, e - 7) : ldexp(m / 8.0, -6));
}

static int bad = 0;
static void want(bool ok, const char *what, int at) {
  if (!ok) printf("%s: %d\n", what, at), bad = 1;
}

/* Sums in units of the greatest's 13th bit behind the point, by whole numbers of 128 bits. */
static double slow(double sum, const double *x, int n) {
  double most = fabs(sum);
  for (int i = 0; i < n; i++)
    if (fabs(x[i]) > most) most = fabs(x[i]);
  if (most == 0) return 0;
  double unit = ldexp(1, ilogb(most) - 13), all = trunc(sum / unit);
  for (int i = 0; i < n; i++)
    all += trunc(x[i] / unit);
  while (fabs(all) >= 16384)
    all = trunc(all / 2), unit *= 2;
  return all * unit;
}

int main(void) {
  for (int code = 0; code < 256; code++) {
    if ((code & 127) == 127) {
      want(isnan(wide_e4m3((uint8_t)code)), "no number", code);
      continue;
    }
    want((double)wide_e4m3((uint8_t)code) == value(code), "wide", code);
    want(narrow_e4m3((float)value(code)) == code, "narrow", code);
    const int next = code + 1;
    if ((next & 127) == 127) continue;
    const float middle = (float)((value(code) + value(next)) / 2), far = signbit(middle) ? -INFINITY : INFINITY;
    want(narrow_e4m3(middle) == (code & 1 ? next : code), "the even one of two", code);
    want(narrow_e4m3(nextafterf(middle, far)) == next, "the farther one", code);
    want(narrow_e4m3(nextafterf(middle, 0)) == code, "the nearer one", code);
  }
  want(narrow_e4m3(1e9f) == 0x7e && narrow_e4m3(-INFINITY) == 0xfe && (narrow_e4m3(NAN) & 127) == 127, "ends", 0);
  want(pack_e4m3(1, 2, -1, 0.5f) == 0x30b84038u, "pack", 0);
  for (int t = 0; t < 2000; t++) {
    float x[32], sum = ldexpf((float)emulation::draw(20000) - 10000, (int)emulation::draw(12) - 12);
    double y[32];
    for (int i = 0; i < 32; i++)
      y[i] = x[i] = wide_e4m3((uint8_t)(emulation::draw(2) * 128 + emulation::draw(127))) *
                    wide_e4m3((uint8_t)emulation::draw(127));
    want((double)emulation::short_sum(sum, x, 32) == slow(sum, y, 32), "a sum", t);
  }
  return bad;
}
