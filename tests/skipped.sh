#!/bin/sh
# How many tests of a run of ctest were skipped, and why, from what they printed: a line that begins with SKIP.  Says nothing
# if all ran.
#   tests/skipped.sh BUILD          BUILD/test.log is what ctest printed, its own log lies below BUILD/Testing
set -u
cd "$1" || exit 2
sed -n 's/^.*[0-9] - \([^ ]*\) (Skipped)$/\1/p' test.log |
  awk '
    FILENAME == "-" { skipped[$1] = "no reason given"; n++; next }
    /^[0-9]+\/[0-9]+ Test: / { test = $3 }
    /^SKIP: / && test in skipped { sub(/^[^ ]* /, ""); skipped[test] = $0 }
    END {
      if (!n) exit
      for (test in skipped) times[skipped[test]]++
      for (why in times) { # the most frequent first, then by their names
        for (i = ++m; i > 1 && (times[why] > times[order[i - 1]] || times[why] == times[order[i - 1]] && why < order[i - 1]); i--) order[i] = order[i - 1]
        order[i] = why
      }
      for (i = 1; i <= m; i++) text = text (i > 1 ? ", " : "") order[i] (times[order[i]] > 1 ? " (" times[order[i]] ")" : "")
      printf "%d tests skipped: %s; ./setup.sh --ci installs what they need, where Debian has it\n", n, text
    }' - Testing/Temporary/LastTest.log
