/* A YAML file as a tree of located nodes.  The only room that includes yaml.h. */
#ifndef MODEL_YAML_NODE_H
#define MODEL_YAML_NODE_H
#include <stdint.h>

#include "base/arena.h"
#include "tileflow/diag.h"

enum {
  TF_YAML_MAX_BYTES = 16 << 20,
  TF_YAML_MAX_DEPTH = 64,
  TF_YAML_MAX_NODES = 1 << 20 /* with every alias counted as what it stands for */
};

/* Bits, so that a schema row can allow several. */
typedef enum { TF_Y_SCALAR = 1, TF_Y_LIST = 2, TF_Y_MAP = 4 } tf_ykind;
typedef enum {
  TF_Y_PLAIN,
  TF_Y_SINGLE,  /* 'quoted' */
  TF_Y_DOUBLE,  /* "quoted" */
  TF_Y_LITERAL, /* | */
  TF_Y_FOLDED   /* > */
} tf_ystyle;

typedef struct tf_ynode tf_ynode;
typedef struct {
  const tf_ynode *key; /* always a scalar */
  const tf_ynode *value;
} tf_ypair;

/* Fields are valid for the kind named.  An alias is the node it stands for, not a copy. */
struct tf_ynode {
  tf_ykind kind;
  tf_loc at;        /* the whole node, cut at the end of its first line */
  const char *tag;  /* as written, "!Component"; NULL: none */
  tf_ystyle style;  /* SCALAR */
  const char *text; /* SCALAR: its value, NUL-ended */
  size_t len;
  const char *src, *src_end; /* SCALAR: where its text starts in the file, the file's end */
  tf_loc text_at;            /* SCALAR: the place of src */
  size_t n;                  /* LIST, MAP */
  const tf_ynode **items;    /* LIST */
  const tf_ypair *pairs;     /* MAP, in the order of the file */
  size_t weight;             /* nodes in it, itself included, aliases expanded */
};

/* Reads one document.  `text` must live as long as the nodes; `file` is its number in d.
 * NULL with the errors in d if it is no YAML, holds no or several documents, or passes a
 * limit.  Keys given twice, or that are no scalars, are errors in d too, but leave a tree
 * that can be checked further. */
const tf_ynode *tf_yaml_read(tf_arena *a, uint16_t file, const char *text, size_t len, tf_diags *d);

/* The place of bytes off .. off + len - 1 of a scalar's value: exact also behind escapes
 * and line folds. */
tf_loc tf_ynode_place(const tf_ynode *scalar, size_t off, size_t len);

/* Is the scalar written as nothing at all (`key:`)? */
bool tf_ynode_empty(const tf_ynode *node);
bool tf_ynode_is(const tf_ynode *scalar, const char *text);

/* The value of a key of a map, or NULL. */
const tf_ynode *tf_ymap_get(const tf_ynode *map, const char *key);

/* "a map", "a list", "a single value", "nothing": what a node is, for messages. */
const char *tf_ynode_what(const tf_ynode *node);
#endif
