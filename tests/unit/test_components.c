/* Wires and converters beside their sources: figures printed there, and what the converters' own
 * program says (hwcomponents-adc, commit 246af7e, run on 1 December 2026). */
#include <math.h>

#include "model/input/table/converters.h"
#include "tests/unit/case.h"

enum { WIRE_PJ, ADC_PJ, ADC_UM2 };

static double of(int what, double a, double b, double c) {
  const double x[] = {a, b, c};
  return tf_components[what].value(x);
}

static const struct {
  int line;
  double bits, rate, nm, pj, um2;
} converters[] = {{__LINE__, 8, 1280, 32, 1.92921165, 6469.26849},
                  {__LINE__, 4, 100, 65, 3.50074641, 9859.7966},
                  {__LINE__, 6, 1000, 22, 0.526567682, 2891.76601},
                  {__LINE__, 10, 10, 16, 0.899160883, 1076.14453},
                  {__LINE__, 12, 1, 130, 100.078992, 23282.175},
                  {__LINE__, 7, 5000, 45, 3.28903551, 13619.6674}};

static void check_converters(void) {
  for (size_t i = 0; i < sizeof converters / sizeof *converters; i++) {
    const double b = converters[i].bits, r = converters[i].rate, nm = converters[i].nm;
    CHECK_NEAR(of(ADC_PJ, b, r, nm) / converters[i].pj, 1, 1e-8);
    CHECK_NEAR(of(ADC_UM2, b, r, nm) / converters[i].um2, 1, 1e-8);
  }
  /* ISAAC (ISCA 2016, table I): 8 bits, 1.28 GS/s, 32 nm: 2 mW */
  const double isaac = 2 / 1.28, ratio = of(ADC_PJ, 8, 1280, 32) / isaac;
  CHECK(ratio > 1.2 && ratio < 1.25);
}

static void check_wires(void) {
  CHECK_NEAR(of(WIRE_PJ, 40, 0, 0) * 256 * 10, 310, 1e-9);
  CHECK_NEAR(of(WIRE_PJ, 10, 0, 0) * 256 * 10, 200, 1e-9);
  CHECK_NEAR(of(WIRE_PJ, 180, 0, 0) * 2 * 10, 9.84, 1e-9);
  CHECK_NEAR(of(WIRE_PJ, 5, 0, 0), of(WIRE_PJ, 10, 0, 0), 0);
  for (int nm = 10; nm < 180; nm++)
    CHECK(of(WIRE_PJ, nm, 0, 0) < of(WIRE_PJ, nm + 1, 0, 0));
}

static const struct {
  int line;
  const char *energy;
  double pj; /* 0: an error */
  const char *says;
} texts[] = {{__LINE__, "\"16 * 0.5 * wire_pj(40) pJ\"", 16 * 0.5 * 310 / 2560, ""},
             {__LINE__, "\"adc_pj(4 + bits, 1000, 22) pJ\"", 0.526567682, ""},
             {__LINE__, "\"adc_pj(3, 1000, 22) pJ\"", 0, "bits of 'adc_pj' are 4 to 20, not 3"},
             {__LINE__, "\"adc_um2(8, 1000) pJ\"", 0, "','"},
             {__LINE__, "\"wire_pj(0) pJ\"", 0, "nm of 'wire_pj' are 1 to 1000, not 0"}};

static void check_texts(void) {
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char text[512];
    snprintf(text, sizeof text,
             "params: {bits: 2}\narchitecture:\n  memories:\n  - {name: A}\n"
             "  - {name: B, energy: %s}\n  compute: [{name: u, ops: [mac]}]\n",
             texts[i].energy);
    tf_diags *d = tf_diags_new();
    tf_spec *spec = case_spec(text, d);
    char *said = tf_diags_text(d);
    if (texts[i].pj > 0) {
      if (CHECK_ROW(&texts[i], spec != NULL))
        CHECK_NEAR(spec->arch->memories[1].read_pj / texts[i].pj, 1, 1e-8);
    } else {
      CHECK_ROW(&texts[i], !spec && said && strstr(said, texts[i].says));
    }
    free(said);
    tf_spec_free(spec);
    tf_diags_free(d);
  }
}

int main(void) {
  check_converters();
  check_wires();
  check_texts();
  return check_report();
}
