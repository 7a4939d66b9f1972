#include "switchboard/tools/page/page.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/tools/page/page_data.h"
#include "switchboard/tools/page/page_parts.h"

namespace sb::page {
namespace {

// Text between quotes of an attribute.
std::string attribute(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

}  // namespace

std::string make_page(const TableDump& tables, const std::vector<PageRecording>& recordings) {
  std::string data = str_cat("<script type=\"application/json\" id=\"data-tables\">",
                             tables_json(tables), "</script>\n");
  for (const PageRecording& recording : recordings) {
    data += str_cat("<script type=\"text/plain\" class=\"recording\" data-name=\"",
                    attribute(recording.name), "\">", absl::Base64Escape(recording.bytes),
                    "</script>\n");
  }
  // In one pass: what stands in the data is not looked at.
  return absl::StrReplaceAll(std::string(kPageHtml), {{"@@css@@", std::string(kPageCss)},
                                                      {"@@js@@", std::string(kPageScript)},
                                                      {"@@data@@", data}});
}

}  // namespace sb::page
