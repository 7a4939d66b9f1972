#include "switchboard/tools/page/page.h"

#include <algorithm>
#include <random>

#include "absl/strings/str_split.h"
#include "catch2/catch.hpp"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/safetensors/json_document.h"
#include "switchboard/tools/page/page_data.h"

namespace sb::page {
namespace {

using Catch::Contains;

TableDump table_of(const std::string& name, const std::string& place) {
  TableDump tables;
  DumpedOp& op = tables[name];
  op.schema = name + "(Tensor self) -> Tensor";
  op.slots[DispatchKey::CPU] = {ResolutionRule::Kernel, DispatchKey::CPU,
                                DumpedSlot::Content::Kernel, place};
  return tables;
}

size_t count(std::string_view text, std::string_view part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST_CASE("the page's tables are JSON that says what a dump says", "[tools][page]") {
  const io::JsonDocument json =
      io::JsonDocument::parse(tables_json(table_of("demo::f", "demo.cc:7")), "tables");
  CHECK(json.root().at("names").elements().at(0).to_string() == "demo::f");
  CHECK(json.root().at("signatures").elements().at(0).to_string() == "(Tensor self) -> Tensor");
  const auto cells = json.root().at("cells").elements(), texts = json.root().at("texts").elements();
  REQUIRE(cells.size() == 2 * 5);
  const auto text = [&](size_t field) {
    return texts.at(cells.at(5 + field).to_int()).to_string();
  };
  CHECK(text(0) == "kernel");
  CHECK(text(1) == "");
  CHECK(text(2) == "kernel");
  CHECK(text(3) == "demo.cc:7");
  CHECK(text(4) == "A kernel is registered at this very key.");
}

TEST_CASE("keys are in use where somebody means them by themselves", "[tools][page]") {
  TableDump tables = table_of("demo::f", "demo.cc:7");
  tables["demo::f"].slots[DispatchKey::CUDA] = {ResolutionRule::MathKernel,
                                                DispatchKey::CompositeImplicitAutograd,
                                                DumpedSlot::Content::Kernel, "demo.cc:8"};
  const io::JsonDocument json = io::JsonDocument::parse(tables_json(tables), "tables");
  for (const io::JsonValue& key : json.root().at("keys").elements())
    CHECK(key.at("in_use").to_bool() == (key.at("name").to_string() == "CPU"));
}

TEST_CASE("names from outside end no script and open no element", "[tools][page]") {
  const std::string hostile[] = {"</script><script>alert(1)</script>",
                                 "<!--<script>",
                                 "\"'`&amp;\\",
                                 "line\nfeed\r\t",
                                 "\xe2\x80\xa8\xf0\x9f\x98\x80",
                                 "not utf-8 \xff\xfe",
                                 "@@data@@ @@js@@ @@css@@",
                                 std::string("nul\0", 4)};
  const std::string plain = make_page(table_of("demo::f", "demo.cc:7"), {{"run.sbr", "x"}});
  for (const std::string& name : hostile) {
    const TableDump tables = table_of(name, name);
    const std::string json = tables_json(tables);
    CHECK(json.find('<') == json.npos);
    CHECK(std::ranges::all_of(json, [](char c) { return c >= 0x20 && c < 0x7f; }));
    io::JsonDocument::parse(json, "tables");
    const std::string page = make_page(tables, {{name, "x"}});
    for (const std::string_view part : {"<script", "</script", "<!--", "<style", "<"})
      CHECK(count(page, part) == count(plain, part));
  }
}

TEST_CASE("2,000 operators by all keys take at most 2 MB", "[tools][page]") {
  // Each operator has kernels at places of its own, and every key is filled.
  TableDump tables;
  for (int i = 0; i < 2000; ++i) {
    const std::string name = str_cat("aten::some_operator_", i, ".overload");
    DumpedOp& op = tables[name];
    op.schema =
        name + "(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)";
    for_each_runtime_key([&](DispatchKey key) {
      const int own = functionality_of(key) == DispatchKey::Dense ? 0 : 1;
      op.slots[key] = {own ? ResolutionRule::AutogradKernel : ResolutionRule::Kernel,
                       own ? DispatchKey::Autograd : key, DumpedSlot::Content::Kernel,
                       str_cat("ops/family_", i % 40, "/file_", i % 7, ".cc:", i + own)};
    });
  }
  const std::string page = make_page(tables, {});
  INFO(page.size());
  CHECK(page.size() <= 2'000'000);
}

TEST_CASE("the page asks for nothing from elsewhere", "[tools][page]") {
  const std::string page = make_page({}, {});
  CHECK_THAT(page, Contains("default-src 'none'"));
  for (const std::string_view part : {"http://", "https://", "src=\"", "@import", "url(", "fetch("})
    CHECK(count(page, part) == 0);
}

TEST_CASE("the page puts no text into the document as markup", "[tools][page]") {
  const std::string page = make_page({}, {});
  for (const std::string_view part :
       {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("})
    CHECK(count(page, part) == 0);
}

}  // namespace
}  // namespace sb::page
