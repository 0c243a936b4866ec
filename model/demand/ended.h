/* The facts of an op whose first load and last store count: its dims, and the tensors that it
 * exchanges with the outermost memory. */
#ifndef MODEL_DEMAND_ENDED_H
#define MODEL_DEMAND_ENDED_H
#include "model/demand/exposed.h"

enum { TF_ENDED_DIMS = 16, TF_ENDED_TENSORS = 6, TF_ENDED_RANKS = 8 };

/* A tensor: its dims as bits of places in `extent`. */
typedef struct {
  unsigned dims;
  int n_ranks;
  unsigned rank[TF_ENDED_RANKS];  /* the dims of each */
  double outside[TF_ENDED_RANKS]; /* coordinates beyond the tensor that its index can reach */
  double words, bits;             /* bits: of each word */
  double weight; /* words of the outermost memory that one of its words counts as */
  bool out, own; /* own: no other op uses it */
} tf_ended_part;

typedef struct {
  const tf_memory *memory; /* the outermost, followed by those further in */
  int n, n_parts;
  int64_t extent[TF_ENDED_DIMS];    /* of its dims longer than 1, shortest first */
  double behind[TF_ENDED_DIMS + 1]; /* points of the dims from each one on */
  tf_ended_part parts[TF_ENDED_TENSORS];
  double rate, fill;
  bool alone; /* no other op moves words */
} tf_ended;

/* The op on its unit, with the tensors whose ends count.  False: its form is not handled. */
bool tf_ended_of(const tf_arch *a, const tf_demand *d, const tf_end *e, tf_ended *s);

/* ---- mesh by mesh ---- */
enum { TF_ENDED_INNER = 3, TF_ENDED_SIDES = 2 * (TF_ENDED_INNER + 1) }; /* most inner memories */

/* The part of each mesh that an op may use, by the memory t whose Tiles spread over it. */
typedef struct {
  int64_t side[TF_ENDED_INNER + 1][2]; /* by t and axis */
} tf_room;

/* The whole mesh for units of kind u.  False: they are too many memories further in. */
bool tf_room_of(const tf_arch *a, int u, tf_room *room);
/* A lower bound on the cycles of the op in that part, as tf_end_on_mesh, with the ports of all
 * memories (levels.c).  0: no bound is known. */
double tf_end_in_room(const tf_arch *a, const tf_demand *d, const tf_end *e, const tf_room *room);
#endif
