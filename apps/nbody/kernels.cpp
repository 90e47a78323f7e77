// Compiled once for each set of instructions; at run time the processor says which it has.
#include "nbody/kernels.hpp"

#include "nbody/simd/single.hpp"

// Left out: vectors whose length is known only at run time, which cannot stand in arrays; those without double precision; and
// sets that have nothing for these kernels beyond another one.
#define HWY_DISABLED_TARGETS                                                                            \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_WASM | HWY_WASM_EMU256 | HWY_SSSE3 | \
   HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nbody/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "nbody/simd/blocks-inl.hpp"
#include "nbody/simd/plain-inl.hpp"

#ifndef NBODY_FUNCTIONS
#define NBODY_FUNCTIONS
namespace nbody {

/// A kernel's functions. Plain data: nothing compiled for one set of instructions may be shared with the others.
struct Functions {
  decltype(Kernel::within) within;
  decltype(Kernel::between) between;
  decltype(Kernel::onto) onto;
};

struct FunctionsOfSet {
  const char* name;
  int doubles;
  Functions autovectorised, full, reduced, single;
  decltype(InstructionSet::potential) potential;
  decltype(InstructionSet::fused) fused;
  int estimate_instructions;
};

}  // namespace nbody
#endif

HWY_BEFORE_NAMESPACE();
namespace nbody::HWY_NAMESPACE {

/// Calls work with the task of the right kind.
template <class Law, Sides sides, class T, class Work>
HWY_INLINE void with_task(const PointsOf<T>& p, const PointsOf<T>& q, T eps2, const SumsOf<T>& p_sums,
                          const SumsOf<T>& q_sums, const Work& work) {
  if (eps2 > least_square<hn::ScalableTag<T>>())
    work(Task<Law, Near::excluded, sides, T>{p, q, p_sums, q_sums, eps2});
  else work(Task<Law, Near::possible, sides, T>{p, q, p_sums, q_sums, eps2});
}

template <class Law>
void within(const Points& points, Range range, double eps2, const Sums& sums) {
  with_task<Law, Sides::both>(points, points, eps2, sums, sums,
                              [&](const auto& task) { tiled_triangle(task, range); });
}

template <class Law>
void between(const Points& rows, Range row_range, const Points& columns, Range column_range, double eps2,
             const Sums& row_sums, const Sums& column_sums) {
  with_task<Law, Sides::both>(rows, columns, eps2, row_sums, column_sums,
                              [&](const auto& task) { tiled_rectangle(task, row_range, column_range); });
}

template <class Law>
void onto(const Points& rows, Range row_range, const Points& columns, Range column_range, double eps2,
          const Sums& row_sums) {
  with_task<Law, Sides::rows>(rows, columns, eps2, row_sums, row_sums,
                              [&](const auto& task) { tiled_rectangle(task, row_range, column_range); });
}

void within_single(const Points& points, Range range, double eps2, const Sums& sums) {
  const Frame frame(points, range, points, range);
  SingleCopy copy(frame, points, range);
  with_task<Single, Sides::both>(copy.points(), copy.points(), frame.eps2(eps2), copy.sums(), copy.sums(),
                                 [&](const auto& task) { tiled_triangle(task, copy.all()); });
  copy.add_to(sums, range, frame);
}

void between_single(const Points& rows, Range row_range, const Points& columns, Range column_range,
                    double eps2, const Sums& row_sums, const Sums& column_sums) {
  const Frame frame(rows, row_range, columns, column_range);
  SingleCopy r(frame, rows, row_range), c(frame, columns, column_range);
  with_task<Single, Sides::both>(r.points(), c.points(), frame.eps2(eps2), r.sums(), c.sums(),
                                 [&](const auto& task) { tiled_rectangle(task, r.all(), c.all()); });
  r.add_to(row_sums, row_range, frame);
  c.add_to(column_sums, column_range, frame);
}

void onto_single(const Points& rows, Range row_range, const Points& columns, Range column_range, double eps2,
                 const Sums& row_sums) {
  const Frame frame(columns, column_range, rows, row_range);
  SingleCopy r(frame, rows, row_range), c(frame, columns, column_range);
  with_task<Single, Sides::rows>(r.points(), c.points(), frame.eps2(eps2), r.sums(), r.sums(),
                                 [&](const auto& task) { tiled_rectangle(task, r.all(), c.all()); });
  r.add_to(row_sums, row_range, frame);
}

/// Adds the potentials of whole vectors of columns and of a tail, for one row.
HWY_INLINE double potential_at(const Points& points, std::size_t i, Range columns, double eps2) {
  const hn::ScalableTag<double> d;
  constexpr std::size_t lanes = hn::MaxLanes(hn::ScalableTag<double>());
  const auto x = hn::Set(d, points.x[i]), y = hn::Set(d, points.y[i]), z = hn::Set(d, points.z[i]);
  const auto eps = hn::Set(d, eps2);
  auto sum = hn::Zero(d);
  const auto add = [&](const Points& c, std::size_t j) HWY_ATTR {
    const auto dx = hn::Sub(hn::LoadU(d, c.x + j), x), dy = hn::Sub(hn::LoadU(d, c.y + j), y);
    const auto dz = hn::Sub(hn::LoadU(d, c.z + j), z);
    const auto r2 = hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::MulAdd(dx, dx, eps)));
    sum = hn::NegMulAdd(hn::LoadU(d, c.m + j), inverse(d, r2), sum);
  };
  std::size_t j = columns.begin;
  for (; j + lanes <= columns.end; j += lanes) add(points, j);
  if (j < columns.end) add(Tail<double, lanes>(points, {j, columns.end}).points(), 0);
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void potential(const Points& points, Range rows, Range columns, double eps2, double* potentials) {
  for (std::size_t i = rows.begin; i < rows.end; ++i) {
    // Not of itself: with a small eps that would drown all others.
    const std::size_t before = i < columns.end ? i : columns.end,
                      after = i + 1 > columns.begin ? i + 1 : columns.begin;
    if (columns.begin < before) potentials[i] += potential_at(points, i, {columns.begin, before}, eps2);
    if (after < columns.end) potentials[i] += potential_at(points, i, {after, columns.end}, eps2);
  }
}

double fused(std::size_t rounds) {
  const hn::ScalableTag<double> d;
  using V = hn::Vec<hn::ScalableTag<double>>;
  V sums[fused_in_round];
  HWY_UNROLL(16)
  for (int k = 0; k < fused_in_round; ++k) sums[k] = hn::Set(d, 1.0 + k);  // all different, or one would do
  const V factor = hn::Set(d, 0.999), term = hn::Set(d, 1e-3);
  for (std::size_t round = 0; round < rounds; ++round) {
    HWY_UNROLL(16)
    for (int k = 0; k < fused_in_round; ++k) sums[k] = hn::MulAdd(sums[k], factor, term);
  }
  V all = hn::Zero(d);
  HWY_UNROLL(16)
  for (int k = 0; k < fused_in_round; ++k) all = hn::Add(all, sums[k]);
  return hn::GetLane(hn::SumOfLanes(d, all));
}

FunctionsOfSet functions() {
  return {.name = hwy::TargetName(HWY_TARGET),
          .doubles = static_cast<int>(hn::MaxLanes(hn::ScalableTag<double>())),
          .autovectorised = {plain::within, plain::between, plain::onto},
          .full = {within<Full>, between<Full>, onto<Full>},
          .reduced = {within<Reduced>, between<Reduced>, onto<Reduced>},
          .single = {within_single, between_single, onto_single},
          .potential = potential,
          .fused = fused,
          .estimate_instructions = estimate_instructions};
}

}  // namespace nbody::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nbody {
namespace {

HWY_EXPORT(functions);

struct Row {
  const char* name;
  const char* meaning;
  double error;
  Functions FunctionsOfSet::* functions;
};
constexpr Row rows[] = {
    {"simd", "estimated reciprocal roots, corrected to double precision; blocks of registers and tiles",
     1e-14, &FunctionsOfSet::full},
    {"autovectorised", "plain loops as the compiler vectorises them, with roots and divisions", 1e-14,
     &FunctionsOfSet::autovectorised},
    {"reduced", "as simd, with one correction only", 1e-7, &FunctionsOfSet::reduced},
    {"single", "as simd, in single precision", 1e-5, &FunctionsOfSet::single},
};

InstructionSet named(const FunctionsOfSet& set) {
  std::vector<Kernel> kernels;
  for (const Row& row : rows) {
    const Functions& f = set.*row.functions;
    kernels.push_back({row.name, row.meaning, row.error, f.within, f.between, f.onto});
  }
  kernels.push_back(scalar_kernel());
  return {.name = set.name,
          .doubles = set.doubles,
          .estimate_instructions = set.estimate_instructions,
          .kernels = std::move(kernels),
          .potential = set.potential,
          .fused = set.fused};
}

/// Highway only hands out the functions for the best set that it may use, so each is made the only one for a moment.
std::vector<InstructionSet> find_sets() {
  std::vector<InstructionSet> sets;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    sets.push_back(named(HWY_DYNAMIC_DISPATCH(functions)()));
  }
  hwy::SetSupportedTargetsForTest(0);
  return sets;
}

}  // namespace

int simd_instructions(const InstructionSet& set, bool both_sides, bool coincidence_possible) {
  constexpr int differences = 3, square = 3, cube = 7, product = 1, sums = 3, comparison = 2;
  return differences + square + set.estimate_instructions + cube + (both_sides ? 2 : 1) * (product + sums) +
         (coincidence_possible ? comparison : 0);
}

const std::vector<InstructionSet>& instruction_sets() {
  static const std::vector<InstructionSet> sets = find_sets();
  return sets;
}

}  // namespace nbody
#endif
