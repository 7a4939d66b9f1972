// Checks what a run gives against what the exporter recorded, with sizes that may be symbols.

#ifndef SWITCHBOARD_TOOLS_VALUE_CHECKER_H_
#define SWITCHBOARD_TOOLS_VALUE_CHECKER_H_

#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "switchboard/core/device.h"
#include "switchboard/core/tensor.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/io/exported/graph_runner.h"
#include "switchboard/io/exported/program.h"

namespace sb::tools {

// Sizes at which two expressions are compared that are not the same by their form: values of an
// environment's sources and symbols.
using SamplePoint = std::vector<std::pair<std::string, int64_t>>;

// What symbols are in a run.
struct RunSymbols {
  io::SymbolValues values;  // by the file's names: numbers, or symbols of `env`
  ShapeEnv* env = nullptr;  // null in a run of numbers
  // What the file allows for symbols that data decides.
  const std::map<std::string, io::SymbolRange>* ranges = nullptr;
  std::vector<SamplePoint> samples;
};

class ValueChecker : public io::RunObserver {
 public:
  // `headings` gets a line a node; null for nowhere.
  // Strides are compared unless `own_strides`: a real device from outside may lay out what its own
  // kernels make as it likes.
  ValueChecker(Device device, bool own_strides, RunSymbols symbols, std::ostream* headings);

  void on_node(const io::Graph& graph, size_t node) override;
  void on_value(const io::Graph& graph, size_t node, const std::string& name,
                const IValue& value) override;

  // One for each value that is not as recorded.
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  std::optional<std::string> tensor_fault(const Tensor& tensor, const io::ValueMeta& meta);
  bool is_as_recorded(const SymInt& number, const io::Expression& recorded);
  bool is_in_range(const SymInt& number, const std::string& symbol) const;
  bool same(const SymInt& a, const SymInt& b) const;
  std::string known_text(const io::Expression& recorded) const;

  Device device_;
  bool own_strides_;
  RunSymbols symbols_;
  std::ostream* headings_;
  // Symbols that a graph's run has bound, which another run of it binds anew.
  const io::Graph* graph_ = nullptr;
  std::map<const io::Graph*, std::vector<std::string>> bound_in_;
  std::vector<std::string> faults_;
};

// What to call a node: its own name, or that of its first output in archives that have none.
std::string label_of(const io::Node& node);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_VALUE_CHECKER_H_
