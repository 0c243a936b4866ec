#!/bin/sh
# The house has floors; an #include may only point down, and so may what an object file takes from another (a function, a
# table).  Prints each one that does not, with the reason, and fails.
#   tests/floors.sh [ROOT [LINKS]]
# LINKS: lines "FROM TO NAME" (tests/links.sh), one for each name that FROM's object takes from TO's.
# A room that is added gets a row in `room`, a public header one in `public`, a foreign library
# one in `foreign`.
# Within a room objects may take names of each other in circles only where tests/circles.txt says so, and in no more files.
set -u
links=${2:+$(realpath "$2")}
cd "${1:-$(dirname "$0")/..}" || exit 2

lists=${links:+$(ls tests/circles.txt 2>/dev/null)}
files=$(find base certify model grad search sweep codegen planner net train tune cli include examples bench tests/oracle -name '*.[ch]' \
  2>/dev/null | LC_ALL=C sort)
[ -n "$files" ] || { echo "no C files below $(pwd)" >&2; exit 2; }
edges=$(mktemp) || exit 2
trap 'rm -f "$edges"' EXIT

# shellcheck disable=SC2086 # file names hold no spaces
awk -v edges="$edges" -v links="$links" -v lists="$lists" '
BEGIN {
  # floor of a room
  room["base"] = 0; room["base/db"] = 0.1
  room["certify"] = 0 # what checks the solver has nothing of it
  room["model/yaml"] = 1
  room["model/input/table"] = 2.1; room["model/input/cut"] = 2.1; room["model/input"] = 2.2; room["model/identity"] = 2.3
  room["model/sparse"] = 2.3
  room["model/layout"] = 2.3
  room["model/tree"] = 3
  room["model/schema"] = 3.1 # of files, for editors: words of mappings, too
  room["grad"] = 3
  # sub-rooms: floors between those of the house.  Three ways to count stand side by side, on what they share
  room["model/flow"] = 4.1;          room["model/demand"] = 4.1
  room["model/instr"] = 4.1
  room["model/cost"] = 4.2
  room["model/cost/quick"] = 4.3;    room["model/cost/general"] = 4.3;  room["model/cost/exact"] = 4.3
  room["model/cost/tiles"] = 4.3
  room["model/eval"] = 4.4
  # one format reads another: files of TileFlow have architectures of Timeloop in them
  room["model/import/common"] = 4.1;  room["model/import/timeloop"] = room["model/import/accelforge"] = 4.2;  room["model/import/tileflow"] = 4.3
  room["model/import/onnx"] = 4.2
  room["model/import"] = 4.4
  # the exact solver begins with the closed form
  room["search/common"] = 5.1
  room["search/bound"] = 5.2;  room["search/space"] = 5.2; room["search/strategy"] = 5.2
  room["search/run"] = 5.3;    room["search/closed"] = 5.3
  room["search/exact"] = 5.4;  room["search/slope"] = 5.5; room["search/best"] = 5.5; room["search/proof"] = 5.5
  room["codegen/ir"] = 5.1
  room["codegen/lower"] = 5.2;            room["codegen/intrin"] = 5.2
  room["codegen/intrin/table"] = 5.3 # a program of the build
  room["codegen/backend/cpu/note"] = 5.25; room["codegen/backend/cuda/note"] = 5.25; room["codegen/backend/cuda/box"] = 5.24
  room["codegen/backend/cpu/pass"] = 5.3;  room["codegen/backend/cpu/print"] = 5.35; room["codegen/backend/cpu/expect"] = 5.32
  room["codegen/backend/cpu/live"] = 0 # text of files that are emitted beside kernels; compiled there alone
  room["codegen/backend"] = 5.4
  room["codegen/backend/cpu"] = 5.5;       room["codegen/backend/staged"] = 5.5
  room["codegen/backend/model"] = 5.5
  room["codegen/backend/cuda/pass"] = 5.3; room["codegen/backend/cuda/window"] = 5.35; room["codegen/backend/cuda/print"] = 5.4
  room["codegen/backend/cuda"] = 5.5;      room["codegen/backend/opencl"] = 5.5
  room["codegen/backend/hints"] = 5.6 # what kernels of CUDA are to others
  room["codegen/backend/npu/sim"] = 5.1;   room["codegen/backend/npu/text"] = 5.2
  room["codegen/backend/npu/pass"] = 5.2;  room["codegen/backend/npu"] = 5.5
  room["planner"] = 6
  # beside the sweep: it plans many workloads
  room["net"] = 7
  room["sweep/section"] = 7.1; room["sweep/grid"] = 7.2; room["sweep/store"] = 7.3; room["sweep"] = 7.4
  room["train"] = 8 # it plans steps
  # kernels tried on a machine: constraints, the space of schedules, what learns, ways to walk it, what was measured
  room["tune/csp"] = 7.1;  room["tune/learn"] = 7.1;  room["tune/space"] = 7.2;  room["tune/strategy"] = 7.3; room["tune/rules"] = 7.3
  room["tune/store"] = 7.2;  room["tune/run"] = 7.4
  room["cli"] = 7; room["cli/host"] = 7.5; room["cli/os"] = 8; room["cli/report"] = 9; room["cli/npu"] = 9; room["cli/draw"] = 10; room["cli/plot"] = 10
  room["cli/session"] = 10; room["cli/page"] = 10.5; room["cli/serve"] = 10.5
  room["cli/cmd"] = 11; room["cli/first"] = 11.1; room["cli/train"] = 11.1
  # floor of a public header: that of the room that implements it
  public["api.h"] = 0;   public["diag.h"] = 0;   public["version.h"] = 0
  public["spec.h"] = 2
  public["tree.h"] = 3;   public["grad.h"] = 3
  public["budget.h"] = 5
  public["import.h"] = 4;  public["export.h"] = 4
  public["instr.h"] = 4
  public["model.h"] = 4;   public["why.h"] = 4;   public["trace.h"] = 4;   public["search.h"] = 5
  public["emit.h"] = 5;    public["npu.h"] = 5
  public["solve.h"] = 5;   public["slope.h"] = 5;   public["bound.h"] = 5;   public["best.h"] = 5
  public["planner.h"] = 6
  public["net.h"] = 7;     public["sweep.h"] = 7;   public["tune.h"] = 7;   public["tileflow.h"] = 7
  # the one room, with the rooms in it, that may include a foreign library
  foreign["yaml.h"] = "model/yaml"
  foreign["jansson.h"] = "cli"
  foreign["sqlite3.h"] = "base/db sweep tune/store"
  foreign["nettle/sha2.h"] = "base"
  foreign["mpi.h"] = "cli/os"
  foreign["onnx/onnx.pb-c.h"] = "model/import/onnx" # protobuf-c, from the schema of ONNX
  foreign["dnnl.h"] = foreign["cblas.h"] = foreign["libxsmm.h"] = foreign["omp.h"] = "bench" # peers
  foreign["dlfcn.h"] = foreign["kernel.h"] = "bench codegen/backend/cpu/live" # .. and what replaces one another as it runs
  foreign["live.h"] = foreign["live_tensors.h"] = foreign["spawn.h"] = foreign["sys/prctl.h"] = "bench codegen/backend/cpu/live"
  foreign["parts.h"] = foreign["shape.h"] = foreign["bind.h"] = foreign["fused.h"] = foreign["first.h"] = foreign["second.h"] = foreign["mkl.h"] = "bench" # emitted
  foreign["immintrin.h"] = foreign["sys/syscall.h"] = "bench" # peaks, processor time
  foreign["glpk.h"] = "search/exact"
  foreign["cpuid.h"] = "codegen/backend/cpu" # of the compiler
  # the files that read mappings out of files and stores; what the process made itself travels as a tree
  readers = "tune/run/confirm.c model/tree/parse.c model/import/tileflow/tileflow_check.c net/read.c sweep/point.c sweep/grid/grid_read.c " \
            "cli/session/session.c cli/session/starts.c cli/session/measured.c cli/page/live/live.c"
  # C17 and POSIX
  n = split("assert ctype errno fenv float inttypes limits locale math setjmp signal " \
            "stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn " \
            "string strings tgmath threads time uchar wchar wctype " \
            "dirent fcntl ftw glob poll pthread sched unistd " \
            "sys/file sys/mman sys/resource sys/stat sys/time sys/types sys/wait", names, " ")
  for (i = 1; i <= n; i++) standard[names[i] ".h"] = 1
}

# The room of a path: base, model/cost, codegen/backend/cpu, ...; "include" for a public header.
function room_of(path,   p) {
  split(path, p, "/")
  if (p[1] == "codegen") { sub(/\/[^\/]*$/, "", path); return path }
  if (p[1] == "model" && p[4] != "") return p[1] "/" p[2] "/" p[3]
  return p[1] ~ /^(model|search|tests)$/ || p[1] ~ /^(base|cli|sweep|tune)$/ && p[3] != "" ? p[1] "/" p[2] : p[1]
}

# Whether they stand on one floor of the house and are neither one within the other nor sub-rooms of one folder.
function beside(a, b) {
  if (!(a in room) || !(b in room) || int(room[a]) != int(room[b])) return 0
  return room[a] == room[b] || top(a) != top(b)
}

# The part of the house that a room is a sub-room of; importers and cost have nothing of each other.
function top(r) { if (r !~ /^model\/import/) sub(/\/.*/, "", r); else r = "model/import"; return r }

function floor_of(path,   r, name) {
  r = room_of(path)
  name = path; sub(/.*\//, "", name)
  if (r == "include") return name in public ? public[name] : -1
  return r in room ? room[r] : -1
}

function exists(path,   line, ok) {
  ok = (getline line < path) >= 0
  close(path)
  return ok
}

function complain(why) {
  printf "%s:%d: %s\n    %s\n", FILENAME, FNR, $0, why
  bad++
}

function check_foreign(name,   r) {
  r = room_of(FILENAME)
  if (name in standard) return
  if (!(name in foreign))
    complain("no room is named for <" name ">: one room per foreign library, with a row in tests/floors.sh")
  else if (!within(r, foreign[name]))
    complain("only " foreign[name] " includes <" name ">")
}

# Whether a room is one of those named, or in one of them.
function within(r, names,   p, n, i) {
  n = split(names, p, " ")
  for (i = 1; i <= n; i++) if (index(r "/", p[i] "/") == 1) return 1
  return 0
}

# Whether the name is one that the file, a registry, takes from rooms above.
function is_row(file, name,   n, p, i) {
  n = split(registry[file], p, " ")
  for (i = 3; i <= n; i++) if (index(name, p[i]) == 1) return 1
  return 0
}

# Whether taking names leads from a file back to itself, within its room.
function in_circle(file,   open, done, at, k, i, n, to) {
  open[1] = file; n = 1
  for (i = 1; i <= n; i++) {
    k = split(next_to[open[i]], to, " ")
    for (at = 1; at <= k; at++) {
      if (to[at] == file) return 1
      if (!(to[at] in done)) { done[to[at]] = 1; open[++n] = to[at] }
    }
  }
  return 0
}

function count_circles(   file, r, n, all) {
  for (file in next_to)
    if (in_circle(file)) { n[room_of(file)]++; all[room_of(file)] = all[room_of(file)] " " file }
  for (r in n) {
    total += n[r]
    if (n[r] > circles[r] + 0) {
      printf "%s: %d files take names of each other in circles, %d may (tests/circles.txt); what several need goes below " \
             "them, what calls all of them above:\n   %s\n", r, n[r], circles[r], all[r]
      bad++
    }
  }
  for (r in circles)
    if (n[r] + 0 < circles[r]) {
      printf "%s: %d files in circles, tests/circles.txt says %d: let it say so\n", r, n[r], circles[r]
      bad++
    }
  printf "links: %d files in circles\n", total
}

# Where a quoted include is found: public headers, from the root, or beside the file.
function resolve(name,   dir) {
  dir = FILENAME; sub(/[^\/]*$/, "", dir)
  if (exists("include/" name)) return "include/" name
  if (exists(name)) return name
  if (exists(dir name)) return dir name
  return ""
}

function check_own(name,   to, from_room, to_room, from, here) {
  if (name ~ /\.\./) { complain("write the path from the root, without \"..\""); return }
  to = resolve(name)
  if (to == "" && name in foreign) { check_foreign(name); return } # emitted beside it
  if (to == "") { complain("no such file"); return }
  print FILENAME, to > edges
  from_room = room_of(FILENAME); to_room = room_of(to)
  if (from_room == to_room && from_room != "include") return
  if (from_room ~ /^(cli|examples|bench)(\/|$)/ && to_room != "include" && !(from_room ~ /^cli/ && to_room ~ /^cli/)) {
    complain(from_room " includes public headers only")
    return
  }
  if (from_room ~ /^(examples|bench)$/) return
  if (from_room == "tests/oracle") {
    if (to_room ~ /^model\// && !(FILENAME ~ /main\.c$/ && to == "model/eval/hooks.h")) # who runs it may have the model walk
      complain("the oracle is a second opinion: it does not look into " to_room)
    return
  }
  from = floor_of(FILENAME); here = floor_of(to)
  if (from < 0) complain(FILENAME " stands on no floor: give it a row in tests/floors.sh")
  else if (here < 0) complain(to " stands on no floor: give it a row in tests/floors.sh")
  else if (to_room != "include" && from_room != "include" && beside(from_room, to_room))
    complain("rooms on one floor do not include each other: " from_room " and " to_room)
  else if (here > from)
    complain("points up: " from_room " is floor " from ", " to " is floor " here)
}

# Tables whose rows stand above them; how many files of a room are in circles.
FILENAME == lists { if ($1 == "registry") registry[$2] = $0; else if ($1 ~ /^[0-9]/) circles[$2] = $1 + 0; next }

# A name of another object file; the build has made those without a folder.
FILENAME == links {
  from_room = room_of($1); to_room = room_of($2)
  if (is_row($1, $3) || !exists($2)) next
  if (from_room == to_room) { if (!(($1, $2) in near)) next_to[$1] = next_to[$1] " " $2; near[$1, $2] = 1; next }
  from = floor_of($1); here = floor_of($2)
  if (from < 0 || here < 0) complain((from < 0 ? $1 : $2) " stands on no floor: give it a row in tests/floors.sh")
  else if (beside(from_room, to_room)) complain("rooms on one floor do not call each other: " from_room " and " to_room)
  else if (here > from) complain("points up: " from_room " is floor " from ", " to_room " is floor " here)
  next
}

/^[ \t]*#[ \t]*include[ \t]*</ {
  name = $0; sub(/^[^<]*</, "", name); sub(/>.*/, "", name)
  if (name ~ /^tileflow\//) {
    if (room_of(FILENAME) != "examples") complain("write our own headers in quotes")
  }
  else check_foreign(name)
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
  name = $0; sub(/^[^"]*"/, "", name); sub(/".*/, "", name)
  check_own(name)
}
/(^|[^a-z_])tf_tree_parse\(/ && FILENAME ~ /\.c$/ && FILENAME !~ /^(tests|bench|examples)\// {
  if (!within(FILENAME, readers))
    complain("a tree is passed on as a tree (tf_tree_copy, tf_tree_place): only readers of files, which are named in " \
             "tests/floors.sh, call tf_tree_parse")
}
/([=!]= *|case )TF_(SEQ|SHAR|PARA|PIPE)[^A-Z_]/ && FILENAME !~ /^(tests|bench)\// {
  complain("code asks for a property of a scope (tf_scope_at), not for its name: a column of TF_SCOPES")
}
/strn?cmp\([^;]*"(cpu|cuda|opencl|npu|staged|sm_)/ && FILENAME !~ /^(tests|bench|codegen\/backend\/[^\/]*)\// {
  complain("code asks what a target can (tf_emit_able, its row), not for its name")
}
END { if (links != "") count_circles(); exit bad > 0 }
' $lists $files $links
arrows=$?

# Inside a room, too, no header may come back to itself.
cycles=0
if ! loop=$(tsort "$edges" 2>&1 >/dev/null); then
  echo "headers that include each other:"
  echo "$loop" | sed -n 's/^tsort: \([^ ]*\)$/    \1/p' | grep -v ': '
  cycles=1
fi

[ $arrows -eq 0 ] && [ $cycles -eq 0 ] || exit 1
echo "floors: $(echo "$files" | wc -l) files, $(wc -l <"$edges") includes of our own, none points up"
