#include "switchboard/core/dispatch_key.h"

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

// The key of a renamed private backend: "dummy", or a functionality's prefix before "Dummy".
std::optional<DispatchKey> find_renamed(std::string_view name) {
  const std::string_view private_name = privateuse1_backend_name();
  if (private_name == "privateuseone") {
    return std::nullopt;  // not renamed
  }
  std::string capitalised(private_name);
  capitalised[0] = absl::ascii_toupper(static_cast<unsigned char>(capitalised[0]));
  for (const Prefix& prefix : kPrefixes) {
    const std::string_view wanted = prefix.name.empty() ? private_name : capitalised;
    if (name.size() == prefix.name.size() + wanted.size() && name.starts_with(prefix.name) &&
        name.ends_with(wanted)) {
      return runtime_key(prefix.functionality, Backend::PrivateUse1);
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(DispatchKey k) {
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
