#include "switchboard/dispatch/inspect/table_dump.h"

#include <regex>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

using K = DispatchKey;
using Catch::Contains;

// With the fallbacks of a new dispatcher and whatever `fill` registers.
template <class F>
TableDump dump_of(F&& fill) {
  Dispatcher dispatcher;
  Library m(dispatcher, Library::Kind::Def, "demo");
  fill(m);
  return dump_tables(dispatcher);
}

Tensor same(const Tensor& x) { return x; }

std::string without_lines(const std::string& text) {
  return std::regex_replace(text, std::regex(R"(\.cc:\d+)"), ".cc:N");
}

std::string diff_text(const TableDump& before, const TableDump& after) {
  return without_lines(to_string(diff_tables(before, after)));
}

const std::string kSmall =
    "switchboard tables\t1\n"
    "op\tdemo::f\tdemo::f(Tensor x) -> Tensor\n"
    "slot\tdemo::f\tAutogradOther\tambiguous autogradother\tAutogradOther\tnone\t\n"
    "slot\tdemo::f\tCPU\tmath kernel\tCompositeImplicitAutograd\tkernel\tf.cc:3\n"
    "slot\tdemo::f\tAutogradCPU\tbackend fallback\tAutogradCPU\tfallthrough\tg.cc:4\n"
    "end\t1\t3\n";

std::string error_of(const std::string& text) {
  try {
    parse_table_dump(text, "a.txt");
  } catch (const ValueError& error) {
    return error.what();
  }
  return "nothing";
}

std::string error_with(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  const size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return error_of(text.replace(at, from.size(), to));
}

TEST_CASE("a dump holds every slot that a rule fills") {
  const TableDump dump = dump_of([](Library& m) {
    m.define("f(Tensor x) -> Tensor");
    m.impl("f", K::CPU, &same);
    m.impl("f", K::SparseCPU, &same);
    m.impl("f", K::CompositeImplicitAutograd, &same);
  });
  REQUIRE(dump.size() == 1);
  const DumpedOp& f = dump.at("demo::f");
  CHECK(f.schema == "demo::f(Tensor x) -> Tensor");
  CHECK(f.slots.at(K::CPU).rule == ResolutionRule::Kernel);
  CHECK_THAT(f.slots.at(K::CPU).place, Contains("dispatch/inspect/table_dump_test.cc:"));
  CHECK(f.slots.at(K::CUDA).source == K::CompositeImplicitAutograd);
  CHECK(f.slots.at(K::BackendSelect).content == DumpedSlot::Content::Fallthrough);
  CHECK(f.slots.at(K::AutogradCPU).content == DumpedSlot::Content::Kernel);
  CHECK(f.slots.at(K::AutogradOther).content == DumpedSlot::Content::None);
  CHECK_FALSE(f.slots.contains(K::Functionalize));
}

TEST_CASE("a dump reads back as it was written") {
  TableDump dump = dump_of([](Library& m) {
    m.define("f(Tensor x) -> Tensor");
    m.define("g.out(Tensor x, *, Tensor(a!) out, str mode='a\\nb') -> Tensor(a!)");
    m.impl("f", K::CPU, &same);
    m.impl("f", K::Meta, fallthrough);
  });
  dump["demo::f"].slots[K::CPU].place = "a\tb\\n\n.cc:1";
  CHECK(parse_table_dump(to_string(dump), "x") == dump);
  CHECK(to_string(parse_table_dump(kSmall, "x")) == kSmall);
  CHECK(parse_table_dump(to_string(TableDump()), "x").empty());
}

TEST_CASE("equal dumps do not differ") {
  const TableDump dump = parse_table_dump(kSmall, "x");
  CHECK(diff_tables(dump, dump).empty());
  CHECK(to_string(diff_tables(dump, dump)) == "");
}

TEST_CASE("a difference names operators that came and went, schemas and slots that changed") {
  const TableDump before = dump_of([](Library& m) {
    m.define("gone(Tensor x) -> Tensor");
    m.define("f(Tensor x) -> Tensor");
    m.define("same(Tensor x) -> Tensor");
    m.impl("f", K::CPU, &same);
  });
  const TableDump after = dump_of([](Library& m) {
    m.define("new(Tensor x) -> Tensor");
    m.define("f(Tensor y) -> Tensor");
    m.define("same(Tensor x) -> Tensor");
    m.impl("f", K::Meta, &same);
    m.impl("f", K::CUDA, &same);
    m.impl("f", K::Autograd, fallthrough);
  });
  CHECK_THAT(diff_text(before, after),
             Catch::StartsWith("- demo::gone(Tensor x) -> Tensor\n"
                               "+ demo::new(Tensor x) -> Tensor\n"
                               "~ demo::f\n"
                               "    schema\n"
                               "      - demo::f(Tensor x) -> Tensor\n"
                               "      + demo::f(Tensor y) -> Tensor\n"
                               "    CPU\n"
                               "      - kernel dispatch/inspect/table_dump_test.cc:N [kernel]\n"
                               "      + nothing\n"
                               "    CUDA\n"
                               "      - nothing\n"
                               "      + kernel dispatch/inspect/table_dump_test.cc:N [kernel]\n"));
  CHECK_THAT(
      diff_text(before, after),
      Contains(
          "fallthrough dispatch/inspect/table_dump_test.cc:N [autograd kernel, from Autograd]"));
  CHECK_THAT(diff_text(before, after), !Contains("demo::same"));
}

TEST_CASE("slots that changed in the same way are one entry") {
  const TableDump before = dump_of([](Library& m) { m.define("f(Tensor x) -> Tensor"); });
  const TableDump after = dump_of([](Library& m) {
    m.define("f(Tensor x) -> Tensor");
    m.impl("f", K::CompositeExplicitAutograd, &same);
  });
  const TableDiff diff = diff_tables(before, after);
  REQUIRE(diff.changed.size() == 1);
  // Meta had its default, the others nothing.
  REQUIRE(diff.changed[0].slots.size() == 2);
  CHECK(diff.changed[0].slots[0].before == "nothing");
  CHECK(diff.changed[0].slots[0].keys.size() > 20);
  CHECK(diff.changed[0].slots[1].keys == std::vector<K>{K::Meta});
}

TEST_CASE("a kernel that moved within its file is the same if lines are ignored") {
  const TableDump before = parse_table_dump(kSmall, "x");
  TableDump after = before;
  after["demo::f"].slots[K::CPU].place = "f.cc:30";
  CHECK_FALSE(diff_tables(before, after).empty());
  CHECK(diff_tables(before, after, /*ignore_lines=*/true).empty());
  after["demo::f"].slots[K::CPU].place = "h.cc:3";
  CHECK_FALSE(diff_tables(before, after, /*ignore_lines=*/true).empty());
}

TEST_CASE("a dump that is no dump is refused with its line") {
  CHECK(error_of("") == "a.txt:1: expected 'switchboard tables?1', got ''");
  CHECK_THAT(error_of("\x7f\x45LF"), Catch::StartsWith("a.txt:1: expected 'switchboard"));
  CHECK_THAT(error_with("tables\t1", "tables\t2"), Contains("a.txt:1: "));
  CHECK(error_with("op\t", "opp\t") == "a.txt:2: expected 'op', 'slot' or 'end', got 'opp'");
  CHECK(error_with("op\tdemo::f\t", "op\t") == "a.txt:2: expected 3 fields, got 2");
  CHECK(error_with("op\tdemo::f\t", "op\t\t") ==
        "a.txt:2: expected an operator's name, got nothing");
  CHECK(error_with("slot\tdemo::f\tCPU", "slot\tdemo::g\tCPU") ==
        "a.txt:4: a slot of 'demo::g' that does not follow its operator");
  CHECK(error_with("\tCPU\t", "\tCPV\t") == "a.txt:4: unknown dispatch key 'CPV'");
  CHECK(error_with("\tCPU\t", "\tAutograd\t") ==
        "a.txt:4: no slot has the dispatch key 'Autograd'");
  CHECK(error_with("math kernel", "moth kernel") == "a.txt:4: unknown rule 'moth kernel'");
  CHECK(error_with("\tCompositeImplicitAutograd", "\tNo") == "a.txt:4: unknown dispatch key 'No'");
  CHECK(error_with("\tkernel\t", "\tkern\t") ==
        "a.txt:4: expected 'kernel', 'fallthrough' or 'none', got 'kern'");
  CHECK(error_with("f.cc:3", "") == "a.txt:4: expected a place, got ''");
  CHECK(error_with("none\t", "none\there") == "a.txt:3: expected no place, got 'here'");
  CHECK(error_with("f.cc:3", "f\\x") == "a.txt:4: expected \\t, \\n or \\\\ after a backslash");
  CHECK(error_with("f.cc:3", "f\\") == "a.txt:4: expected \\t, \\n or \\\\ after a backslash");
  CHECK(error_with("\tAutogradCPU\tb", "\tCPU\tb") ==
        "a.txt:5: the slot 'CPU' of 'demo::f' is here twice");
  CHECK(error_with("end\t", "op\tdemo::f\tagain\nend\t") ==
        "a.txt:6: operator 'demo::f' is here twice");
  CHECK(error_with("end\t1\t3", "end\t1\t4") ==
        "a.txt:6: the end counts '1' operators and '4' slots; there are 1 and 3");
  CHECK(error_with("end\t1\t3\n", "") == "a.txt:6: expected a line 'end'; the file was cut short");
}

TEST_CASE("a dump that was cut anywhere is refused, and a changed byte is an error or shows") {
  for (size_t length = 0; length < kSmall.size(); ++length) {
    CAPTURE(length);
    CHECK(error_of(kSmall.substr(0, length)) != "nothing");
  }
  for (size_t i = 0; i < kSmall.size(); ++i) {
    CAPTURE(i);
    for (const char c : {'\0', '\1', '\t', '\n', '\\', 'x', '\xff'}) {
      std::string text = kSmall;
      if (text[i] == c) continue;
      text[i] = c;
      if (error_of(text) == "nothing")
        CHECK(parse_table_dump(text, "b") != parse_table_dump(kSmall, "a"));
    }
  }
  CHECK(error_of(kSmall + "x") == "a.txt:6: there is more behind the end");
  // Names of a hostile file neither rewrite a terminal nor flood it.
  const std::string hostile = error_with("\tCPU\t", "\t\x1b[2J" + std::string(100'000, 'x') + "\t");
  CHECK(hostile.size() < 200);
  CHECK_THAT(hostile, !Contains("\x1b"));
}

}  // namespace
}  // namespace sb
