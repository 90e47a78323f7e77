// The file: whole or not at all, shared, and clear about what went wrong.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tuning/tuning_store.hpp"

using namespace wherry::tuning;
namespace fs = std::filesystem;

namespace {

/// A directory of this test's own, removed with it.
class Directory {
 public:
  Directory() {
    std::string name = (fs::temp_directory_path() / "wherry-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Directory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string operator/(const char* name) const { return (path_ / name).string(); }
  std::size_t entries() const {
    std::size_t n = 0;
    for ([[maybe_unused]] const auto& e : fs::directory_iterator(path_)) ++n;
    return n;
  }

 private:
  fs::path path_;
};

TuningTable one(unsigned bucket, const std::string& strategy = "mesh") {
  TuningTable table;
  table.put({.key = {"m", "mpi", 4, 1, "MPI_Alltoall", bucket},
             .strategy = strategy,
             .seconds = 1,
             .native_seconds = 2,
             .trials = 3});
  return table;
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Runs f in a process of its own, so that limits and locks stay there; returns its answer.
template <class F>
int in_child(F f) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(f());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

}  // namespace

TEST_CASE("what is saved is loaded; directories are made") {
  const Directory dir;
  const std::string path = dir / "a/b c/tuning";
  CHECK(save(path, one(1)) == "");
  const TuningRead back = load(path);
  CHECK(back.state == TuningState::good);
  CHECK(back.problem.empty());
  CHECK(back.table.rows().size() == 1);
}

TEST_CASE("a missing file is an empty table and no problem") {
  const Directory dir;
  CHECK(load(dir / "none").state == TuningState::missing);
  CHECK(load(dir / "no/where").problem.empty());
}

TEST_CASE("a save merges with what is there and leaves only the file and its lock") {
  const Directory dir;
  CHECK(save(dir / "t", one(1)) == "");
  CHECK(save(dir / "t", one(2)) == "");
  CHECK(save(dir / "t", one(2, "bruck")) == "");
  const TuningTable table = load(dir / "t").table;
  CHECK(table.rows().size() == 2);
  CHECK(table.find({"m", "mpi", 4, 1, "MPI_Alltoall", 2})->strategy == "bruck");
  CHECK(dir.entries() == 2);
}

TEST_CASE("a damaged file is reported by name, ignored, and replaced by the next save") {
  const Directory dir;
  write(dir / "t", format(one(1)).substr(0, 30));
  const TuningRead damaged = load(dir / "t");
  CHECK(damaged.state == TuningState::damaged);
  CHECK(damaged.problem.starts_with(dir / "t"));
  CHECK(save(dir / "t", one(2)) == "");
  CHECK(load(dir / "t").table.rows().size() == 1);
}

TEST_CASE("files of others are never overwritten") {
  const Directory dir;
  for (const char* text : {"my thesis", "wherry-tuning 99\nnewer\n"}) {
    write(dir / "t", text);
    CHECK(load(dir / "t").state == TuningState::foreign);
    CHECK(save(dir / "t", one(1)) != "");
    CHECK(read(dir / "t") == text);
  }
}

TEST_CASE("directories, devices and pipes are no tuning files") {
  const Directory dir;
  CHECK(load(dir / ".").state == TuningState::foreign);
  CHECK(load("/dev/null").state == TuningState::foreign);
  REQUIRE(::mkfifo((dir / "pipe").c_str(), 0600) == 0);
  CHECK(load(dir / "pipe").state == TuningState::foreign);
  CHECK(save(dir / "pipe", one(1)) != "");
}

TEST_CASE("a place that cannot be written is a clear error") {
  const Directory dir;
  write(dir / "file", "");
  const std::string problem = save(dir / "file/tuning", one(1));
  CHECK(problem.starts_with(dir / "file/tuning"));
  CHECK(problem.find("WHERRY_TUNING_FILE") != std::string::npos);
  CHECK(save("/proc/wherry/tuning", one(1)) != "");
}

TEST_CASE("without room nothing is half-written") {
  const Directory dir;
  REQUIRE(save(dir / "t", one(1)) == "");
  const std::string before = read(dir / "t");
  const int answer = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit little = {16, 16};
    ::setrlimit(RLIMIT_FSIZE, &little);
    return save(dir / "t", one(2)).empty() ? 0 : 42;
  });
  CHECK(answer == 42);
  CHECK(read(dir / "t") == before);
  CHECK(dir.entries() == 2);
}

TEST_CASE("a lock that is never given up is reported, and the file is left as it was") {
  const Directory dir;
  REQUIRE(save(dir / "t", one(1)) == "");
  const int lock = ::open((dir / "t.lock").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(::flock(lock, LOCK_EX) == 0);
  CHECK(save(dir / "t", one(2)).find("locked") != std::string::npos);
  ::close(lock);
  CHECK(load(dir / "t").table.rows().size() == 1);
}

TEST_CASE("processes that save at the same time lose nothing") {
  const Directory dir;
  constexpr int writers = 6, saves = 5;
  pid_t children[writers];
  for (int w = 0; w < writers; ++w) {
    children[w] = ::fork();
    if (children[w] != 0) continue;
    int failures = 0;
    for (int s = 0; s < saves; ++s)
      failures += save(dir / "t", one(static_cast<unsigned>(w * saves + s))) != "";
    ::_exit(failures);
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  CHECK(load(dir / "t").table.rows().size() == writers * saves);
  CHECK(dir.entries() == 2);
}

TEST_CASE("a symbolic link stays a link, and the rights of the file stay") {
  const Directory dir;
  REQUIRE(save(dir / "real", one(1)) == "");
  fs::permissions(dir / "real", fs::perms(0644));
  fs::create_symlink("real", dir / "link");
  CHECK(save(dir / "link", one(2)) == "");
  CHECK(fs::is_symlink(dir / "link"));
  CHECK(load(dir / "real").table.rows().size() == 2);
  CHECK(fs::status(dir / "real").permissions() == fs::perms(0644));
}

TEST_CASE("a lock that is a symbolic link is not followed") {
  const Directory dir;
  fs::create_symlink(dir / "victim", dir / "t.lock");
  CHECK(save(dir / "t", one(1)) != "");
  CHECK_FALSE(fs::exists(dir / "victim"));
}
