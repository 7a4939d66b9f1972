// The files of the page, as they were when the program was built: page_parts.cc is made of them.

#ifndef SWITCHBOARD_TOOLS_PAGE_PAGE_PARTS_H_
#define SWITCHBOARD_TOOLS_PAGE_PAGE_PARTS_H_

#include <string_view>

namespace sb::page {

extern const std::string_view kPageHtml;    // with @@css@@, @@js@@ and @@data@@ in it
extern const std::string_view kPageCss;     // page.css
extern const std::string_view kPageScript;  // all of *.js, in the order of BUILD.bazel

}  // namespace sb::page

#endif  // SWITCHBOARD_TOOLS_PAGE_PAGE_PARTS_H_
