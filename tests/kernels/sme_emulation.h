/* SME's `smopa` by dot products, row after row, for tests under qemu: its version 7.2 leaves half
 * of the sums as they were and adds to others what is not theirs (issue 2083).  For what emitted
 * kernels have: z0 by another register, 512 bits, all lanes. */
#define ROW(TILE, I)                                                                               \
  "mov w12, #(" #I " / 4 * 4)\n mova z21.s, p0/m, " TILE "h.s[w12, " #I                            \
  " % 4]\n mov z20.s, z0.s[" #I "]\n"                                                              \
  "sdot z21.s, z20.b, \\m\n mova " TILE "h.s[w12, " #I " % 4], p0/m, z21.s\n"
#define TILE(T)                                                                                    \
  ".ifc \\d, " T ".s\n" ROW(T, 0) ROW(T, 1) ROW(T, 2) ROW(T, 3) ROW(T, 4) ROW(T, 5) ROW(T, 6)      \
      ROW(T, 7) ROW(T, 8) ROW(T, 9) ROW(T, 10) ROW(T, 11) ROW(T, 12) ROW(T, 13) ROW(T, 14)         \
          ROW(T, 15) ".endif\n"
__asm__(".arch_extension sme\n.macro smopa d, p, q, n, m\n" TILE("za0") TILE("za1") TILE("za2")
            TILE("za3") ".endm\n");
#undef TILE
#undef ROW
