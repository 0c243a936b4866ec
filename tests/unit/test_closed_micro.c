/* Intra-tile parameters of the closed form against the best of all that fit. */
#include "search/closed/closed.h"
#include "tests/unit/check.h"

static void check_micro(void) {
  tf_c_micro cpu = tf_c_micro_cpu(32); /* the thesis's AVX-512: 6, 4, 2 */
  CHECK_I64(cpu.mi, 6);
  CHECK_I64(cpu.ni, 4);
  CHECK_I64(cpu.mii, 2);
  for (int regs = 6; regs <= 64; regs++) {
    tf_c_micro m = tf_c_micro_cpu(regs);
    CHECK(m.mi * m.ni + m.ni + m.mii <= regs && m.mi % m.mii == 0);
    for (int mi = 2; mi <= 64; mi++)
      for (int ni = 1; ni <= 64; ni++) {
        int mii = 2;
        while (mi % mii)
          mii++;
        if (mi * ni + ni + mii <= regs)
          CHECK((double)m.mi * m.ni / (m.mi + m.ni) >= (double)mi * ni / (mi + ni) - 1e-9);
      }
  }
  for (int64_t words = 1024; words < 300000; words *= 3) {
    int64_t n = tf_c_micro_npu(16, words) * 16;
    CHECK(n * n + 2 * n * 16 <= words || n == 16);
    CHECK((n + 16) * (n + 16) + 2 * (n + 16) * 16 > words);
  }
}

int main(void) {
  check_micro();
  return check_report();
}
