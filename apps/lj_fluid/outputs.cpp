#include "lj_fluid/outputs.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "support/json.hpp"

namespace lj_fluid {

GrowingFile::GrowingFile(const std::string& path, const std::string& head) : path_(path) {
  if (path.empty()) return;
  file_.emplace(path, std::ios::binary | std::ios::trunc);
  add(head);
}

void GrowingFile::add(const std::string& text) {
  if (!file_) return;
  errno = 0;
  *file_ << text << std::flush;
  if (!*file_)
    throw std::runtime_error("cannot write '" + path_ +
                             "': " + (errno != 0 ? std::strerror(errno) : "the file cannot be written"));
}

std::string energies_line(const Thermodynamics& now, double dt) {
  std::string line = std::to_string(now.step);
  for (const double value : {static_cast<double>(now.step) * dt, now.temperature, now.potential, now.kinetic,
                             now.total(), now.pressure})
    line += "," + apps::json_number(value);
  return line + "\n";
}

}  // namespace lj_fluid
