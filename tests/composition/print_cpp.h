// Programs as C++.

#ifndef SWITCHBOARD_TESTS_COMPOSITION_PRINT_CPP_H_
#define SWITCHBOARD_TESTS_COMPOSITION_PRINT_CPP_H_

#include <string>
#include <string_view>

#include "switchboard/tests/composition/program.h"

namespace sb::composition {

// A test case, with the headers that it needs, which says that the program keeps the law under
// these layers. The comment says what is wrong.
std::string test_code(const Program& program, std::string_view layers, const std::string& title,
                      const std::string& comment);

}  // namespace sb::composition

#endif  // SWITCHBOARD_TESTS_COMPOSITION_PRINT_CPP_H_
