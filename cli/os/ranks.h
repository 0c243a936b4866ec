/* The processes that mpirun started together.  The only file that knows MPI is ranks.c; in a build without it, and
 * where mpirun did not start the program, there is one. */
#ifndef CLI_OS_RANKS_H
#define CLI_OS_RANKS_H
#include "tileflow/sweep.h"

typedef struct cli_ranks cli_ranks;

/* NULL: this process is alone. */
cli_ranks *cli_ranks_begin(void);
/* 0 .. size - 1; alone: 0 of 1. */
int cli_ranks_mine(const cli_ranks *r);
int cli_ranks_size(const cli_ranks *r);
/* Rank 0 alone: the others as a crew. */
tf_sweep_crew cli_ranks_crew(cli_ranks *r);
/* Another rank: rank 0 as the owner. */
tf_sweep_owner cli_ranks_owner(cli_ranks *r);
/* ok: all ranks come here.  Else the others are ended, too, with this exit status: the call does not return. */
void cli_ranks_end(cli_ranks *r, bool ok, int status);
#endif
