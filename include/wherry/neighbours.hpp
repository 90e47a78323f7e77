// The name of neighbors.hpp until version 0.1.
#pragma once

#include <wherry/neighbors.hpp>  // IWYU pragma: export
