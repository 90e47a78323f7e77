// Messages of all ranks in the columns of a picture.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "plan/schedule.hpp"

namespace wherry::plan {

/// One message: `from` sends `blocks` blocks to `to` in column `column`.
struct Flow {
  int column;
  int from;
  int to;
  int blocks;
};

/// What happens in one column.
struct Column {
  std::vector<Flow> flows;  // by sender, then in posting order
  int window = 0;

  /// "3 messages per rank", "1-5 messages per rank"; over the ranks that send.
  std::string messages() const;
  /// "4 blocks each", "1-4 blocks each".
  std::string blocks() const;
};

std::vector<Column> columns_of_flows(std::span<const Schedule> schedules);

}  // namespace wherry::plan
