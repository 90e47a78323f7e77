# Which MPI an mpi.h is of, by the names that only it defines.

include(CheckSourceCompiles)

# wherry_mpi_family(variable language): openmpi, intel, mpich, abi (the standard ABI's own header), or empty: no mpi.h, or an
# unknown one. CMAKE_REQUIRED_INCLUDES and CMAKE_REQUIRED_LIBRARIES say where mpi.h is.
function(wherry_mpi_family variable language)
  list(APPEND CMAKE_REQUIRED_DEFINITIONS -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
  set(CMAKE_REQUIRED_QUIET TRUE)
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # only compiled: the library need not be there
  set(${variable} "" PARENT_SCOPE)
  # Intel MPI defines MPICH's name as well.
  foreach(row IN ITEMS "openmpi OPEN_MPI" "intel I_MPI_VERSION" "mpich MPICH_VERSION" "abi MPI_ABI_VERSION")
    separate_arguments(row)
    list(GET row 0 family)
    list(GET row 1 name)
    unset(WHERRY_MPI_IS_KNOWN CACHE)  # there may be several to look at
    check_source_compiles(${language}
      "#include <mpi.h>\n#ifndef ${name}\n#error other\n#endif\nint main(void) { return 0; }\n" WHERRY_MPI_IS_KNOWN)
    if(WHERRY_MPI_IS_KNOWN)
      set(${variable} ${family} PARENT_SCOPE)
      break()
    endif()
  endforeach()
  unset(WHERRY_MPI_IS_KNOWN CACHE)
endfunction()

# Intel MPI has the ABI of MPICH.
function(wherry_abi_of_family variable family)
  if(family STREQUAL "intel")
    set(family mpich)
  endif()
  set(${variable} "${family}" PARENT_SCOPE)
endfunction()
