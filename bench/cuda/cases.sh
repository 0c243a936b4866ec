# Read by bench/cuda.sh: the cases.  Each is written below $work by $tileflow for $spec if it matches $word, and is a line on stdout:
#   step, name, kind (bench/cuda/peers.py has what a kind's result is, and who else makes it), GFLOP
# The name ends with the type, and what multiplies: -wmma, -sm90a, -f8 (warpgroups, too), -bf16, -f16, -tf32, -int8; nothing: float32.
# Those of step `smoke` are small, random ones that their own test.c checks.

dtype_of() {
  case $1 in
  *-f8*) echo f8 ;;
  *-bf16* | *-wmma* | *-sm90a*) echo bf16 ;;
  *-f16*) echo f16 ;;
  *-tf32*) echo tf32 ;;
  *-int8*) echo int8 ;;
  *) echo f32 ;;
  esac
}

# The option of a case's instruction set, two words, or nothing.
isa_of() {
  case $1 in
  *-wmma*) echo --isa wmma ;;
  *-sm90a* | *-f8*) echo --isa sm_90a ;;
  esac
}

# Whether the name matches one of the patterns in $word, which stand between bars.
is_asked() {
  patterns=$word
  while :; do
    # shellcheck disable=SC2254 # a pattern
    case $1 in ${patterns%%|*}) return 0 ;; esac
    case $patterns in *'|'*) patterns=${patterns#*|} ;; *) return 1 ;; esac
  done
}

# case_of STEP NAME KIND GFLOP WORKLOAD [ARCHITECTURE]
case_of() {
  is_asked "$2" || return 0
  rm -rf "${work:?}/$2"
  # shellcheck disable=SC2046 # an option and its word, or nothing
  "$tileflow" emit --quiet "${6:-$spec}" "$5" --target cuda --dtype "$(dtype_of "$2")" $(isa_of "$2") -o "$work/$2" >&2 || { echo "$2 is not written" >&2; return 1; }
  for header in emulate hopper; do # the same in all
    [ -f "$work/$2/$header.hpp" ] && mv "$work/$2/$header.hpp" "$work/"
  done
  printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4"
}

# The product of one size, planned, or (M given) in blocks of M x N, K of the sum at a time: gemm_file FILE SIZE [M N K]; of float8 both
# operands stand along the sum.
gemm_file() {
  columns='B[k,n]'
  case $1 in *-f8*) columns='B[n,k]' ;; esac
  cat >"$1" <<Y
workload:
  name: gemm
  dims: {m: $2, n: $2, k: $2}
  ops:
  - "C[m,n] += A[m,k] * $columns"
Y
  [ "${3:-}" ] || return 0
  cat >>"$1" <<Y
mapping: |
  HBM for m=$(($2 / $3)) n=$(($2 / $4)) k=$(($2 / $5))
    SMEM for m=$3 n=$4 k=$5
      op C
Y
}
# gemm NAME SIZE
gemm() {
  kind=gemm
  case $1 in *-f8 | *-int8) kind=gemm-${1##*-} ;; esac
  gemm_file "$work/$1.yaml" "$2"
  case_of gemm "$1" $kind "$(awk "BEGIN { print 2 * $2 ^ 3 / 1e9 }")" "$work/$1.yaml"
}

# A param of a workload's file.
param() { sed -n "s/^params:.*[{ ]$2: \([0-9]*\).*/\1/p" "$1"; }

# Attention, planned, or (KEYS given) in blocks, the keys streamed: attention_file FILE HEADS LENGTH WIDTH MASK [KEYS QUERIES], both at a
# time; MASK: causal, or nothing
attention_file() {
  scores=S mask=''
  [ "$5" ] && scores=T mask='  - "T[h,m,l] = select(l <= m, S[h,m,l], -inf)"'
  {
    echo "workload:
  name: attention
  dims: {h: $2, m: $3, l: $3, a: $4, n: $4}
  ops:
  - \"S[h,m,l] += Q[h,m,a] * K[h,l,a]\"
${mask:+$mask
}  - \"X[h,m] max= ${scores}[h,m,l]\"
  - \"E[h,m,l] = exp(${scores}[h,m,l] - X[h,m])\"
  - \"Z[h,m] += E[h,m,l]\"
  - \"P[h,m,l] = E[h,m,l] / Z[h,m]\"
  - \"O[h,m,n] += P[h,m,l] * V[h,l,n]\""
    [ "${6:-}" ] && echo "mapping: |
  HBM for h=$2 m=$(($3 / $7)) l=$(($3 / $6))
    Seq keep S@SMEM ${mask:+T@SMEM }X@SMEM E@SMEM Z@SMEM P@SMEM stream X Z O"
    for op in "S l=${6:-} a=$4" ${mask:+"T l=${6:-}"} "X l=${6:-}" "E l=${6:-}" "Z l=${6:-}" "P l=${6:-}" "O n=$4 l=${6:-}"; do
      [ "${6:-}" ] || break
      echo "      SMEM for m=$7 ${op#* }"
      echo "        op ${op%% *}"
    done
  } >"$1"
}
# attention HEADS LENGTH WIDTH KIND [causal]: of the causal ones half the work counts
attention() {
  name=attention-d$3-$2${5:+-$5}-$4
  attention_file "$work/$name.yaml" "$1" "$2" "$3" "${5:-}"
  case_of attention "$name" "attention${5:+-$5}" "$(awk "BEGIN { print ${5:+0.5 * }4 * $1 * $2 ^ 2 * $3 / 1e9 }")" "$work/$name.yaml"
}

# The layer NAME of workloads/models (or a FILE) in both kinds: layer NAME GFLOP [FILE]
layer() {
  for type in bf16 sm90a; do
    case_of layers "layer-$1-$type" "$1" "$2" "${3:-workloads/models/$1.yaml}"
  done
}
# linear NAME ROWS IN OUT: with bias and GELU
linear() {
  cat >"$work/$1.yaml" <<Y
workload:
  name: linear-gelu
  dims: {m: $2, k: $3, n: $4}
  ops:
  - "H[m,n] += X[m,k] * W[k,n]"
  - "Y[m,n] = gelu(H[m,n] + B[n])"
Y
  layer "$1" "$(awk "BEGIN { print 2 * $2 * $3 * $4 / 1e9 }")" "$work/$1.yaml"
}
# both NAME ROWS WIDTH INNER: two products with a GELU between
both() {
  cat >"$work/$1.yaml" <<Y
workload:
  name: two-products
  dims: {m: $2, k: $3, l: $4, n: $3}
  ops:
  - "H[m,l] += X[m,k] * W1[k,l]"
  - "G[m,l] = gelu(H[m,l])"
  - "Y[m,n] += G[m,l] * W2[l,n]"
Y
  layer "$1" "$(awk "BEGIN { print 4 * $2 * $3 * $4 / 1e9 }")" "$work/$1.yaml"
}

# A convolution with channels last, window and stride the same along all dims: conv_file FILE BATCH SIZES IN OUT WINDOW [STRIDE [DILATION
# [GROUPS]]].  SIZES: of the output, one to three, as '16 56 56'; IN, OUT: channels (of a group).
conv_file() {
  at='' points='' dims='' windows='' shape='' pads='' pad=$((${8:-1} * ($6 / 2))) names='t u v'
  for size in $3; do
    point=${names%% *} names=${names#* }
    points="$points,$point" dims="$dims, $point: $size" pads="$pads, $pad" shape="$shape, $((size * ${7:-1}))"
    at="$at,$(by "$point" "${7:-1}")"
    [ "$6" = 1 ] && continue
    at="$at+$(by "r$point" "${8:-1}")-$pad" windows="$windows,r$point" dims="$dims, r$point: $6"
  done
  group=${9:+,g}
  cat >"$1" <<Y
workload:
  name: conv
  dims: {n: $2$dims, k: $5, c: $4${9:+, g: $9}}
  tensors: {I: {pad: [0$pads, 0${9:+, 0}], shape: [$2$shape${9:+, $9}, $4]}}
  ops:
  - "O[n$points$group,k] += I[n$at$group,c] * W[${9:+g,}k$windows,c]"
Y
}
by() { if [ "$2" = 1 ]; then echo "$1"; else echo "$1*$2"; fi; }
# conv NAME BATCH SIZES IN OUT WINDOW [STRIDE [DILATION [GROUPS]]]: as conv_file, for the types in $types
conv() {
  gflop=$(echo "$3" | awk -v all="$(($2 * $4 * $5 * ${9:-1}))" -v window="$6" '{ for (i = 1; i <= NF; i++) all *= $i * window; print 2 * all / 1e9 }')
  name=$1 kind=conv${9:+-grouped}-s${7:-1}-p$((${8:-1} * ($6 / 2)))-d${8:-1}
  shift
  conv_file "$work/conv-$name.yaml" "$@"
  for type in $types; do
    case_of convs "conv-$name-$type" "$kind" "$gflop" "$work/conv-$name.yaml"
  done
}
# What stands behind a convolution in a residual network: batch norm, a sum and ReLU.
residual() {
  conv_file "$work/conv-residual.yaml" 32 '28 28' 128 128 3
  cat >>"$work/conv-residual.yaml" <<'Y'
  - "B[n,t,u,k] = O[n,t,u,k] * S[k] + T[k]"
  - "A[n,t,u,k] = B[n,t,u,k] + R[n,t,u,k]"
  - "Y[n,t,u,k] = relu(A[n,t,u,k])"
Y
  for type in $types; do
    case_of convs "conv-residual-$type" conv-residual 7.4 "$work/conv-residual.yaml"
  done
}

# The layers of ResNet-50 (batch 32); those of other networks, dilated, in groups, along one and three dims.
convs() {
  types=$1
  conv first 32 '112 112' 3 64 7 2
  conv 3x3-64-56 32 '56 56' 64 64 3
  conv 3x3-128-28 32 '28 28' 128 128 3
  conv 3x3-256-14 32 '14 14' 256 256 3
  conv 3x3-512-7 32 '7 7' 512 512 3
  conv 3x3s2-128-28 32 '28 28' 128 128 3 2
  conv 3x3s2-256-14 32 '14 14' 256 256 3 2
  conv 3x3s2-512-7 32 '7 7' 512 512 3 2
  conv yolo-3x3s2 8 '80 80' 64 128 3 2
  conv dilated 8 '28 28' 256 256 3 1 2
  conv grouped-16 32 '14 14' 16 16 3 1 1 32
  conv grouped-32 32 '7 7' 32 32 3 1 1 32
  conv c3d 4 '16 56 56' 64 128 3
  conv 1d 16 4096 256 256 3
  residual
  for layer in '64 64 56' '64 256 56' '256 64 56' '256 128 56' '128 512 28' '512 128 28' '512 256 28' '256 1024 14' '1024 256 14' '1024 512 14' '512 2048 7' '2048 512 7'; do
    # shellcheck disable=SC2086 # split
    set -- $layer
    conv "1x1-$1-$2-$3" 32 "$3 $3" "$1" "$2" 1
  done
  conv 1x1s2-256-512-28 32 '28 28' 256 512 1 2
  conv 1x1s2-512-1024-14 32 '14 14' 512 1024 1 2
  conv 1x1s2-1024-2048-7 32 '7 7' 1024 2048 1 2
}

# ranks gemm|attention KIND: 20 mappings, and what is planned where none is given
ranks() {
  xs='16 32 64 128 256' ys='32 64 128 256' gflop=137.4
  [ "$1" = attention ] && xs='8 16 32 64 128' ys='16 32 64 128' gflop=17.18 # what fits shared memory
  for x in $xs planned; do
    for y in $ys; do
      blocks="$x $y" name=ranked-$1-$2-$x-$y
      [ "$x" = planned ] && blocks='' name=ranked-$1-$2-planned
      # shellcheck disable=SC2086 # none, or two
      if [ "$1" = gemm ]; then gemm_file "$work/$name.yaml" 4096 $blocks ${blocks:+64}; else attention_file "$work/$name.yaml" 16 2048 64 '' ${blocks:+"$y" "$x"}; fi
      case_of ranks "$name" "$1" $gflop "$work/$name.yaml"
      [ "$x" = planned ] && break
    done
  done
}

# The thesis's chains and attention.
thesis() {
  for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
    for type in '' -bf16 -sm90a; do
      file=workloads/gemm-chain/g$n.yaml
      case_of chains "chain-g$n$type" chain "$(awk "BEGIN { print 2 * $(param $file batch) * $(param $file M) * $(param $file L) * ($(param $file K) + $(param $file N)) / 1e9 }")" $file
      file=workloads/attention/g$n.yaml
      case_of chains "attention-g$n$type" attention "$(awk "BEGIN { print 2 * $(param $file batch) * $(param $file heads) * $(param $file seq) * $(param $file kv_seq) * ($(param $file qk_dim) + $(param $file v_dim)) / 1e9 }")" $file
    done
  done
}

# Small random workloads, as the emulator's tests have them (tests/kernels/cuda/draw.awk).  24 that are all of warpgroups (tests/kernels/cuda/bench.sh):
# eight products (four in clusters, two in turn), eight of attention, four chains (two in clusters) and four products of float8 (two in clusters).
# And 12 of others: four of each kind, and of each type two.  And eight convolutions, four of them of warpgroups: one in turn, one with
# its sums in parts, one of three dims in clusters, one whose halves leave as boxes.
smoke() {
  . tests/kernels/cuda/gpu.sh
  gpu >"$work/gpu.yaml"
  sed 's/mesh: \[8, 8\]/&, network: {multicast: true, reduce: false}/' "$work/gpu.yaml" >"$work/pairs.yaml"
  for of in product-1 attention-1 chain-14 product-2 f8-3 attention-2 product-4 attention-4 chain-8 product-5 f8-5 attention-5 \
    product-7 attention-6 chain-10 product-31 f8-10 attention-7 product-11 attention-8 chain-22 product-13 f8-12 attention-9; do
    kind=${of%-*} bytes='' type=sm90a
    [ "$kind" = f8 ] && kind=product bytes=1 type=f8
    draw_smoke "$of-$type" "$kind" "${of##*-}" pairs -v groups=1 -v bytes=$bytes
  done
  set -- bf16 f16 int8 tf32 f32 wmma f16 bf16 f32 int8 wmma tf32
  for seed in 31 32 33 34 35 36 37 38 39 40 41 42; do
    kind=product
    [ $((seed % 3)) = 1 ] && kind=chain
    [ $((seed % 3)) = 2 ] && kind=attention
    draw_smoke "$seed-$1" $kind $seed gpu
    shift
  done
  for seed in 4 49 54 59; do
    draw_smoke "conv-$seed-sm90a" conv $seed pairs -v groups=1
  done
  for type in bf16 f16 int8 tf32; do
    seed=$((seed + 1))
    draw_smoke "conv-$seed-$type" conv $seed gpu
  done
}

# The case smoke-NAME: draw_smoke NAME KIND SEED MACHINE [OPTION..], options of draw.awk.
draw_smoke() {
  name=smoke-$1 of=$2 number=$3 machine=$4
  shift 4
  awk -v seed="$number" -v kind="$of" "$@" -f tests/kernels/cuda/draw.awk >"$work/$name.yaml"
  case_of smoke "$name" smoke 0 "$work/$name.yaml" "$work/$machine.yaml"
}

cases() {
  smoke
  for type in bf16 sm90a f8 wmma f16 tf32 int8; do
    gemm gemm-8192-$type 8192
  done
  gemm gemm-2048-sm90a 2048
  gemm gemm-4096-sm90a 4096
  gemm gemm-4096 4096
  for kind in sm90a bf16; do
    for width in 128 64; do
      for length in 16384 512 1024 2048 4096; do
        attention $((16 * 16384 / length)) $length $width $kind
        attention $((16 * 16384 / length)) $length $width $kind causal
      done
    done
  done
  layer attention-decode 0.0671
  layer gated-mlp 6.44
  linear linear-gelu 8192 4096 4096
  both two-products 4096 1024 4096
  both narrow-products 16384 128 256
  layer norm-product 1.81
  layer attention-long 17.2
  layer attention-mask 4.29
  layer causal 2.15
  layer causal-grouped 8.59
  convs sm90a
  convs bf16
  thesis
  for kind in sm90a bf16; do
    ranks gemm $kind
    ranks attention $kind
  done
}
