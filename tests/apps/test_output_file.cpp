#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <vector>

#include "common/options.hpp"
#include "common/output_file.hpp"

using namespace apps;
namespace fs = std::filesystem;

namespace {

/// A folder of its own, gone at the end.
struct Folder {
  Folder() : path(fs::temp_directory_path() / ("wherry-apps-" + std::to_string(std::random_device{}()))) {
    fs::create_directory(path);
  }
  ~Folder() { fs::remove_all(path); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path)) names.push_back(entry.path().filename());
    return names;
  }
  fs::path path;
};

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a file is replaced as a whole, with nothing left beside it") {
  const Folder folder;
  const std::string path = folder.path / "r.json";
  CHECK(why_unwritable(path) == "");
  CHECK(folder.files().empty());
  write_whole(path, "long text\n");
  write_whole(path, "short\n");
  CHECK(text_of(path) == "short\n");
  CHECK(why_unwritable(path) == "");
  CHECK(text_of(path) == "short\n");
  CHECK(folder.files() == std::vector<std::string>{"r.json"});
}

TEST_CASE("what cannot be written is named, and nothing is left behind") {
  const Folder folder;
  const std::string missing = folder.path / "no" / "r.json";
  CHECK(why_unwritable(missing) ==
        "cannot write '" + missing +
            "': No such file or directory; name a file in a folder that can be written");
  CHECK(why_unwritable(folder.path).find("it is a folder") != std::string::npos);
  CHECK_THROWS_AS(write_whole(missing, "text"), std::runtime_error);
  fs::create_directory(folder.path / "taken");
  CHECK_THROWS_AS(write_whole(folder.path / "taken", "text"), std::runtime_error);
  CHECK(folder.files() == std::vector<std::string>{"taken"});
}

TEST_CASE("files that options name are two where two are named, and can be written") {
  const Folder folder;
  const std::string one = folder.path / "one", two = folder.path / "two",
                    missing = folder.path / "no" / "one";
  check_writable({{"--json", one}, {"--output", two}, {"--film", ""}, {"--trace", ""}});
  CHECK_THROWS_WITH_AS(check_writable({{"--json", one}, {"--output", two}, {"--trace", one}}),
                       "--json and --trace name the same file; name two", usage_error);
  CHECK_THROWS_AS(check_writable({{"--json", one}, {"--output", missing}}), usage_error);
  CHECK(folder.files().empty());
}
