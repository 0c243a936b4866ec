#!/bin/sh
# 100 certificates of products of drawn sizes on five machines, of which two are small ones of its own (docs/CERTIFICATE.md): docs/results/certificate.csv has a row
# for each, with how many of CHANGES (1) files with one digit changed the checker refuses, as they are and signed anew.
#   bench/results-certificate.sh ROOT TILEFLOW CERTIFY TEST_CERTIFY
# EVALS (60000) of solve; SHAPES (20).
set -u
. "$(dirname "$0")/lib.sh"
certify=$(realpath "$3") && test=$(realpath "$4") || exit 2
begin "$1" "$2"

shapes() { # M N K, of which most nothing divides
  awk -v n="${SHAPES:-20}" 'BEGIN {
    x = 37
    for (i = 0; i < n; i++) {
      for (k = 0; k < 3; k++) { x = (x * 16807) % 2147483647; printf "%d ", 48 + int(1000 * (x / 2147483647) ^ 2) }
      print ""
    }
  }'
}

# Memories so tight that proofs need branches.
small() { # NAME OVERLAP NEAR REG
  cat <<END
architecture:
  name: $1
  overlap: $2
  memories:
  - {name: Far, bandwidth: 16, energy: 200 pJ}
  - {name: Near, mesh: [2, 1], capacity: $3, bandwidth: 16, energy: 4 pJ}
  - {name: Reg, mesh: [4, 4], capacity: $4, bandwidth: 4, energy: 0.1 pJ}
  compute:
  - {name: u, ops: [mac], below: Reg, energy: 0.5 pJ}
END
}

now() { date +%s.%N; }
passed() { "$certify" "$1" >/dev/null && echo 1 || echo 0; }

rows() {
  echo "machine,M,N,K,objective,value,bound,floor,regions,bytes,solve_s,check_s,passes,changed,refused,signed,refused_signed"
  no=0
  shapes | while read -r m n k; do
    for arch in edge eyeriss tpu near far; do
      no=$((no + 1))
      file=arch-specs/$arch.yaml
      [ $arch = near ] && m=$((m % 29 + 5)) n=$((n % 23 + 5)) k=$((k % 31 + 5)) # prime moduli: sizes that nothing divides
      [ -e "$file" ] || file=$scratch/$arch.yaml
      objective=$(echo latency traffic latency energy edp | cut -d ' ' -f $(((no + no / 5) % 5 + 1)))
      cert=$scratch/$no.cert
      start=$(now)
      "$tool" solve "$file" workloads/gemm.yaml --set "M=$m" --set "N=$n" --set "K=$k" --objective "$objective" \
        --evals "${EVALS:-60000}" --certificate "$cert" --quiet 2>/dev/null || { echo "$arch $m $n $k: none" >&2; continue; }
      solved=$(now)
      ok=$(passed "$cert")
      checked=$(now)
      changed=0 refused=0 again=0
      while [ $changed -lt "${CHANGES:-1}" ]; do
        changed=$((changed + 1))
        "$test" change $((1000 * no + changed)) "$cert" "$scratch/changed" 0 && refused=$((refused + 1 - $(passed "$scratch/changed")))
        "$test" change $((1000 * no + changed)) "$cert" "$scratch/changed" 1 && again=$((again + 1 - $(passed "$scratch/changed")))
      done
      awk -v row="$arch,$m,$n,$k,$objective" -v bytes="$(wc -c <"$cert")" -v t="$start $solved $checked" -v ok="$ok" \
        -v tries="$changed,$refused,$changed,$again" '
        /^(value|floor|bound) / { of[$1] = $2 }
        /^[cvfemtl]( |$)/ { n++ }
        END { split(t, at, " ")
              printf "%s,%s,%s,%s,%d,%d,%.2f,%.2f,%d,%s\n", row, of["value"], of["bound"], of["floor"], n, bytes, at[2] - at[1],
                     at[3] - at[2], ok, tries }' "$cert"
      rm -f "$cert"
    done
  done
}

small near double-buffer 90 6 >"$scratch/near.yaml"
small far none 300 4 >"$scratch/far.yaml"
into docs/results/certificate.csv rows
awk -F, 'NR > 1 { n++; ok += $13; c += $14; r += $15; s += $16; rs += $17; tight += $7 >= $6 * (1 - 2e-9); many += $9 > 1; b += $10; if ($10 > most) most = $10
                  t += $12; if ($12 > long) long = $12; g += $9 }
  END { printf "%d certificates, %d pass; %d of them at the value or above it, %d of more than one region; %d changed, %d refused; %d signed anew, %d refused\n", n, ok, tight, many, c, r, s, rs
        printf "%.0f regions, %.0f bytes on average (%d at most), checked in %.2f s on average (%.2f s at most)\n", g / n, b / n, most, t / n, long }' \
  docs/results/certificate.csv
