// The native algorithms for an operation, one after another in one process: both Open MPI and MPICH have a
// control variable that names them (MPI-4.1, 15.3).
#pragma once

#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "measure.hpp"

namespace bench {

/// A control variable that holds an int, which Open MPI uses for its switches too.
class ControlVariable {
 public:
  /// Nothing if the library has no such variable, or does not let it be changed while it runs (Open MPI 4).
  static std::optional<ControlVariable> find(const std::string& name) {
    int index = 0;
    if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) return std::nullopt;
    const ControlVariable found(index);
    return found.set(found.get()) ? std::optional(found) : std::nullopt;
  }

  int get() const {
    int value = 0;
    with_handle([&](MPI_T_cvar_handle handle) { return MPI_T_cvar_read(handle, &value); });
    return value;
  }

  /// Whether it could.
  bool set(int value) const {
    return with_handle([&](MPI_T_cvar_handle handle) { return MPI_T_cvar_write(handle, &value); });
  }

  /// Names and numbers of its values, if it is one of a list. MPICH has the list in the description, one "name -
  /// meaning" a line, in the order of their numbers.
  std::vector<std::pair<std::string, int>> values() const {
    std::array<char, 4096> text{};
    MPI_T_enum list = MPI_T_ENUM_NULL;
    int length = text.size(), verbosity = 0, bind = 0, scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_cvar_get_info(index_, nullptr, nullptr, &verbosity, &type, &list, text.data(), &length, &bind,
                        &scope);
    return list == MPI_T_ENUM_NULL ? described(text.data()) : enumerated(list);
  }

 private:
  explicit ControlVariable(int index) : index_(index) {}

  template <typename Use>
  bool with_handle(Use&& use) const {
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0;
    if (MPI_T_cvar_handle_alloc(index_, nullptr, &handle, &count) != MPI_SUCCESS) return false;
    const bool used = count == 1 && use(handle) == MPI_SUCCESS;
    MPI_T_cvar_handle_free(&handle);
    return used;
  }

  static std::vector<std::pair<std::string, int>> enumerated(MPI_T_enum list) {
    std::vector<std::pair<std::string, int>> found;
    int count = 0;
    if (MPI_T_enum_get_info(list, &count, nullptr, nullptr) != MPI_SUCCESS) return found;
    for (int i = 0; i < count; ++i) {
      std::array<char, 128> name{};
      int value = 0, length = name.size();
      if (MPI_T_enum_get_item(list, i, &value, name.data(), &length) == MPI_SUCCESS)
        found.emplace_back(name.data(), value);
    }
    return found;
  }

  static std::vector<std::pair<std::string, int>> described(const std::string& text) {
    std::vector<std::pair<std::string, int>> found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (line.find(" - ") != std::string::npos)
        found.emplace_back(line.substr(0, line.find(' ')), static_cast<int>(found.size()));
    return found;
  }

  int index_;
};

/// Those of one operation. Collective over `comm`.
class LibraryAlgorithms {
 public:
  LibraryAlgorithms(MPI_Comm comm, const std::string& operation) : comm_(comm) {
    int provided = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    for (const Family& family : families)
      if (settings_.empty()) settings_ = settings_in(family, operation);
  }
  LibraryAlgorithms(const LibraryAlgorithms&) = delete;
  LibraryAlgorithms& operator=(const LibraryAlgorithms&) = delete;
  ~LibraryAlgorithms() {
    for (auto& [number, made] : made_) MPI_Comm_free(&made);
    MPI_T_finalize();
  }

  /// The library's names and numbers; none if it has no choice. The first stands for its own decision.
  std::vector<std::pair<std::string, int>> all() const {
    if (settings_.empty()) return {};
    auto values = settings_.front().variable.values();
    if (!values.empty()) values.erase(values.begin());
    return values;
  }

  /// Until end(), the operation is by this algorithm on the communicator that it returns, which returns errors. MPICH
  /// looks at its variables at each call, Open MPI when it makes a communicator.
  MPI_Comm begin(int number) {
    settings_.front().value = number;
    for (const Setting& setting : settings_) setting.variable.set(setting.value);
    const auto [at, is_new] = made_.try_emplace(number, MPI_COMM_NULL);
    if (is_new) {
      MPI_Comm_dup(comm_, &at->second);
      MPI_Comm_set_errhandler(at->second, MPI_ERRORS_RETURN);
    }
    return at->second;
  }

  void end() const {
    for (const Setting& setting : settings_) setting.variable.set(setting.before);
  }

 private:
  struct Setting {
    ControlVariable variable;
    int value, before;
  };

  struct Family {
    std::string_view prefix, suffix;
    bool upper_case;
    std::vector<std::pair<std::string, int>> besides;
  };

  // Without the priority, another component of Open MPI (han) takes the collectives of a communicator over several
  // nodes.
  inline static const std::vector<Family> families = {
      {"coll_tuned_",
       "_algorithm",
       false,
       {{"coll_tuned_use_dynamic_rules", 1}, {"coll_tuned_priority", 100}}},
      {"MPIR_CVAR_", "_INTRA_ALGORITHM", true, {}},
  };

  /// All of them, or none.
  static std::vector<Setting> settings_in(const Family& family, const std::string& operation) {
    std::vector<std::pair<std::string, int>> wanted = {{name_in(family, operation), 0}};
    wanted.insert(wanted.end(), family.besides.begin(), family.besides.end());
    std::vector<Setting> settings;
    for (const auto& [name, value] : wanted) {
      const auto variable = ControlVariable::find(name);
      if (!variable) return {};
      settings.push_back({*variable, value, variable->get()});
    }
    return settings;
  }

  static std::string name_in(const Family& family, std::string operation) {
    if (family.upper_case)
      std::ranges::transform(operation, operation.begin(), [](unsigned char c) { return std::toupper(c); });
    return std::string(family.prefix) + operation + std::string(family.suffix);
  }

  MPI_Comm comm_;
  std::vector<Setting> settings_;
  std::map<int, MPI_Comm> made_;
};

}  // namespace bench
