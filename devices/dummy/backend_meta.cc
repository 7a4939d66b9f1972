#include "switchboard/devices/dummy/backend_meta.h"

#include <charconv>
#include <string>

#include "switchboard/core/error.h"

namespace sb::dummy {
namespace {

constexpr const char* kVersion = "format_version";
constexpr const char* kNumber = "format_number";

int64_t parse(const std::string& entry, const std::string& text) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  SB_CHECK_VALUE(error == std::errc() && at == end, "backend metadata of ",
                 to_string(DeviceType::PrivateUse1), ": entry '", entry,
                 "': expected an integer, got '", text, "'");
  return value;
}

}  // namespace

void save_format(const Tensor& tensor, DeviceHooks::MetaEntries* entries) {
  const auto* const meta = dynamic_cast<const FormatMeta*>(tensor.impl()->backend_meta().get());
  if (!meta) return;
  entries->emplace(kVersion, std::to_string(meta->version));
  entries->emplace(kNumber, std::to_string(meta->number));
}

void load_format(const Tensor& tensor, const DeviceHooks::MetaEntries& entries) {
  int64_t version = -1, number = -1;
  for (const auto& [entry, text] : entries) {
    SB_CHECK_VALUE(entry == kVersion || entry == kNumber, "backend metadata of ",
                   to_string(DeviceType::PrivateUse1), ": expected ", kVersion, " and ", kNumber,
                   ", got an entry '", entry, "'");
    (entry == kVersion ? version : number) = parse(entry, text);
  }
  tensor.impl()->set_backend_meta(make_intrusive<FormatMeta>(version, number));
}

}  // namespace sb::dummy
