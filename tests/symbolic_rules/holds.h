// One program, run with symbols and with numbers.

#ifndef SWITCHBOARD_TESTS_SYMBOLIC_RULES_HOLDS_H_
#define SWITCHBOARD_TESTS_SYMBOLIC_RULES_HOLDS_H_

#include <array>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "switchboard/core/tensor.h"

namespace sb {

// What a program is given: three sizes, and meta tensors of any made of them.
struct Sizes {
  SymInt n, h, w;

  Tensor operator()(std::initializer_list<SymInt> sizes, DType dtype = DType::Float32,
                    MemoryFormat format = MemoryFormat::Contiguous) const;
};
using Numbers = std::array<int64_t, 3>;

struct Results {
  std::vector<Tensor> tensors;
  Results(Tensor t) : tensors{std::move(t)} {}  // NOLINT
  template <class... T>
  Results(std::tuple<T...> all)  // NOLINT
      : tensors(std::apply([](const T&... t) { return std::vector<Tensor>{t...}; }, all)) {}
};
using Program = std::function<Results(const Sizes&)>;

// What a program with symbols rests on, "s0 >= 3, s1 == 4"; empty where it is right for all sizes.
std::string guards_of(const Program& program, Numbers hints = {3, 8, 9});

// Whether the guards of the program with symbols accept those sizes with which it runs on numbers
// and gives what the symbols say, and no others. "" or the first difference.
std::string difference(const Program& program, Numbers hints = {3, 8, 9});
// The same with symbols that stand for no number until the program has run; nothing may be asked.
// Sizes of 0 and 1 are left out.
std::string difference_unbacked(const Program& program);

}  // namespace sb

#endif  // SWITCHBOARD_TESTS_SYMBOLIC_RULES_HOLDS_H_
