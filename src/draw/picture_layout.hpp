// Where everything is in a picture, in pixels.
#pragma once

#include <algorithm>
#include <vector>

#include "draw/picture.hpp"
#include "schedule/arithmetic.hpp"
#include "topology/placement.hpp"

namespace wherry::draw {

/// Lanes of ranks, one below the other; columns of arrows, each followed by the bar charts of what ranks have then.
/// Many columns are set in rows, like lines of text.
class Frame {
 public:
  Frame(const topology::Placement& placement, const Picture& picture)
      : columns_(static_cast<int>(picture.columns.size())),
        lane_(placement.size() <= 40 ? 24 : 14),
        y_of_(static_cast<std::size_t>(placement.size())) {
    if (!picture.before.empty()) make_room_for(picture.before.front().size());
    const int most = has_bar_charts() ? 5 : 8, usual = has_bar_charts() ? 5 : 6;
    rows_ = columns_ <= most ? 1 : schedule::ceil_div(columns_, usual);
    per_row_ = schedule::ceil_div(std::max(columns_, 1), rows_);
    row_ = head + place_lanes(placement);
    // Dense columns need room to tell arrows apart; many columns have few arrows each.
    arrows_ = columns_ == 1   ? std::max(332.0, 14.0 * placement.size() - 28)
              : columns_ <= 4 ? std::max(142.0, 11.0 * placement.size() - 28)
                              : 122;
    if (has_bar_charts()) arrows_ = std::min(arrows_, 260.0);
  }

  int rows() const { return rows_; }
  int row_of(int column) const { return column / per_row_; }
  int first_in(int row) const { return per_row_ * row; }
  int columns_in(int row) const { return std::min(per_row_, columns_ - first_in(row)); }

  double top(int row) const { return caption + row_ * row; }
  double y(int rank, int row) const { return top(row) + head + y_of_[static_cast<std::size_t>(rank)]; }
  double lane() const { return lane_; }

  /// Where arrows begin and end.
  double left(int column) const { return margin() + pitch() * (column % per_row_) + 14; }
  double right(int column) const { return left(column) + arrows_; }
  double middle(int column) const { return (left(column) + right(column)) / 2; }

  /// Whether there are segments to show.
  bool has_bar_charts() const { return bar_chart_ > 0; }
  /// Whether there is room to say which segments arrive.
  bool has_notes() const { return note_ > 0 && lane_ >= 20; }
  double bar_chart_width() const { return bar_chart_; }
  double bar_chart_height() const { return lane_ - 8; }
  /// Where the bar charts after a column begin, and those before the first one of a row.
  double bar_chart(int column) const { return right(column) + 11; }
  double bar_chart_before() const { return names_end + 8; }

  double names() const { return names_end; }
  double margin() const { return names_end + 6 + (has_bar_charts() ? bar_chart_ + 6 : 0); }
  double end(int row) const { return margin() + pitch() * columns_in(row); }
  double width() const { return std::max(end(0) + 24, 620.0); }
  double bottom() const { return top(rows_); }
  double height() const { return bottom() + (has_bar_charts() ? 64 : 44); }

 private:
  static constexpr double caption = 58;
  static constexpr double head = 58;       // above the lanes of a row: columns
  static constexpr double names_end = 90;  // left of the lanes: names of ranks and nodes
  static constexpr double node_gap = 10;

  double pitch() const { return arrows_ + 28 + (has_bar_charts() ? bar_chart_ + 4 + note_ : 0); }

  void make_room_for(std::size_t segments) {
    bar_chart_ = std::clamp(6.0 * static_cast<double>(segments), 16.0, 96.0);
    note_ = segments > 1 ? 54 : 0;
  }

  /// Returns their height.
  double place_lanes(const topology::Placement& placement) {
    double y = 0;
    for (int node = 0; node < placement.nodes(); ++node) {
      for (const int rank : placement.members(node)) {
        y_of_[static_cast<std::size_t>(rank)] = y + lane_ / 2;
        y += lane_;
      }
      if (placement.nodes() < placement.size()) y += node_gap;
    }
    return y;
  }

  int columns_;
  double lane_;
  std::vector<double> y_of_;
  int rows_ = 1;
  int per_row_ = 1;
  double row_ = 0;
  double arrows_ = 0;
  double bar_chart_ = 0;
  double note_ = 0;  // room beside a bar chart for the segments that arrive
};

}  // namespace wherry::draw
