#include "draw/svg.hpp"

#include <algorithm>
#include <string>

#include "draw/picture.hpp"
#include "schedule/segments/ranges.hpp"

namespace wherry::draw {
namespace {

using News = Bar::News;

struct Look {
  News news;
  const char* colour;
  double opacity;
  std::string_view meaning;
};

constexpr Look looks[] = {
    {News::none, svg::ink, 0.5, "had before"},
    {News::replaced, svg::replaced_colour, 1, "just arrived"},
    {News::combined, svg::combined_colour, 1, "just combined"},
};

/// The bars of one kind of news in one bar chart, as the path of an SVG. Bars that are too thin to be told apart are
/// one.
class Bars {
 public:
  Bars(std::ostream& out, const Frame& frame, const BarChart& bar_chart)
      : out_(out),
        bar_chart_(bar_chart),
        height_(frame.bar_chart_height()),
        each_(frame.bar_chart_width() / static_cast<double>(bar_chart.size())),
        gap_(each_ >= 4 ? 1 : 0) {}

  void draw(News news, double x, double y) {
    for (std::size_t first = 0, end = 0; first < bar_chart_.size(); first = end) {
      end = end_of_bar(first);
      const Bar& bar = bar_chart_[first];
      if (bar.news != news || bar.share == 0) continue;
      const double high = std::max(1.5, std::min(bar.share, 1.0) * height_);
      out_ << 'M' << x + each_ * static_cast<double>(first) + gap_ / 2 << ',' << y + height_ / 2 << "v"
           << -high << 'h' << each_ * static_cast<double>(end - first) - gap_ << 'v' << high << 'z';
    }
  }

 private:
  std::size_t end_of_bar(std::size_t first) const {
    const auto same = [&](const Bar& c) {
      return c.share == bar_chart_[first].share && c.news == bar_chart_[first].news;
    };
    std::size_t end = first + 1;
    while (gap_ == 0 && end < bar_chart_.size() && same(bar_chart_[end])) ++end;
    return end;
  }

  std::ostream& out_;
  const BarChart& bar_chart_;
  double height_;
  double each_;
  double gap_;
};

void draw_outlines(std::ostream& out, const Frame& frame, std::size_t ranks, double x, int row) {
  const double high = frame.bar_chart_height();
  out << "<path fill=\"" << svg::ink << "\" fill-opacity=\"0.07\" stroke=\"" << svg::ink
      << "\" stroke-opacity=\"0.4\" stroke-width=\"0.7\" d=\"";
  for (int rank = 0; rank < static_cast<int>(ranks); ++rank)
    out << 'M' << x - 0.5 << ',' << frame.y(rank, row) - high / 2 - 0.5 << 'h' << frame.bar_chart_width() + 1
        << 'v' << high + 1 << 'h' << -frame.bar_chart_width() - 1 << 'z';
  out << "\"/>\n";
}

void draw_all(std::ostream& out, const Frame& frame, std::span<const BarChart> bar_charts, double x,
              int row) {
  draw_outlines(out, frame, bar_charts.size(), x, row);
  for (const Look& look : looks) {
    out << "<path fill=\"" << look.colour << "\" fill-opacity=\"" << look.opacity << "\" d=\"";
    for (std::size_t rank = 0; rank < bar_charts.size(); ++rank)
      Bars(out, frame, bar_charts[rank]).draw(look.news, x, frame.y(static_cast<int>(rank), row));
    out << "\"/>\n";
  }
}

/// As it was, whatever had just come.
std::vector<BarChart> without_news(std::vector<BarChart> bar_charts) {
  for (BarChart& bar_chart : bar_charts)
    for (Bar& bar : bar_chart) bar.news = News::none;
  return bar_charts;
}

/// The segments that have just come, or how many, if they are many.
std::string note_on(const BarChart& bar_chart) {
  constexpr std::size_t most_letters = 10;
  schedule::Ranges fresh;
  int count = 0;
  for (int segment = 0; segment < static_cast<int>(bar_chart.size()); ++segment) {
    if (bar_chart[static_cast<std::size_t>(segment)].news == News::none) continue;
    fresh.add(segment, 1);
    ++count;
  }
  const std::string text = text_of(fresh.list());
  return text.size() <= most_letters ? text : std::to_string(count) + " segm.";
}

bool has_news(const Picture& picture, News news) {
  const auto in_chart = [=](const BarChart& s) {
    return std::ranges::any_of(s, [=](const Bar& c) { return c.news == news; });
  };
  return std::ranges::any_of(picture.columns,
                             [&](const Column& c) { return std::ranges::any_of(c.bar_charts, in_chart); });
}

void draw_notes(std::ostream& out, const Frame& frame, std::span<const BarChart> bar_charts, int column) {
  for (std::size_t rank = 0; rank < bar_charts.size(); ++rank)
    if (const std::string note = note_on(bar_charts[rank]); !note.empty())
      svg::label(out, frame.bar_chart(column) + frame.bar_chart_width() + 5,
                 frame.y(static_cast<int>(rank), frame.row_of(column)) + 3.5, note, "font-size=\"10\"");
}

}  // namespace

void draw_bar_charts(std::ostream& out, const Picture& picture, const Frame& frame) {
  if (picture.before.empty()) return;
  for (int row = 0; row < frame.rows(); ++row) {
    const int first = frame.first_in(row);
    const auto& before =
        first == 0 ? picture.before : picture.columns[static_cast<std::size_t>(first - 1)].bar_charts;
    draw_all(out, frame, without_news(before), frame.bar_chart_before(), row);
  }
  for (int c = 0; c < static_cast<int>(picture.columns.size()); ++c) {
    const std::vector<BarChart>& bar_charts = picture.columns[static_cast<std::size_t>(c)].bar_charts;
    draw_all(out, frame, bar_charts, frame.bar_chart(c), frame.row_of(c));
    if (frame.has_notes()) draw_notes(out, frame, bar_charts, c);
  }
}

void explain_bar_charts(std::ostream& out, const Picture& picture, double x, double y) {
  if (picture.before.empty()) return;
  const bool reduces = has_news(picture, News::combined);
  const std::string_view bars =
      reduces ? "bars: the segments of a rank; the higher, the more ranks' data is in it:"
              : "bars: the segments that a rank has:";
  svg::label(out, x, y, bars, "font-size=\"11\"");
  x += 10 + 5.5 * static_cast<double>(bars.size());
  for (const Look& look : looks) {
    if (look.news != News::none && !has_news(picture, look.news)) continue;
    out << "<rect x=\"" << x << "\" y=\"" << y - 9 << "\" width=\"7\" height=\"11\" fill=\"" << look.colour
        << "\" fill-opacity=\"" << look.opacity << "\"/>\n";
    svg::label(out, x + 11, y, look.meaning, "font-size=\"11\"");
    x += 27 + 6.0 * static_cast<double>(look.meaning.size());
  }
}

}  // namespace wherry::draw
