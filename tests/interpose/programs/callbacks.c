/* Stands before Open MPI's progress functions and counts whose callbacks are registered: those of Wherry's backend. It
   is preloaded; see crowded.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

typedef int (*Callback)(void);

static int registered, ever;

static int is_wherrys(Callback callback) {
  Dl_info found;
  return dladdr((void*)callback, &found) != 0 && strstr(found.dli_fname, "libwherry") != NULL;
}

static int forward(const char* name, Callback callback) {
  int (*next)(Callback) = (int (*)(Callback))dlsym(RTLD_NEXT, name);
  return next(callback);
}

int opal_progress_register(Callback callback) {
  if (is_wherrys(callback)) ++registered, ++ever;
  return forward("opal_progress_register", callback);
}

int opal_progress_unregister(Callback callback) {
  const int code = forward("opal_progress_unregister", callback);
  if (code == 0 && is_wherrys(callback)) --registered;
  return code;
}

int callbacks_now(void) { return registered; }
int callbacks_ever(void) { return ever; }
