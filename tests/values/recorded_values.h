// Values as the files of data/ write them: see README.md.

#ifndef SWITCHBOARD_TESTS_VALUES_RECORDED_VALUES_H_
#define SWITCHBOARD_TESTS_VALUES_RECORDED_VALUES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb::test {

using Json = nlohmann::json;

// The value that a file writes. Throws sb::Error for a name that is unknown here.
IValue value_of(const Json& json);
// The value as a file would write it. Of a tensor the elements too, unless it has none to show.
Json json_of(const IValue& value);
// Whether what was recorded is that value. Floating-point elements may differ by rounding; a
// recorded tensor without "data" only says dtype and shape.
bool matches(const Json& recorded, const Json& value);

// The lines of a file of data/, each one JSON value.
std::vector<Json> lines_of(const std::string& file);

// The value of a number: line N of values.jsonl, from 0.
const Json& numbered_value(size_t n);
// The values of several: "3 11" are two of them.
Json numbered_values(const std::string& numbers);
// The numbers in a text: "3 5-7" are 3, 5, 6 and 7.
std::vector<size_t> numbers_in(const std::string& text);

}  // namespace sb::test

#endif  // SWITCHBOARD_TESTS_VALUES_RECORDED_VALUES_H_
