#include "pme/exchange.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "support/mpi/comm.hpp"

namespace pme {
namespace {

bool one_group(const Transpose& transpose) {
  return std::ranges::adjacent_find(transpose.groups, std::ranges::not_equal_to()) == transpose.groups.end();
}

MPI_Comm split(int group, MPI_Comm comm) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(comm, group, apps::rank_of(comm), &part);
  return part;
}

}  // namespace

Group::Group(const Transpose& transpose, MPI_Comm comm) : comm_(comm), owned_(!one_group(transpose)) {
  const int mine = transpose.groups[static_cast<std::size_t>(apps::rank_of(comm))];
  if (owned_) comm_ = split(mine, comm);
  for (int rank = 0; rank < apps::size_of(comm); ++rank)
    if (transpose.groups[static_cast<std::size_t>(rank)] == mine) members_.push_back(rank);
}

Group::~Group() {
  if (owned_) MPI_Comm_free(&comm_);
}

Exchange::Exchange(const Group& group, int rank, const Layout& from, const Layout& to)
    : group_(group),
      rank_(rank),
      out_(side(rank, from, to, group.members())),
      in_(side(rank, to, from, group.members())),
      arriving_(in_.box.points()) {
  sending_.reserve(out_.box.points());
}

Exchange::Side Exchange::side(int rank, const Layout& mine, const Layout& theirs,
                              const std::vector<int>& members) {
  Side side{.box = mine.boxes[static_cast<std::size_t>(rank)], .pieces = {}, .counts = {}, .begins = {}};
  for (const int member : members) {
    side.pieces.push_back(shared(side.box, theirs.boxes[static_cast<std::size_t>(member)]));
    side.counts.push_back(static_cast<int>(side.pieces.back().points()));
  }
  side.begins.resize(members.size());
  std::exclusive_scan(side.counts.begin(), side.counts.end(), side.begins.begin(), 0);
  return side;
}

void Exchange::run(std::span<const Complex> from, std::span<Complex> to, const apps::Collectives& with,
                   apps::Timings& timings) {
  sending_.clear();
  for (const Box& piece : out_.pieces) pack(from, out_.box, piece, sending_);
  timings.time([&] {
    with.alltoallv(sending_.data(), out_.counts.data(), out_.begins.data(), MPI_C_DOUBLE_COMPLEX,
                   arriving_.data(), in_.counts.data(), in_.begins.data(), MPI_C_DOUBLE_COMPLEX,
                   group_.comm());
  });
  timings.note(with.strategy());
  std::span<const Complex> rest = arriving_;
  for (const Box& piece : in_.pieces) rest = rest.subspan(unpack(rest, piece, in_.box, to));
}

double Exchange::message_bytes(MPI_Comm comm) const {
  std::uint64_t points = 0, messages = 0;
  for (std::size_t i = 0; i < out_.counts.size(); ++i) {
    if (group_.members()[i] == rank_ || out_.counts[i] == 0) continue;
    points += static_cast<std::uint64_t>(out_.counts[i]);
    ++messages;
  }
  points = apps::reduced(points, MPI_SUM, comm);
  messages = apps::reduced(messages, MPI_SUM, comm);
  return messages == 0 ? 0 : static_cast<double>(points * sizeof(Complex)) / static_cast<double>(messages);
}

}  // namespace pme
