# find_package(Wherry): the targets Wherry::openmpi, Wherry::mpich and Wherry::abi, one for each ABI of MPI that this
# Wherry was built for, and Wherry::wherry, the one that fits the mpi.h in use.
#
# Call find_package(MPI) first, or compile with MPI's own compilers (mpicc, mpicxx). A program links Wherry beside MPI:
#   target_link_libraries(app PRIVATE Wherry::wherry MPI::MPI_CXX)

include("${CMAKE_CURRENT_LIST_DIR}/WherryTargets.cmake")

# The ABI of the mpi.h that programs here are compiled with, by the names that only it defines.
function(wherry_find_abi variable)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  foreach(language IN ITEMS CXX C)
    if(language IN_LIST languages)
      set(chosen ${language})
    endif()
    if(TARGET MPI::MPI_${language})
      list(APPEND mpi MPI::MPI_${language})
    endif()
  endforeach()
  if(NOT chosen)
    return()
  endif()
  include(CheckSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES ${mpi})
  set(CMAKE_REQUIRED_DEFINITIONS -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
  set(CMAKE_REQUIRED_QUIET TRUE)
  foreach(row IN ITEMS "openmpi OPEN_MPI" "mpich MPICH_VERSION" "mpich I_MPI_VERSION" "abi MPI_ABI_VERSION")
    separate_arguments(row)
    list(GET row 0 abi)
    list(GET row 1 name)
    check_source_compiles(${chosen}
      "#include <mpi.h>\n#ifndef ${name}\n#error other\n#endif\nint main(void) { return 0; }\n" WHERRY_MPI_HAS_${name})
    if(WHERRY_MPI_HAS_${name})
      set(${variable} ${abi} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

wherry_find_abi(Wherry_ABI)
if(NOT Wherry_ABI)
  message(STATUS "Wherry: no mpi.h that it knows, so no target Wherry::wherry; call find_package(MPI) first")
elseif(NOT TARGET Wherry::${Wherry_ABI})
  set(Wherry_FOUND FALSE)
  set(Wherry_NOT_FOUND_MESSAGE "this Wherry was not built for MPI libraries of the ABI ${Wherry_ABI}")
elseif(NOT TARGET Wherry::wherry)
  add_library(Wherry::wherry INTERFACE IMPORTED)
  target_link_libraries(Wherry::wherry INTERFACE Wherry::${Wherry_ABI})
endif()
