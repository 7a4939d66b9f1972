#include "switchboard/core/dispatch_key.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "absl/strings/ascii.h"
#include "switchboard/core/device.h"
#include "switchboard/core/error.h"

namespace sb {
namespace {

constexpr std::string_view kKeyNames[] = {"Undefined",
#define SB_F(name) #name,
#define SB_P(name, prefix) #name,
                                          SB_FORALL_FUNCTIONALITIES(SB_F, SB_P)
#undef SB_F
#undef SB_P
#define SB_KEY(prefix, backend) #prefix #backend,
#define SB_F(name)
#define SB_P(name, prefix) SB_FORALL_BACKENDS(SB_KEY, prefix)
                                              SB_FORALL_FUNCTIONALITIES(SB_F, SB_P)
#undef SB_F
#undef SB_P
#undef SB_KEY
#define SB_KEY(name) #name,
                                                  SB_FORALL_ALIAS_KEYS(SB_KEY)
#undef SB_KEY
};
constexpr int kNumKeys = static_cast<int>(DispatchKey::EndOfKeys);
static_assert(std::size(kKeyNames) == kNumKeys);

constexpr std::string_view kBackendNames[] = {
#define SB_BACKEND(prefix, name) #name,
    SB_FORALL_BACKENDS(SB_BACKEND, )
#undef SB_BACKEND
};
static_assert(std::size(kBackendNames) == kNumBackends);

struct Prefix {
  DispatchKey functionality;
  std::string_view name;
};
constexpr Prefix kPrefixes[] = {
#define SB_F(name)
#define SB_P(name, prefix) {DispatchKey::name, #prefix},
    SB_FORALL_FUNCTIONALITIES(SB_F, SB_P)
#undef SB_F
#undef SB_P
};

// The names of a renamed backend's keys, in the order of kPrefixes: "dummy", "AutogradDummy", ...;
// and last that of its autocast key, which PrivateUse1 alone has.
using KeyNames = std::array<std::string, std::size(kPrefixes) + 1>;

KeyNames make_names(std::string_view backend) {
  std::string capitalised(backend);
  capitalised[0] = absl::ascii_toupper(static_cast<unsigned char>(capitalised[0]));
  KeyNames names;
  names.back() = "Autocast" + capitalised;
  for (size_t i = 0; i < std::size(kPrefixes); ++i) {
    const std::string_view prefix = kPrefixes[i].name;
    names[i] = prefix.empty() ? std::string(backend) : std::string(prefix) + capitalised;
  }
  return names;
}

// Null until the backend is renamed, which happens once.
template <DeviceType type>
const KeyNames* names_if_renamed() {
  if (!is_renamed_private_backend(type)) return nullptr;
  static const auto& names = *new KeyNames(make_names(to_string(type)));
  return &names;
}

const KeyNames* names_if_renamed(Backend backend) {
  switch (backend) {
    case Backend::PrivateUse1:
      return names_if_renamed<DeviceType::PrivateUse1>();
    case Backend::PrivateUse2:
      return names_if_renamed<DeviceType::PrivateUse2>();
    case Backend::PrivateUse3:
      return names_if_renamed<DeviceType::PrivateUse3>();
    default:
      return nullptr;
  }
}

std::optional<DispatchKey> find_renamed(std::string_view name) {
  for (Backend backend : {Backend::PrivateUse1, Backend::PrivateUse2, Backend::PrivateUse3}) {
    const KeyNames* names = names_if_renamed(backend);
    if (!names) continue;
    const auto found = std::find(names->begin(), names->end(), name);
    if (found == names->end()) continue;
    if (found == names->end() - 1) {
      if (backend != Backend::PrivateUse1) continue;
      return DispatchKey::AutocastPrivateUse1;
    }
    return runtime_key(kPrefixes[found - names->begin()].functionality, backend);
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(DispatchKey k) {
  const bool is_autocast = k == DispatchKey::AutocastPrivateUse1;
  const std::optional<Backend> backend = is_autocast ? Backend::PrivateUse1 : backend_of(k);
  const KeyNames* names = backend ? names_if_renamed(*backend) : nullptr;
  if (!names) return canonical_name(k);
  if (is_autocast) return names->back();
  const auto* prefix =
      std::find_if(std::begin(kPrefixes), std::end(kPrefixes),
                   [&](const Prefix& p) { return p.functionality == functionality_of(k); });
  return (*names)[prefix - kPrefixes];
}

std::string_view canonical_name(DispatchKey k) {
  const int i = static_cast<int>(k);
  return i < kNumKeys ? kKeyNames[i] : "UnknownDispatchKey";
}

std::string_view to_string(Backend b) {
  const int i = static_cast<int>(b);
  return i < kNumBackends ? kBackendNames[i] : "UnknownBackend";
}

std::ostream& operator<<(std::ostream& out, DispatchKey k) { return out << to_string(k); }

std::optional<DispatchKey> find_dispatch_key(std::string_view name) {
  for (int i = 0; i < kNumKeys; ++i) {
    if (kKeyNames[i] == name) return static_cast<DispatchKey>(i);
  }
  return find_renamed(name);
}

DispatchKey parse_dispatch_key(std::string_view name) {
  const std::optional<DispatchKey> key = find_dispatch_key(name);
  SB_CHECK_VALUE(key, "unknown dispatch key '", name, "'");
  return *key;
}

}  // namespace sb
