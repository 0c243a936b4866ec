# The headers' plain comments as those that Doxygen reads: one that begins a line is of what follows, one behind something is of that.
# Rulers between sections, and comments within macros of rows, stay as they are.
/\\$/b
s|^\( *\)/\* \([^-]\)|\1/** \2|
s|^\(.*[;,{}] *\)/\* |\1/**< |
# What Doxygen would take for HTML, or for a command of its own.
/^#include/!s|<\([a-z][a-z]*\)>|\&lt;\1\&gt;|g
s|\\xNN|\\\\xNN|
