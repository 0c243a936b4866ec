#!/bin/sh
# Every network beside onnxruntime, OpenVINO and PyTorch on this computer, with one thread and with two; then both tables.
#   bench/networks/all.sh TILEFLOW FOLDER [NAME,...]
# FOLDER keeps what the computer is, plans, libraries and networks.csv.  A network with a row of this commit there is left out, so the same command goes on where it was
# stopped.  Needs what run.py needs, about 40 minutes, and cores on which nothing else runs.
set -u
. "$(dirname "$0")/../lib.sh"
mkdir -p "${2:?usage: $0 TILEFLOW FOLDER [NAME,...]}" && folder=$(realpath "$2") || exit 2
names=${3:-$(sed -n '/^SIZES/,/^}/s/^    "\([^"]*\)".*/\1/p' "$(dirname "$0")/models.py" | paste -sd,)}
begin "$(dirname "$0")/../.." "$1"
KERNELS=$folder
commit=$(git rev-parse --short HEAD)
for threads in 1 2; do
  ARCH='' host $threads
  for name in $(echo "$names" | tr , ' '); do
    grep -qs "^$name,small,1,$threads,.*,$commit\$" "$folder/networks.csv" && continue
    [ $threads = 1 ] && more=ort,openvino,eager,compile\ --peak || more=ort,openvino
    # shellcheck disable=SC2086 # peers and an option
    timeout 1200 python3 bench/networks/run.py "$tool" "$host" "$folder/on-$threads" --only "$name" --threads $threads --peers $more --rounds 21 --csv "$folder/networks.csv" >>"$folder/said" 2>&1 ||
      echo "$name, $threads threads: $(tail -n 1 "$folder/said")"
  done
done
sh bench/networks/table.sh "$folder/networks.csv"
