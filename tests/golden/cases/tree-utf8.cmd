# The tree with box-drawing lines; LC_ALL goes before LC_CTYPE and LANG.
LC_ALL=C.UTF-8 tileflow tree tests/golden/in/chain.yaml
LC_ALL= LANG=en_GB.utf8 tileflow tree tests/golden/in/chain.yaml | sed -n 5p
LC_ALL=C LANG=en_GB.utf8 tileflow tree tests/golden/in/chain.yaml | sed -n 5p
