/* MPI_Pcontrol: Wherry's messages are answered, other levels reach the library. Argument: 1 if Wherry is there. */
#include <mpi.h>
#include <stdio.h>

#include "interpose/control.h"

int main(int argc, char** argv) {
  const int there = argc > 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int wrong = MPI_Pcontrol(WHERRY_FORCE, "native") != MPI_SUCCESS;
  wrong += (MPI_Pcontrol(WHERRY_FORCE, "no such strategy") != MPI_SUCCESS) != there;
  wrong += MPI_Pcontrol(WHERRY_FORCE, "auto") != MPI_SUCCESS;
  wrong += MPI_Pcontrol(1) != MPI_SUCCESS;
  wrong += MPI_Pcontrol(0, 1.5, "more") != MPI_SUCCESS;
  MPI_Finalize();
  return wrong;
}
