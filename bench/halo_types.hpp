// Grids of two dimensions dealt out to ranks, and their halos: packed by hand or by derived datatypes, exchanged by
// point-to-point calls, a neighborhood collective or persistent requests.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "calls.hpp"
#include "measure.hpp"

namespace bench {

inline MPI_Datatype type_of(double) { return MPI_DOUBLE; }
inline MPI_Datatype type_of(float) { return MPI_FLOAT; }
inline MPI_Datatype type_of(unsigned char) { return MPI_UNSIGNED_CHAR; }

enum class Neighbors { four, eight };
enum class Types { vectors, subarrays };
enum class Calling { point_to_point, neighborhood, persistent };

/// A torus of ranks, row-major.
struct Decomposition {
  MPI_Comm comm;
  int rank, rows, columns, row, column;

  int at(int down, int right) const {
    return (row + down + rows) % rows * columns + (column + right + columns) % columns;
  }
};

inline Decomposition decompose(MPI_Comm comm) {
  const int rank = rank_of(comm);
  int dims[2] = {0, 0};
  MPI_Dims_create(size_of(comm), 2, dims);
  // The longer side across, so that two ranks exchange columns, which are strided.
  return {comm, rank, dims[1], dims[0], rank / dims[0], rank % dims[0]};
}

/// A rank's cells, with a border of one cell around them; cell (0, 0) is the first that is its own.
template <class Cell>
class Grid {
 public:
  Grid(const Decomposition& where, int rows, int columns)
      : rows(rows),
        columns(columns),
        first_row(where.row * rows),
        first_column(where.column * columns),
        cells_(static_cast<std::size_t>(rows + 2) * static_cast<std::size_t>(columns + 2)) {}
  Grid(const Decomposition& where, int edge) : Grid(where, edge, edge) {}

  Cell& at(int r, int c) { return cells_[index(r, c)]; }
  const Cell& at(int r, int c) const { return cells_[index(r, c)]; }
  Cell* data() { return cells_.data(); }
  int width() const { return columns + 2; }

  template <class Body>
  void each(Body&& body) const {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) body(r, c);
  }
  /// Its border as if it met itself.
  void wrap() {
    for (int r = 0; r < rows; ++r) {
      at(r, -1) = at(r, columns - 1);
      at(r, columns) = at(r, 0);
    }
    for (int c = -1; c <= columns; ++c) {
      at(-1, c) = at(rows - 1, c);
      at(rows, c) = at(0, c);
    }
  }
  bool same_cells(const Grid& other) const {
    bool same = true;
    each([&](int r, int c) { same = same && at(r, c) == other.at(r, c); });
    return same;
  }

  int rows, columns, first_row, first_column;  // the latter of the whole grid

 private:
  std::size_t index(int r, int c) const {
    return static_cast<std::size_t>(r + 1) * static_cast<std::size_t>(columns + 2) +
           static_cast<std::size_t>(c + 1);
  }
  std::vector<Cell> cells_;
};

/// A part of a grid; its begin may be in the border.
struct Region {
  int row, column, rows, columns;
};

struct Direction {
  int down, right;
};

/// The cells that go to the neighbor in a direction; or those of the border that come from there.
template <class Cell>
Region region(const Grid<Cell>& grid, Direction to, bool border) {
  const auto begin = [border](int side, int extent) {
    if (side == 0) return 0;
    return side < 0 ? (border ? -1 : 0) : (border ? extent : extent - 1);
  };
  return {begin(to.down, grid.rows), begin(to.right, grid.columns), to.down == 0 ? grid.rows : 1,
          to.right == 0 ? grid.columns : 1};
}

/// Sends or receives one message of a halo.
struct Message {
  char* at;
  int count;
  MPI_Datatype type;
  int peer, tag;
};

template <class Cell>
class Halo {
 public:
  Halo(Grid<Cell>& grid, const Decomposition& where, Neighbors neighbors, Types types, Calling calling,
       bool packs, const Calls& mpi)
      : grid_(grid), mpi_(mpi), calling_(calling), types_(types), packs_(packs), comm_(where.comm) {
    for (int down = -1; down <= 1; ++down)
      for (int right = -1; right <= 1; ++right)
        if ((down != 0 || right != 0) && (neighbors == Neighbors::eight || down == 0 || right == 0))
          add({down, right}, where);
    place_buffers();
    if (calling == Calling::neighborhood) make_graph();
    if (calling == Calling::persistent) make_requests();
  }
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;
  ~Halo() {
    if (calling_ == Calling::persistent)
      for (MPI_Request& request : requests_) MPI_Request_free(&request);
    if (calling_ == Calling::neighborhood) MPI_Comm_free(&graph_);
    for (MPI_Datatype& type : made_) MPI_Type_free(&type);
  }

  void exchange() {
    if (packs_) pack();
    if (calling_ == Calling::neighborhood) call_collective();
    else call_point_to_point();
    if (packs_) unpack();
  }

 private:
  /// What goes in a direction comes from the opposite one; the tag is the direction's number on both ranks.
  void add(Direction to, const Decomposition& where) {
    const int tag = static_cast<int>(sends_.size());
    const Direction from{-to.down, -to.right};
    outside_.push_back(region(grid_, from, true));
    inside_.push_back(region(grid_, to, false));
    sends_.push_back(message(inside_.back(), where.at(to.down, to.right), tag));
    receives_.push_back(message(outside_.back(), where.at(from.down, from.right), tag));
  }

  Message message(const Region& part, int peer, int tag) {
    if (packs_) return {nullptr, part.rows * part.columns, type_of(Cell{}), peer, tag};
    if (types_ == Types::vectors) return {address(part), 1, vector(part), peer, tag};
    return {reinterpret_cast<char*>(grid_.data()), 1, subarray(part), peer, tag};
  }
  char* address(const Region& part) { return reinterpret_cast<char*>(&grid_.at(part.row, part.column)); }

  MPI_Datatype vector(const Region& part) {
    MPI_Datatype strided = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
    MPI_Type_vector(part.rows, part.columns, grid_.width(), type_of(Cell{}), &strided);
    MPI_Aint begin = 0, extent = 0;
    MPI_Type_get_true_extent(strided, &begin, &extent);
    MPI_Type_create_resized(strided, begin, extent, &type);
    MPI_Type_free(&strided);
    return keep(type);
  }
  MPI_Datatype subarray(const Region& part) {
    const int sizes[] = {grid_.rows + 2, grid_.width()}, subsizes[] = {part.rows, part.columns};
    const int begin[] = {part.row + 1, part.column + 1};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(2, sizes, subsizes, begin, MPI_ORDER_C, type_of(Cell{}), &type);
    return keep(type);
  }
  MPI_Datatype keep(MPI_Datatype type) {
    MPI_Type_commit(&type);
    return made_.emplace_back(type);
  }

  void place_buffers() {
    if (!packs_) return;
    std::size_t cells = 0;
    for (const Region& part : inside_) cells += static_cast<std::size_t>(part.rows * part.columns);
    sent_.resize(cells);
    received_.resize(cells);
    place(sends_, sent_);
    place(receives_, received_);
  }
  static void place(std::vector<Message>& messages, std::vector<Cell>& buffer) {
    Cell* next = buffer.data();
    for (Message& each : messages) {
      each.at = reinterpret_cast<char*>(next);
      next += each.count;
    }
  }

  void pack() {
    Cell* to = sent_.data();
    for (const Region& part : inside_)
      for (int r = part.row; r < part.row + part.rows; ++r)
        for (int c = part.column; c < part.column + part.columns; ++c) *to++ = grid_.at(r, c);
  }
  void unpack() {
    const Cell* from = received_.data();
    for (const Region& part : outside_)
      for (int r = part.row; r < part.row + part.rows; ++r)
        for (int c = part.column; c < part.column + part.columns; ++c) grid_.at(r, c) = *from++;
  }

  void call_point_to_point() {
    if (calling_ == Calling::persistent) {
      mpi_.start_all(static_cast<int>(requests_.size()), requests_.data());
    } else {
      requests_.assign(2 * sends_.size(), MPI_REQUEST_NULL);
      MPI_Request* next = requests_.data();
      for (const Message& m : receives_)
        mpi_.start_receive(m.at, m.count, m.type, m.peer, m.tag, comm_, next++);
      for (const Message& m : sends_) mpi_.start_send(m.at, m.count, m.type, m.peer, m.tag, comm_, next++);
    }
    mpi_.wait(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  void make_requests();
  void make_graph();
  void call_collective() {
    mpi_.neighbor_alltoallw(base_of_sent(), send_counts_.data(), send_at_.data(), send_types_.data(),
                            base_of_received(), receive_counts_.data(), receive_at_.data(),
                            receive_types_.data(), graph_);
  }
  char* base_of_sent() { return reinterpret_cast<char*>(packs_ ? sent_.data() : grid_.data()); }
  char* base_of_received() { return reinterpret_cast<char*>(packs_ ? received_.data() : grid_.data()); }

  Grid<Cell>& grid_;
  const Calls& mpi_;
  Calling calling_;
  Types types_;
  bool packs_;
  MPI_Comm comm_, graph_ = MPI_COMM_NULL;
  std::vector<MPI_Datatype> made_;
  std::vector<Region> inside_, outside_;
  std::vector<Message> sends_, receives_;
  std::vector<MPI_Request> requests_;
  std::vector<Cell> sent_, received_;
  std::vector<int> send_counts_, receive_counts_;
  std::vector<MPI_Aint> send_at_, receive_at_;
  std::vector<MPI_Datatype> send_types_, receive_types_;
};

template <class Cell>
void Halo<Cell>::make_requests() {
  requests_.assign(2 * sends_.size(), MPI_REQUEST_NULL);
  MPI_Request* next = requests_.data();
  for (const Message& m : receives_) mpi_.make_receive(m.at, m.count, m.type, m.peer, m.tag, comm_, next++);
  for (const Message& m : sends_) mpi_.make_send(m.at, m.count, m.type, m.peer, m.tag, comm_, next++);
}

/// Edges between the same two ranks are matched in the order in which both name them: that of the directions.
template <class Cell>
void Halo<Cell>::make_graph() {
  std::vector<int> from, to;
  for (const Message& m : receives_) {
    from.push_back(m.peer);
    receive_counts_.push_back(m.count);
    receive_at_.push_back(m.at - base_of_received());
    receive_types_.push_back(m.type);
  }
  for (const Message& m : sends_) {
    to.push_back(m.peer);
    send_counts_.push_back(m.count);
    send_at_.push_back(m.at - base_of_sent());
    send_types_.push_back(m.type);
  }
  const auto degree = static_cast<int>(to.size());
  MPI_Dist_graph_create_adjacent(comm_, degree, from.data(), MPI_UNWEIGHTED, degree, to.data(),
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph_);
}

}  // namespace bench
