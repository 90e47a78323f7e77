#include "coll/state/size_watch.hpp"

#include <algorithm>
#include <utility>

#include "profile/record.hpp"

namespace wherry::run {

void SizeWatch::start(long long average_bytes, const Channel& channel) {
  started_ = true;
  long long largest = 0;
  failed_ = channel.api().Allreduce(&average_bytes, &largest, 1, MPI_LONG_LONG, MPI_MAX, channel.comm()) !=
            MPI_SUCCESS;
  if (!failed_) bucket_ = profile::bucket_of(static_cast<std::uint64_t>(largest));
}

std::uint32_t SizeWatch::bucket(const Channel& channel) {
  if (request_ == MPI_REQUEST_NULL || calls_ % period != lag) return bucket_;
  finish(channel);
  if (failed_) return bucket_;
  const std::uint32_t now = profile::bucket_of(static_cast<std::uint64_t>(agreed_));
  // Neighboring classes behave alike: only a clear change is worth learning again.
  if (now > bucket_ + 1 || now + 1 < bucket_) bucket_ = now;
  return bucket_;
}

void SizeWatch::saw(long long average_bytes, const Channel& channel) {
  largest_ = std::max(largest_, average_bytes);
  if (++calls_ % period != 0 || failed_) return;
  mine_ = std::exchange(largest_, 0);
  failed_ = channel.api().Iallreduce(&mine_, &agreed_, 1, MPI_LONG_LONG, MPI_MAX, channel.comm(),
                                     &request_) != MPI_SUCCESS;
  // After an error the handle is anything.
  if (failed_) request_ = MPI_REQUEST_NULL;
}

std::uint32_t SizeWatch::follow(long long average_bytes, const Channel& channel) {
  if (!started_) start(average_bytes, channel);
  const std::uint32_t agreed = bucket(channel);
  saw(average_bytes, channel);
  return agreed;
}

void SizeWatch::finish(const Channel& channel) {
  if (request_ == MPI_REQUEST_NULL) return;
  failed_ = channel.wait(request_) != MPI_SUCCESS;
  request_ = MPI_REQUEST_NULL;
}

}  // namespace wherry::run
