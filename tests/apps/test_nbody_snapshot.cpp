#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

#include "nbody/models.hpp"
#include "nbody/snapshot.hpp"

using namespace nbody;

namespace {

std::string snapshot_problem(const std::string& text) {
  try {
    parse_snapshot(text, "stars.csv");
  } catch (const input_error& error) {
    return error.what();
  }
  return "";
}

const std::string header = "m,x,y,z,vx,vy,vz\n";

}  // namespace

TEST_CASE("a snapshot reads back to the same bits") {
  Bodies bodies = scattered(100, 9);
  bodies.m[0] = 0;
  bodies.place[0][0] = -0.0;
  bodies.velocity[1][3] = std::numeric_limits<double>::denorm_min();
  const RunState state{.step = 123456789012, .dt = 0.1, .eps = 1.0 / 3, .integrator = "yoshida4"};
  const Snapshot read = parse_snapshot(snapshot_text(bodies, state), "it");
  CHECK(read.bodies == bodies);
  CHECK(std::signbit(read.bodies.place[0][0]));
  CHECK(read.state == state);
}

TEST_CASE("spaces, comments, empty lines and line ends of other systems are no matter") {
  const Snapshot read =
      parse_snapshot("# stars\r\n\r\n m,x,y,z,vx,vy,vz \r\n 1, 2,3,4 ,5,6,7\r\n\n# end\n", "it");
  CHECK(read.bodies.size() == 1);
  CHECK(read.bodies.place.at(0) == std::array<double, 3>{2, 3, 4});
  CHECK(read.bodies.velocity.at(0) == std::array<double, 3>{5, 6, 7});
  CHECK_FALSE(read.state);
}

TEST_CASE("what is wrong with a file is told with its line") {
  CHECK(snapshot_problem("") == "stars.csv: no line 'm,x,y,z,vx,vy,vz'; write it above the bodies");
  CHECK(snapshot_problem(header) == "stars.csv: no bodies; write a line for each below 'm,x,y,z,vx,vy,vz'");
  CHECK(snapshot_problem("x,y,z,m\n") ==
        "stars.csv:1: 'x,y,z,m' instead of 'm,x,y,z,vx,vy,vz'; name the columns so, in this order");
  CHECK(snapshot_problem("# two\n" + header + "1,0,0,0,0,0,0\n-2,0,0,0,0,0,0\n") ==
        "stars.csv:4: m is -2; a mass must not be negative");
  CHECK(snapshot_problem(header + "1,0,nan,0,0,0,0\n") == "stars.csv:2: y is nan; it must be finite");
  CHECK(snapshot_problem(header + "inf,0,0,0,0,0,0\n") == "stars.csv:2: m is inf; it must be finite");
  CHECK(snapshot_problem(header + "1,0,0,zero,0,0,0\n") == "stars.csv:2: z is 'zero', which is no number");
  CHECK(snapshot_problem(header + "1,0,0,0,0,0,\n") == "stars.csv:2: vz is '', which is no number");
  CHECK(snapshot_problem(header + "1,0,0\n") == "stars.csv:2: 3 fields instead of 7 (m,x,y,z,vx,vy,vz)");
  CHECK(snapshot_problem(header + "1,1e120,0,0,0,0,0\n") ==
        "stars.csv:2: x is 1e+120; write lengths in a unit that keeps them below 1e100");
  CHECK(snapshot_problem("# nbody stop=3\n" + header) ==
        "stars.csv:1: 'stop' is none of step, dt, eps, integrator, bodies");
  CHECK(snapshot_problem("# nbody step=1 step=2\n" + header) == "stars.csv:1: 'step' is there twice");
  CHECK(snapshot_problem("# nbody step=1 eps=0 integrator=euler\n" + header) ==
        "stars.csv:1: no 'dt='; write the line as --output does");
  const std::string rest = " eps=0 integrator=euler bodies=2\n" + header + "1,0,0,0,0,0,0\n";
  CHECK(snapshot_problem("# nbody step=1 dt=0" + rest) == "stars.csv:1: dt is 0; it must be more than zero");
  CHECK(snapshot_problem("# nbody step=1 dt=1" + rest) ==
        "stars.csv: 1 bodies instead of 2; it was not copied or written whole");
  CHECK(snapshot_problem("# nbody step=1 dt=1" + rest + "2,1,0,0,0,0,0.25") ==
        "stars.csv:4: the line breaks off; the file was not copied or written whole");
  CHECK(snapshot_problem("# nbody dt=fast\n" + header) == "stars.csv:1: dt is 'fast', which is no number");
  CHECK(snapshot_problem("# nbody step=-1\n" + header) == "stars.csv:1: step is -1; it must not be negative");
  for (const std::string step : {"1.5", "1e+300"})
    CHECK(snapshot_problem("# nbody step=" + step + "\n" + header) ==
          "stars.csv:1: step is " + step + "; it must be a whole number up to 9e+15");
}

TEST_CASE("a file that is not there, or is none, is named") {
  CHECK_THROWS_WITH_AS(read_snapshot("/"), "cannot read '/': it is a folder; name a file of bodies",
                       input_error);
  CHECK_THROWS_WITH_AS(read_snapshot("/no/such/stars.csv"),
                       "cannot read '/no/such/stars.csv': No such file or directory; name a file of bodies",
                       input_error);
}
