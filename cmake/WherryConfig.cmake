# find_package(Wherry): the targets Wherry::openmpi, Wherry::mpich and Wherry::abi, one for each ABI of MPI that this
# Wherry was built for, and Wherry::wherry, the one that fits the mpi.h in use.
#
# Call find_package(MPI) first, or compile with MPI's own compilers (mpicc, mpicxx). A program links Wherry beside MPI:
#   target_link_libraries(app PRIVATE Wherry::wherry MPI::MPI_CXX)

include("${CMAKE_CURRENT_LIST_DIR}/WherryTargets.cmake")

include("${CMAKE_CURRENT_LIST_DIR}/WherryAbi.cmake")

# The ABI of the mpi.h that programs here are compiled with.
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
  if(chosen)
    set(CMAKE_REQUIRED_LIBRARIES ${mpi})
    wherry_mpi_family(family ${chosen})
    wherry_abi_of_family(abi "${family}")
    set(${variable} "${abi}" PARENT_SCOPE)
  endif()
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
