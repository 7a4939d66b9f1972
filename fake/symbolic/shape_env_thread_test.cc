// Run under ThreadSanitizer: several threads, one environment.

#include <atomic>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/fake/symbolic/shape_env.h"

namespace sb {
namespace {

TEST_CASE("threads make symbols and guard in one environment", "[fake][symbolic][threads]") {
  const auto env = ShapeEnv::create();
  const SymInt shared = env->create_symint(64, "x.size(0)");
  std::atomic<int> wrong = 0;
  const auto work = [&](int thread) {
    for (int i = 2; i < 200; ++i) {
      SymReason reason(thread == 0 ? "first" : "second");
      const SymInt mine = env->create_symint(i, str_cat("t", thread, ".size(", i, ")"));
      if (!bool(mine + shared > i)) ++wrong;
      if (i % 7 == 0 && !bool(mine * 2 == 2 * i)) ++wrong;
      if (hint(mine) != i) ++wrong;
      const SymInt u = env->create_unbacked_symint();
      check(u < mine);
      if (bool(u >= mine)) ++wrong;
      env->version();
    }
  };
  std::thread second(work, 1);
  work(0);
  second.join();
  CHECK(wrong == 0);
  CHECK(shared.maybe_int() == std::nullopt);
  CHECK(env->symbols().size() == 1 + 197 + 2 * 198);  // 64 is a duck of `shared`
  for (const Guard& g : env->guards())
    CHECK((g.origin.reason == "first" || g.origin.reason == "second"));
}

}  // namespace
}  // namespace sb
