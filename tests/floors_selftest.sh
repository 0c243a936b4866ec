#!/bin/sh
# tests/floors.sh must see what it is there to see: each row below puts one wrong include into
# an otherwise sound house and gives the words of the complaint.
set -u
floors=$(realpath "$(dirname "$0")/floors.sh")
house=$(mktemp -d) || exit 2
sound=$(mktemp -d) || exit 2 # what is broken is mended from it
trap 'rm -rf "$house" "$sound"' EXIT
failed=0

build() {
  for room in base model/yaml model/input model/tree model/flow model/cost model/cost/quick \
    model/cost/general model/eval model/import search/common search/space \
    search/run search/exact codegen/ir codegen/lower codegen/intrin planner sweep sweep/grid sweep/store cli cli/os examples tests/oracle include/tileflow; do
    mkdir -p "$house/$room"
  done
  for f in base/b model/yaml/y model/input/s model/tree/t model/flow/f model/cost/c \
    model/cost/quick/q model/cost/general/g model/eval/v model/import/i search/common/o \
    search/space/t search/run/r search/exact/e codegen/ir/i codegen/lower/w codegen/intrin/m planner/p sweep/w sweep/grid/g sweep/store/s cli/l cli/os/o; do
    : >"$house/$f.h"
    printf '#include "%s.h"\n#include <stdio.h>\n' $f >"$house/$f.c"
  done
  for f in diag spec tree model tileflow; do : >"$house/include/tileflow/$f.h"; done
  cp -r "$house/." "$sound"
}

# mend FILE: as it was, or away.
mend() {
  rm -f "$house/$1"
  [ ! -e "$sound/$1" ] || cp "$sound/$1" "$house/$1"
}

# expect FILE INCLUDE WORDS
expect() {
  mkdir -p "$house/$(dirname "$1")"
  echo "#include $2" >>"$house/$1"
  if said=$(sh "$floors" "$house"); then
    echo "$1 with #include $2: not seen"
    failed=$((failed + 1))
  elif ! echo "$said" | grep -qF "$3"; then
    printf '%s with #include %s: expected "%s", got:\n%s\n' "$1" "$2" "$3" "$said"
    failed=$((failed + 1))
  fi
  mend "$1"
}

build
sh "$floors" "$house" >/dev/null || { echo "the sound house is refused"; failed=1; }

expect base/b.c '"model/cost/c.h"' 'points up: base is floor 0, model/cost/c.h is floor 4.2'
expect model/input/s.c '"tileflow/tree.h"' 'points up: model/input is floor 2'
expect model/yaml/y.h '"model/input/s.h"' 'points up: model/yaml is floor 1'
expect include/tileflow/diag.h '"tileflow/spec.h"' 'points up: include is floor 0'
expect include/tileflow/model.h '"search/run/r.h"' 'points up: include is floor 4'
expect model/cost/c.c '"model/import/i.h"' 'do not include each other'
expect model/cost/quick/q.c '"model/cost/general/g.h"' 'do not include each other: model/cost/quick and model/cost/general'
expect model/cost/c.c '"model/cost/quick/q.h"' 'points up: model/cost is floor 4.2, model/cost/quick/q.h is floor 4.3'
expect model/flow/f.c '"model/eval/v.h"' 'points up: model/flow is floor 4.1'
expect model/eval/v.c '"model/import/i.h"' 'do not include each other'
expect model/import/i.c '"model/cost/c.h"' 'do not include each other'
expect search/run/r.c '"search/exact/e.h"' 'points up: search/run is floor 5.3, search/exact/e.h is floor 5.4'
expect search/space/t.c '"search/run/r.h"' 'points up: search/space is floor 5.2, search/run/r.h is floor 5.3'
expect search/x.c '"base/b.h"' 'stands on no floor'
expect search/run/r.c '"codegen/ir/i.h"' 'do not include each other'
expect codegen/ir/i.c '"search/run/r.h"' 'do not include each other'
expect codegen/ir/i.c '"codegen/lower/w.h"' 'points up: codegen/ir is floor 5.1'
expect codegen/lower/w.c '"codegen/intrin/m.h"' 'do not include each other'
expect codegen/new/n.c '"base/b.h"' 'stands on no floor'
expect search/run/r.c '"planner/p.h"' 'points up: search/run is floor 5.3, planner/p.h is floor 6'
expect base/b.c '"sweep/w.h"' 'points up: base is floor 0, sweep/w.h is floor 7.4'
expect sweep/grid/g.c '"sweep/store/s.h"' 'points up: sweep/grid is floor 7.2, sweep/store/s.h is floor 7.3'
expect sweep/store/s.c '"sweep/w.h"' 'points up: sweep/store is floor 7.3, sweep/w.h is floor 7.4'
expect planner/p.c '<sqlite3.h>' 'only base/db sweep tune/store includes <sqlite3.h>'
expect cli/l.c '"planner/p.h"' 'cli includes public headers only'
expect cli/l.c '"model/cost/c.h"' 'cli includes public headers only'
expect cli/l.c '"base/b.h"' 'cli includes public headers only'
expect cli/l.c '"cli/os/o.h"' 'points up: cli is floor 7, cli/os/o.h is floor 8'
expect cli/os/o.c '"search/run/r.h"' 'cli/os includes public headers only'
expect examples/e.c '"base/b.h"' 'examples includes public headers only'
expect bench/e.c '"base/b.h"' 'bench includes public headers only'
expect tests/oracle/o.c '"model/cost/c.h"' 'does not look into model/cost'
expect model/input/s.c '<yaml.h>' 'only model/yaml includes <yaml.h>'
expect model/cost/c.c '<jansson.h>' 'only cli includes <jansson.h>'
expect model/cost/c.c '<curl/curl.h>' 'no room is named for <curl/curl.h>'
expect model/cost/c.c '<tileflow/tree.h>' 'in quotes'
expect model/cost/c.c '"../input/s.h"' 'without ".."'
expect model/cost/c.c '"model/input/absent.h"' 'no such file'
expect model/new/n.c '"base/b.h"' 'stands on no floor'

# A tree that travels as text.
echo 'tf_tree *t = tf_tree_parse(text, at, arch, wl, d);' >>"$house/planner/p.c"
sh "$floors" "$house" | grep -q 'only readers of files' || { echo "a tree that is parsed anew is not seen"; failed=1; }
mend planner/p.c

# A scope that is asked for by name.
echo 'bool drops = n->scope == TF_SEQ;' >>"$house/model/cost/c.c"
sh "$floors" "$house" | grep -q 'a property of a scope' || { echo "a scope that is asked for by name is not seen"; failed=1; }
mend model/cost/c.c

# A target that is asked for by name.
echo 'if (!strcmp(o->target, "cpu")) return;' >>"$house/cli/l.c"
sh "$floors" "$house" | grep -q 'what a target can' || { echo "a target that is asked for by name is not seen"; failed=1; }
mend cli/l.c

# Two headers of one room that include each other.
echo '#include "search/run/r.h"' >"$house/search/run/q.h"
echo '#include "search/run/q.h"' >>"$house/search/run/r.h"
sh "$floors" "$house" | grep -q 'include each other' || { echo "a cycle is not seen"; failed=1; }

# expect_link LINES WORDS: of what objects take from each other.
expect_link() {
  printf "$1" >"$house/links"
  said=$(sh "$floors" "$house" "$house/links")
  echo "$said" | grep -qF "$2" || { printf 'links %s: expected "%s", got:\n%s\n' "$1" "$2" "$said"; failed=$((failed + 1)); }
}
touch "$house/search/run/q.c"
expect_link 'base/b.c model/cost/c.c tf_c\n' 'points up: base is floor 0, model/cost is floor 4.2'
expect_link 'search/run/r.c codegen/ir/i.c ir_i\n' 'do not call each other: search/run and codegen/ir'
expect_link 'codegen/ir/i.c codegen/lower/w.c low_w\n' 'points up: codegen/ir is floor 5.1'
mkdir -p "$house/codegen/backend/cpu/note" && touch "$house/codegen/backend/cpu/note/n.c"
expect_link 'codegen/ir/i.c codegen/backend/cpu/note/n.c cpu_edit\n' 'points up: codegen/ir is floor 5.1'
expect_link 'search/run/r.c search/run/q.c q\nsearch/run/q.c search/run/r.c r\n' 'search/run: 2 files take names'

# tests/sizes.sh: a room that grows, one that shrinks, one without a row, a row without a room.
sizes=$(dirname "$floors")/sizes.sh
expect_size() {
  said=$(sh "$sizes" "$house")
  status=$?
  echo "$said" | grep -qF "$2" && [ $status -eq $1 ] || { printf 'sizes: expected "%s", got:\n%s\n' "$2" "$said"; failed=$((failed + 1)); }
}
expect_size 1 'search/run/q.h does not begin with what it is for'
rm "$house"/search/run/*.h
mkdir "$house/docs" && echo '| 0 | `planner` | plans |' >"$house/docs/ARCHITECTURE.md"
expect_size 1 'docs/ARCHITECTURE.md does not say what base is for'
rm -r "$house/docs"
for f in base/b.c planner/p.c; do yes '/* a line */' | sed 250q >"$house/$f"; done
TF_UPDATE_GOLDEN=1 sh "$sizes" "$house" >"$house/said" || cat "$house/said"
expect_size 0 'lines: '
yes '/* a line */' | sed 301q >"$house/base/b.c"
TF_UPDATE_GOLDEN=1 sh "$sizes" "$house" >/dev/null && { echo "a ceiling rises by itself"; failed=$((failed + 1)); }
expect_size 1 'base has 301 lines, 300 are allowed'
yes '/* a line */' | sed 200q >"$house/base/b.c"
expect_size 1 'base has 200 lines, tests/lines.txt allows 300: let it say 200'
TF_UPDATE_GOLDEN=1 sh "$sizes" "$house" >/dev/null
expect_size 0 'lines: '
mkdir "$house/train" && echo '/* a line */' >"$house/train/t.c"
expect_size 1 'train has 1 lines and no row'
rm -r "$house/train"
echo '100 net' >>"$house/tests/lines.txt"
expect_size 1 'tests/lines.txt has net, which has no files'

[ $failed -eq 0 ] && echo "floors.sh and sizes.sh see all of it"
