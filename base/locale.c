#include "base/locale.h"

#include <pthread.h>

/* Made once, and kept for the life of the process. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t plain;

static void make(void) { plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

locale_t tf_c_locale_enter(void) {
  pthread_once(&once, make);
  return uselocale(plain); /* (locale_t)0, if memory ran out, changes nothing */
}

void tf_c_locale_leave(locale_t *before) { uselocale(*before); }
