// The cases on Switchboard, for programs that must not see its headers.

#ifndef SWITCHBOARD_BENCH_SWITCHBOARD_CASES_H_
#define SWITCHBOARD_BENCH_SWITCHBOARD_CASES_H_

#include <vector>

#include "switchboard/bench/op_cases.h"

namespace sb::bench {

std::vector<OpCase> switchboard_cases();
void set_switchboard_threads(int threads);

}  // namespace sb::bench

#endif  // SWITCHBOARD_BENCH_SWITCHBOARD_CASES_H_
