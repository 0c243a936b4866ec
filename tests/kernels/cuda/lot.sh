# Attributes of a case that are drawn by themselves, for the scripts that draw kernels: a remainder of the seed has a period, and two that
# divide each other never meet freely.

# lot SEED ATTRIBUTE N: sets $lot to 0 .. N - 1.  ATTRIBUTE is a number.
lot() {
  lot=$((($1 * 2654435761 + $2 * 40503 + 1) & 0xffffffff))
  lot=$((((lot ^ lot >> 16) * 2246822519) & 0xffffffff))
  lot=$((((lot ^ lot >> 13) * 3266489917) & 0xffffffff))
  lot=$(((lot ^ lot >> 16) % $3))
}

# pick SEED ATTRIBUTE WORD...: sets $pick to one of the words.
pick() {
  lot "$1" "$2" $(($# - 2))
  shift $((2 + lot))
  pick=$1
}
