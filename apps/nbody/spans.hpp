// Where the time of each rank went, span by span, and as a file for chrome://tracing and ui.perfetto.dev.
#pragma once

#include <string>
#include <vector>

namespace nbody {

/// gather and reduce are collectives, of which a part is waiting for the last rank; wait is for single messages.
enum class Doing : int { compute, gather, reduce, send, wait };
constexpr int kinds_of_doing = 5;
const char* name_of(Doing doing);

/// Who takes part in a collective: all ranks, or a part of them with a number above 0.
constexpr int everybody = 0;

struct Span {
  Doing doing = Doing::compute;
  int group = everybody;
  double begin_s = 0, end_s = 0;
  bool operator==(const Span&) const = default;
};
using Spans = std::vector<Span>;

/// Of each rank its spans in order. A collective's time until the last rank of its group has come becomes a span of its
/// own: wait. The k-th collective of a kind in a group is the same call on all its ranks.
std::vector<Spans> with_waits(const std::vector<Spans>& ranks);

/// Trace Event Format ("X" events; times in microseconds): one process for each rank.
std::string chrome_trace(const std::vector<Spans>& ranks, const std::string& title);

}  // namespace nbody
