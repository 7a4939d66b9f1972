#include "switchboard/core/error.h"

#include "catch2/catch.hpp"
#include "switchboard/core/str_cat.h"

namespace sb {
namespace {

TEST_CASE("a failed check throws its kind with the parts joined", "[core][error]") {
  const std::string_view name = "dim";
  CHECK_NOTHROW([&] { SB_CHECK(true, "not ", name); }());
  CHECK_THROWS_AS([&] { SB_CHECK_INDEX(false, name, " ", 3); }(), IndexError);
  CHECK_THROWS_WITH([&] { SB_CHECK_TYPE(false, name, " ", 3); }(), "dim 3");
}

TEST_CASE("an error with context keeps its kind", "[core][error]") {
  const auto with_context = [](const Error& error) { rethrow_with_context(error, "add: "); };
  CHECK_THROWS_AS(with_context(IndexError("x")), IndexError);
  CHECK_THROWS_AS(with_context(TypeError("x")), TypeError);
  CHECK_THROWS_AS(with_context(ValueError("x")), ValueError);
  CHECK_THROWS_AS(with_context(NotImplementedError("x")), NotImplementedError);
  CHECK_THROWS_AS(with_context(RuntimeError("x")), RuntimeError);
  CHECK_THROWS_WITH(with_context(RuntimeError("x")), "add: x");
  CHECK(ValueError("x").kind() == "ValueError");
}

}  // namespace
}  // namespace sb
