// Boost.MPI's packed archives in their default form: what a program gets that writes the serialize() functions of the
// manual. Linked where Boost.MPI is there for the MPI at hand (Debian's is for Debian's Open MPI).
#include <boost/mpi/packed_iarchive.hpp>
#include <boost/mpi/packed_oarchive.hpp>
#include <boost/serialization/array.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>

#include "serialization.hpp"
#include "wherry/types/members.hpp"

namespace sample {

/// Found by Boost for every struct of this namespace.
template <class Archive, class T>
  requires std::is_aggregate_v<T>
void serialize(Archive& archive, T& object, unsigned) {
  wherry::detail::with_members(object, [&](auto&... member) { (archive & ... & member); });
}

}  // namespace sample

namespace bench {
namespace {

template <class T>
void add(std::vector<Codec>& codecs, const std::vector<T>& objects) {
  using namespace boost::mpi;
  struct State {
    std::vector<T> objects, read;
    packed_oarchive::buffer_type buffer;
  };
  const auto state = std::make_shared<State>(State{objects, std::vector<T>(objects.size()), {}});
  codecs.push_back({"boost",
                    [state] {
                      state->buffer.clear();
                      packed_oarchive archive(MPI_COMM_SELF, state->buffer);
                      for (const T& object : state->objects) archive << object;
                      return state->buffer.size();
                    },
                    [state] {
                      packed_iarchive archive(MPI_COMM_SELF, state->buffer);
                      for (T& object : state->read) archive >> object;
                    },
                    [state] { return state->read == state->objects; }});
}

}  // namespace

void add_boost(std::vector<Codec>& codecs, const std::vector<Triple>& objects) { add(codecs, objects); }
void add_boost(std::vector<Codec>& codecs, const std::vector<UsualParticle>& objects) {
  add(codecs, objects);
}
void add_boost(std::vector<Codec>& codecs, const std::vector<sample::Record>& objects) {
  add(codecs, objects);
}

}  // namespace bench
