/* Numbers are read and written as in the C locale, whatever the program's: 8.5 is 8.5 where a
 * decimal comma is the rule, too.  A public function that reads or writes text begins with
 * TF_IN_C_LOCALE: it holds for the calling thread until the function returns; threads begun by
 * base/threads.h have it as well.  tests/locale.sh holds public functions to it. */
#ifndef BASE_LOCALE_H
#define BASE_LOCALE_H
#include <locale.h>

/* Puts the calling thread into the C locale; returns the one it was in. */
locale_t tf_c_locale_enter(void);
void tf_c_locale_leave(locale_t *before);

#define TF_IN_C_LOCALE                                                                             \
  __attribute__((cleanup(tf_c_locale_leave))) locale_t tf_locale_before = tf_c_locale_enter();     \
  (void)tf_locale_before
#endif
