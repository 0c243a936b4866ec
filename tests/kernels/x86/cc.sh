#!/bin/sh
# COMPILER ARGUMENT...: compiles for AVX2, with the instruction sets that the arguments ask for beyond it emulated by immintrin.h
# beside this file, which must stand first where headers are looked for.  The kernel finds their macros, and a processor that has them.
here=$(cd "$(dirname "$0")" && pwd)
count=$#
while [ "$count" -gt 0 ]; do
  argument=$1
  shift
  case $argument in
  -march=x86-64-v4) set -- "$@" -march=x86-64-v3 -D__AVX512F__ -D__AVX512VL__ -D__AVX512BW__ -D__AVX512DQ__ -D__AVX512CD__ ;;
  -mavx512vnni) set -- "$@" -D__AVX512VNNI__ ;;
  -mavx512bf16) set -- "$@" -D__AVX512BF16__ ;;
  -mavxvnni) set -- "$@" -D__AVXVNNI__ ;;
  -mamx-tile) set -- "$@" -D__AMX_TILE__ ;;
  -mamx-int8) set -- "$@" -D__AMX_INT8__ ;;
  -mamx-bf16) set -- "$@" -D__AMX_BF16__ ;;
  -mprefer-vector-width=512) ;;
  *) set -- "$@" "$argument" ;;
  esac
  count=$((count - 1))
done
exec "$@" -I"$here" '-D__builtin_cpu_supports(what)=1' '-DIN_REGISTER(v)=((void)0)' -Wno-psabi
