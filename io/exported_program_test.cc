#include "switchboard/io/exported_program.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/counting_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/io/exported/test_support.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using Catch::Contains;
using io::error_of;
using io::replaced;
using test::tensor_of;
using test::values_of;

ExportedProgram load(const std::string& json) {
  return load_exported_program(io::make_zip(io::small_records_with("net/models/model.json", json)),
                               "net.pt2");
}

// x + 2 * w, where the parameter w is 1, 2, 3, 4, 5, 6.
ExportedProgram small() { return load(io::small_program()); }

// The same with a buffer w, which becomes the result.
std::string mutating_program() {
  std::string json = replaced(
      io::small_program(), R"({"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}})",
      R"({"buffer": {"arg": {"name": "p_w"}, "buffer_name": "w", "persistent": true}})");
  json =
      replaced(json, R"("outputs": [{"as_tensor": {"name": "add"}}],)",
               R"("outputs": [{"as_tensor": {"name": "add"}}, {"as_tensor": {"name": "add"}}],)");
  return replaced(json, R"("output_specs": [)",
                  R"("output_specs": [{"buffer_mutation": {"arg": {"name": "add"},)"
                  R"( "buffer_name": "w"}}, )");
}

Tensor ones_23() { return tensor_of({2, 3}, {1, 1, 1, 1, 1, 1}); }

std::vector<double> first_of(const std::vector<IValue>& outputs) {
  return values_of(outputs.at(0).to_tensor());
}

TEST_CASE("a program says what it takes, gives and holds", "[io][exported_program]") {
  const ExportedProgram program = small();
  REQUIRE(program.inputs().size() == 1);
  CHECK(program.inputs()[0].name == "x");
  CHECK(program.inputs()[0].type == "float32[2, 3]");
  CHECK(program.inputs()[0].dtype == DType::Float32);
  CHECK(program.inputs()[0].sizes == std::vector<std::optional<int64_t>>{2, 3});
  REQUIRE(program.outputs().size() == 1);
  CHECK(program.outputs()[0].name == "add");
  REQUIRE(program.parameters().size() == 1);
  CHECK(values_of(program.parameters().at("w")) == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(program.buffers().empty());
  CHECK(program.missing_operators().empty());
  CHECK(program.warnings().empty());
}

TEST_CASE("it runs on its inputs, again and again", "[io][exported_program]") {
  ExportedProgram program = small();
  for (int i = 0; i < 2; ++i)
    CHECK(first_of(program({ones_23()})) == std::vector<double>{3, 5, 7, 9, 11, 13});
  ExportedProgram moved = std::move(program);
  CHECK(first_of(moved({ones_23()})) == std::vector<double>{3, 5, 7, 9, 11, 13});
}

TEST_CASE("inputs that do not fit are refused before anything runs", "[io][exported_program]") {
  ExportedProgram program = small();
  CountingMode count;
  const ModeGuard guard(&count);
  CHECK_THAT(error_of([&] { program({}); }),
             Contains("TypeError: net.pt2: expected the inputs (x float32[2, 3]), got 0 values"));
  CHECK_THAT(error_of([&] { program({1.5}); }),
             Contains("TypeError: net.pt2: input 'x': expected float32[2, 3], got Double"));
  CHECK_THAT(error_of([&] { program({Tensor()}); }), Contains("got an undefined tensor"));
  const Tensor integers = tensor_of({2, 3}, {1, 1, 1, 1, 1, 1}, DType::Int64);
  CHECK_THAT(error_of([&] { program({integers}); }),
             Contains("ValueError: net.pt2: input 'x': expected float32[2, 3], got "));
  CHECK_THAT(error_of([&] { program({tensor_of({3}, {1, 1, 1})}); }), Contains("ValueError"));
  CHECK(count.total() == 0);
}

TEST_CASE("operators that are missing are listed, and may come later", "[io][exported_program]") {
  const std::string json =
      replaced(io::small_program(), "torch.ops.aten.add.Tensor", "torch.ops.io_test.plus.default");
  ExportedProgram program = load(json);
  CHECK(program.missing_operators() == std::vector<std::string>{"io_test::plus"});
  CHECK_THAT(error_of([&] { program({ones_23()}); }),
             Contains("NotImplementedError: ") && Contains("operator io_test::plus, 1 time"));

  Library library(LibraryKind::Def, "io_test");
  library.define("plus(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  library.impl("plus", DispatchKey::CPU,
               [](const Tensor&, const Tensor& other, const Scalar&) { return other; });
  CHECK(program.missing_operators().empty());
  CHECK(first_of(program({ones_23()})) == std::vector<double>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("a buffer keeps what the program wrote to it", "[io][exported_program]") {
  ExportedProgram program = load(mutating_program());
  CHECK(program.parameters().empty());
  const Tensor buffer = program.buffers().at("w");
  const std::vector<IValue> outputs = program({ones_23()});
  REQUIRE(outputs.size() == 1);  // a mutation is no output
  CHECK(first_of(outputs) == std::vector<double>{3, 5, 7, 9, 11, 13});
  CHECK(values_of(buffer) == std::vector<double>{3, 5, 7, 9, 11, 13});
  CHECK(first_of(program({ones_23()})) == std::vector<double>{7, 11, 15, 19, 23, 27});
}

TEST_CASE("modes that stand see each call", "[io][exported_program]") {
  ExportedProgram program = load_exported_program("examples/digits_mlp");
  const Tensor x = load_tensors("examples/digits_mlp/inputs.safetensors").at("x");
  CountingMode count;
  {
    const ModeGuard guard(&count);
    program({x});
  }
  CHECK(count.counts() == std::vector<std::pair<std::string, int64_t>>{
                              {"aten::addmm", 2}, {"aten::permute", 2}, {"aten::relu", 1}});
  program({x});
  CHECK(count.total() == 5);
}

TEST_CASE("it gives what PyTorch gave", "[io][exported_program]") {
  ExportedProgram program = load_exported_program("examples/digits_mlp/digits_mlp.pt2");
  const Tensor x = load_tensors("examples/digits_mlp/inputs.safetensors").at("x");
  const Tensor expected = load_tensors("examples/digits_mlp/outputs.safetensors").at("addmm_1");
  const std::vector<double> got = first_of(program({x})), wanted = values_of(expected);
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(wanted[i]).margin(1e-4));
}

TEST_CASE("on fake tensors it runs on a device that is not here", "[io][exported_program]") {
  ExportedProgram program = small();
  FakeTensorMode fake;
  const Device gpu("cuda:0");
  program.apply([&](const Tensor& t) { return fake.from_tensor(t, gpu); });
  const FakeTensorModeGuard guard(fake);
  const Tensor y = program({fake.from_tensor(ones_23(), gpu)})[0].to_tensor();
  CHECK(is_fake(y));
  CHECK(y.device() == gpu);
  CHECK(y.sizes() == IntArrayRef{2, 3});
}

TEST_CASE("sizes that are open may be any that the program takes", "[io][exported_program]") {
  ExportedProgram program = load_exported_program("examples/tiny_bert/tiny_bert.dynamic.pt2");
  const auto run = [&](int64_t batch, int64_t length, int64_t mask_length) {
    return program({zeros({batch, length}, DType::Int64), ones({batch, mask_length}, DType::Int64)})
        .at(0)
        .to_tensor()
        .size(0);
  };
  CHECK(program.inputs()[0].sizes[0] == std::nullopt);
  CHECK(run(3, 5, 5) == 3);
  CHECK_THAT(error_of([&] { run(3, 65, 65); }), Contains("ValueError: ") && Contains("<= 64"));
  CHECK_THAT(error_of([&] { run(3, 5, 6); }), Contains("ValueError: ") && Contains("size"));
}

TEST_CASE("sizes may be symbols", "[io][exported_program]") {
  ExportedProgram program = load_exported_program("examples/tiny_bert/tiny_bert.dynamic.pt2");
  FakeTensorMode fake({.shape_env = ShapeEnv::create()});
  program.apply([&](const Tensor& t) {
    return fake.from_tensor(t, FromTensorOptions{.static_shapes = true});
  });
  const Tensor ids = fake.from_tensor(zeros({2, 12}, DType::Int64));
  const Tensor mask = fake.from_tensor(ones({2, 12}, DType::Int64));
  const FakeTensorModeGuard guard(fake);
  const Tensor y = program({ids, mask})[0].to_tensor();
  CHECK(y.is_symbolic());
}

TEST_CASE("parameters may be replaced", "[io][exported_program]") {
  ExportedProgram program = small();
  program.assign("w", tensor_of({2, 3}, {0, 0, 0, 0, 0, 1}));
  CHECK(first_of(program({ones_23()})) == std::vector<double>{1, 1, 1, 1, 1, 3});
  CHECK_THAT(error_of([&] { program.assign("v", ones_23()); }),
             Contains("ValueError: net.pt2: no parameter, buffer or constant 'v'"));
  CHECK_THAT(error_of([&] {
               program.assign("w", tensor_of({3}, {1, 1, 1}));
             }),
             Contains("ValueError: net.pt2: 'w': expected float32[2, 3], got "));
}

TEST_CASE("a folder may lack parameters, which are given later", "[io][exported_program]") {
  const io::TemporaryFolder folder;
  for (const io::ZipEntry& record : io::small_records())
    if (record.name != "net/data/weights/weight_0")
      io::write_file(folder / record.name, record.bytes);
  ExportedProgram program = load_exported_program(folder / "net");
  CHECK(program.parameters().empty());
  CHECK_THAT(error_of([&] { program({ones_23()}); }),
             Contains("ValueError: ") && Contains("no data for 'w' (float32[2, 3])"));
  program.assign("w", ones_23());
  CHECK(first_of(program({ones_23()})) == std::vector<double>{3, 3, 3, 3, 3, 3});
}

TEST_CASE("a program that moves runs where it is", "[io][exported_program]") {
  ExportedProgram program = small();
  program.to(DeviceType::Meta);
  CHECK(program.parameters().at("w").device() == Device(DeviceType::Meta));
  const Tensor y = program({empty_on(DeviceType::Meta, {2, 3}, DType::Float32)})[0].to_tensor();
  CHECK(y.device() == Device(DeviceType::Meta));
}

TEST_CASE("gradients reach parameters that require them", "[io][exported_program]") {
  ExportedProgram program = small();
  CHECK_FALSE(requires_grad(program.parameters().at("w")));
  set_requires_grad(program.parameters().at("w"));
  backward(sum_all(program({ones_23()})[0].to_tensor()));
  CHECK(values_of(grad_of(program.parameters().at("w"))) == std::vector<double>{2, 2, 2, 2, 2, 2});
}

TEST_CASE("what is no program is refused, with its name", "[io][exported_program]") {
  CHECK_THAT(error_of([] { load_exported_program("no_such.pt2"); }),
             Contains("ValueError: no_such.pt2: no such file or folder"));
  CHECK_THAT(error_of([] { load_exported_program(std::string("PK"), "net.pt2"); }),
             Contains("ValueError: net.pt2: "));
  CHECK_THAT(error_of([] { load("{}"); }), Contains("net.pt2: models/model.json"));
}

}  // namespace
}  // namespace sb
