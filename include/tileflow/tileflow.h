/* tileflow: what a C user includes. */
#ifndef TILEFLOW_H
#define TILEFLOW_H
#include "tileflow/bound.h"
#include "tileflow/budget.h"
#include "tileflow/diag.h"
#include "tileflow/emit.h"
#include "tileflow/export.h"
#include "tileflow/grad.h"
#include "tileflow/import.h"
#include "tileflow/instr.h"
#include "tileflow/model.h"
#include "tileflow/net.h"
#include "tileflow/npu.h"
#include "tileflow/planner.h"
#include "tileflow/search.h"
#include "tileflow/slope.h"
#include "tileflow/solve.h"
#include "tileflow/spec.h"
#include "tileflow/sweep.h"
#include "tileflow/tree.h"
#include "tileflow/why.h"
#define TILEFLOW_VERSION "0.1.0"
#endif
