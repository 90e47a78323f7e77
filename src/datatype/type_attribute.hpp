// What is known of a datatype, as an attribute of it.
#pragma once

#include <mpi.h>

#include <memory>

#include "mpi/api.hpp"

namespace wherry::datatype {

/// Goes with the type, so a handle that is freed and comes again as another type finds nothing. Predefined types are
/// never freed, and must get no attribute. Types must be valid: the library tells its error handler of others. Not
/// thread-safe but for the frees of the program.
template <class T>
class TypeAttribute {
 public:
  using Kept = std::shared_ptr<T>;
  /// Called inside the library when a type with this attribute is freed; must not call MPI.
  using Freed = void (*)(MPI_Datatype type, T& kept, void* context);

  /// context must outlive all types that get the attribute.
  explicit TypeAttribute(const mpi::Api& api, Freed freed = nullptr, void* context = nullptr)
      : api_(api), freed_(freed), context_(context) {}

  /// nullptr: nothing is known.
  Kept find(MPI_Datatype type) {
    if (!has_key()) return nullptr;
    void* value = nullptr;
    int found = 0;
    if (api_.Type_get_attr(type, keyval_, static_cast<void*>(&value), &found) != MPI_SUCCESS || found == 0)
      return nullptr;
    return static_cast<Node*>(value)->kept;
  }

  /// false: the library would not have it.
  bool keep(MPI_Datatype type, Kept kept) {
    if (!has_key()) return false;
    auto node = std::make_unique<Node>(Node{std::move(kept), freed_, context_});
    const bool done = api_.Type_set_attr(type, keyval_, node.get()) == MPI_SUCCESS;
    if (done) node.release();
    return done;
  }

 private:
  struct Node {
    Kept kept;
    Freed freed;
    void* context;
  };

  bool has_key() {
    return keyval_ != MPI_KEYVAL_INVALID ||
           api_.Type_create_keyval(never_copy, on_free, &keyval_, nullptr) == MPI_SUCCESS;
  }

  /// A duplicate is looked at by itself.
  static int never_copy(MPI_Datatype, int, void*, void*, void*, int* flag) {
    *flag = 0;
    return MPI_SUCCESS;
  }

  static int on_free(MPI_Datatype type, int, void* value, void*) {
    const std::unique_ptr<Node> node(static_cast<Node*>(value));
    if (node->freed != nullptr) node->freed(type, *node->kept, node->context);
    return MPI_SUCCESS;
  }

  const mpi::Api& api_;
  Freed freed_;
  void* context_;
  int keyval_ = MPI_KEYVAL_INVALID;
};

}  // namespace wherry::datatype
