// For tests of control flow: tensors in every place, and programs that run as they are written and
// as graphs.

#ifndef SWITCHBOARD_TESTS_CONTROL_FLOW_PLACES_H_
#define SWITCHBOARD_TESTS_CONTROL_FLOW_PLACES_H_

#include <functional>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/testing/places.h"

namespace sb::test {

using Tensors = std::vector<Tensor>;
using Program = std::function<Tensors(const Tensors&)>;
using Numbers = std::vector<double>;

enum class Place { Cpu, Dummy, Fake, Meta };
inline std::vector<Place> all_places() {
  return {Place::Cpu, Place::Dummy, Place::Fake, Place::Meta};
}

// Makes tensors in a place. Fake ones are on cuda:0.
class Maker {
 public:
  explicit Maker(Place place) : place_(place) {}
  Tensor operator()(Sizes sizes, const Numbers& values, DType dtype = DType::Float32) const {
    const Tensor cpu = tensor_of(sizes, values, dtype);
    switch (place_) {
      case Place::Cpu:
        return cpu;
      case Place::Dummy:
        return to_device(cpu, Device(DeviceType::PrivateUse1, 0), dtype);
      case Place::Fake:
        return fake_.from_tensor(cpu, Device("cuda:0"));
      case Place::Meta:
        break;
    }
    return to_device(cpu, Device(DeviceType::Meta), dtype);
  }
  // A predicate: on the CPU where the place has no data to read and no mode that does without.
  Tensor pred(bool value) const {
    const Maker& maker = place_ == Place::Meta ? Maker(Place::Cpu) : *this;
    return maker({}, {value ? 1.0 : 0.0}, DType::Bool);
  }
  bool has_data() const { return place_ == Place::Cpu || place_ == Place::Dummy; }

 private:
  Place place_;
  mutable FakeTensorMode fake_;
};

inline Numbers numbers_in(const Tensor& t) {
  return values_of(t.is_cpu() ? t : to_device(t, Device(DeviceType::CPU), t.dtype()));
}

// What a tensor is, and what is in it where the place has data: "float32[2] on cpu {1, 2}".
inline std::string text_of(const Tensor& t) {
  std::string text = t.describe();
  if (is_fake(t) || t.is_meta()) return text;
  text += " {";
  for (const double x : numbers_in(t)) text += str_cat(text.back() == '{' ? "" : ", ", x);
  return text + "}";
}
inline std::string text_of(const Tensors& tensors) {
  std::string text;
  for (const Tensor& t : tensors) text += str_cat(text.empty() ? "" : "; ", text_of(t));
  return text;
}

// "RuntimeError: ..."; empty if f throws nothing. What the thread includes and excludes, and its
// modes, must be the same afterwards.
template <class F>
std::string message(F&& f) {
  const DispatchTls before = dispatch_tls;
  const size_t modes = mode_stack_size();
  DispatchMode* const mode = current_mode();
  std::string text;
  try {
    f();
  } catch (const Error& e) {
    text = str_cat(e.kind(), ": ", e.what());
  }
  CHECK(dispatch_tls.included == before.included);
  CHECK(dispatch_tls.kept == before.kept);
  CHECK(mode_stack_size() == modes);
  CHECK(current_mode() == mode);
  return text;
}

// What the program gives, as it is written; the same from its graph, and from the graph of that.
inline std::string run_all_ways(const Program& program, const Tensors& inputs) {
  const std::string eager = text_of(program(inputs));
  const Graph graph = trace(program, inputs);
  graph.lint();
  CHECK(text_of(graph.run(inputs)) == eager);
  const Graph again = trace([&](const Tensors& in) { return graph.run(in); }, inputs);
  CHECK(again.to_string() == graph.to_string());
  CHECK(text_of(again.run(inputs)) == eager);
  return eager;
}

}  // namespace sb::test

#endif  // SWITCHBOARD_TESTS_CONTROL_FLOW_PLACES_H_
