/* Messages to the preload in MPI_Pcontrol; plain C, for benchmarks. Without the preload they do nothing.
 *
 *   MPI_Pcontrol(WHERRY_FORCE, "bruck");   // the next replaceable collectives run this strategy
 *
 * Give the same on all ranks. Every other level of MPI_Pcontrol goes to the MPI library untouched. */
#ifndef WHERRY_INTERPOSE_CONTROL_H
#define WHERRY_INTERPOSE_CONTROL_H

#define WHERRY_CONTROL_TAG 0x5748 /* "WH", the upper half of a level that is meant for Wherry */
#define WHERRY_CONTROL(code) ((WHERRY_CONTROL_TAG << 16) | (code))

/* Followed by a const char*: a strategy's name, "native" or "auto". Returns MPI_ERR_ARG if it is unknown. */
#define WHERRY_FORCE WHERRY_CONTROL(1)

#endif
