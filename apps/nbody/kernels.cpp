// Compiled once for each set of instructions; at run time the processor says which it has.
#include "nbody/kernels.hpp"

#include "nbody/simd/forces.hpp"
#include "nbody/simd/single.hpp"
#include "support/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nbody/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "nbody/simd/plain-inl.hpp"
#include "nbody/simd/ports-inl.hpp"
#include "support/simd/each_set.hpp"

#ifndef NBODY_FUNCTIONS
#define NBODY_FUNCTIONS
namespace nbody {

/// A kernel's functions. Plain data: nothing compiled for one set of instructions may be shared with the others.
struct Functions {
  decltype(Kernel::within) within;
  decltype(Kernel::between) between;
  decltype(Kernel::onto) onto;
  Instructions both_sides, one_side;
};

struct FunctionsOfSet {
  const char* name;
  int doubles;
  Functions forces, accelerations, autovectorised, reduced, single;
  decltype(FieldKernel::onto) field, single_field;
};

}  // namespace nbody
#endif

HWY_BEFORE_NAMESPACE();
namespace nbody::HWY_NAMESPACE {

/// Calls work with the task of the right kind.
template <class Law, Sides sides, Adds adds = Adds::accelerations, class T, class Work>
HWY_INLINE void with_task(const PointsOf<T>& rows, const PointsOf<T>& columns, T eps2,
                          const SumsOf<T>& row_sums, const SumsOf<T>& column_sums, const Work& work) {
  if (eps2 > least_square<hn::ScalableTag<T>>())
    work(Task<Law, Near::excluded, sides, adds, T>{rows, columns, row_sums, column_sums, eps2});
  else work(Task<Law, Near::possible, sides, adds, T>{rows, columns, row_sums, column_sums, eps2});
}

template <class Law>
void within(const Points& points, Range range, double eps2, const Sums& sums) {
  with_task<Law, Sides::both>(points, points, eps2, sums, sums,
                              [&](const auto& task) { triangle(task, range); });
}

template <class Law>
void between(const Points& rows, Range row_range, const Points& columns, Range column_range, double eps2,
             const Sums& row_sums, const Sums& column_sums) {
  with_task<Law, Sides::both>(rows, columns, eps2, row_sums, column_sums,
                              [&](const auto& task) { rectangle(task, row_range, column_range); });
}

template <class Law>
void onto(const Points& rows, Range row_range, const Points& columns, Range column_range, double eps2,
          const Sums& row_sums) {
  with_task<Law, Sides::rows>(rows, columns, eps2, row_sums, row_sums,
                              [&](const auto& task) { rectangle(task, row_range, column_range); });
}

/// Fewer rows than this are not worth the divisions for all columns.
constexpr std::size_t least_rows_for_forces = 16;

void within_by_forces(const Points& points, Range range, double eps2, const Sums& sums) {
  const std::optional<double> unit = unit_of_forces(points, range, points, {0, 0});
  if (!unit) return within<Full>(points, range, eps2, sums);
  with_task<Full, Sides::both, Adds::forces>(points, points, eps2, sums, sums, [&](auto task) {
    task.unit = *unit;
    triangle(task, range);
  });
}

void between_by_forces(const Points& rows, Range row_range, const Points& columns, Range column_range,
                       double eps2, const Sums& row_sums, const Sums& column_sums) {
  if (row_range.size() < least_rows_for_forces)
    return between<Full>(rows, row_range, columns, column_range, eps2, row_sums, column_sums);
  const std::optional<double> unit = unit_of_forces(rows, row_range, columns, column_range);
  if (!unit) return between<Full>(rows, row_range, columns, column_range, eps2, row_sums, column_sums);
  with_task<Full, Sides::both, Adds::forces>(rows, columns, eps2, row_sums, column_sums, [&](auto task) {
    task.unit = *unit;
    rectangle(task, row_range, column_range);
  });
}

void within_single(const Points& points, Range range, double eps2, const Sums& sums) {
  const Frame frame(points, range, points, range);
  SingleCopy copy(frame, points, range);
  with_task<Single, Sides::both>(copy.points(), copy.points(), frame.eps2(eps2), copy.sums(), copy.sums(),
                                 [&](const auto& task) { triangle(task, copy.all()); });
  copy.add_to(sums, range, frame);
}

void between_single(const Points& rows, Range row_range, const Points& columns, Range column_range,
                    double eps2, const Sums& row_sums, const Sums& column_sums) {
  const Frame frame(rows, row_range, columns, column_range);
  SingleCopy r(frame, rows, row_range), c(frame, columns, column_range);
  with_task<Single, Sides::both>(r.points(), c.points(), frame.eps2(eps2), r.sums(), c.sums(),
                                 [&](const auto& task) { rectangle(task, r.all(), c.all()); });
  r.add_to(row_sums, row_range, frame);
  c.add_to(column_sums, column_range, frame);
}

void onto_single(const Points& rows, Range row_range, const Points& columns, Range column_range, double eps2,
                 const Sums& row_sums) {
  const Frame frame(columns, column_range, rows, row_range);
  SingleCopy r(frame, rows, row_range), c(frame, columns, column_range);
  with_task<Single, Sides::rows>(r.points(), c.points(), frame.eps2(eps2), r.sums(), r.sums(),
                                 [&](const auto& task) { rectangle(task, r.all(), c.all()); });
  r.add_to(row_sums, row_range, frame);
}

void field(const Points& points, Range rows, Range columns, double eps2, const Sums& sums,
           double* potentials) {
  with_task<Full, Sides::field>(points, points, eps2, sums, sums, [&](auto task) {
    task.potentials = potentials;
    rectangle(task, rows, columns);
  });
}

void single_field(const Points& points, Range rows, Range columns, double eps2, const Sums& sums,
                  double* potentials) {
  // One copy of both, so that a row is still among the columns.
  const Range all = {rows.begin < columns.begin ? rows.begin : columns.begin,
                     rows.end > columns.end ? rows.end : columns.end};
  const auto in_copy = [&](Range range) { return Range{range.begin - all.begin, range.end - all.begin}; };
  const Frame frame(points, all, points, all);
  SingleCopy copy(frame, points, all);
  with_task<Single, Sides::field>(copy.points(), copy.points(), frame.eps2(eps2), copy.sums(), copy.sums(),
                                  [&](auto task) {
                                    task.potentials = copy.potentials();
                                    rectangle(task, in_copy(rows), in_copy(columns));
                                  });
  copy.add_to(sums, all, frame);
  copy.add_to(potentials, all, frame);
}

template <class Law>
Functions by_accelerations() {
  return {within<Law>, between<Law>, onto<Law>, instructions<Law, Sides::both, Adds::accelerations>(),
          instructions<Law, Sides::rows, Adds::accelerations>()};
}

FunctionsOfSet functions() {
  Functions forces = by_accelerations<Full>();
  forces.within = within_by_forces;
  forces.between = between_by_forces;
  forces.both_sides = instructions<Full, Sides::both, Adds::forces>();
  return {.name = hwy::TargetName(HWY_TARGET),
          .doubles = static_cast<int>(hn::MaxLanes(hn::ScalableTag<double>())),
          .forces = forces,
          .accelerations = by_accelerations<Full>(),
          .autovectorised = {plain::within, plain::between, plain::onto, {}, {}},
          .reduced = by_accelerations<Reduced>(),
          .single = {within_single, between_single, onto_single, {}, {}},
          .field = field,
          .single_field = single_field};
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

/// AMD's processors since Zen add on two ports and multiply on two others; elsewhere the same ports do both.
bool adds_apart() {
#if HWY_ARCH_X86
  return __builtin_cpu_is("amd");
#else
  return false;
#endif
}

std::vector<Row> rows() {
  const bool forces = adds_apart();
  return {
      {"simd",
       forces ? "estimated reciprocal roots, corrected to double precision; as forces, which suits this "
                "processor"
              : "estimated reciprocal roots, corrected to double precision; as accelerations, which suits "
                "this processor",
       1e-14, forces ? &FunctionsOfSet::forces : &FunctionsOfSet::accelerations},
      {"forces", "the force of a pair once, added to both sums, which are divided by masses in the end",
       1e-14, &FunctionsOfSet::forces},
      {"accelerations", "what each of a pair does to the other, added by fused multiply-adds", 1e-14,
       &FunctionsOfSet::accelerations},
      {"autovectorised", "plain loops as the compiler vectorises them, with roots and divisions", 1e-14,
       &FunctionsOfSet::autovectorised},
      {"reduced", "as accelerations, with one correction only", 1e-7, &FunctionsOfSet::reduced},
      {"single", "as accelerations, in single precision", 1e-5, &FunctionsOfSet::single},
  };
}

InstructionSet named(const FunctionsOfSet& set) {
  std::vector<Kernel> kernels;
  for (const Row& row : rows()) {
    const Functions& f = set.*row.functions;
    kernels.push_back({.name = row.name,
                       .meaning = row.meaning,
                       .error = row.error,
                       .within = f.within,
                       .between = f.between,
                       .onto = f.onto,
                       .both_sides = f.both_sides,
                       .one_side = f.one_side});
  }
  kernels.push_back(scalar_kernel());
  return {.name = set.name,
          .doubles = set.doubles,
          .kernels = std::move(kernels),
          .field = {"field", 1e-14, set.field},
          .single_field = {"single field", 1e-5, set.single_field}};
}

std::vector<InstructionSet> find_sets() {
  std::vector<InstructionSet> sets;
  apps::for_each_set([&] { sets.push_back(named(HWY_DYNAMIC_DISPATCH(functions)())); });
  return sets;
}

}  // namespace

const std::vector<InstructionSet>& instruction_sets() {
  static const std::vector<InstructionSet> sets = find_sets();
  return sets;
}

}  // namespace nbody
#endif
