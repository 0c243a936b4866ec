/* What a target keeps of its predictions; drop frees it. */
#ifndef CODEGEN_IR_MEMO_H
#define CODEGEN_IR_MEMO_H
struct tf_emit_memo {
  void *made;
  void (*drop)(void *made);
};
#endif
