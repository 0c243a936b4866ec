/* The files of a folder. */
#include <stdlib.h>
#include <string.h>

#include "net/emit.h"

enum { FILE_NAME = 40 };

char *net_replace(char *text, const char *from, const char *to) {
  char *out = NULL;
  size_t size = 0;
  FILE *f = text ? open_memstream(&out, &size) : NULL;
  const char *at = text, *next;
  for (; f && (next = strstr(at, from)) != NULL; at = next + strlen(from))
    fprintf(f, "%.*s%s", (int)(next - at), at, to);
  if (f) fputs(at, f);
  free(text);
  if (f && fclose(f) == 0) return out;
  free(out);
  return NULL;
}

tf_emitted *net_files_new(int most) {
  tf_emitted *out = calloc(1, sizeof *out);
  if (out) out->file = calloc((size_t)most, sizeof *out->file + FILE_NAME);
  for (int i = 0; out && out->file && i < most; i++)
    out->file[i].name = (char *)(out->file + most) + (size_t)i * FILE_NAME;
  if (out && out->file) return out;
  free(out);
  return NULL;
}

bool net_add_file(tf_emitted *out, const char *name, char *text) {
  char *kept = (char *)out->file[out->n].name; /* the name's storage */
  if (!text) return false;
  snprintf(kept, FILE_NAME, "%s", name);
  out->file[out->n++].text = text;
  return true;
}

bool net_add_own(tf_emitted *out, const net_emission *e, const net_own_file *row,
                 const char *name) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  if (!f) return false;
  row->print(f, e);
  if (fclose(f) != 0) {
    free(text);
    return false;
  }
  char *named = c_with_name(text, name);
  free(text);
  named = net_replace(named, "\"kernel.h\"", "\"network.h\"");
  return net_add_file(out, row->name,
                      net_replace(named, "\"kernel_device.h\"", "\"network_device.h\""));
}

int net_kernels_of(const net_emission *e) {
  int n = 0;
  for (int i = 0; i < e->plan->n; i++)
    n += net_has_kernel(e, i);
  return n;
}
