#include <algorithm>
#include <sstream>

#include "base/error.hpp"
#include "plan/flows.hpp"
#include "plan/render.hpp"

namespace wherry::plan {
namespace {

constexpr std::size_t line_width = 100;

std::string padded(int number, std::size_t width) {
  std::string digits = std::to_string(number);
  return std::string(width - std::min(width, digits.size()), ' ') + digits;
}

/// "  3 ->  7 x4   11 x4", wrapped under the first receiver.
class Line {
 public:
  Line(std::ostream& out, int from, std::size_t digits) : out_(out) {
    const std::string start = "  " + padded(from, digits) + " ->";
    out_ << start;
    indent_ = at_ = start.size();
  }
  ~Line() { out_ << '\n'; }

  void add(const std::string& text) {
    if (at_ + text.size() > line_width) {
      out_ << '\n' << std::string(indent_, ' ');
      at_ = indent_;
    }
    out_ << text;
    at_ += text.size();
  }

 private:
  std::ostream& out_;
  std::size_t indent_ = 0;
  std::size_t at_ = 0;
};

/// A column without "x1" everywhere is easier to read.
bool of_single_blocks(const Column& column) {
  return std::all_of(column.flows.begin(), column.flows.end(), [](const Flow& f) { return f.blocks == 1; });
}

void write_column(std::ostream& out, const Column& column, std::size_t digits) {
  const bool single = of_single_blocks(column);
  for (auto f = column.flows.begin(); f != column.flows.end();) {
    const int from = f->from;
    Line line(out, from, digits);
    for (; f != column.flows.end() && f->from == from; ++f)
      line.add((single ? " " : "  ") + padded(f->to, digits) +
               (single ? "" : " x" + std::to_string(f->blocks)));
  }
}

void write_nodes(std::ostream& out, const Shape& shape) {
  if (shape.nodes() == 1 || shape.nodes() == shape.size()) return;
  for (int node = 0; node < shape.nodes(); ++node) {
    out << "node " << node << ":";
    for (const int rank : shape.members(node)) out << ' ' << rank;
    out << '\n';
  }
}

}  // namespace

std::string render_text(const Caption& caption, const Shape& shape, std::span<const Schedule> schedules) {
  require(shape.size() <= most_drawn, "a picture holds at most 128 ranks; draw fewer");
  std::ostringstream out;
  out << caption.title << '\n' << caption.subtitle << '\n';
  write_nodes(out, shape);
  const std::size_t digits = std::to_string(shape.size() - 1).size();
  const std::vector<Column> columns = columns_of_flows(schedules);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    out << "\nphase " << c + 1 << ": " << columns[c].messages() << ", " << columns[c].blocks();
    if (columns[c].window != 0) out << ", at most " << columns[c].window << " under way";
    out << '\n';
    write_column(out, columns[c], digits);
  }
  return std::move(out).str();
}

}  // namespace wherry::plan
