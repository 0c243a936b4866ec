"""Whether a Python expression holds of a page: t is its text, d its data.  Every page must load nothing besides."""
import json
import re
import sys

t = open(sys.argv[1], encoding="utf-8").read()
# What would be loaded: elements and attributes with an address, imports, requests of scripts.
scripts = re.findall(r"<script[^>]*>(.*?)</script>", t, re.S)
assert len(scripts) == 3, "%d scripts: data, D3, ours" % len(scripts)
markup = re.sub(r"<script[^>]*>.*?</script>|<style>.*?</style>", "", t, flags=re.S)
style = "".join(re.findall(r"<style>(.*?)</style>", t, re.S))
assert not re.search(r"\b(src|href|action|data|poster|srcset)\s*=", markup), "the markup names an address"
assert not re.search(r"url\(|@import", style), "the style loads something"
assert not re.search(r"\bimport\s*\(|\bimport\s|fetch\s*\(|XMLHttpRequest|WebSocket|https?://", scripts[2]), "our script loads something"
assert "default-src 'none'" in markup, "no policy forbids loads"
assert "Redistribution and use in source and binary forms" in scripts[1], "D3's licence is missing"
d = json.loads(scripts[0])
sys.exit(0 if eval(sys.argv[2]) else 1)
