// A reader that notes every get, for programs that look at traces.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "remote/reader.hpp"

namespace remote {

class RecordingReader : public Reader {
 public:
  /// Adds a line for each get to `trace`, which must outlive it: target, displacement, bytes and score.
  RecordingReader(std::unique_ptr<Reader> reader, std::string& trace)
      : reader_(std::move(reader)), trace_(trace) {}

  void get(std::span<std::byte> into, int target, std::size_t displacement, double score) override {
    for (const std::string& word : {std::to_string(target), std::to_string(displacement),
                                    std::to_string(into.size()), std::to_string(score)})
      trace_ += word + ' ';
    trace_.back() = '\n';
    reader_->get(into, target, displacement, score);
  }
  void flush() override { reader_->flush(); }
  void renew() override { reader_->renew(); }
  Statistics statistics() const override { return reader_->statistics(); }

 private:
  std::unique_ptr<Reader> reader_;
  std::string& trace_;
};

}  // namespace remote
