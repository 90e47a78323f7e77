#include "profile/record_file.hpp"
#include "profile/recorder.hpp"
#include "profile/sampling.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

using namespace wherry::profile;
using wherry::Limit;
namespace fs = std::filesystem;

namespace {

/// A directory of its own for each test, removed at its end.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "wherry-record-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path_); }
  std::string path() const { return path_; }

 private:
  std::string path_;
};

/// The record as a reader finds it, while the program still runs.
class Reading {
 public:
  explicit Reading(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    REQUIRE(bytes_.size() >= sizeof(Header));
  }
  const Header& header() const { return *reinterpret_cast<const Header*>(bytes_.data()); }
  const TableInfo& info(Table table) const { return header().table[static_cast<std::size_t>(table)]; }

  template <class Record>
  std::vector<Record> rows(Table table) const {
    REQUIRE(info(table).record_bytes == sizeof(Record));
    REQUIRE(info(table).offset + std::uint64_t{info(table).used} * sizeof(Record) <= bytes_.size());
    std::vector<Record> rows(info(table).used);
    if (!rows.empty())
      std::memcpy(rows.data(), bytes_.data() + info(table).offset, rows.size() * sizeof(Record));
    return rows;
  }

 private:
  std::vector<char> bytes_;
};

struct Recording {
  Folder folder;
  Sites sites;
  Recorder recorder{sites};

  Recording() {
    FunctionRecord function{};
    std::strcpy(function.name, "MPI_Send");
    REQUIRE(
        recorder.open(folder.path(), "rank-000001", {1, 4, 0, 7, "openmpi", "an MPI"}, {function}).empty());
  }
  Reading read() const { return Reading(folder.path() + "/rank-000001.wrec"); }
  std::uint32_t here() { return sites.find(reinterpret_cast<const void*>(&monotonic_ns)); }
};

}  // namespace

TEST_CASE("the header says whose record it is") {
  Recording r;
  const Reading running = r.read();
  CHECK(std::memcmp(running.header().magic, record_magic, 8) == 0);
  CHECK(running.header().rank == 1);
  CHECK(running.header().size == 4);
  CHECK(running.header().start_ns == 7);
  CHECK(running.header().state == State::running);
  CHECK(std::string(running.header().abi) == "openmpi");
  r.recorder.finish();
  CHECK(r.read().header().state == State::finalized);
}

TEST_CASE("calls are summed by site, function, communicator and size class") {
  Recording r;
  const std::uint32_t place = r.here();
  CHECK(r.read().header().last_call == none);
  r.recorder.call({0, none, place, 100, 1, 10, 30, false});
  r.recorder.call({0, none, place, 129, 1, 0, 1, false});
  CHECK(r.read().header().last_call == 1);
  r.recorder.call({0, none, place, 120, 1, 40, 90, true});
  CHECK(r.read().header().last_call == 0);
  const auto rows = r.read().rows<CallRecord>(Table::calls);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].bucket == bucket_of(128));
  CHECK(rows[0].count == 2);
  CHECK(rows[0].bytes == 220);
  CHECK(rows[0].time_ns == 70);
  CHECK(rows[0].longest_ns == 50);
  CHECK(rows[0].derived == 1);
  const auto modules = r.read().rows<ModuleRecord>(Table::modules);
  REQUIRE(rows[0].module < modules.size());
  CHECK(modules[rows[0].module].base + rows[0].site == reinterpret_cast<std::uintptr_t>(&monotonic_ns));
}

TEST_CASE("the header says which call is under way") {
  Recording r;
  const auto call_of = [&](std::size_t thread) { return r.read().header().under_way[thread]; };
  CHECK(call_of(0).function == CallUnderWay::none);
  r.recorder.begin_call(0, under_way(0, &r, 12));
  r.recorder.begin_call(7, under_way(0, &r, 13));
  CHECK(call_of(0).function == 0);
  CHECK(call_of(0).site == reinterpret_cast<std::uintptr_t>(&r));
  CHECK(call_of(0).enter_ns == 12);
  r.recorder.end_call(0);
  CHECK(call_of(0).function == CallUnderWay::none);
  CHECK(call_of(7).enter_ns == 13);
  CHECK(r.read().header().more_threads == 0);
  r.recorder.begin_call(8, under_way(0, &r, 14));
  r.recorder.end_call(8);
  CHECK(r.read().header().more_threads == 1);
  Sites sites;
  Recorder closed(sites);
  closed.begin_call(0, under_way(0, &r, 12));
  closed.end_call(0);
}

TEST_CASE("tables grow without losing what they hold") {
  Recording r;
  constexpr int peers = 5000;  // 256 fit at first
  for (int round = 0; round < 2; ++round)
    for (int p = 0; p < peers; ++p)
      r.recorder.peer(p, PeerClass::point_to_point, 1, static_cast<std::uint64_t>(p));
  const auto rows = r.read().rows<PeerRecord>(Table::peers);
  REQUIRE(rows.size() == peers);
  for (int p = 0; p < peers; ++p) {
    const auto& row = rows[static_cast<std::size_t>(p)];
    REQUIRE((row.peer == p && row.messages == 2 && row.bytes == 2 * static_cast<std::uint64_t>(p)));
  }
  CHECK(r.read().rows<FunctionRecord>(Table::functions).size() == 1);
}

TEST_CASE("no descriptor stays open, and tables grow where the program has gone to another folder") {
  const auto descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const fs::path before = fs::current_path();
  const Folder folder;
  const Folder elsewhere;
  const auto open_before = descriptors();
  RecordFile file;
  fs::current_path(folder.path());
  REQUIRE(file.open(".", "rank-000000").empty());
  fs::current_path(elsewhere.path());
  CHECK(descriptors() == open_before);
  const std::uint32_t many = 3 * file.capacity(Table::peers);
  for (std::uint32_t i = 0; i < many; ++i) REQUIRE(file.append<PeerRecord>(Table::peers) != nullptr);
  CHECK(descriptors() == open_before);
  fs::current_path(before);
  CHECK(Reading(folder.path() + "/rank-000000.wrec").info(Table::peers).used == many);
}

TEST_CASE("a table does not grow into another file of the same name") {
  const Folder folder;
  RecordFile file;
  REQUIRE(file.open(folder.path(), "rank-000000").empty());
  fs::rename(file.path(), file.path() + ".moved");
  std::ofstream(file.path()) << "the program's";
  const std::uint32_t fit = file.capacity(Table::peers);
  for (std::uint32_t i = 0; i < fit; ++i) REQUIRE(file.append<PeerRecord>(Table::peers) != nullptr);
  CHECK(file.append<PeerRecord>(Table::peers) == nullptr);
  CHECK(fs::file_size(file.path()) == std::string("the program's").size());
}

TEST_CASE("arrivals stay within their table and on one stride") {
  Recording r;
  constexpr std::uint64_t collectives = 100000;
  for (std::uint64_t i = 0; i < collectives; ++i) r.recorder.arrival(0, 0, i, i, i + 1);
  const auto rows = r.read().rows<ArrivalRecord>(Table::arrivals);
  CHECK(r.read().info(Table::arrivals).dropped == 0);
  REQUIRE(rows.size() > 2);
  std::uint64_t stride = 1;
  const auto is_on = [](std::uint64_t power) {
    return [power](const ArrivalRecord& row) { return Sampling::is_multiple(row.sequence, power); };
  };
  while (std::ranges::all_of(rows, is_on(2 * stride))) stride *= 2;
  CHECK(stride > 1);
  std::vector<std::uint64_t> expected, found;
  for (std::uint64_t i = 0; i < collectives; ++i)
    if (Sampling::is_multiple(i, stride)) expected.push_back(i);
  for (const ArrivalRecord& row : rows) found.push_back(row.sequence);
  CHECK(found == expected);
}

TEST_CASE("arrivals of many communicators with one collective each fit too") {
  Recording r;
  for (std::uint32_t c = 0; c < 30000; ++c) r.recorder.arrival(c, 0, 0, c, c + 1);
  const auto rows = r.read().rows<ArrivalRecord>(Table::arrivals);
  CHECK(!rows.empty());
  CHECK(rows.back().comm == 29999);
}

TEST_CASE("too many communicators are dropped, not written") {
  Recording r;
  std::set<std::uint32_t> indices;
  for (int i = 0; i < 10000; ++i) indices.insert(r.recorder.comm(static_cast<std::uint64_t>(i), 4, 1, "c"));
  CHECK(indices.contains(none));
  CHECK(r.read().info(Table::comms).dropped > 0);
  CHECK(r.read().info(Table::comms).used + r.read().info(Table::comms).dropped == 10000);
}

TEST_CASE("uses, misses and types are counted once per kind") {
  Recording r;
  for (int i = 0; i < 3; ++i) {
    r.recorder.used({0, 0, 5}, "bruck", 16, 40 - static_cast<std::uint64_t>(i));
    r.recorder.used({0, 0, 5}, "native", 16, 70);
    r.recorder.fell_back(0, "communicator of one rank");
    r.recorder.type(3, "vector", 8);
  }
  const auto uses = r.read().rows<UseRecord>(Table::uses);
  REQUIRE(uses.size() == 2);
  CHECK(uses[0].calls == 3);
  CHECK(uses[0].shortest_ns == 38);
  CHECK(std::string(uses[1].strategy) == "native");
  CHECK(r.read().rows<MissRecord>(Table::misses)[0].count == 3);
  CHECK(r.read().rows<TypeRecord>(Table::types)[0].bytes == 24);
}

TEST_CASE("calls in place and in order are counted apart") {
  Recording r;
  for (const Limit limit : {Limit::none, Limit::in_place, Limit::in_order, Limit::in_place}) {
    r.recorder.used({0, 0, 5, limit}, "mesh", 16, 40);
    r.recorder.decided({0, 0, 5, limit}, 7, "mesh", Reason::changed, 1, 2);
  }
  const auto uses = r.read().rows<UseRecord>(Table::uses);
  REQUIRE(uses.size() == 3);
  CHECK(uses[0].limit == Limit::none);
  CHECK(uses[1].limit == Limit::in_place);
  CHECK(uses[1].calls == 2);
  CHECK(uses[2].limit == Limit::in_order);
  CHECK(r.read().rows<DecisionRecord>(Table::decisions).at(2).limit == Limit::in_order);
}

TEST_CASE("each communicator has one gain, the last") {
  Recording r;
  for (const std::uint32_t comm : {0U, 1U, 0U})
    r.recorder.compared({.comm = comm,
                         .verdict = 2,
                         .pairs = 10 + r.read().rows<GainRecord>(Table::gains).size(),
                         .share = 31000,
                         .least = -1,
                         .most = 40000,
                         .reserved = 0,
                         .native_ns = 5,
                         .other_ns = 4});
  const auto gains = r.read().rows<GainRecord>(Table::gains);
  REQUIRE(gains.size() == 2);
  CHECK(gains[0].comm == 0);
  CHECK(gains[0].pairs == 12);
  CHECK(gains[1].pairs == 11);
  CHECK(gains[1].least == -1);
  GainRecord more{};
  for (more.comm = 2; more.comm < 100; ++more.comm) r.recorder.compared(more);
  CHECK(r.read().rows<GainRecord>(Table::gains).size() == 64);
}

TEST_CASE("text is cut between characters") {
  Recording r;
  const std::string long_name = std::string(38, 'x') + "\u00e9\u00e9";
  r.recorder.comm(1, 4, 1, long_name);
  CHECK(std::string(r.read().rows<CommRecord>(Table::comms)[0].name) == std::string(38, 'x'));
}

TEST_CASE("a second record of the same name gets one of its own") {
  Recording r;
  Recorder second(r.sites);
  CHECK(second.open(r.folder.path(), "rank-000001", {}, {}).empty());
  CHECK(std::distance(fs::directory_iterator(r.folder.path()), fs::directory_iterator()) == 2);
}

TEST_CASE("a call that was not timed is counted, and another's time stands for it") {
  Recording r;
  const std::uint32_t place = r.here();
  r.recorder.call({0, none, place, 8, 0, 0, 0, false});
  r.recorder.call({0, none, place, 8, 2, 10, 30, false});
  const auto rows = r.read().rows<CallRecord>(Table::calls);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].count == 2);
  CHECK(rows[0].time_ns == 40);
  CHECK(rows[0].longest_ns == 20);
}

TEST_CASE("what trials of waiting found is one row, however often it is written") {
  Recording r;
  r.recorder.wait_trial({.trials = 1, .verdict = 0, .pairs = 3, .spun_hourly = 90, .polled_hourly = 80});
  r.recorder.wait_trial({.trials = 2, .verdict = 2, .pairs = 8, .spun_hourly = 100, .polled_hourly = 170});
  const auto rows = r.read().rows<WaitTrialRecord>(Table::wait_trials);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].trials == 2);
  CHECK(rows[0].verdict == 2);
  CHECK(rows[0].pairs == 8);
  CHECK(rows[0].spun_hourly == 100);
  CHECK(rows[0].polled_hourly == 170);
}

TEST_CASE("what cannot be opened says so and records nothing") {
  Sites sites;
  Recorder recorder(sites);
  const std::string problem = recorder.open("/nonexistent-folder", "rank-000000", {}, {});
  CHECK(problem == "cannot create /nonexistent-folder/rank-000000.wrec: No such file or directory");
  recorder.call({0, none, 0, 1, 1, 1, 2, false});
  recorder.peer(0, PeerClass::collective, 1, 1);
  recorder.finish();
  CHECK(!recorder.is_open());
}

TEST_CASE("paths are summed by function, place and frames, and the first so many are kept") {
  Recording r;
  const std::uint32_t place = r.here(), script = r.sites.script("/home/solve.py");
  CHECK(r.sites.script("/home/solve.py") == script);
  const std::vector<PathFrame> a{{31, script, FrameKind::script_line}, {7, script, FrameKind::script_line}};
  const std::vector<PathFrame> b{{31, script, FrameKind::native}, {7, script, FrameKind::script_line}};
  r.recorder.path({0, place, 1, 10}, a);
  r.recorder.path({0, place, 5, 100}, b);
  r.recorder.path({0, place, 3, 20}, a);
  r.recorder.path({0, place, 1, 1}, {});
  auto rows = r.read().rows<PathRecord>(Table::paths);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].calls == 4);
  CHECK(rows[0].time_ns == 30);
  CHECK(rows[0].samples == 2);
  CHECK(rows[0].frames == 2);
  CHECK(rows[0].frame[0] == a[0]);
  CHECK(rows[1].frame[0] == b[0]);
  CHECK(rows[1].calls == 5);
  CHECK(rows[2].frames == 0);
  CHECK(rows[0].site == r.sites.place(place).offset);
  const auto modules = r.read().rows<ModuleRecord>(Table::modules);
  REQUIRE(script < modules.size());
  CHECK(std::string(modules[script].path) == "/home/solve.py");
  CHECK(modules[script].base == ~std::uint64_t{0});
  for (std::uint64_t line = 0; line < 2000; ++line)
    r.recorder.path({0, place, 1, 1}, std::vector<PathFrame>{{line, script, FrameKind::script_line}});
  rows = r.read().rows<PathRecord>(Table::paths);
  CHECK(rows.size() == 1024);
  CHECK(r.read().info(Table::paths).dropped == 2000 - (1024 - 3));
}
