// The page that shows tables, calls and memory: one file of HTML that needs nothing else.

#ifndef SWITCHBOARD_TOOLS_PAGE_PAGE_H_
#define SWITCHBOARD_TOOLS_PAGE_PAGE_H_

#include <string>
#include <vector>

#include "switchboard/dispatch/inspect/table_dump.h"

namespace sb::page {

// A recording that comes with the page.
struct PageRecording {
  std::string name;   // as it is shown
  std::string bytes;  // of the file
};

// The page. Names, schemas and places may be anything.
std::string make_page(const TableDump& tables, const std::vector<PageRecording>& recordings);

}  // namespace sb::page

#endif  // SWITCHBOARD_TOOLS_PAGE_PAGE_H_
