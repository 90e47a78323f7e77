// The adjacency lists of any vertices, wherever they are.
#pragma once

#include <span>
#include <vector>

#include "lcc/graph.hpp"
#include "remote/reader.hpp"

namespace lcc {

/// What a rank reads the graph with. Both readers are of the ranks' Parts: `offsets`, and `neighbors`.
struct GraphReaders {
  remote::Reader& offsets;
  remote::Reader& neighbors;
};

class Lists {
 public:
  Lists(const Partition& partition, int rank, const Part& mine, const GraphReaders& readers)
      : partition_(partition), rank_(rank), mine_(mine), readers_(readers) {}

  /// Brings the lists of these vertices: all offsets together, and then all neighbors. A list's score is its length:
  /// long lists are those that many vertices ask for.
  void fetch(std::span<const Vertex> vertices);

  /// The list of vertices[i] of the last fetch, until the next.
  std::span<const Vertex> operator[](std::size_t i) const { return lists_[i]; }

 private:
  /// A list that is elsewhere: its place among the vertices, and in the memory of its owner.
  struct Remote {
    std::size_t index;
    int owner;
    std::uint64_t begin_end[2];
    std::uint64_t length() const { return begin_end[1] - begin_end[0]; }
  };

  void find(std::span<const Vertex> vertices);
  void read_offsets(std::span<const Vertex> vertices);
  void read_neighbors();

  const Partition& partition_;
  int rank_;
  const Part& mine_;
  GraphReaders readers_;
  std::vector<std::span<const Vertex>> lists_;
  std::vector<Remote> remote_;
  std::vector<Vertex> buffer_;
};

/// The links of every vertex of `mine`: what coefficient() takes. batch: lists that are brought together.
std::vector<std::uint64_t> links(const Part& mine, Lists& lists, std::size_t batch);

}  // namespace lcc
