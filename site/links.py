"""Whether all links of a folder of HTML lead somewhere in it, anchors too; links to other hosts are not followed.

  python3 site/links.py FOLDER
"""
import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key == "id" or (key == "name" and tag == "a"):
                self.ids.add(value)
            elif key in ("href", "src") and value:
                self.links.append(value)


def main(folder):
    root = pathlib.Path(folder).resolve()
    pages = {path: Page(path) for path in root.rglob("*.html")}
    broken = 0
    for path, page in pages.items():
        for link in page.links:
            part = urllib.parse.urlsplit(link)
            if part.scheme or part.netloc:
                continue
            there = (path.parent / urllib.parse.unquote(part.path)).resolve() if part.path else path
            if there.is_dir():
                there /= "index.html"
            anchor = urllib.parse.unquote(part.fragment)
            if not there.is_file() or (anchor and there in pages and anchor not in pages[there].ids):
                broken += 1
                print(f"{path.relative_to(root)}: {link} leads nowhere")
    print(f"{len(pages)} pages, {sum(len(p.links) for p in pages.values())} links, {broken} of them broken")
    sys.exit(bool(broken))


main(sys.argv[1])
