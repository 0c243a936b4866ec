/* The frame of a page: style, data, D3, script. */
#include "cli/page/page.h"

#include <stdlib.h>
#include <string.h>

#include "cli/os/safe_write.h"
#include "cli/page/assets.h"

void page_set(page_data *p, const char *key, json_t *value) {
  p->bad |= !value || json_object_set_new(p->object, key, value) != 0;
}

void page_set_report(page_data *p, const char *key, cli_text *json) {
  p->bad |= json->bad;
  page_set(p, key, json_loadb(json->text ? json->text : "", json->len, JSON_ALLOW_NUL, NULL));
  cli_text_free(json);
}

void page_set_text(page_data *p, const char *key, const cli_text *text) {
  json_t *v = text->text ? json_stringn(text->text, text->len) : NULL;
  p->bad |= text->bad;
  page_set(p, key, v ? v : json_null());
}

/* JSON within a script element: a "<" of a user's text must not end it. */
static void put_json(const char *json, cli_text *out) {
  while (*json) {
    const size_t n = strcspn(json, "<");
    cli_printf(out, "%.*s%s", (int)n, json, json[n] ? "\\u003c" : "");
    json += n + (json[n] != '\0');
  }
}

bool cli_page_has_model(void) { return *page_live != '\0'; }

static void put_model(cli_text *out) {
  cli_printf(out, "<script>\n/*\n%s*/\n</script>\n", page_live_licence);
  cli_printf(out, "<script type=\"text/plain\" id=\"live\">%s</script>\n", page_live);
}

/* The policy forbids all loads, so that the page cannot tell anybody that it is read. */
static void put_page(const char *title, const char *json, bool live, cli_text *out) {
  cli_printf(out,
             "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
             "script-src 'unsafe-inline'%s\">\n"
             "<title>",
             live ? " 'wasm-unsafe-eval'" : "");
  cli_escaped(out, title);
  cli_printf(out,
             "</title>\n<style>\n%s</style>\n</head>\n<body>\n"
             "<main id=\"page\"></main>\n",
             page_style);
  cli_printf(out, "<noscript>This page draws its data with JavaScript, and loads nothing.</noscript>\n");
  cli_printf(out, "<script type=\"application/json\" id=\"data\">");
  put_json(json, out);
  cli_printf(out, "</script>\n");
  if (live) put_model(out);
  cli_printf(out, "<script>\n/*\n%s*/\n%s\n</script>\n", page_licence, page_d3);
  cli_printf(out, "<script>\n'use strict';\n%s</script>\n</body>\n</html>\n", page_script);
}

bool page_write(const char *path, const char *title, page_data *p) {
  cli_text t = {.bad = p->bad};
  char *json = p->object ? json_dumps(p->object, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
  if (json) put_page(title, json, p->live, &t);
  t.bad |= !json;
  free(json);
  json_decref(p->object);
  return cli_put_text(path, &t);
}
