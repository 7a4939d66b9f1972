// A step of training on Switchboard, for programs that must not see its headers.

#ifndef SWITCHBOARD_BENCH_TRAINING_CASE_H_
#define SWITCHBOARD_BENCH_TRAINING_CASE_H_

#include <functional>
#include <string>

namespace sb::bench {

// The MLP of //examples:train_digits, 64-64-10, on a batch of 32; "sgd" or "adam".
std::function<void()> training_case(const std::string& optimizer);

}  // namespace sb::bench

#endif  // SWITCHBOARD_BENCH_TRAINING_CASE_H_
