# SimGrid's SMPI as one more ABI: programs for simulated machines, if Debian's libsimgrid-dev is there.
#
# Gives: WHERRY_SMPI_ABI (smpi, or empty), for the loops that compile the library per ABI, and
# wherry_simulated_program(). No preload is built for it: all ranks of a simulation are threads of one process.

find_path(WHERRY_SMPI_INCLUDE smpi/mpi.h)
find_library(WHERRY_SIMGRID simgrid)
set(WHERRY_SMPI_ABI "")

if(WHERRY_SMPI_INCLUDE AND WHERRY_SIMGRID)
  message(STATUS "SimGrid: ${WHERRY_SIMGRID}")
  set(WHERRY_SMPI_ABI smpi)
  add_library(mpi_headers_smpi INTERFACE)
  target_include_directories(mpi_headers_smpi SYSTEM INTERFACE "${WHERRY_SMPI_INCLUDE}/smpi")
else()
  message(STATUS "SimGrid: not found; no programs for wherry simulate (install libsimgrid-dev)")
endif()

# A program for smpimain: a shared object with a main() for each rank. It is loaded once, not once per rank, so it must have
# no mutable globals.
#
# wherry_simulated_program(name SOURCES source... LIBRARIES library...): <build>/bench/smpi/<name>.so
function(wherry_simulated_program name)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "" "SOURCES;LIBRARIES")
  if(NOT WHERRY_SMPI_ABI)
    return()
  endif()
  add_library(${name} MODULE ${program_SOURCES})
  wherry_precompiled(${name})
  target_link_options(${name} PRIVATE ${WHERRY_LINKED_APART})
  target_link_libraries(${name} PRIVATE ${program_LIBRARIES} wherry_linked_smpi wherry_host_smpi "${WHERRY_SIMGRID}")
  # smpimain looks for main().
  set_target_properties(${name} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET default
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench/smpi")
  install(TARGETS ${name} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/wherry/smpi")
endfunction()
