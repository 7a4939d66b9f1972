// Numbers as source text that gives the same bits.

#ifndef SWITCHBOARD_IO_RECORDING_NUMBER_TEXT_H_
#define SWITCHBOARD_IO_RECORDING_NUMBER_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "switchboard/core/dtype.h"

namespace sb::io {

// How elements of a dtype are written: the C++ type of a number, its size, and whether it is a
// real number. Several may make an element.
struct NumberType {
  std::string cpp;
  size_t bytes;
  bool real;
};
// For these elements: as bits where one of them is no finite number.
NumberType number_type(DType dtype, std::string_view bytes);
std::string numbers_text(const NumberType& type, std::string_view bytes);

// With a point or an exponent, or in the language's words for what is not finite.
std::string real_text(double v, const char* infinity, const char* nan);

// A string literal, of C++ and of Python alike.
std::string string_literal(std::string_view text);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_RECORDING_NUMBER_TEXT_H_
