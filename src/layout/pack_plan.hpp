// How a layout is copied: its canonical form as steps for the kernels, made once and used by any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "layout/kernels.hpp"
#include "layout/layout.hpp"

namespace wherry::layout {

struct Level {
  Offset count, stride;
};

/// Nested strides over blocks of `bytes`; the outermost level first.
struct Nest {
  std::vector<Level> levels;
  Offset bytes;
};

/// Blocks of one length. The displacements are in the narrow list if they fit.
struct EqualBlocks {
  std::vector<std::int32_t> narrow;
  std::vector<std::int64_t> wide;
  Offset bytes;
};

/// Blocks of different lengths, and how many bytes of data come before each.
struct UnequalBlocks {
  std::vector<ByteBlock> blocks;
  std::vector<Offset> before;
};

/// Elements of a few blocks: structs.
struct Records {
  Level level;
  UnequalBlocks fields;
  Offset bytes;  // of data in one element
};

struct PlannedStep;
using StepPtr = std::shared_ptr<const PlannedStep>;

struct RepeatedStep {
  Level level;
  StepPtr element;
};

/// Steps at displacements, and how many bytes of data come before each.
struct StepSequence {
  std::vector<Offset> displacements, before;
  std::vector<StepPtr> steps;
};

struct PlannedStep {
  std::variant<Nest, EqualBlocks, UnequalBlocks, Records, RepeatedStep, StepSequence> kind;
  Offset size;
  Reach reach;
};

/// A layout as steps for the kernels.
class PackPlan {
 public:
  /// Of a canonical form.
  explicit PackPlan(const PlacedLayout& canonical);

  Offset size() const { return step_->size; }
  Offset begin() const { return begin_; }  // the true lower bound
  Offset end() const { return end_; }
  const PlacedLayout& form() const { return form_; }
  Offset displacement() const { return form_.displacement; }
  const PlannedStep& step() const { return *step_; }
  /// Whether the data are one block, and so a memcpy.
  bool is_block() const;

 private:
  PlacedLayout form_;
  Offset begin_, end_;
  StepPtr step_;
};

}  // namespace wherry::layout
