/* The processes that mpirun started together.  ranks.c is the only file that uses MPI; in a build
 * without it, and without mpirun, there is one process. */
#ifndef CLI_OS_RANKS_H
#define CLI_OS_RANKS_H
#include "tileflow/sweep.h"

typedef struct cli_ranks cli_ranks;

/* NULL: this process is alone. */
cli_ranks *cli_ranks_begin(void);
/* 0 .. size - 1; alone: 0 of 1. */
int cli_ranks_mine(const cli_ranks *r);
int cli_ranks_size(const cli_ranks *r);
/* Only for rank 0: the other ranks as workers. */
tf_sweep_workers cli_ranks_workers(cli_ranks *r);
/* For the other ranks: rank 0 as the owner. */
tf_sweep_owner cli_ranks_owner(cli_ranks *r);
/* ok: waits until all ranks call it.  Otherwise ends all ranks with this exit status, and does not
 * return. */
void cli_ranks_end(cli_ranks *r, bool ok, int status);
#endif
