/* What the command does when memory runs out: it reports that and ends with status 1.
 *
 * The library reports a failed allocation to its caller, and a C program may continue.  The command
 * could only end anyway, and a search that loses a candidate would print another result than with
 * enough memory.  So every allocation of the tool itself passes through here (allocator.c). */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H
#include <stddef.h>

/* Returns p, the allocator's result for that many bytes.  If it is NULL the process ends, except
 * - while files are being written (cli_begin_write): then the write fails, and removes what it
 * began;
 * - for more than 1 GiB at once: then the input asks for it, and its reader says where. */
void *cli_had(void *p, size_t bytes);
#endif
