// A node of an exported graph as the rules of operators read it: the sizes of its tensors, and its
// arguments as numbers.

#ifndef SWITCHBOARD_DISTRIBUTED_PARALLEL_OP_CALL_H_
#define SWITCHBOARD_DISTRIBUTED_PARALLEL_OP_CALL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "switchboard/io/exported/program.h"

namespace sb {

using SizeList = std::vector<int64_t>;

// Sizes are those of one rank alone, all of them numbers. The node must outlive it.
class OpCall {
 public:
  // A tensor that the node takes, or an element of a list of them.
  struct Use {
    std::string argument;
    size_t element;  // in the argument
    std::string name;
    SizeList sizes;
    DType dtype;
  };
  struct Result {
    std::string name;
    SizeList sizes;
    DType dtype;
  };

  // `meta_of` gives nullptr for a tensor whose sizes are not known before the run; then there is no
  // call to look at.
  static std::optional<OpCall> read(
      const io::Node& node, absl::FunctionRef<const io::TensorMeta*(const std::string&)> meta_of);

  const io::Node& node() const { return *node_; }
  const std::vector<Use>& uses() const { return uses_; }
  const std::vector<Result>& results() const { return results_; }

  // The place among uses() of the tensor that the argument is; nothing where it is none.
  std::optional<size_t> use(std::string_view argument) const;

  // Arguments that are numbers. Nothing where the argument was not passed, is None or is something
  // else, such as a number that the run decides.
  const io::Argument* find(std::string_view argument) const;
  std::optional<int64_t> integer(std::string_view argument) const;
  std::optional<double> number(std::string_view argument) const;
  std::optional<bool> boolean(std::string_view argument) const;
  std::optional<SizeList> integers(std::string_view argument) const;
  // Whether it was not passed or is None.
  bool is_none(std::string_view argument) const;

 private:
  explicit OpCall(const io::Node& node) : node_(&node) {}

  const io::Node* node_;
  std::vector<Use> uses_;
  std::vector<Result> results_;
};

// -1 as the last dimension of `dims`.
int64_t wrap_dim(int64_t dim, int64_t dims);

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_PARALLEL_OP_CALL_H_
