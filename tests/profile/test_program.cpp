#include "profile/program.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace wherry::profile;

namespace {

struct Line {
  std::vector<std::string> arguments;
  std::string name;
};

}  // namespace

TEST_CASE("Python is called by what it runs") {
  const std::string python = "/usr/bin/python3.11";
  const Line lines[] = {
      {{"python", "app.py"}, "app.py"},
      {{"python", "/home/me/app.py", "-m", "4"}, "/home/me/app.py"},
      {{"python", "-u", "-W", "ignore", "-Xdev", "app.py"}, "app.py"},
      {{"python", "--check-hash-based-pycs", "never", "app.py"}, "app.py"},
      {{"python", "-m", "package.tool", "input"}, "package.tool"},
      {{"python", "-um", "package.tool"}, "package.tool"},
      {{"python", "-mpackage"}, "package"},
      {{"python", "-m", "mpi4py", "app.py"}, "app.py"},
      {{"python", "-m", "mpi4py.run", "-m", "package"}, "package"},
      {{"python", "-c", "print(1)", "app.py"}, python},
      {{"python", "-uc", "print(1)"}, python},
      {{"python", "-", "app.py"}, python},
      {{"python", "-m"}, python},
      {{"python"}, python},
      {{}, python},
  };
  for (const Line& line : lines) {
    CAPTURE(line.arguments);
    CHECK(program_name(python, line.arguments) == line.name);
  }
}

TEST_CASE("Other programs are called by their path") {
  const std::vector<std::string> arguments = {"app", "input.py"};
  CHECK(program_name("/opt/app", arguments) == "/opt/app");
  CHECK(program_name("/opt/python/bin/app", arguments) == "/opt/python/bin/app");
  CHECK(program_name("", arguments) == "");
}
