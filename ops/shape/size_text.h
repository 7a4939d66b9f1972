// Sizes as text, for the messages of rules by_size.h.

#ifndef SWITCHBOARD_OPS_SHAPE_SIZE_TEXT_H_
#define SWITCHBOARD_OPS_SHAPE_SIZE_TEXT_H_

#include <string>

#include "switchboard/core/str_cat.h"
#include "switchboard/core/symbols/sym_int.h"

namespace sb {

inline std::string size_text(int64_t size) { return str_cat(size); }
inline std::string size_text(const SymInt& size) { return size.to_string(); }

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SHAPE_SIZE_TEXT_H_
