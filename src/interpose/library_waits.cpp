#include "interpose/library_waits.hpp"

#include <string>
#include <type_traits>

namespace wherry::interpose {

/// Whether all are there.
bool LibraryWaits::Variables::load(void* (*find)(const char* name)) {
  const auto set = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(find(name));
    return function != nullptr;
  };
  return set(init_thread, "MPI_T_init_thread") && set(finalize, "MPI_T_finalize") &&
         set(get_index, "MPI_T_cvar_get_index") && set(handle_alloc, "MPI_T_cvar_handle_alloc") &&
         set(read, "MPI_T_cvar_read") && set(write, "MPI_T_cvar_write");
}

void LibraryWaits::begin(void* (*find)(const char* name)) {
  int level = MPI_THREAD_SINGLE;
  api_.Query_thread(&level);
  usable_ = level != MPI_THREAD_MULTIPLE;
  if (api_.Progress_register == nullptr) registered_ = false;  // MPICH's has gone with the session before
  unregister_ = reinterpret_cast<decltype(unregister_)>(find("opal_progress_unregister"));
  if (usable_ && mpi::library_name(api_).find("MPICH") != std::string::npos) find_variable(find);
}

void LibraryWaits::find_variable(void* (*find)(const char* name)) {
  int provided = MPI_THREAD_SINGLE, index = 0, count = 0;
  if (!variables_.load(find) || variables_.init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return;
  if (variables_.get_index("MPIR_CVAR_ENABLE_HEAVY_YIELD", &index) == MPI_SUCCESS)
    variables_.handle_alloc(index, nullptr, &yield_, &count);
  if (!has_variable()) variables_.finalize();
}

void LibraryWaits::end() {
  usable_ = false;
  wanted_ = false;
  if (!has_variable()) return;
  yield_ = MPI_T_CVAR_HANDLE_NULL;
  variables_.finalize();  // frees the handle
}

void LibraryWaits::register_callback() {
  constexpr int stream_null = 0x3c000000;  // MPIX_STREAM_NULL
  wanted_ = true;
  if (registered_) return;
  if (api_.Progress_register != nullptr) registered_ = api_.Progress_register(callbacks_.open_mpi) == 0;
  else if (api_.Async_start != nullptr)
    registered_ = api_.Async_start(callbacks_.mpich, nullptr, stream_null) == MPI_SUCCESS;
}

/// Open MPI would call it each time that it asks for messages, and be slower for it for good. MPICH's ends itself.
void LibraryWaits::unregister_callback() {
  wanted_ = false;
  if (unregister_ == nullptr || !registered_) return;
  registered_ = unregister_(callbacks_.open_mpi) != 0;
}

bool LibraryWaits::enter(bool for_good) {
  if (!usable_) return false;
  register_callback();
  inside_ = registered_;
  calls_ = 0;
  sleeps_ = for_good && has_variable();
  if (sleeps_) {
    constexpr int yes = 1;
    variables_.read(yield_, &yielding_before_);
    variables_.write(yield_, &yes);
  }
  return inside_ || sleeps_;
}

void LibraryWaits::leave() {
  inside_ = false;
  pauses_.reset();
  if (sleeps_) variables_.write(yield_, &yielding_before_);
}

bool LibraryWaits::wait() {
  if (!is_wanted() && api_.Progress_register == nullptr) return registered_ = false;
  if (!inside_ || ++calls_ <= waiting::polls_before_yield) return true;
  if (!pauses_) pauses_.emplace(waiting::sleeps_after_ns);
  pauses_->pause();
  return true;
}

}  // namespace wherry::interpose
