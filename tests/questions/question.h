// Tricky questions, each with PyTorch's answer beside ours. A question is a test that proves our
// answer, and a paragraph of docs/questions.md:
//
//   SB_QUESTION("An overload is called after its library is gone. What happens?",
//               .pytorch = "An internal assertion.", .here = "NotImplementedError.",
//               .better = "The error says what is missing.") {
//     CHECK(error_of([&] { op(x); }) == "NotImplementedError: ...");
//   }
//
// Where both answer alike there is one answer, `.both`. PyTorch's are those of 2.14.1, asked.

#ifndef SWITCHBOARD_TESTS_QUESTIONS_QUESTION_H_
#define SWITCHBOARD_TESTS_QUESTIONS_QUESTION_H_

#include <string_view>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/source_location.h"

namespace sb::questions {

struct Answers {
  std::string_view both = {};
  std::string_view pytorch = {}, here = {}, better = {};
};

// One answer, or two and a reason.
constexpr bool is_complete(const Answers& a) {
  const bool differ = !a.pytorch.empty() && !a.here.empty() && !a.better.empty();
  const bool any = !a.pytorch.empty() || !a.here.empty() || !a.better.empty();
  return a.both.empty() ? differ : !any;
}

struct Question {
  std::string_view asked;
  Answers answers;
  SourceLocation where;
};

// Those of the program, in no order.
std::vector<Question>& all_questions();

struct AddQuestion {
  AddQuestion(std::string_view asked, const Answers& answers,
              SourceLocation where = SourceLocation::current()) {
    all_questions().push_back({asked, answers, where});
  }
};

}  // namespace sb::questions

#define SB_QUESTION(asked, ...)                                                                  \
  static_assert(::sb::questions::is_complete({__VA_ARGS__}), "one answer, or two and a reason"); \
  static const ::sb::questions::AddQuestion INTERNAL_CATCH_UNIQUE_NAME(question)(asked,          \
                                                                                 {__VA_ARGS__}); \
  TEST_CASE(asked)

#endif  // SWITCHBOARD_TESTS_QUESTIONS_QUESTION_H_
