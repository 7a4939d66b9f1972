#include "switchboard/io/exported/zip_reader.h"

#include "switchboard/io/exported/test_support.h"

namespace sb::io {
namespace {

using Catch::Contains;
using Catch::StartsWith;

std::string open_error(const std::string& zip) {
  return error_of([&] { ZipReader::from_memory(zip, "a.zip"); });
}

TEST_CASE("a stored archive gives its records back", "[io][zip]") {
  const std::string zip = make_zip({{"a", "hello"}, {"b/c", std::string(100'000, 'x')}, {"e", ""}});
  const ZipReader reader = ZipReader::from_memory(zip, "a.zip");
  CHECK(reader.names() == std::vector<std::string>{"a", "b/c", "e"});
  CHECK(reader.find_size("b/c") == 100'000);
  CHECK_FALSE(reader.find_size("c").has_value());
  CHECK(reader.read("a", 5) == "hello");
  CHECK(reader.read("b/c", 1 << 20) == std::string(100'000, 'x'));
  CHECK(reader.read("e", 0) == "");

  const TemporaryFolder folder;
  write_file(folder / "a.zip", zip);
  CHECK(ZipReader::open(folder / "a.zip").read("a", 5) == "hello");
}

TEST_CASE("reading past a limit or a missing record is an error", "[io][zip]") {
  const std::string zip = make_zip({{"a", "hello"}});
  const ZipReader reader = ZipReader::from_memory(zip, "a.zip");
  CHECK(error_of([&] { reader.read("a", 4); }) ==
        "ValueError: a.zip: 'a': has 5 bytes; at most 4 are read");
  CHECK(error_of([&] { reader.read("z", 4); }) == "ValueError: a.zip: no record 'z'");
  char four[4];
  CHECK_THAT(error_of([&] { reader.read_into("a", absl::MakeSpan(four)); }),
             Contains("has 5 bytes; 4 were asked for"));
}

TEST_CASE("what is no zip archive is refused", "[io][zip]") {
  CHECK(open_error("") == "ValueError: a.zip: not a zip archive: it is empty");
  CHECK_THAT(open_error("hello"), StartsWith("ValueError: a.zip: not a zip archive"));
  CHECK_THAT(open_error(std::string(100'000, 'P')), StartsWith("ValueError: a.zip: not a zip"));

  const TemporaryFolder folder;
  write_file(folder / "empty", "");
  CHECK_THAT(error_of([&] { ZipReader::open(folder / "empty"); }), Contains("the file is empty"));
  CHECK_THAT(error_of([&] { ZipReader::open(folder.path()); }), Contains("is a folder"));
  CHECK_THAT(error_of([&] { ZipReader::open(folder / "none"); }),
             StartsWith("RuntimeError") && Contains("No such file"));
}

TEST_CASE("a compressed entry is refused", "[io][zip]") {
  const std::string zip =
      make_zip({{"a", "x"}, {"big", std::string(10'000'000, '\0'), ZIP_CM_DEFLATE}});
  CHECK(zip.size() < 100'000);  // a bomb
  CHECK_THAT(open_error(zip), Contains("'big': is compressed (method 8)"));
}

TEST_CASE("an encrypted entry is refused", "[io][zip]") {
  const std::string zip = make_zip({{"a", "hello, this is long enough"}});
  CHECK_THAT(open_error(with_directory_field(zip, 0, 8, uint16_t{1})), Contains("is encrypted"));
}

TEST_CASE("an entry larger than its archive is refused before it is read", "[io][zip]") {
  std::string zip = make_zip({{"a", "hello"}});
  zip = with_directory_field(zip, 0, 20, uint32_t{0x7fffffff});
  zip = with_directory_field(zip, 0, 24, uint32_t{0x7fffffff});
  CHECK_THAT(open_error(zip), Contains("'a': declares 2147483647 bytes, more than the archive of"));
}

TEST_CASE("an entry whose two sizes differ is refused", "[io][zip]") {
  const std::string zip = with_directory_field(make_zip({{"a", "hello"}}), 0, 24, uint32_t{6});
  CHECK_THAT(open_error(zip), Contains("is stored as 5 bytes but declares 6"));
}

TEST_CASE("entries that are larger together than their archive are refused", "[io][zip]") {
  std::vector<ZipEntry> entries{{"data", std::string(10'000, 'x')}};
  for (int i = 0; i < 10; ++i) entries.push_back({str_cat("alias", i), "y"});
  std::string zip = make_zip(entries);
  for (int i = 1; i <= 10; ++i)
    for (size_t field : {20, 24}) zip = with_directory_field(zip, i, field, uint32_t{10'000});
  for (int i = 1; i <= 10; ++i) zip = with_directory_field(zip, i, 42, uint32_t{0});
  CHECK_THAT(open_error(zip), Contains("'alias0': declares 10000 bytes, more than"));
}

TEST_CASE("two entries of one name are refused", "[io][zip]") {
  std::string zip = make_zip({{"first", "1"}, {"other", "2"}});
  for (int i = 0; i < 2; ++i) zip = replaced(zip, "other", "first");
  CHECK_THAT(open_error(zip), Contains("'first': is there twice"));
}

TEST_CASE("a damaged record is refused when it is read", "[io][zip]") {
  const std::string zip = make_zip({{"a", "hello"}, {"b", "world"}});
  const std::string damaged = replaced(zip, "hello", "hellO");
  const ZipReader reader = ZipReader::from_memory(damaged, "a.zip");
  CHECK_THAT(error_of([&] { reader.read("a", 5); }),
             StartsWith("ValueError: a.zip: 'a': is damaged: ") && Contains("CRC"));
  CHECK(reader.read("b", 5) == "world");
}

TEST_CASE("names with control characters are escaped in messages", "[io][zip]") {
  std::string zip = make_zip({{"bell", "hello"}});
  for (int i = 0; i < 2; ++i) zip = replaced(zip, "bell", "b\x1b[2");
  zip = with_directory_field(zip, 0, 24, uint32_t{6});
  CHECK_THAT(open_error(zip), Contains("'b\\x1b[2'"));
}

}  // namespace
}  // namespace sb::io
