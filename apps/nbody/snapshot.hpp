// Bodies in text files, exactly: a snapshot is also what a run goes on from.
//
//   # nbody step=100 dt=0.001 eps=0.01 integrator=leapfrog
//   m,x,y,z,vx,vy,vz
//   0.5,1,0,0,0,1,0
//
// Lines that begin with # are comments; the one that begins with "# nbody" says where a run was. Numbers have as many
// digits as it takes to read back the same bits.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "nbody/bodies.hpp"

namespace nbody {

/// Bodies that cannot be read or computed with. The message names the file, the line, what is wrong and what to do.
struct input_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Where a run is, and what must not change if it is to go on as if it had never stopped.
struct RunState {
  long step = 0;
  double dt = 0, eps = 0;
  std::string integrator;
  bool operator==(const RunState&) const = default;
};

struct Snapshot {
  Bodies bodies;
  std::optional<RunState> state;
};

std::string snapshot_text(const Bodies& bodies, const RunState& state);

/// Throws input_error. name: of the file, for messages.
Snapshot parse_snapshot(const std::string& text, const std::string& name);

/// Reads a file, also one of GADGET's (gadget.hpp). Throws input_error.
Snapshot read_snapshot(const std::string& path);

/// What to write to a file of this name: GADGET's format if it ends so, else text.
std::string file_of(const std::string& path, const Bodies& bodies, const RunState& state);

/// Why a body cannot be computed with; empty if it can.
std::string why_unfit(const Bodies& bodies, std::size_t body);

}  // namespace nbody
