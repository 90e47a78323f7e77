// What was learned, kept for the next run: a table, its text, and the file that holds it.
//
// docs/reference/tuning-file.md describes the format. Several processes may share a file.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine_constants.hpp"

namespace wherry::tuning {

/// What a choice depends on.
struct TuningKey {
  std::string machine;  // what the times depend on besides the placement: CPU and network
  std::string mpi;      // library and version
  int ranks = 0;
  unsigned long long placement = 0;  // topology::Placement::signature()
  std::string operation;             // "MPI_Alltoall"
  unsigned bucket = 0;               // profile::bucket_of() the bytes per call
  friend auto operator<=>(const TuningKey&, const TuningKey&) = default;
};

/// The strategy that was best, and the times that made it so, where they are known.
struct TuningRow {
  TuningKey key;
  std::string strategy;  // "native" included: that it was best is worth knowing too
  std::optional<double> seconds, native_seconds;
  unsigned trials = 0;  // agreed times behind `seconds`
};

/// What a machine's constants depend on.
struct MachineKey {
  std::string machine, mpi;  // as in TuningKey
  friend auto operator<=>(const MachineKey&, const MachineKey&) = default;
};

/// The constants that were measured; not_known: not measured, the default has to do.
struct MachineRow {
  MachineKey key;
  model::Constants constants = model::nothing_known;
};

/// Rows with different keys, in the order of their keys.
class TuningTable {
 public:
  /// nullptr if there is no such row. Valid until the table changes.
  const TuningRow* find(const TuningKey& key) const;
  const MachineRow* find(const MachineKey& key) const;
  /// Adds a row, or replaces the one with the same key.
  void put(TuningRow row);
  /// Adds a row, or puts the constants that are known over those of the row with the same key: a run on one node tells
  /// nothing about messages between nodes.
  void put(MachineRow row);
  /// Puts every row of `newer`.
  void merge(const TuningTable& newer);
  const std::vector<TuningRow>& rows() const { return rows_; }
  const std::vector<MachineRow>& machines() const { return machines_; }
  bool empty() const { return rows_.empty() && machines_.empty(); }

 private:
  std::vector<TuningRow> rows_;
  std::vector<MachineRow> machines_;
};

/// How reading went. Anything but `good` and `missing` comes with a problem to tell the user, and no rows.
enum class TuningState {
  good,
  missing,  // there is no such file yet
  damaged,  // cut short or changed: the next save replaces it
  foreign   // not a tuning file, or of a newer version, or not readable: it is left alone
};

struct TuningRead {
  TuningTable table;
  TuningState state = TuningState::good;
  std::string problem;  // what is wrong and what to do; empty if nothing is
};

/// The text of a table. parse(format(t)) has the rows of t.
std::string format(const TuningTable& table);

/// Reads a text of format(). All or nothing: a text that differs in one bit from what was written gives no
/// row. Never throws, except for want of memory.
TuningRead parse(std::string_view text);

/// Reads a file; the problem names it.
TuningRead load(const std::string& path);

/// Merges `learned` into the file, which other processes may be doing as well. Readers see the old file or
/// the new one. Creates missing directories. Waits at most a few seconds for other writers. Returns what went
/// wrong, or nothing; the file is then as it was.
[[nodiscard]] std::string save(const std::string& path, const TuningTable& learned);

/// The same, for programs that go on whatever happens: problems become a line on standard error.
TuningTable load_or_complain(const std::string& path);
void save_or_complain(const std::string& path, const TuningTable& learned);

}  // namespace wherry::tuning
