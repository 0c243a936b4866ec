#include "base/locale.h"

locale_t tf_c_locale_enter(void) {
  return uselocale(newlocale(LC_ALL_MASK, "C",
                             (locale_t)0)); /* (locale_t)0, if memory ran out, changes nothing */
}

void tf_c_locale_leave(locale_t *before) {
  const locale_t plain = uselocale(*before);
  if (plain != LC_GLOBAL_LOCALE && plain != *before)
    freelocale(plain); /* the C library's own is not freed by that */
}
