#include "tools/fit_command.hpp"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/machine_name.hpp"
#include "model/fit.hpp"
#include "tools/commands.hpp"
#include "tuning/tuning_store.hpp"

namespace wherry::tools {
namespace {

using model::constants;

template <class Number>
bool read_number(std::istream& line, Number& number) {
  std::string word;
  if (!(line >> word)) return false;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc{} && end == word.data() + word.size();
}

/// One of `names`, as its place among them.
template <class Enum>
bool read_name(std::istream& line, std::span<const std::string_view> names, Enum& value) {
  std::string word;
  line >> word;
  const auto found = std::ranges::find(names, word);
  value = static_cast<Enum>(found - names.begin());
  return found != names.end();
}

/// PROBE WHERE BYTES FLOWS VALUE
std::optional<model::Sample> read_sample(const std::string& text) {
  std::istringstream line(text);
  model::Sample s;
  const bool good = read_name(line, model::probe_names, s.probe) &&
                    read_name(line, model::where_names, s.where) && read_number(line, s.bytes) &&
                    read_number(line, s.flows) && s.flows > 0 && read_number(line, s.value);
  std::string rest;
  return good && !(line >> rest) ? std::optional(s) : std::nullopt;
}

std::vector<model::Sample> read_samples(std::istream& in) {
  std::vector<model::Sample> samples;
  for (std::string line; std::getline(in, line);) {
    const auto sample = read_sample(line);
    if (!sample)
      throw usage_error("line " + std::to_string(samples.size() + 1) + " is no sample: '" + line +
                        "'; write PROBE WHERE BYTES FLOWS VALUE, such as: one_way between 8 1 2.5e-05");
    samples.push_back(*sample);
  }
  return samples;
}

void write_constant(JsonWriter& json, const model::Fit& fit, std::size_t i) {
  const double usual = model::Machine{}.*constants[i].member;
  json.object([&] {
    json.member("name", constants[i].name);
    json.member("unit", constants[i].unit);
    json.member("value", model::is_known(fit.known[i]) ? fit.known[i] : usual);
    json.member("default", usual);
    json.member("provenance", model::provenance_names[static_cast<std::size_t>(fit.provenance[i])]);
  });
}

void keep(const model::Fit& fit, const CommandLine& options) {
  const auto file = options.text("--tuning"), machine = options.text("--machine"),
             mpi = options.text("--mpi");
  if (!file && !machine && !mpi) return;
  if (!file || !machine || !mpi)
    throw usage_error("--tuning, --machine and --mpi belong together; give all of them or none");
  tuning::TuningTable learned;
  learned.put(tuning::MachineRow{{*machine, *mpi}, fit.known});
  if (const std::string problem = tuning::save(*file, learned); !problem.empty()) throw usage_error(problem);
}

}  // namespace

int fit(Words words) {
  const CommandLine options(words, {"--tuning", "--machine", "--mpi"}, 0);
  const model::Fit found = model::fit(read_samples(std::cin));
  if (std::ranges::none_of(found.known, model::is_known))
    throw usage_error("the samples tell no constant; measure again, on a machine that is less busy");
  keep(found, options);
  JsonWriter json(std::cout);
  json.array([&] {
    for (std::size_t i = 0; i < constants.size(); ++i) write_constant(json, found, i);
  });
  return 0;
}

EstimateConstants estimate_constants(const CommandLine& options) {
  const auto file = options.text("--tuning"), mpi = options.text("--mpi");
  if (mpi && !file) throw usage_error("--mpi names a row of a tuning file; add --tuning FILE");
  EstimateConstants used;
  if (const auto text = options.text("--constants")) {
    if (file) throw usage_error("--constants and --tuning both name the constants; give one of them");
    used.machine = model::machine_with(model::constants_in(*text));
  }
  if (!file) return used;
  const tuning::TuningTable table = tuning::load(*file).table;
  const tuning::MachineRow* fitting = nullptr;
  for (const tuning::MachineRow& row : table.machines()) {
    if (row.key.machine != machine_name()) continue;
    used.fitted.push_back(row.key.mpi);
    if (!mpi || row.key.mpi == *mpi) fitting = &row;
  }
  if (fitting == nullptr || (!mpi && used.fitted.size() > 1)) return used;
  used.machine = model::machine_with(fitting->constants);
  used.fitted_with = fitting->key.mpi;
  return used;
}

void write(JsonWriter& json, const EstimateConstants& used) {
  json.object([&] {
    json.member("fitted_with", used.fitted_with);
    json.member("fitted", [&] {
      json.array([&] {
        for (const std::string& mpi : used.fitted) json.value(mpi);
      });
    });
    json.member("constants", [&] {
      json.object([&] {
        for (const model::Constant& c : constants) json.member(c.name, used.machine.*c.member);
      });
    });
  });
}

}  // namespace wherry::tools
