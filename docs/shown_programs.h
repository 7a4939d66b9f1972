// Pages that show programs, and what these print.

#ifndef SWITCHBOARD_DOCS_SHOWN_PROGRAMS_H_
#define SWITCHBOARD_DOCS_SHOWN_PROGRAMS_H_

#include <string>
#include <vector>

#include "switchboard/docs/markdown.h"

namespace sb::docs {

// "README.md", "docs/dispatcher.md": from the root.
const std::vector<std::string>& pages_with_programs();

// The sources that a section of a page shows, which are those below examples/ that it links:
// "docs/examples/keys.cc".
std::vector<std::string> sources_of(const std::string& page, const Section& section);

// What the program of a source prints. Throws std::runtime_error, with that, if it fails.
std::string output_of(const std::string& source);

}  // namespace sb::docs

#endif  // SWITCHBOARD_DOCS_SHOWN_PROGRAMS_H_
