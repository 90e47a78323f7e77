/* Debian's MPICH, which can only spin while it waits, sleeps instead: preloaded, between it and UCX.

   As newer versions do by MPIR_CVAR_CH4_PROGRESS_THROTTLE: when it has found nothing a few times in a row. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

typedef unsigned Progress(void* worker);

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker) {
  static Progress* progress;
  static _Thread_local int found_nothing;
  if (progress == NULL) {
    /* Not RTLD_NEXT: Python loads MPICH, and UCX with it, for its module alone. */
    void* const ucx = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    if (ucx != NULL) progress = (Progress*)dlsym(ucx, "ucp_worker_progress");
    if (progress == NULL) abort();
  }
  const unsigned events = progress(worker);
  found_nothing = events == 0 ? found_nothing + 1 : 0;
  if (found_nothing >= 32) {
    const int kept = errno;
    const struct timespec shortest = {0, 1};
    nanosleep(&shortest, NULL);
    errno = kept;
  }
  return events;
}
