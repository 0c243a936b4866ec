/* The results of a run of the NPU's simulator, printed. */
#ifndef CLI_NPU_NPU_REPORT_H
#define CLI_NPU_NPU_REPORT_H
#include "cli/text.h"
#include "tileflow/npu.h"

void npu_text(const tf_npu_result *r, cli_text *out);
void npu_json(const tf_npu_result *r, cli_text *out);
/* Each queue's work over time. */
void npu_trace(const tf_npu_result *r, cli_text *out);
#endif
