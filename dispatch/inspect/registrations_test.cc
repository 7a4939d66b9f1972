#include "switchboard/dispatch/inspect/registrations.h"

#include "catch2/catch.hpp"
#include "switchboard/dispatch/library.h"

namespace sb {
namespace {

TEST_CASE("the operators with a kernel at exactly a key are listed by name") {
  Dispatcher d;
  Library m(d, Library::Kind::Def, "demo");
  const auto same = [](int64_t n) { return n; };
  for (const char* op : {"b", "a", "c.over"}) {
    m.define(std::string(op) + "(int n) -> int");
    m.impl(op, DispatchKey::CPU, same);
  }
  m.define("d(int n) -> int");
  m.impl("d", DispatchKey::CompositeExplicitAutograd, same);
  m.impl("waits", DispatchKey::CPU, same);  // for a schema
  using Names = std::vector<std::string>;
  CHECK(registrations_at(d, DispatchKey::CPU) == Names{"demo::a", "demo::b", "demo::c.over"});
  CHECK(registrations_at(d, DispatchKey::CompositeExplicitAutograd) == Names{"demo::d"});
  CHECK(registrations_at(d, DispatchKey::CUDA).empty());
}

}  // namespace
}  // namespace sb
