#include "switchboard/tools/command_line.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"

namespace sb::tools {
namespace {

using Catch::Contains;

const CommandSpec kSpec = {"run", "MODEL", 1,
                           1,     "Runs.", {{"device", "D", "where"}, {"trace", "", "tell"}}};

CommandLine parse(const std::vector<std::string>& words) {
  return CommandLine::parse(kSpec, words);
}

std::string error_of(const std::vector<std::string>& words) {
  try {
    parse(words);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "nothing";
}

TEST_CASE("flags stand before, between and after arguments", "[tools][command_line]") {
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"--device", "cpu", "m.pt2", "--trace"},
                                             {"m.pt2", "--trace", "--device=cpu"},
                                             {"--trace", "--device=cpu", "--", "m.pt2"}}) {
    const CommandLine line = parse(words);
    CHECK(line.arguments() == std::vector<std::string>{"m.pt2"});
    CHECK(line.get("device", "dummy") == "cpu");
    CHECK(line.has("trace"));
  }
  CHECK(parse({"m"}).get("device", "dummy") == "dummy");
  CHECK(parse({"--", "--trace"}).arguments() == std::vector<std::string>{"--trace"});
  CHECK(parse({"--help"}).has("help"));
}

TEST_CASE("a flag may have a letter", "[tools][command_line]") {
  const CommandSpec spec = {"page", "", 0, 0, "", {{"out", "F", "the file", false, 'o'}}};
  CHECK(CommandLine::parse(spec, std::vector<std::string>{"-o", "a.html"}).get("out", "") ==
        "a.html");
  CHECK_THAT(spec.help(), Contains("-o, --out F"));
}

TEST_CASE("every command has --json, which it may give a value that may lack",
          "[tools][command_line]") {
  CHECK(parse({"m", "--json"}).has("json"));
  CHECK_THAT(error_of({"m", "--json=1"}), Contains("--json takes no value"));
  CHECK_THAT(kSpec.help(), Contains("--json"));
  CommandSpec spec = kSpec;
  spec.flags.push_back({"json", "[F]", "or to F"});
  const auto json_of = [&](const std::vector<std::string>& words) {
    return CommandLine::parse(spec, words).find("json");
  };
  CHECK(json_of({"m", "--json", "a.json"}) == "a.json");
  CHECK(json_of({"m", "--json=a.json"}) == "a.json");
  CHECK(json_of({"--json", "m"}) == "");
  CHECK(json_of({"m", "--json", "--trace"}) == "");
  CHECK(json_of({"m"}) == std::nullopt);
  CHECK_THAT(spec.help(), Contains("--json [F]"));
}

TEST_CASE("a wrong command line is refused by name", "[tools][command_line]") {
  CHECK_THAT(error_of({"m", "--depth", "3"}), Contains("unknown flag '--depth'"));
  CHECK_THAT(error_of({"m", "-v"}), Contains("unknown flag '-v'"));
  CHECK_THAT(error_of({"m", "--device"}), Contains("--device: expected D, got nothing"));
  CHECK_THAT(error_of({"m", "--trace=1"}), Contains("--trace takes no value"));
  CHECK_THAT(error_of({"m", "--trace", "--trace"}), Contains("given twice"));
  CHECK_THAT(error_of({"m", "n"}), Contains("unexpected argument 'n'"));
  CHECK_THAT(error_of({}), Contains("expected MODEL"));
}

TEST_CASE("numbers of flags are checked", "[tools][command_line]") {
  const CommandSpec spec = {"run", "", 0, 0, "", {{"atol", "X", ""}, {"seed", "N", ""}}};
  const auto with = [&](const std::string& word) { return CommandLine::parse(spec, {word}); };
  CHECK(with("--atol=1e-3").get_tolerance("atol", 1) == 1e-3);
  CHECK(with("--seed=7").get_tolerance("atol", 0.5) == 0.5);
  for (const char* bad : {"--atol=-1", "--atol=nan", "--atol=inf", "--atol=", "--atol=1x"})
    CHECK_THROWS_AS(with(bad).get_tolerance("atol", 1), ValueError);
  CHECK(with("--seed=18446744073709551615").find_seed("seed") == UINT64_MAX);
  CHECK(!with("--atol=1").find_seed("seed"));
  for (const char* bad : {"--seed=-1", "--seed=1.5", "--seed=x"})
    CHECK_THROWS_AS(with(bad).find_seed("seed"), ValueError);
}

TEST_CASE("--help shows every flag", "[tools][command_line]") {
  CHECK_THAT(kSpec.help(), Contains("usage: sb run MODEL [flags]") && Contains("--device D") &&
                               Contains("--trace") && Contains("--help"));
}

}  // namespace
}  // namespace sb::tools
