#include "switchboard/io/op_profiles/op_profiles.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_split.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/objects/registration.h"
#include "switchboard/io/op_profiles/yaml_value.h"
#include "switchboard/io/safetensors/input_file.h"
#include "switchboard/io/safetensors/quote.h"
#include "switchboard/io/safetensors/replacement_file.h"

namespace sb::io {
namespace {

constexpr const char* kVersion = "2.14";
constexpr int64_t kStrided = 7;
constexpr int64_t kMaxRank = 64;
constexpr size_t kMaxBytes = size_t{64} << 20;

// The numbers of `torch._export.serde.schema.ScalarType`.
constexpr std::pair<int64_t, DType> kDTypes[] = {
    {1, DType::UInt8},      {2, DType::Int8},        {3, DType::Int16},   {4, DType::Int32},
    {5, DType::Int64},      {6, DType::Float16},     {7, DType::Float32}, {8, DType::Float64},
    {10, DType::Complex64}, {11, DType::Complex128}, {12, DType::Bool},   {13, DType::BFloat16},
};

int64_t number_of(DType dtype) {
  for (const auto& [number, known] : kDTypes)
    if (known == dtype) return number;
  SB_THROW(NotImplementedError, "profiles: ", to_string(dtype),
           " has no number in PyTorch's files");
}

DType dtype_of(const YamlValue& value) {
  const int64_t number = value.to_int();
  for (const auto& [known, dtype] : kDTypes)
    if (known == number) return dtype;
  value.fail<NotImplementedError>("dtype: ", number, " is no dtype that is known here");
}

// "mylib.foo.default" of "mylib::foo".
std::string python_name(const std::string& name) {
  const OperatorName parsed = OperatorName::parse(name);
  return str_cat(parsed.ns(), ".", parsed.name.substr(parsed.ns().size() + 2), ".",
                 parsed.overload.empty() ? "default" : parsed.overload);
}

class Writer {
 public:
  std::string write(const OpProfiles& profiles) {
    line(0, str_cat("torch_version: '", kVersion, "'"));
    line(0, profiles.empty() ? "operators: {}" : "operators:");
    for (const auto& [name, of_op] : profiles) {
      line(1, python_name(name) + (of_op.empty() ? ": []" : ":"));
      for (const OpProfile& profile : of_op) write(profile);
    }
    return std::move(text_);
  }

 private:
  void line(int depth, const std::string& text) {
    text_ += str_cat(std::string(static_cast<size_t>(2 * depth), ' '), text, "\n");
  }

  void write(const OpProfile& profile) {
    const bool any = std::ranges::any_of(profile.arguments, has_tensors);
    line(1, any ? "- args_profile:" : "- args_profile: []");
    for (const OpProfile::Tensors& argument : profile.arguments)
      if (has_tensors(argument)) write_item(argument);
    // One result is not written as a list of one.
    if (profile.results.size() == 1 && profile.results[0].size() == 1) {
      line(2, "out_profile:");
      return write(profile.results[0][0], 3, "");
    }
    const bool nothing =
        profile.results.empty() || (profile.results.size() == 1 && profile.results[0].empty());
    line(2, nothing ? "out_profile: []" : "out_profile:");
    if (profile.results.size() == 1) {
      for (const TensorProfile& tensor : profile.results[0]) write_item({tensor});
    } else {
      for (const OpProfile::Tensors& result : profile.results) write_item(result);
    }
  }
  static bool has_tensors(const OpProfile::Tensors& tensors) { return !tensors.empty(); }

  // An item of a list: a tensor, or several.
  void write_item(const OpProfile::Tensors& tensors) {
    if (tensors.empty()) line(2, "- []");
    if (tensors.size() == 1) write(tensors[0], 2, "- ");
    for (size_t i = 0; tensors.size() > 1 && i < tensors.size(); ++i)
      write(tensors[i], i == 0 ? 2 : 3, i == 0 ? "- - " : "- ");
  }

  // `before` stands before the first line, and moves the others to the right.
  void write(const TensorProfile& tensor, int depth, const std::string& before) {
    const std::string indent(before.size(), ' ');
    line(depth, str_cat(before, "rank: ", tensor.rank));
    line(depth, str_cat(indent, "dtype: ", number_of(tensor.dtype)));
    line(depth, str_cat(indent, "device: ", to_string(tensor.device)));
    line(depth, str_cat(indent, "layout: ", kStrided));
  }

  std::string text_;
};

TensorProfile tensor_of(const YamlValue& value) {
  value.expect_keys({"rank", "dtype", "device", "layout"});
  TensorProfile tensor;
  tensor.rank = value.at("rank").to_int();
  if (tensor.rank < 0 || tensor.rank > kMaxRank)
    value.fail("rank: expected one from 0 to ", kMaxRank, ", got ", tensor.rank);
  tensor.dtype = dtype_of(value.at("dtype"));
  const std::string device = value.at("device").to_string();
  try {
    tensor.device = Device(device);
  } catch (const Error& error) {
    value.fail("device: ", escape_message(error.what()));
  }
  const int64_t layout = value.at("layout").to_int();
  if (layout != kStrided)
    value.fail<NotImplementedError>("layout: only strided tensors (", kStrided, "), got ", layout);
  return tensor;
}

// One tensor, or a list of them.
OpProfile::Tensors tensors_of(const YamlValue& value) {
  OpProfile::Tensors tensors;
  if (!value.is_list()) return {tensor_of(value)};
  for (const YamlValue& item : value.items()) tensors.push_back(tensor_of(item));
  return tensors;
}

// What was written, in the places that may hold it. A place without a tensor was not written.
class Places {
 public:
  Places(const YamlValue& value, std::vector<OpProfile::Tensors> written,
         const FunctionSchema& schema)
      : value_(value), written_(std::move(written)), schema_(schema) {}

  std::vector<OpProfile::Tensors> in_arguments() {
    const auto takes_tensors = [](const Argument& a) { return a.type.has_tensor(); };
    const auto places =
        static_cast<size_t>(std::ranges::count_if(schema_.arguments, takes_tensors));
    const auto needed = static_cast<size_t>(std::ranges::count_if(schema_.arguments, needs_tensor));
    if (written_.size() != places && written_.size() != needed)
      value_.fail("expected the tensors of ", needed, needed == places ? "" : " or all ",
                  needed == places ? "" : str_cat(places), " arguments, got ", written_.size(),
                  ": ", schema_.to_string());
    const bool all = written_.size() == places;
    std::vector<OpProfile::Tensors> arguments;
    size_t next = 0;
    for (const Argument& argument : schema_.arguments) {
      const bool is_here = all ? takes_tensors(argument) : needs_tensor(argument);
      arguments.push_back(is_here ? one(argument, written_[next++]) : OpProfile::Tensors());
    }
    return arguments;
  }

 private:
  static bool needs_tensor(const Argument& a) {
    return a.type.has_tensor() && !a.type.is_optional() && !a.type.is_list();
  }
  OpProfile::Tensors one(const Argument& argument, OpProfile::Tensors tensors) const {
    if (!argument.type.is_list() && tensors.size() != 1)
      value_.fail("argument '", argument.name,
                  "': expected a tensor, got a list: ", schema_.to_string());
    return tensors;
  }

  const YamlValue& value_;
  std::vector<OpProfile::Tensors> written_;
  const FunctionSchema& schema_;
};

OpProfile profile_of(const YamlValue& value, const FunctionSchema& schema) {
  value.expect_keys({"args_profile", "out_profile"});
  const YamlValue given = value.at("args_profile"), results = value.at("out_profile");
  OpProfile profile;
  std::vector<OpProfile::Tensors> written;
  for (const YamlValue& item : given.items()) written.push_back(tensors_of(item));
  profile.arguments = Places(given, std::move(written), schema).in_arguments();
  const bool one_list = schema.returns.size() == 1 && schema.returns[0].type.is_list();
  const auto is_list = [](const YamlValue& item) { return item.is_list(); };
  if (one_list && results.is_list() && std::ranges::none_of(results.items(), is_list)) {
    profile.results.push_back(tensors_of(results));  // PyTorch's way to write a list of tensors
  } else if (results.is_list()) {
    for (const YamlValue& item : results.items()) profile.results.push_back(tensors_of(item));
  } else {
    profile.results.push_back({tensor_of(results)});
  }
  if (profile.results.size() != schema.returns.size())
    results.fail("expected ", schema.returns.size(), " results, got ", profile.results.size(), ": ",
                 schema.to_string());
  return profile;
}

// The operator of "mylib.foo.default".
OpOverload operator_of(const std::string& python_name, const YamlValue& value) {
  const std::vector<std::string> parts = absl::StrSplit(python_name, '.');
  if (parts.size() != 3)
    value.fail("expected an operator, namespace.name.overload, got ", quote(python_name));
  std::string name = str_cat(parts[0], "::", parts[1]);
  if (parts[2] != "default") name += "." + parts[2];
  try {
    return lookup_op(name);
  } catch (const Error& error) {
    value.fail<RuntimeError>(escape_message(error.what()));
  }
}

OpProfiles read(const std::string& origin, std::string_view yaml) {
  const YamlDocument document(origin, yaml);
  const YamlValue root = document.root();
  root.expect_keys({"torch_version", "operators"});
  const YamlValue version = root.at("torch_version");
  if (version.to_string() != kVersion)
    version.fail<RuntimeError>("expected profiles of version ", kVersion, ", got ",
                               quote(version.to_string()));
  OpProfiles profiles;
  for (const auto& [name, of_op] : root.at("operators").members()) {
    const OpOverload op = operator_of(name, of_op);
    std::vector<OpProfile>& list = profiles[op.name()];
    for (const YamlValue& item : of_op.items()) list.push_back(profile_of(item, op.schema()));
  }
  return profiles;
}

}  // namespace

std::string generate_yaml_from_profiles(const OpProfiles& profiles) {
  return Writer().write(profiles);
}

OpProfiles read_profiles_from_yaml(std::string_view yaml) { return read("profiles", yaml); }

void save_op_profiles(const OpProfiles& profiles, const std::string& path) {
  const std::string text = generate_yaml_from_profiles(profiles);
  ReplacementFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

OpProfiles load_op_profiles(const std::string& path) {
  return read(path, InputFile(path).read_all(kMaxBytes));
}

}  // namespace sb::io
