// The page docs/questions.md: the questions of the program, by themes, which are their files.

#ifndef SWITCHBOARD_TESTS_QUESTIONS_PAGE_H_
#define SWITCHBOARD_TESTS_QUESTIONS_PAGE_H_

#include <string>

namespace sb::questions {

std::string make_page();

}  // namespace sb::questions

#endif  // SWITCHBOARD_TESTS_QUESTIONS_PAGE_H_
