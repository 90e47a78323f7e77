#include <algorithm>
#include <sstream>

#include "base/error.hpp"
#include "draw/render.hpp"

namespace wherry::draw {
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
  return std::ranges::all_of(column.flows,
                             [](const Flow& f) { return f.segments.empty() && f.carried <= 1; });
}

std::string what_it_carries(const Flow& f) {
  if (f.segments.empty()) return " x" + std::to_string(f.carried);
  return (f.combined ? " +[" : " [") + f.segments + "]";
}

void write_column(std::ostream& out, const Column& column, std::size_t digits) {
  const bool single = of_single_blocks(column);
  for (auto f = column.flows.begin(); f != column.flows.end();) {
    const int from = f->from;
    Line line(out, from, digits);
    for (; f != column.flows.end() && f->from == from; ++f)
      line.add((single ? " " : "  ") + padded(f->to, digits) + (single ? "" : what_it_carries(*f)));
  }
}

bool combines(const Picture& picture) {
  return std::ranges::any_of(picture.columns,
                             [](const Column& c) { return std::ranges::any_of(c.flows, &Flow::combined); });
}

void write_signs(std::ostream& out, const Picture& picture) {
  if (picture.before.empty()) return;
  const std::size_t segments = picture.before.front().size();
  out << "the buffer is cut into " << segments << (segments == 1 ? " segment" : " segments");
  if (segments > 1) out << "; [0-3]: segments 0 to 3";
  if (combines(picture)) out << "; +: combined with what the receiver has";
  out << '\n';
}

void write_nodes(std::ostream& out, const topology::Placement& placement) {
  if (placement.nodes() == 1 || placement.nodes() == placement.size()) return;
  for (int node = 0; node < placement.nodes(); ++node) {
    out << "node " << node << ":";
    for (const int rank : placement.members(node)) out << ' ' << rank;
    out << '\n';
  }
}

}  // namespace

std::string render_text(const Caption& caption, const topology::Placement& placement,
                        const Picture& picture) {
  require(placement.size() <= most_drawn, "a picture holds at most 128 ranks; draw fewer");
  std::ostringstream out;
  out << caption.title << '\n' << caption.subtitle << '\n';
  write_signs(out, picture);
  write_nodes(out, placement);
  const std::size_t digits = std::to_string(placement.size() - 1).size();
  for (std::size_t c = 0; c < picture.columns.size(); ++c) {
    const Column& column = picture.columns[c];
    out << '\n'
        << picture.time << ' ' << c + 1 << ": " << messages_in(column) << ", "
        << carried_in(column, picture.carried);
    if (column.window != 0) out << ", at most " << column.window << " under way";
    out << '\n';
    write_column(out, column, digits);
  }
  return std::move(out).str();
}

}  // namespace wherry::draw
