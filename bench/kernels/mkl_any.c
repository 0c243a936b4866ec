/* Preloaded by torch.sh: MKL, which multiplies for PyTorch, takes its kernels for AVX-512 on this
 * computer even if Intel did not make it.  Without it it takes those for AVX2, at less than half
 * the speed. */
int mkl_serv_intel_cpu_true(void);
int mkl_serv_intel_cpu_true(void) { return 1; }
