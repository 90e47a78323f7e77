// Bodies in the snapshot format of GADGET (format 1: V. Springel, User guide for GADGET-2, 2005, section 6), which many
// programs of astronomy read and write.
#pragma once

#include <string>
#include <string_view>

#include "nbody/bodies.hpp"

namespace nbody {

/// Whether a file that begins so may be one: its first record has 256 bytes.
bool looks_like_gadget(std::string_view begin);

/// All particles, of every kind, in their order. Throws input_error; name: of the file, for messages.
Bodies parse_gadget(std::string_view file, const std::string& name);

/// In double precision, as particles of kind 1, at this time.
std::string gadget_text(const Bodies& bodies, double time);

}  // namespace nbody
