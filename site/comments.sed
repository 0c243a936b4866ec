# The headers' plain comments as those that Doxygen reads: one that begins a line is of what follows, one behind something is of that.
# Rulers between sections, and comments within macros of rows, stay as they are.
/\\$/b
s|^\( *\)/\* \([^-]\)|\1/** \2|
s|^\(.*[;,{}] *\)/\* |\1/**< |
