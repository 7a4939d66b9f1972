#include "switchboard/autograd/grad_mode.h"

#include <stdexcept>
#include <thread>

#include "catch2/catch.hpp"

namespace sb {
namespace {

TEST_CASE("gradients are on by default and off inside a NoGradGuard") {
  CHECK(is_grad_enabled());
  {
    NoGradGuard off;
    CHECK_FALSE(is_grad_enabled());
    GradModeGuard on(true);
    CHECK(is_grad_enabled());
  }
  CHECK(is_grad_enabled());
}

TEST_CASE("the guard ends with an exception") {
  try {
    NoGradGuard off;
    throw std::runtime_error("out of here");
  } catch (const std::exception&) {
  }
  CHECK(is_grad_enabled());
}

TEST_CASE("every thread has a mode of its own") {
  NoGradGuard off;
  bool elsewhere = false;
  std::thread([&] { elsewhere = is_grad_enabled(); }).join();
  CHECK(elsewhere);
}

}  // namespace
}  // namespace sb
