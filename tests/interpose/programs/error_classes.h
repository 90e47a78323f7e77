/* For programs that provoke errors: the class of a code in a word, and a handler that counts its calls. */
#pragma once

#include <mpi.h>
#include <stdio.h>

static const char* class_of(int code) {
  static char text[32];
  int class = 0;
  MPI_Error_class(code, &class);
  const struct {
    int class;
    const char* name;
  } names[] = {{MPI_SUCCESS, "success"}, {MPI_ERR_TYPE, "type"},         {MPI_ERR_COUNT, "count"},
               {MPI_ERR_RANK, "rank"},   {MPI_ERR_TRUNCATE, "truncate"}, {MPI_ERR_COMM, "comm"},
               {MPI_ERR_TAG, "tag"},     {MPI_ERR_ARG, "arg"},           {MPI_ERR_BUFFER, "buffer"},
               {MPI_ERR_OTHER, "other"}, {MPI_ERR_UNKNOWN, "unknown"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (names[i].class == class) return names[i].name;
  snprintf(text, sizeof text, "class %d", class);
  return text;
}

static int handled = 0;
static void handler(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

/* What a call on requests has met goes to the handler of MPI_COMM_WORLD in some libraries. */
static inline void handle_by(MPI_Comm comm, MPI_Errhandler errhandler) {
  MPI_Comm_set_errhandler(comm, errhandler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler);
}
