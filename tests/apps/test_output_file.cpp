#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/options.hpp"
#include "support/output_file.hpp"

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

TEST_CASE("a file that is there is not taken for one that was left half written") {
  const Folder folder;
  const std::string path = folder.path / "r.json", other = path + ".partial";
  std::ofstream(other) << "the user's";
  CHECK(why_unwritable(path) == "");
  write_whole(path, "text\n");
  fs::create_directory(folder.path / "taken");
  std::ofstream(folder.path / "taken.partial") << "the user's";
  CHECK_THROWS_AS(write_whole(folder.path / "taken", "text"), std::runtime_error);
  CHECK(text_of(other) == "the user's");
  CHECK(text_of(folder.path / "taken.partial") == "the user's");
  CHECK(folder.files().size() == 4);
}

TEST_CASE("what is open as a file gets the text by its number, and stays open") {
  const Folder folder;
  const std::string path = folder.path / "out";
  std::FILE* const open = std::fopen(path.c_str(), "w");
  std::fputs("before\n", open);
  const std::string number = std::to_string(::fileno(open)), name = "/dev/fd/" + number;
  CHECK(why_unwritable(name) == "");
  write_whole(name, "text\n");
  write_whole("/dev/../proc/self//fd/" + number, "more\n");
  check_writable({{"--json", name}, {"--output", name}, {"--trace", "/dev/null"}, {"--film", "/dev/null"}});
  std::fputs("behind\n", open);
  std::fclose(open);
  CHECK(text_of(path) == "before\ntext\nmore\nbehind\n");
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

TEST_CASE("a name that is too long is refused") {
  const Folder folder;
  for (const std::size_t length : {252, 300})
    CHECK(why_unwritable(folder.path / std::string(length, 'x')).find("File name too long") !=
          std::string::npos);
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

TEST_CASE("one file by two names is one file, whether it is there or not") {
  const Folder folder;
  const std::string plain = folder.path / "same", dotted = folder.path / "." / "same";
  const std::string around = folder.path / "no" / ".." / "same", link = folder.path / "link";
  fs::create_symlink("same", link);
  for (const bool there : {false, true}) {
    if (there) write_whole(plain, "text");
    for (const std::string& other : {dotted, around, link})
      CHECK_THROWS_WITH_AS(check_writable({{"--json", plain}, {"--output", other}}),
                           "--json and --output name the same file; name two", usage_error);
  }
}

TEST_CASE("what is read is not written, by whatever name") {
  const Folder folder;
  const std::string input = folder.path / "graph", link = folder.path / "link", other = folder.path / "other";
  write_whole(input, "0 1\n");
  fs::create_symlink(input, link);
  for (const std::string& same : {input, std::string(folder.path / "." / "graph"), link})
    CHECK_THROWS_WITH_AS(check_writable({{"--json", other}, {"--output", same}}, {"--graph", input}),
                         "--output names the file that --graph reads, which would be lost; name another",
                         usage_error);
  check_writable({{"--json", other}, {"--output", ""}}, {"--graph", input});
  check_writable({{"--json", other}}, {"--graph", ""});
  CHECK(text_of(input) == "0 1\n");
}

TEST_CASE("a symbolic link stays, and what it leads to is replaced") {
  const Folder folder;
  const std::string link = folder.path / "link";
  fs::create_directory(folder.path / "there");
  fs::create_symlink(fs::path("there") / "second", link);
  fs::create_symlink("r.json", folder.path / "there" / "second");
  for (const char* text : {"new", "again"}) {
    CHECK(why_unwritable(link) == "");
    write_whole(link, text);
    CHECK(fs::is_symlink(link));
    CHECK(fs::is_symlink(folder.path / "there" / "second"));
    CHECK(text_of(folder.path / "there" / "r.json") == text);
  }
  CHECK(std::distance(fs::directory_iterator(folder.path / "there"), {}) == 2);
  const std::string round = folder.path / "round";
  fs::create_symlink("round", round);
  CHECK(why_unwritable(round).find("Too many levels of symbolic links") != std::string::npos);
  CHECK_THROWS_AS(write_whole(round, "text"), std::runtime_error);
  CHECK(fs::is_symlink(round));
}

TEST_CASE("a pipe stays, and gets the text") {
  const Folder folder;
  const std::string pipe = folder.path / "pipe", link = folder.path / "link";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  fs::create_symlink("pipe", link);
  for (const std::string& name : {pipe, link}) {
    CHECK(why_unwritable(name) == "");
    std::string text;
    std::thread reader([&] { text = text_of(pipe); });
    write_whole(name, "text\n");
    reader.join();
    CHECK(text == "text\n");
    CHECK(fs::is_fifo(pipe));
  }
  CHECK(folder.files().size() == 2);
}
