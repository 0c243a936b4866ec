/* Sources, each with its date:
 *
 * - Wires, pJ a bit and mm of random data, which change every other bit.  40 nm at 0.9 V 310 pJ for
 *   256 bits over 10 mm, 10 nm at 0.75 V 200 pJ (projected): S. Keckler et al., "GPUs and the
 *   future of parallel computing", IEEE Micro 31(5), 2011, table 1.  180 nm at 1.8 V 9.84 pJ over
 *   10 mm for a bit that changes each time, half of it here: R. Ho, "On-chip wires", thesis,
 *   Stanford, 2003, section 6.2.  Straight lines in log-log between; beyond them flat.
 *   Others: 16 nm 0.02 to 0.04 (W. Dally et al., VLSI Circuits 2018), 0.1 between blocks (W. Dally
 *   et al., CACM 63(7), 2020).
 * - Converters: T. Andrulis et al., "Modeling analog-digital-converter energy and area for
 *   compute-in-memory accelerator design", arXiv:2404.06553, 2024: a regression of B. Murmann's
 *   survey of 1997 to 2021 for the best fifth in energy and the smallest tenth, with the
 *   coefficients of github.com/Accelergy-Project/hwcomponents-adc, commit 246af7e, 2026.  Bits are
 *   effective ones. The Schreier figure of merit, in dB, falls with the rate, and is limited by the
 *   bits; energy follows from it and from the feature size, area from feature size, rate and
 *   energy. */
#include "model/input/table/converters.h"

#include <math.h>
#include <stddef.h>

static const struct {
  double nm, pj;
} wires[] = {{10, 200.0 / 2560}, {40, 310.0 / 2560}, {180, 9.84 / 10 / 2}};
enum { N_WIRES = sizeof wires / sizeof *wires };

static double wire_pj(const double *x) {
  const double nm = fmin(fmax(x[0], wires[0].nm), wires[N_WIRES - 1].nm);
  int i = 0;
  while (i + 2 < N_WIRES && nm > wires[i + 1].nm)
    i++;
  const double slope = log(wires[i + 1].pj / wires[i].pj) / log(wires[i + 1].nm / wires[i].nm);
  return wires[i].pj * pow(nm / wires[i].nm, slope);
}

static const struct {
  double merit, of_rate, limit, of_bit;     /* dB */
  double level, of_nm, of_bits, best;       /* ln pJ */
  double area, area_nm, area_rate, area_pj; /* ln um2 */
} adc = {213.7806687348118,  -2.8719030399529957, 128.3068287398817,   3.220511510977554,
         26.0496215686518,   1.8800369206815004,  -2.8291256050594527, -1.4702022133784405,
         1.3461916439910742, 0.9932794744745022,  0.18071538424508238, 0.29912426192653485};

/* Bits, 10^6 samples a second, nm. */
static double adc_pj(const double *x) {
  const double rate = log(x[1] * 1e6), noise = (20 * x[0] * log(2) + 10 * log(1.5)) / log(10),
               merit = fmin(adc.merit + adc.of_rate * rate, adc.limit + adc.of_bit * ceil(x[0]));
  return pow(10, (noise - merit) / 10) / 2 *
         exp(adc.level + adc.of_nm * log(x[2]) + adc.of_bits * log(x[0]) + adc.best);
}

static double adc_um2(const double *x) {
  return exp(adc.area + adc.area_nm * log(x[2]) + adc.area_rate * log(x[1] * 1e6) +
             adc.area_pj * log(adc_pj(x)));
}

#define NM                                                                                         \
  { "nm", 1, 1000 }
#define ADC                                                                                        \
  { {"bits", 4, 20}, {"10^6 samples a second", 1e-3, 1e4}, NM }
const tf_component tf_components[TF_N_COMPONENTS] = {
    {"wire_pj", 1, {NM}, wire_pj}, {"adc_pj", 3, ADC, adc_pj}, {"adc_um2", 3, ADC, adc_um2}};
