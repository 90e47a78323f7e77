#include "nbody/gadget.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>

#include "nbody/snapshot.hpp"

namespace nbody {
namespace {

static_assert(std::endian::native == std::endian::little,
              "GADGET's files are read and written as they lie in memory");

constexpr std::uint32_t header_bytes = 256;
constexpr std::size_t kinds = 6;

/// The part of the header that matters here.
struct Header {
  std::array<std::int32_t, kinds> count{};
  std::array<double, kinds> mass{};  // of each particle of a kind; 0: they have their own
  double time = 0, redshift = 0;
  std::int32_t star_formation = 0, feedback = 0;
  std::array<std::uint32_t, kinds> count_in_all_files{};
  std::int32_t cooling = 0, files = 1;
};
static_assert(sizeof(Header) == 128);

std::uint32_t word_at(std::string_view bytes) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}

/// Goes through the records of a file: each between two copies of its length.
class Records {
 public:
  Records(std::string_view file, const std::string& name) : rest_(file), name_(name) {}

  std::string_view next(const char* what) {
    if (rest_.size() < sizeof(std::uint32_t)) fail(std::string("ends before the ") + what);
    const std::uint32_t bytes = word_at(rest_);
    if (rest_.size() - sizeof bytes < bytes + sizeof bytes)
      fail(std::string("ends within the ") + what + "; it was not copied or written whole");
    const std::string_view record = rest_.substr(sizeof bytes, bytes);
    if (word_at(rest_.substr(sizeof bytes + bytes)) != bytes)
      fail(std::string("the record of the ") + what +
           " does not end where it should; it is no snapshot of format 1");
    rest_.remove_prefix(bytes + 2 * sizeof bytes);
    return record;
  }

  [[noreturn]] void fail(const std::string& problem) const { throw input_error(name_ + ": " + problem); }

 private:
  std::string_view rest_;
  const std::string& name_;
};

template <class T>
std::vector<double> as_doubles(std::string_view record) {
  std::vector<T> values(record.size() / sizeof(T));
  std::memcpy(values.data(), record.data(), record.size());
  return {values.begin(), values.end()};
}

/// So many numbers, which may be in single or in double precision.
std::vector<double> numbers(Records& records, std::size_t count, const char* what) {
  const std::string_view record = records.next(what);
  if (record.size() == count * sizeof(double)) return as_doubles<double>(record);
  if (record.size() == count * sizeof(float)) return as_doubles<float>(record);
  records.fail(std::string("the ") + what + " have " + std::to_string(record.size()) +
               " bytes, which are not " + std::to_string(count) + " numbers");
}

Vectors vectors(Records& records, std::size_t count, const char* what) {
  const std::vector<double> values = numbers(records, 3 * count, what);
  Vectors found(count);
  for (std::size_t i = 0; i < values.size(); ++i) found[i % 3][i / 3] = values[i];
  return found;
}

Header read_header(Records& records) {
  Header header;
  const std::string_view record = records.next("header");
  if (record.size() != header_bytes)
    records.fail("the header has " + std::to_string(record.size()) + " bytes, which are not " +
                 std::to_string(header_bytes) + "; it is no snapshot of format 1");
  std::memcpy(&header, record.data(), sizeof header);
  for (const std::int32_t count : header.count)
    if (count < 0) records.fail("has " + std::to_string(count) + " particles of a kind");
  if (header.files > 1)
    records.fail("is one of " + std::to_string(header.files) + " files of a snapshot; join them before");
  return header;
}

std::vector<double> masses(Records& records, const Header& header) {
  const auto has_own = [&](std::size_t kind) { return header.mass[kind] == 0; };
  std::size_t own = 0;
  for (std::size_t kind = 0; kind < kinds; ++kind)
    if (has_own(kind)) own += static_cast<std::size_t>(header.count[kind]);
  const std::vector<double> listed = own > 0 ? numbers(records, own, "masses") : std::vector<double>();
  std::vector<double> all;
  auto next = listed.begin();
  for (std::size_t kind = 0; kind < kinds; ++kind)
    for (std::int32_t i = 0; i < header.count[kind]; ++i)
      all.push_back(has_own(kind) ? *next++ : header.mass[kind]);
  return all;
}

void put_record(std::string& file, const void* bytes, std::size_t size) {
  const auto length = static_cast<std::uint32_t>(size);
  const std::string around(reinterpret_cast<const char*>(&length), sizeof length);
  file += around;
  file.append(static_cast<const char*>(bytes), size);
  file += around;
}

template <class T>
void put_record(std::string& file, const std::vector<T>& values) {
  put_record(file, values.data(), values.size() * sizeof(T));
}

std::vector<double> body_by_body(const Vectors& vectors) {
  std::vector<double> values(3 * vectors.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = vectors[i % 3][i / 3];
  return values;
}

}  // namespace

bool looks_like_gadget(std::string_view begin) {
  return begin.size() >= sizeof header_bytes && word_at(begin) == header_bytes;
}

Bodies parse_gadget(std::string_view file, const std::string& name) {
  Records records(file, name);
  const Header header = read_header(records);
  const auto count =
      static_cast<std::size_t>(std::accumulate(header.count.begin(), header.count.end(), std::int64_t{0}));
  if (count == 0) records.fail("no bodies");
  Bodies bodies;
  bodies.place = vectors(records, count, "positions");
  bodies.velocity = vectors(records, count, "velocities");
  records.next("identifiers");
  bodies.m = masses(records, header);
  for (std::size_t i = 0; i < count; ++i)
    if (const std::string problem = why_unfit(bodies, i); !problem.empty())
      records.fail("body " + std::to_string(i + 1) + ": " + problem);
  return bodies;
}

std::string gadget_text(const Bodies& bodies, double time) {
  constexpr std::size_t kind = 1;
  Header header;
  header.count[kind] = static_cast<std::int32_t>(bodies.size());
  header.count_in_all_files[kind] = static_cast<std::uint32_t>(bodies.size());
  header.time = time;
  std::array<char, header_bytes> first{};
  std::memcpy(first.data(), &header, sizeof header);
  std::vector<std::uint32_t> identifiers(bodies.size());
  std::iota(identifiers.begin(), identifiers.end(), 1U);
  std::string file;
  put_record(file, first.data(), first.size());
  put_record(file, body_by_body(bodies.place));
  put_record(file, body_by_body(bodies.velocity));
  put_record(file, identifiers);
  put_record(file, bodies.m);
  return file;
}

}  // namespace nbody
