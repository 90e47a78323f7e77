// The steps that use Boost.MPI's packed archives. Linked where Boost.MPI is there for the MPI at hand (Debian's is for
// Debian's Open MPI).
#include <boost/mpi/datatype.hpp>
#include <boost/mpi/packed_iarchive.hpp>
#include <boost/mpi/packed_oarchive.hpp>
#include <boost/serialization/array.hpp>
#include <boost/serialization/vector.hpp>

#include "overhead/archives.hpp"
#include "overhead/variants.hpp"
#include "wherry/types/members.hpp"

namespace overhead {

/// Found by Boost for every part of a particle: its members, one after the other.
template <class Archive, class T>
  requires std::is_aggregate_v<T>
void serialize(Archive& archive, T& object, unsigned) {
  wherry::detail::with_members(object, [&](auto&... member) { (archive & ... & member); });
}

template <class Archive, Step step, class T, std::size_t n>
void serialize(Archive& archive, Storage<step, T, n>& storage, unsigned) {
  if constexpr (step == Step::standard) archive & storage.values;
  else archive& boost::serialization::make_array(storage.values, n);
}

/// What Boost's traits are made of.
template <class Type>
struct Trait {
  using tag = boost::mpl::integral_c_tag;
  using type = Type;
  static constexpr int value = type::value;
};

}  // namespace overhead

// What each step says of vectors and their storages.
namespace boost::serialization {

template <overhead::Step step>
using Level = std::conditional_t<(step >= overhead::Step::no_version), mpl::int_<object_serializable>,
                                 mpl::int_<object_class_info>>;
template <overhead::Step step>
using Tracking = std::conditional_t<(step >= overhead::Step::no_tracking), mpl::int_<track_never>,
                                    mpl::int_<track_selectively>>;

template <overhead::Step step, class T, std::size_t n>
struct implementation_level<overhead::Vector<step, T, n>> : overhead::Trait<Level<step>> {};
template <overhead::Step step, class T, std::size_t n>
struct implementation_level<overhead::Storage<step, T, n>> : overhead::Trait<Level<step>> {};
template <overhead::Step step, class T, std::size_t n>
struct tracking_level<overhead::Vector<step, T, n>> : overhead::Trait<Tracking<step>> {};
template <overhead::Step step, class T, std::size_t n>
struct tracking_level<overhead::Storage<step, T, n>> : overhead::Trait<Tracking<step>> {};

}  // namespace boost::serialization

namespace boost::mpi {

template <overhead::Step step, class T, std::size_t n>
struct is_mpi_datatype<overhead::Vector<step, T, n>> : mpl::bool_<(step >= overhead::Step::mpi_datatype)> {};
template <overhead::Step step, class T, std::size_t n>
struct is_mpi_datatype<overhead::Storage<step, T, n>> : mpl::bool_<(step >= overhead::Step::mpi_datatype)> {};

}  // namespace boost::mpi

namespace overhead {
namespace {

template <Step step>
struct Packed {
  using Buffer = boost::mpi::packed_oarchive::buffer_type;

  template <class T>
  static Buffer pack(std::span<const T> objects, MPI_Comm comm) {
    Buffer buffer;
    boost::mpi::packed_oarchive archive(comm, buffer);
    if constexpr (std::is_same_v<T, Particle<step>>) archive << objects.size();
    for (const T& object : objects) archive << object;
    return buffer;
  }
  template <class T>
  static void unpack(const Buffer& bytes, std::vector<T>& objects, MPI_Comm comm) {
    Buffer& buffer = const_cast<Buffer&>(bytes);  // which the archive does not change
    boost::mpi::packed_iarchive archive(comm, buffer);
    if constexpr (std::is_same_v<T, Particle<step>>) {
      std::size_t n = 0;
      archive >> n;
      objects.resize(n);
    }
    for (T& object : objects) archive >> object;
  }
};

template <Step... step>
std::vector<Variant> variants_of() {
  return {{names[static_cast<std::size_t>(step)], part_by_part<step, Packed<step>>()}...};
}

template <class T>
std::size_t bytes_of(const T& object) {
  boost::mpi::packed_oarchive::buffer_type buffer;
  boost::mpi::packed_oarchive archive(MPI_COMM_SELF, buffer);
  archive << object;
  return buffer.size();
}

}  // namespace

std::vector<Variant> boost_variants() {
  using enum Step;
  return variants_of<standard, make_array, no_version, no_tracking, mpi_datatype>();
}

std::vector<Size> boost_sizes() {
  std::array<int, 3> three{4, 5, 6};
  std::vector<Size> sizes{{"std::array of three ints", names[0], bytes_of(three)},
                          {"std::array of three ints", names[1],
                           bytes_of(boost::serialization::make_array(three.data(), three.size()))}};
  using enum Step;
  add_sizes<standard, Packed<standard>>(sizes);
  add_sizes<make_array, Packed<make_array>>(sizes);
  add_sizes<no_version, Packed<no_version>>(sizes);
  add_sizes<no_tracking, Packed<no_tracking>>(sizes);
  add_sizes<mpi_datatype, Packed<mpi_datatype>>(sizes);
  return sizes;
}

}  // namespace overhead
