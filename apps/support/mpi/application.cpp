#include "support/mpi/application.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>

#include "support/columns.hpp"
#include "support/mpi/comm.hpp"
#include "support/output_file.hpp"
#include "wherry/wherry.h"

namespace apps {
namespace {

enum Exit { done = 0, failed = 1, wrong_usage = 2 };

void say(const Manual& manual, const std::string& text) {
  std::fprintf(stderr, "%s: %s\n", manual.program.c_str(), text.c_str());
}

/// Whether any rank has a problem; the first that has one says it. Collective.
bool refused(const Manual& manual, const std::string& problem, MPI_Comm comm) {
  const int rank = rank_of(comm), ranks = size_of(comm);
  const int first = reduced(problem.empty() ? ranks : rank, MPI_MIN, comm);
  if (first == rank) say(manual, problem);
  return first < ranks;
}

/// The same for the same words on every machine (FNV-1a).
std::uint64_t fingerprint(const Words& words) {
  std::uint64_t hash = 14695981039346656037U;
  for (const std::string& word : words)
    for (const char c : word + '\0') hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

bool alike(const Words& words, MPI_Comm comm) {
  const std::uint64_t mine = fingerprint(words);
  return reduced(mine, MPI_MIN, comm) == reduced(mine, MPI_MAX, comm);
}

/// What is wrong with this rank's command line, or empty.
std::string problem_of(const Application& application, const Words& words, MPI_Comm comm) {
  const Common& common = application.common;
  try {
    parse(words, application.options);
    if (common.help) return "";
    application.validate(size_of(comm));
    if (rank_of(comm) == 0) check_writable({{"--json", common.json}});
    return "";
  } catch (const usage_error& error) {
    return error.what();
  }
}

/// Reads the command line; an exit code if there is nothing to run. Collective.
std::optional<Exit> settle(const Application& application, const Words& words, MPI_Comm comm) {
  const Manual& manual = application.manual;
  if (refused(manual, problem_of(application, words, comm), comm)) return wrong_usage;
  const char* const differ = "the ranks were started with different options; start all of them alike";
  if (refused(manual, alike(words, comm) ? "" : differ, comm)) return wrong_usage;
  if (!application.common.help) return std::nullopt;
  if (rank_of(comm) == 0) std::fputs(help(manual, application.options).c_str(), stdout);
  return done;
}

/// The first line of what the library says of itself, up to a comma, with single spaces.
std::string library_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all(text, static_cast<std::size_t>(length));
  std::string name;
  for (const char c : all.substr(0, all.find_first_of(",\n"))) {
    const bool space = c == ' ' || c == '\t';
    if (!space) name += c;
    else if (!name.empty() && name.back() != ' ') name += ' ';
  }
  return name.substr(0, name.find_last_not_of(' ') + 1);
}

Machine machine(const Manual& manual, MPI_Comm comm) {
  char host[MPI_MAX_PROCESSOR_NAME + 1] = "";
  int length = 0;
  MPI_Get_processor_name(host, &length);
  return {.application = manual.program,
          .mpi = library_name(),
          .host = host,
          .wherry = wherry_version(),
          .ranks = size_of(comm)};
}

/// What this rank alone knows, and ends all ranks with: the others would wait for it.
void give_up(const Manual& manual, const std::string& problem, MPI_Comm comm) {
  say(manual, problem);
  MPI_Abort(comm, failed);
}

/// Under `wherry run` MPI's own names lead to Wherry too.
void warn_of_preload(const Manual& manual) {
  const char* const preload = std::getenv("LD_PRELOAD");
  if (preload != nullptr && std::string(preload).find("libwherry.so") != std::string::npos)
    say(manual,
        "Wherry is preloaded, so plain MPI is Wherry as well; start it without `wherry run` to compare them");
}

Exit report(const Application& application, const Results& results, MPI_Comm comm) {
  const Machine where = machine(application.manual, comm);
  const std::string ranks = counted(static_cast<std::uint64_t>(where.ranks), "rank", "ranks");
  std::printf("%s\n%s, %s; %s\n\n%s\n", results.head.c_str(), where.mpi.c_str(), ranks.c_str(), statistic,
              table(results.measurements, results.side).c_str());
  if (!results.more.empty()) std::printf("%s\n", results.more.c_str());
  if (!results.wrong.empty()) {
    say(application.manual, "wrong result: " + results.wrong);
    return failed;
  }
  std::printf("checked: %s\n", results.right.c_str());
  if (application.common.json.empty()) return done;
  try {
    write_whole(application.common.json, json(where, results.measurements));
  } catch (const std::exception& error) {
    say(application.manual, error.what());
    return failed;
  }
  return done;
}

Exit work(const Application& application, MPI_Comm comm) {
  const bool first = rank_of(comm) == 0;
  if (first) warn_of_preload(application.manual);
  std::optional<Progress> progress(std::in_place, application.manual.program,
                                   first ? application.common.progress : ShowProgress::nowhere);
  const Results results = application.work(comm, *progress);
  progress.reset();
  const int code = first ? report(application, results, comm) : done;
  return static_cast<Exit>(reduced(code, MPI_MAX, comm));
}

}  // namespace

int run(int argc, char** argv, const Application& application) {
  // An application may compute with threads; only the first of them calls MPI.
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const Words words(argv + 1, argv + argc);
  Exit code = failed;
  try {
    const std::optional<Exit> settled = settle(application, words, MPI_COMM_WORLD);
    code = settled ? *settled : work(application, MPI_COMM_WORLD);
  } catch (const std::bad_alloc&) {
    give_up(
        application.manual,
        "there is not enough memory for what was asked for; ask for less, or start fewer ranks on a machine",
        MPI_COMM_WORLD);
  } catch (const std::exception& error) {
    give_up(application.manual, error.what(), MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return code;
}

}  // namespace apps
