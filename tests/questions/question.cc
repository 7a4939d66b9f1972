#include "switchboard/tests/questions/question.h"

namespace sb::questions {

std::vector<Question>& all_questions() {
  static auto* const questions = new std::vector<Question>;
  return *questions;
}

}  // namespace sb::questions
