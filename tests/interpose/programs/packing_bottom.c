// Packs ten times from absolute addresses, by MPI_BOTTOM.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  static double memory[400];
  char packed[1600];
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 400; ++i) memory[i] = i;
  MPI_Aint at;
  MPI_Get_address(memory, &at);
  MPI_Datatype strided, absolute;
  MPI_Type_vector(200, 1, 2, MPI_DOUBLE, &strided);
  const int length = 1;
  MPI_Type_create_hindexed(1, &length, &at, strided, &absolute);
  MPI_Type_commit(&absolute);
  int wrong = 0;
  for (int call = 0; call < 10; ++call) {
    int position = 0;
    MPI_Pack(MPI_BOTTOM, 1, absolute, packed, sizeof packed, &position, MPI_COMM_WORLD);
    double value;
    memcpy(&value, packed + 8 * 199, sizeof value);
    wrong += position != 1600 || value != 398;
  }
  MPI_Type_free(&strided);
  MPI_Type_free(&absolute);
  MPI_Finalize();
  return wrong != 0;
}
