#!/bin/sh
# The library has no writable globals, static locals included: two callers, or two threads,
# must not meet.
#   tests/globals.sh LIBRARY
set -u
[ $# -eq 1 ] || { echo "usage: $0 LIBRARY" >&2; exit 2; }
table=$(objdump -t "$1") || exit 2

# Constant tables that hold addresses stand in .data.rel.ro: written by the loader only.
found=$(echo "$table" | awk '
  /file format/ { object = $1; next }
  $NF !~ /^\./ {
    for (i = 1; i <= NF; i++)
      if ($i ~ /^\.(data|bss|tdata|tbss)/ && $i !~ /^\.data\.rel\.ro/ || $i == "*COM*")
        print object " " $NF " (" $i ")"
  }')
if [ -n "$found" ]; then
  echo "writable data in $1:"
  echo "$found"
  exit 1
fi
echo "globals: none in $(echo "$table" | grep -c 'file format') objects"
