/* Memory that runs out when a test says so: what stands before the allocator of the whole program
 * (allocator.c, arena.c), and who asks for it (main.c). */
#ifndef TESTS_MEMORY_STARVE_H
#define TESTS_MEMORY_STARVE_H
#include <stdbool.h>

/* From here on calls are counted from 1, and the nth fails; every one behind it, too, if `all`. nth
 * 0: none does. */
void starve_from(long nth, bool all);
long starve_calls(void);
/* Who is given nothing is ended, as in the tool (cli/os/os_memory.h); else it gets NULL, as from
 * the library. */
void starve_tool(void);
#endif
