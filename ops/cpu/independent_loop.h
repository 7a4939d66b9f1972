// SB_INDEPENDENT_LOOP, before a `for`: no pass of the loop reads what another writes, so that GCC
// need not compare the arrays' addresses before it takes several passes at once. The loop is right
// without it too. clang has the like, and warns of each loop that it cannot vectorise all the same.

#ifndef SWITCHBOARD_OPS_CPU_INDEPENDENT_LOOP_H_
#define SWITCHBOARD_OPS_CPU_INDEPENDENT_LOOP_H_

#if defined(__GNUC__) && !defined(__clang__)
#define SB_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#else
#define SB_INDEPENDENT_LOOP
#endif

#endif  // SWITCHBOARD_OPS_CPU_INDEPENDENT_LOOP_H_
