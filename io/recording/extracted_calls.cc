// Writes a test that holds every call of a recorded program as extract_cpp() gives it, each in a
// namespace of its own, and compares what it prints with what the recorded call printed.

#include <cstring>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/io/recording/extract.h"
#include "switchboard/io/recording/recorded_values.h"
#include "switchboard/io/recording/storage_contents.h"
#include "switchboard/io/recording/test_support.h"

namespace sb::io {
namespace {

Tensor call(const char* op, Stack stack) {
  default_dispatcher().find_op_or_throw(op).call_boxed(&stack);
  return stack.empty() || !stack[0].is_Tensor() ? Tensor() : stack[0].to_tensor();
}

Tensor filled(const char* dtype, std::vector<int64_t> sizes) {
  return call("aten::full", {sizes, Scalar(1.5), *find_dtype(dtype), IValue(), IValue(), IValue()});
}

// Arguments of every kind: numbers, lists, text, options, tensors that share memory, fake ones.
void program() {
  const Tensor x =
      call("aten::rand", {std::vector<int64_t>{3, 4}, IValue(), IValue(), IValue(), IValue()});
  const Tensor w =
      call("aten::rand", {std::vector<int64_t>{40, 50}, IValue(), IValue(), IValue(), IValue()});
  const Tensor columns = call("aten::t", {x});
  for (const char* dtype : {"float32", "float64", "int64", "int8", "bfloat16", "complex64"}) {
    const Tensor a = filled(dtype, {2, 3});
    call("aten::add.Tensor", {a, a, Scalar(2)});
    call("aten::mul.Scalar", {a, Scalar(3)});
    call("aten::cat", {std::vector<Tensor>{a, a}, 1});
    call("aten::sum.dim_IntList", {a, std::vector<int64_t>{0}, true, IValue()});
    call("aten::select.int", {a, 0, 1});
    call("aten::eq.Tensor", {a, a});
    call("aten::to.dtype", {a, DType::Float64, false, true, IValue()});
    call("aten::where.self", {call("aten::eq.Scalar", {a, Scalar(1)}), a, a});
    call("aten::copy_", {filled("float32", {2, 3}), a, false});
  }
  call("aten::mul.out", {x, x, filled("float32", {3, 4})});
  call("aten::add_.Tensor",
       {call("aten::contiguous", {columns, MemoryFormat::Contiguous}), columns, Scalar(0.5)});
  call("aten::sum", {call("aten::mm", {w, call("aten::t", {w})}), IValue()});
  call("aten::div.Tensor_mode", {x, x, "floor"});
  call("aten::clamp", {x, Scalar(-INFINITY), IValue()});
  call("aten::fill_.Scalar", {filled("float32", {1}), Scalar(std::nan(""))});
  call("aten::full", {std::vector<int64_t>{2}, Scalar(std::complex<double>(1, -2)), IValue(),
                      IValue(), Device("cpu"), false});
  call("aten::index.Tensor",
       {x, std::vector<std::optional<Tensor>>{
               std::nullopt,
               call("aten::arange", {Scalar(2), IValue(), IValue(), IValue(), IValue()})}});
  call("aten::normal_", {filled("float32", {5}), 0.0, 2.0, make_cpu_generator(7)});
  call("aten::conj", {filled("complex64", {2})});
  const Tensor leaf = filled("float32", {3});
  set_requires_grad(leaf);
  call("aten::sin", {call("aten::exp", {leaf})});
  const NoGradGuard off;
  call("aten::sin", {leaf});
  FakeTensorMode fake;
  call("aten::relu", {fake.from_tensor(x)});
}

// A recorded result with the elements that it had as the call ended; undefined where they are not
// known, as for a fake tensor.
Tensor result_of(const RecordedRun& run, uint32_t event, const RecordedTensor& recorded) {
  const RecordedMeta& meta = run.meta(recorded);
  const std::string* const bytes = storage_contents(run, recorded.storage, event, true);
  if (meta.fake || meta.device != "cpu" || !bytes) return {};
  const auto elements = static_cast<int64_t>(bytes->size() / itemsize(meta.dtype));
  const Tensor storage = empty_on(Device("cpu"), {elements}, meta.dtype);
  std::memcpy(storage.data_ptr(), bytes->data(), bytes->size());
  const Tensor result = alias_with(storage, meta.sizes, meta.strides, meta.offset);
  for (const DispatchKey bit : {DispatchKey::Conjugate, DispatchKey::Negative})
    if (parse_key_set(meta.keys).has(bit)) result.impl()->set_key_set(result.key_set() | bit);
  return result;
}

// What a program that prints the results of an event prints; empty where it cannot be known.
std::string printed(const RecordedRun& run, uint32_t event) {
  std::ostringstream out;
  for (const RecordedValue& v : run.results(run.events[event])) {
    if (v.kind != RecordedValue::Kind::Tensor) return {};
    const Tensor result = result_of(run, event, run.tensor(v));
    if (!result.defined()) return {};
    out << result << "\n";
  }
  return out.str();
}

std::string test_source(const RecordedRun& run) {
  std::set<std::string> includes = {
      "#include \"absl/strings/escaping.h\"",
      "#include \"switchboard/io/recording/extracted_calls_test.h\"",
  };
  std::string calls, tests;
  for (uint32_t i = 0; i < run.events.size(); ++i) {
    // Its elements are anything.
    if (run.site(run.events[i]).op.find("empty") != std::string::npos) continue;
    const std::string name = str_cat("call_", i);
    const Extract extract = extract_cpp(run, i, name + ".bin");
    calls += str_cat("namespace ", name, " {\n");
    for (const std::string& line : std::vector<std::string>(absl::StrSplit(extract.source, '\n'))) {
      if (line.starts_with("#include"))
        includes.insert(line);
      else
        calls += str_cat(line == "int main() {" ? "void run() {" : line, "\n");
    }
    calls += str_cat("}  // namespace ", name, "\n");
    tests += str_cat("    {\"", name, "\", &", name, "::run, absl::HexStringToBytes(\"",
                     absl::BytesToHexString(extract.data), "\"), \"",
                     absl::CEscape(printed(run, i)), "\"},\n");
  }
  std::string text;
  for (const std::string& include : includes) text += include + "\n";
  return str_cat(text, calls,
                 "const std::vector<sb::io::ExtractedCall>& sb::io::extracted_calls() {\n"
                 "  static const std::vector<ExtractedCall> calls = {\n",
                 tests, "  };\n  return calls;\n}\n");
}

}  // namespace
}  // namespace sb::io

int main(int, char** argv) {
  using namespace sb::io;
  std::ofstream(argv[1]) << test_source(record(program, {.elements = Elements::All}));
}
