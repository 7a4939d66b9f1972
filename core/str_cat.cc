#include "switchboard/core/str_cat.h"

namespace sb::internal {

void append_part(std::string* text, std::string_view part) { text->append(part); }
void append_part(std::string* text, int64_t part) { absl::StrAppend(text, part); }
void append_part(std::string* text, uint64_t part) { absl::StrAppend(text, part); }
void append_part(std::string* text, double part) { absl::StrAppend(text, part); }

}  // namespace sb::internal
