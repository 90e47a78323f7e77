/* Preloaded: Open MPI's own count of what each rank sends, in a file for each part of the program, which MPI_Pcontrol
 * ends: $MONITORED.NAME.<rank>.prof (Open MPI's "pml_monitoring_flush"). */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;

static void begin(void) {
  int level, index, count;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  if (MPI_T_pvar_get_index("pml_monitoring_flush", MPI_T_PVAR_CLASS_GENERIC, &index) != MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
  MPI_T_pvar_start(session, handle);
}

/* Stopping writes the file, and what was counted begins at nothing again. */
static void end(const char* name) {
  char file[4096];
  snprintf(file, sizeof file, "%s.%s", getenv("MONITORED"), name);
  MPI_T_pvar_write(session, handle, file);
  MPI_T_pvar_stop(session, handle);
  MPI_T_pvar_start(session, handle);
}

int MPI_Pcontrol(const int level, ...) {
  if (level == 1) begin();
  if (level == 2) {
    va_list words;
    va_start(words, level);
    end(va_arg(words, const char*));
    va_end(words);
  }
  return MPI_SUCCESS;
}
