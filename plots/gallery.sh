#!/bin/sh
# The gallery: pictures of papers, each with the commands that draw it.
#   plots/gallery.sh TILEFLOW OUT      in the root of the sources: OUT/NAME.svg, and the page that shows them, OUT.md
set -eu
tool=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for folder in arch-specs workloads examples docs; do ln -s "$PWD/$folder" "$work"; done
mkdir "$work/build"
ln -s "$tool" "$work/build/tileflow"
cd "$work"
page=$out.md

cat >"$page" <<'END'
# A gallery

Pictures below the commands that draw them ([HOWTO-plot.md](HOWTO-plot.md)); `plots/gallery.sh` writes this page.

END

# section TITLE WORDS
section() { printf '## %s\n\n%s\n\n' "$1" "$2" >>"$page"; }

# shown COMMANDS: run, and on the page
shown() {
  printf '```text\n%s\n```\n\n' "$1" >>"$page"
  sh -ec "tileflow() { '$tool' \"\$@\" --quiet; }; $1"
}

# picture NAME WORDS COMMANDS: these draw NAME.svg
picture() {
  shown "$3"
  printf '![%s](img/gallery/%s.svg)\n\n' "$2" "$1" >>"$page"
  mv "$1.svg" "$out"
}

section "What the pictures are of" "Self-attention of Bert-Small on the edge machine, as dataflows of the literature map it. Each is evaluated once."
shown 'for name in layerwise flat-rgran flash-attention tileflow; do
  tileflow eval arch-specs/edge.yaml workloads/attention/g1.yaml workloads/dataflows/edge/attention-$name.yaml \
    --json $name.json --trace $name.csv
done'

section "Trees" "Loops, scopes, and what each node holds and moves."
picture tree "The tree of FLAT" 'tileflow tree arch-specs/edge.yaml workloads/attention/g1.yaml workloads/dataflows/edge/attention-flat-rgran.yaml \
  --svg tree.svg'
picture tree-pipe "The tree of TileFlow's dataflow" 'tileflow tree arch-specs/edge.yaml workloads/attention/g1.yaml workloads/dataflows/edge/attention-tileflow.yaml \
  --svg tree-pipe.svg'

section "When: timelines" "A row for each memory's loads and stores and for each kind of unit."
picture timeline-pipe "TileFlow's dataflow over time" 'tileflow plot tileflow.csv --as timeline --width two --title "Attention, TileFlow" -o timeline-pipe.svg'
picture timeline-flash "FlashAttention over time" 'tileflow plot flash-attention.csv --as timeline --width two --title "Attention, FlashAttention" -o timeline-flash.svg'
picture timeline-layers "Layer by layer over time, in one column" 'tileflow plot layerwise.csv --as timeline --title "Attention, layer by layer" -o timeline-layers.svg'

section "How full: occupancy" "Shares of the capacity of one instance."
picture occupancy "What FLAT holds" 'tileflow plot flat-rgran.csv --as occupancy --title "Memories under FLAT" -o occupancy.svg'
picture occupancy-pipe "What TileFlow's dataflow holds" 'tileflow plot tileflow.csv --as occupancy --width two --title "Memories under TileFlow" -o occupancy-pipe.svg'

section "Where the limit is: rooflines" "A roof for each memory, with its ridge, and for each kind of unit; a mark for each mapping at each memory."
picture roofline "FLAT and layer by layer under the roofs" 'tileflow plot flat-rgran.json layerwise.json --as roofline -o roofline.svg'
picture roofline-four "Four dataflows under the roofs" 'tileflow plot layerwise.json flat-rgran.json flash-attention.json tileflow.json --as roofline --width two -o roofline-four.svg'

section "Side by side: bars" "Cycles of each resource, energy by component, words by memory and tensor."
picture bars-cycles "Busy cycles" 'tileflow plot layerwise.json flat-rgran.json tileflow.json --as bars -o bars-cycles.svg'
picture bars-energy "Energy by component" 'tileflow plot layerwise.json flat-rgran.json flash-attention.json tileflow.json --as bars --y energy --width two -o bars-energy.svg'
picture bars-words "Words by memory and tensor" 'tileflow plot layerwise.json flat-rgran.json tileflow.json --as bars --y words --width two -o bars-words.svg'
picture bars-csv "A table as bars" 'tileflow plot docs/results/sweep/edge-16-best.csv --as bars --x workload --y cycles --by bottleneck --width two -o bars-csv.svg'

section "Why one is faster: differences" "What differs between two mappings, the larger first; a white arrow where one side has none."
picture diff "From layer by layer to FLAT" 'tileflow diff arch-specs/edge.yaml workloads/attention/g1.yaml workloads/dataflows/edge/attention-layerwise.yaml \
  workloads/dataflows/edge/attention-flat-rgran.yaml --json difference.json
tileflow plot difference.json --as diff -o diff.svg'
picture diff-pipe "From FLAT to TileFlow's dataflow" 'tileflow diff arch-specs/edge.yaml workloads/attention/g1.yaml workloads/dataflows/edge/attention-flat-rgran.yaml \
  workloads/dataflows/edge/attention-tileflow.yaml --json pipe.json
tileflow plot pipe.json --as diff --width two -o diff-pipe.svg'

section "What must be: ski-slopes" "Words that must pass, by the words on chip: lines are proved, marks are mappings found."
picture slope "Four workloads" 'tileflow plot docs/results/slope.csv --as slope -o slope.svg'
picture slope-machine "One workload, and two mappings on a machine" 'tileflow plot docs/results/slope.csv flat-rgran.json layerwise.json --as slope --title "Words in and out of the chip" --width two -o slope-machine.svg'

section "Many machines" "A front, a map over two params, lines over one."
picture pareto "Machines of two objectives" 'tileflow plot docs/results/sweep/edge-16-machines.csv --as pareto --x cycles --y area_um2 --title "Edge accelerators" -o pareto.svg'
picture heat "Cycles over two params" 'tileflow plot docs/results/sweep/edge-16-machines.csv --as heat --where "cores == 4" --x l1_kib --y side --z cycles --title "Four cores" -o heat.svg'
picture lines "Cycles over one" 'tileflow plot docs/results/sweep/edge-16-machines.csv --as lines --where "side == 16" --x l1_kib --y cycles --by cores --title "Arrays of 16 x 16" -o lines.svg'

section "How a search went" "The best found by the mappings tried."
picture convergence "Four strategies" 'tileflow plot docs/results/search-convergence.csv --as convergence --where "workload == '"'attention/g1'"'" --by strategy --title "Attention on the edge machine" -o convergence.svg'
sed -i '$d' "$page"
