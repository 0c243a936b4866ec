/* Documents are read by people: a sentence of their prose has at most 35 words, as a rule, and
 * never 50.  Tables, headings, code and formulas are none; a piece of code within a sentence is one
 * word. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>

#include "tests/unit/case.h"

enum { MOST = 35, NEVER = 50, LONG = 6, PARAGRAPH = 1 << 16 }; /* so many may be longer than MOST */

typedef struct {
  const char *page;
  bool fence, code; /* within ```; the paragraph is indented */
  char text[PARAGRAPH];
  size_t n;
  int sentences, longer;
} reader;

static void check_sentence(reader *r, const char *from, const char *to, int words) {
  r->sentences++;
  r->longer += words > MOST;
  if (words > MOST)
    printf("%s: %d words: %.*s\n", r->page, words, (int)(to - from < 90 ? to - from : 90), from);
  CHECK(words <= NEVER);
}

/* Whether a sentence ends before the space at s: behind a stop, and before what begins one. */
static bool ends(const char *begin, const char *s) {
  const char *stop = s;
  while (stop > begin && strchr("\"')*_", stop[-1]))
    stop--;
  return stop > begin && strchr(".!?:", stop[-1]) &&
         (isupper((unsigned char)s[1]) || isdigit((unsigned char)s[1]) || strchr("`[(*\"", s[1]));
}

static void end_paragraph(reader *r) {
  const char *from = r->text;
  int words = 0;
  r->text[r->n] = '\0';
  for (const char *s = r->text; *s; s++) {
    const bool last = !s[1];
    if (*s != ' ' && (last || s[1] == ' ')) words++;
    if (last || (*s == ' ' && ends(from, s)))
      check_sentence(r, from, s + 1, words), from = s + 1, words = 0;
  }
  r->n = 0;
}

/* Appends a line without what is no word: code in one, where links lead to. */
static void take(reader *r, const char *line) {
  if (r->n && r->n + 2 < sizeof r->text) r->text[r->n++] = ' ';
  for (const char *s = line; *s && r->n + 2 < sizeof r->text; s++) {
    const char *close = *s == '`'                    ? strchr(s + 1, '`')
                        : s[0] == ']' && s[1] == '(' ? strchr(s, ')')
                                                     : NULL;
    if (close && *s == '`') r->text[r->n++] = '`';
    if (close)
      s = close;
    else if (*s != ' ' || (r->n && r->text[r->n - 1] != ' '))
      r->text[r->n++] = *s;
  }
  while (r->n && r->text[r->n - 1] == ' ')
    r->n--;
}

static void read_line(reader *r, const char *line) {
  const size_t in = strspn(line, " ");
  const char *text = line + in, *rest = text + strspn(text, "0123456789");
  if (!strncmp(text, "```", 3)) r->fence = !r->fence;
  const bool item =
      (strchr("-*", *text) && text[1] == ' ') || (rest > text && rest[0] == '.' && rest[1] == ' ');
  const bool prose = !r->fence && *text && !strchr("|#<", *text) && strncmp(text, "```", 3) != 0;
  if (!prose || item) {
    if (r->n) end_paragraph(r);
    r->code = false;
  }
  if (!prose) return;
  if (!r->n && in >= 4 && !item) r->code = true;
  if (!r->code) take(r, item ? strchr(text, ' ') + 1 : text);
}

static void read_page(reader *r, const char *path) {
  size_t len;
  char *text = case_file(path, &len), *next;
  r->page = path;
  r->fence = r->code = false;
  for (char *line = text; line && *line; line = next) {
    next = line + strcspn(line, "\n");
    if (*next) *next++ = '\0';
    read_line(r, line);
  }
  if (r->n) end_paragraph(r);
  free(text);
}

int main(void) {
  static reader r;
  DIR *docs = opendir("docs");
  if (!CHECK(docs != NULL)) return check_report();
  read_page(&r, "README.md");
  for (const struct dirent *e = readdir(docs); e; e = readdir(docs)) {
    char path[300];
    const size_t n = strlen(e->d_name);
    if (n < 3 || strcmp(e->d_name + n - 3, ".md") != 0) continue;
    snprintf(path, sizeof path, "docs/%s", e->d_name);
    read_page(&r, path);
  }
  closedir(docs);
  printf("%d sentences, %d of more than %d words\n", r.sentences, r.longer, MOST);
  CHECK(r.sentences > 1000 && r.longer <= LONG);
  return check_report();
}
