// Work for the threads of a process: OpenMP's, or without it one.
#pragma once

namespace nbody {

/// Calls work(thread) on each thread, always on the same one for the same number.
template <class Function>
void on_threads(int threads, const Function& work) {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int thread = 0; thread < threads; ++thread) work(thread);
}

}  // namespace nbody
