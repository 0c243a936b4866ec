/* What the command does when memory runs out: it says so and ends, with status 1.
 *
 * The library hands a failed allocation up to whoever called it; a C program may go on.  The command could not do
 * better than end, and a search that lost a candidate on the way would print another result than it has with all
 * memory.  So in the tool every allocation of ours passes here (allocator.c). */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H
#include <stddef.h>

/* p, what the allocator gave for that many bytes.  Where it is NULL the process ends, but not:
 * - while files are being written (cli_begin_write): there the write fails, and takes back what it began;
 * - for more than 1 GiB at once: then the input asks for it, and its reader says where. */
void *cli_had(void *p, size_t bytes);
#endif
