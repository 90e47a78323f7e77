// What features keep beside a communicator: one object each, which its feature alone knows.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

namespace wherry::run {

/// Whose state it is. A type of state has its own as `static constexpr StateSlot slot`.
enum class StateSlot {
  choices,          // coll/state/choices.hpp
  schedules,        // coll/state/schedules.hpp
  blocking_call,    // coll/state/task.hpp
  neighborhood,     // coll/state/neighborhood.cpp
  layouts,          // exec/layout_exchange.hpp
  sparse_exchange,  // sparse/exchange.hpp
  end
};

/// Different slots may be used by different threads at once.
class StateSlots {
 public:
  /// Made of `arguments` when it is first asked for.
  template <class State, class... Arguments>
  State& get(Arguments&&... arguments) {
    std::unique_ptr<Base>& base = of(State::slot);
    if (base == nullptr) base = std::make_unique<Held<State>>(std::forward<Arguments>(arguments)...);
    return static_cast<Held<State>&>(*base).state;
  }
  /// nullptr: nobody has asked for it.
  template <class State>
  [[gnu::always_inline]] State* find() const {
    Base* const base = holders_[static_cast<std::size_t>(State::slot)].get();
    return base == nullptr ? nullptr : &static_cast<Held<State>&>(*base).state;
  }
  void clear() {
    for (std::unique_ptr<Base>& base : holders_) base.reset();
  }

 private:
  struct Base {
    virtual ~Base() = default;
  };
  template <class State>
  struct Held final : Base {
    template <class... Arguments>
    explicit Held(Arguments&&... arguments) : state(std::forward<Arguments>(arguments)...) {}
    State state;
  };

  std::unique_ptr<Base>& of(StateSlot slot) { return holders_[static_cast<std::size_t>(slot)]; }

  std::array<std::unique_ptr<Base>, static_cast<std::size_t>(StateSlot::end)> holders_;
};

}  // namespace wherry::run
