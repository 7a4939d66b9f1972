#include "switchboard/io/op_profiles/op_profiles.h"

#include <filesystem>
#include <string>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/registration.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/io/safetensors/test_support.h"

namespace sb::io {
namespace {

using Catch::Contains;

// As PyTorch 2.14 wrote them.
constexpr char kFromPyTorch[] = R"(torch_version: '2.14'
operators:
  mylib.foo.default:
  - args_profile:
    - rank: 2
      dtype: 7
      device: cpu
      layout: 7
    - rank: 1
      dtype: 5
      device: cuda:0
      layout: 7
    out_profile:
      rank: 3
      dtype: 7
      device: cpu
      layout: 7
  mylib.two.default:
  - args_profile:
    - rank: 2
      dtype: 7
      device: cpu
      layout: 7
    out_profile:
    - rank: 3
      dtype: 7
      device: cpu
      layout: 7
    - rank: 0
      dtype: 13
      device: cpu
      layout: 7
)";

struct Mylib {
  Mylib() {
    m.define("foo(Tensor x, Tensor? y, int n=1) -> Tensor");
    m.define("two(int n, Tensor x) -> (Tensor, Tensor)");
    m.define("lists(Tensor[] xs, Tensor y) -> Tensor[]");
    m.define("note.out(Tensor? a, Tensor? b) -> ()");
  }
  Library m{Library::Kind::Def, "mylib"};
};

const TensorProfile kMatrix{2, DType::Float32, Device("cpu")};
const TensorProfile kIndices{1, DType::Int64, Device("cuda:0")};

TEST_CASE("a file that PyTorch wrote is read, and written the same") {
  const Mylib mylib;
  const OpProfiles profiles = read_profiles_from_yaml(kFromPyTorch);
  REQUIRE(profiles.size() == 2);
  const TensorProfile cube{3, DType::Float32, Device("cpu")};
  CHECK(profiles.at("mylib::foo") ==
        std::vector<OpProfile>{{{{kMatrix}, {kIndices}, {}}, {{cube}}}});
  CHECK(profiles.at("mylib::two") ==
        std::vector<OpProfile>{{{{}, {kMatrix}}, {{cube}, {{0, DType::BFloat16, Device("cpu")}}}}});
  CHECK(generate_yaml_from_profiles(profiles) == kFromPyTorch);
}

TEST_CASE("lists of tensors, and what is missing, come back as they were") {
  const Mylib mylib;
  const OpProfiles profiles{
      {"mylib::foo",
       {{{{kMatrix}, {}, {}}, {{kMatrix}}}, {{{kMatrix}, {kIndices}, {}}, {{kMatrix}}}}},
      {"mylib::lists",
       {{{{kMatrix, kIndices, kMatrix}, {kIndices}}, {{kIndices, kMatrix}}},
        {{{kMatrix}, {kIndices}}, {{kMatrix}}}}},
      {"mylib::note.out", {{{{}, {}}, {}}}},
      {"mylib::two", {}}};
  CHECK(read_profiles_from_yaml(generate_yaml_from_profiles(profiles)) == profiles);
  CHECK(read_profiles_from_yaml(generate_yaml_from_profiles({})).empty());
}

TEST_CASE("a file keeps them, and fake rules are made of it") {
  const Mylib mylib;
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/profiles.yaml";
  save_op_profiles({{"mylib::foo", {{{{kMatrix}, {}, {}}, {{kIndices}}}}}}, path);
  const RegistrationHandle rules = unsafe_generate_fake_kernels(load_op_profiles(path));
  FakeTensorMode fake({.shape_env = ShapeEnv::create()});
  const Tensor x = fake.from_tensor(empty_on(DeviceType::CPU, {2, 3}, DType::Float32));
  CHECK(lookup_op("mylib::foo").call({x, IValue()})[0].to_tensor().describe() ==
        "int64[u0] on cuda:0");
  CHECK_THAT(error_of([&] { load_op_profiles(folder.path() + "/none.yaml"); }),
             Contains("RuntimeError") && Contains("none.yaml"));
}

TEST_CASE("what is wrong is told with its line") {
  const Mylib mylib;
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kFromPyTorch;
    text.replace(text.find(from), from.size(), to);
    return error_of([&] { read_profiles_from_yaml(text); });
  };
  CHECK_THAT(with("2.14", "2.13"),
             Contains("RuntimeError: profiles:1: expected profiles of version 2.14, got '2.13'"));
  CHECK_THAT(with("mylib.foo.default", "mylib.gone.default"),
             Contains("RuntimeError: profiles:4: ") && Contains("mylib::gone"));
  CHECK_THAT(with("mylib.foo.default", "mylib.foo"),
             Contains("expected an operator, namespace.name.overload, got 'mylib.foo'"));
  CHECK_THAT(with("rank: 2", "rank: two"),
             Contains("ValueError: profiles:5: expected an integer, got 'two'"));
  CHECK_THAT(with("rank: 2", "rank: -2"), Contains("expected one from 0 to 64, got -2"));
  CHECK_THAT(with("dtype: 7", "dtype: 28"),
             Contains("NotImplementedError: profiles:6: dtype: 28 is no dtype that is known here"));
  CHECK_THAT(with("device: cpu", "device: moon"),
             Contains("profiles:5: device: ") && Contains("moon"));
  CHECK_THAT(with("layout: 7", "layout: 1"), Contains("only strided tensors (7), got 1"));
  CHECK_THAT(with("      layout: 7\n", ""), Contains("expected the key 'layout'"));
  CHECK_THAT(with("layout: 7", "layout: 7\n      color: 1"), Contains("unknown key 'color'"));
  CHECK_THAT(with("rank: 2", "rank: 2\n      rank: 3"), Contains("the key 'rank' is there twice"));
  CHECK_THAT(with("args_profile:\n", "args_profile: []\n    more:\n"), Contains("unknown key"));
  CHECK_THAT(with("torch_version: '2.14'", "torch_version: ['2.14'"), Contains("no YAML"));
  CHECK_THAT(error_of([] { read_profiles_from_yaml(""); }), Contains("expected YAML, got nothing"));
  CHECK_THAT(error_of([] { read_profiles_from_yaml("a: 1\n---\na: 1\n"); }),
             Contains("expected one document, got several"));
}

TEST_CASE("tensors that may belong to one argument or another are refused") {
  const Mylib mylib;
  const std::string yaml =
      generate_yaml_from_profiles({{"mylib::note.out", {{{{kMatrix}, {}}, {}}}}});
  CHECK_THAT(
      error_of([&] { read_profiles_from_yaml(yaml); }),
      Contains("ValueError") && Contains("expected the tensors of 0 or all 2 arguments, got 1"));
}

}  // namespace
}  // namespace sb::io
