# Finds the MPI installations: those that Wherry_MPI names; else those that Wherry knows, in .mpi/ (see tools/setup.py) and
# those of Debian; else the one of find_package(MPI), which MPI_HOME or MPI_C_COMPILER can name.
#
# Gives: WHERRY_MPIS, their names as on the command line; for each the INTERFACE target mpi_<name> (link it) and
# WHERRY_MPI_ABI_<name>; WHERRY_ABIS, the ABIs that have headers; for each WHERRY_MPI_INCLUDE_<abi> and the
# INTERFACE target mpi_headers_<abi> (compile with it; it links to nothing).
#
# A program is compiled once per ABI and linked once per installation. WHERRY_PROGRAM_MPIS and WHERRY_PROGRAM_ABIS: those that
# programs are for unless they ask for every ABI.

set(Wherry_MPI "" CACHE STRING "Prefixes of the MPI installations to build for, instead of those that Wherry knows")
set(WHERRY_MPI_ROOT "${PROJECT_SOURCE_DIR}/.mpi" CACHE PATH "Environments with an MPI each: openmpi, mpich, impi")
include(WherryAbi)
set(WHERRY_MPIS "")
set(WHERRY_ABIS "")

# wherry_mpi(name abi include library): one installation, if its header and library are there.
function(wherry_mpi name abi include library)
  if(NOT EXISTS "${include}/mpi.h" OR NOT EXISTS "${library}")
    message(STATUS "MPI ${name}: not found")
    return()
  endif()
  message(STATUS "MPI ${name}: ${library}")
  add_library(mpi_${name} INTERFACE)
  target_link_libraries(mpi_${name} INTERFACE "${library}")
  set(WHERRY_MPI_ABI_${name} ${abi} PARENT_SCOPE)
  get_filename_component(folder "${library}" DIRECTORY)
  set(WHERRY_MPI_LIBDIR_${name} "${folder}" PARENT_SCOPE)
  set(WHERRY_MPIS ${WHERRY_MPIS} ${name} PARENT_SCOPE)
  if(NOT abi IN_LIST WHERRY_ABIS)
    # C++ bindings, which some headers include unasked, would ask for a second library.
    add_library(mpi_headers_${abi} INTERFACE)
    target_include_directories(mpi_headers_${abi} SYSTEM INTERFACE "${include}")
    target_compile_definitions(mpi_headers_${abi} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
    set(WHERRY_ABIS ${WHERRY_ABIS} ${abi} PARENT_SCOPE)
    set(WHERRY_MPI_INCLUDE_${abi} "${include}" PARENT_SCOPE)
  endif()
endfunction()

# The first file that matches, or <variable>-NOTFOUND.
function(wherry_first variable)
  file(GLOB found ${ARGN})
  if(found)
    list(GET found 0 found)
  else()
    set(found "${variable}-NOTFOUND")
  endif()
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# The standard ABI's header has a name of its own in MPICH: a folder with an mpi.h that forwards to it.
function(wherry_abi_header variable header)
  set(folder "${PROJECT_BINARY_DIR}/mpi-abi")
  if(EXISTS "${header}")
    file(CONFIGURE OUTPUT "${folder}/mpi.h" CONTENT "#include \"${header}\"\n" @ONLY)
  endif()
  set(${variable} "${folder}" PARENT_SCOPE)
endfunction()

# The folder of a header, whatever the machine's triplet is.
function(wherry_header_folder variable)
  wherry_first(header ${ARGN})
  get_filename_component(folder "${header}" DIRECTORY)
  set(${variable} "${folder}" PARENT_SCOPE)
endfunction()

# The installations of `make setup` and of Debian.
macro(wherry_known_mpis)
  wherry_abi_header(abi_include "${WHERRY_MPI_ROOT}/mpich/include/mpi_abi.h")
  wherry_header_folder(debian_openmpi_include "/usr/lib/*-linux-gnu/openmpi/include/mpi.h")
  wherry_header_folder(debian_mpich_include "/usr/include/*-linux-gnu/mpich/mpi.h")
  wherry_first(debian_openmpi_library "/usr/lib/*-linux-gnu/libmpi.so.40")
  wherry_first(debian_mpich_library "/usr/lib/*-linux-gnu/libmpich.so.12")

  #          name           abi     folder of mpi.h                      library
  wherry_mpi(openmpi        openmpi "${WHERRY_MPI_ROOT}/openmpi/include" "${WHERRY_MPI_ROOT}/openmpi/lib/libmpi.so.40")
  wherry_mpi(mpich          mpich   "${WHERRY_MPI_ROOT}/mpich/include"   "${WHERRY_MPI_ROOT}/mpich/lib/libmpi.so.12")
  wherry_mpi(mpich-abi      abi     "${abi_include}"                     "${WHERRY_MPI_ROOT}/mpich/lib/libmpi_abi.so.1")
  wherry_mpi(intel          mpich   "${WHERRY_MPI_ROOT}/impi/include"    "${WHERRY_MPI_ROOT}/impi/lib/libmpi.so.12")
  wherry_mpi(debian-openmpi openmpi "${debian_openmpi_include}"          "${debian_openmpi_library}")
  wherry_mpi(debian-mpich   mpich   "${debian_mpich_include}"            "${debian_mpich_library}")
endmacro()

# The name, or with a number behind it, as several may be of one family.
function(wherry_free_name variable name)
  set(free "${name}")
  set(number 1)
  while(TARGET mpi_${free})
    math(EXPR number "${number} + 1")
    set(free "${name}-${number}")
  endwhile()
  set(${variable} "${free}" PARENT_SCOPE)
endfunction()

# The MPI of a header, by the name that `wherry info` gives one that it finds on PATH. include: the folder of mpi.h.
macro(wherry_mpi_of_header include library)
  set(CMAKE_REQUIRED_INCLUDES "${include}")
  wherry_mpi_family(family CXX)
  unset(CMAKE_REQUIRED_INCLUDES)
  if(NOT family)
    message(FATAL_ERROR "${include}/mpi.h is of no MPI that Wherry knows (have: Open MPI, MPICH, Intel MPI and those with the "
      "standard ABI); leave it out of Wherry_MPI")
  endif()
  wherry_abi_of_family(abi ${family})
  wherry_free_name(name path-${family})
  wherry_mpi(${name} ${abi} "${include}" "${library}")
endmacro()

# What a user names: an installation with a prefix of its own.
macro(wherry_mpi_at prefix)
  find_path(mpi_include mpi.h HINTS "${prefix}/include" PATH_SUFFIXES mpi NO_DEFAULT_PATH NO_CACHE)
  find_library(mpi_library NAMES mpi mpich libmpi.so.40 libmpi.so.12 HINTS "${prefix}" PATH_SUFFIXES lib/release lib lib64
    NO_DEFAULT_PATH NO_CACHE)
  if(NOT mpi_include OR NOT mpi_library)
    message(FATAL_ERROR "Wherry_MPI: no include/mpi.h or no lib/libmpi.so below ${prefix}; give the prefix that this MPI was "
      "installed with, or leave Wherry_MPI out and name its compiler: -DMPI_C_COMPILER=<mpicc>")
  endif()
  wherry_mpi_of_header("${mpi_include}" "${mpi_library}")
  if(EXISTS "${mpi_include}/mpi_abi.h" AND NOT family STREQUAL "abi")  # MPICH 5 has both
    find_library(abi_library mpi_abi HINTS "${prefix}" PATH_SUFFIXES lib lib64 NO_DEFAULT_PATH NO_CACHE)
    wherry_abi_header(abi_include "${mpi_include}/mpi_abi.h")
    wherry_free_name(name path-abi)
    wherry_mpi(${name} abi "${abi_include}" "${abi_library}")
    unset(abi_library)
  endif()
  unset(mpi_include)
  unset(mpi_library)
endmacro()

macro(wherry_mpi_of_cmake)
  find_package(MPI COMPONENTS C)
  if(MPI_C_FOUND)
    find_path(mpi_include mpi.h HINTS ${MPI_C_INCLUDE_DIRS} NO_DEFAULT_PATH NO_CACHE)
    list(FILTER MPI_C_LIBRARIES INCLUDE REGEX "/libmpi[^/]*$")
    list(GET MPI_C_LIBRARIES 0 mpi_library)
    wherry_mpi_of_header("${mpi_include}" "${mpi_library}")
  endif()
endmacro()

if(Wherry_MPI)
  foreach(prefix IN LISTS Wherry_MPI)
    wherry_mpi_at("${prefix}")
  endforeach()
else()
  if(NOT MPI_C_COMPILER AND NOT MPI_HOME)
    wherry_known_mpis()
  endif()
  if(NOT WHERRY_MPIS)
    wherry_mpi_of_cmake()
  endif()
endif()

if(NOT WHERRY_MPIS)
  set(severity WARNING)
  if(WHERRY_NEEDS_MPI)
    set(severity FATAL_ERROR)
  endif()
  message(${severity} "no MPI found, so neither preload nor library can be built; install one with its headers (as root: "
    "apt-get install libopenmpi-dev; in a checkout of Wherry: make setup), or name yours: -DWherry_MPI=<prefix> or "
    "-DMPI_C_COMPILER=<mpicc>")
endif()

# MPICH with the standard ABI is the same library as MPICH with its own, behind other handles: only what concerns these, or
# users, is built for both.
set(WHERRY_PROGRAM_MPIS ${WHERRY_MPIS})
if(TARGET mpi_mpich)
  list(REMOVE_ITEM WHERRY_PROGRAM_MPIS mpich-abi)
endif()
set(WHERRY_PROGRAM_ABIS "")
foreach(mpi IN LISTS WHERRY_PROGRAM_MPIS)
  list(APPEND WHERRY_PROGRAM_ABIS ${WHERRY_MPI_ABI_${mpi}})
endforeach()
list(REMOVE_DUPLICATES WHERRY_PROGRAM_ABIS)

# A layer that needs MPI, src/<layer>: the static libraries wherry_<layer>_<abi>, compiled against headers only.
#
# wherry_mpi_layer(layer below... PURE pure...): linked to the layers below it of the same ABI, and to pure layers.
function(wherry_mpi_layer layer)
  cmake_parse_arguments(PARSE_ARGV 1 layers "" "" "PURE")
  wherry_sources(sources "${PROJECT_SOURCE_DIR}/src/${layer}")
  list(TRANSFORM layers_PURE PREPEND wherry_)
  foreach(abi IN LISTS WHERRY_ABIS WHERRY_SMPI_ABI)
    add_library(wherry_${layer}_${abi} STATIC ${sources})
    wherry_precompiled(wherry_${layer}_${abi})
    wherry_joined(wherry_${layer}_${abi})
    list(TRANSFORM layers_UNPARSED_ARGUMENTS REPLACE "(.+)" "wherry_\\1_${abi}" OUTPUT_VARIABLE below)
    target_link_libraries(wherry_${layer}_${abi} PUBLIC ${below} ${layers_PURE})
  endforeach()
endfunction()

# A layer of wherry_mpi_layer() that is optimized together with what it is linked to.
function(wherry_compiled_as_one layer)
  foreach(abi IN LISTS WHERRY_ABIS WHERRY_SMPI_ABI)
    target_compile_options(wherry_${layer}_${abi} PRIVATE ${WHERRY_COMPILED_AS_ONE})
  endforeach()
endfunction()

# One program per installation from one source: objects per ABI, the executable in <folder>/<mpi name>/.
#
# wherry_mpi_program(name source folder [INSTALL] [AS_ONE] [TEST] [EVERY_ABI]); INSTALL: into libexec/wherry/<mpi name>; AS_ONE:
# optimized together with what it is linked to, which takes seconds for each installation; TEST: compiled quickly.
function(wherry_mpi_program name source folder)
  cmake_parse_arguments(PARSE_ARGV 3 program "INSTALL;AS_ONE;TEST;EVERY_ABI" "" "")
  wherry_built_for(mpis abis ${ARGN})
  foreach(abi IN LISTS abis)
    add_library(${name}_${abi} OBJECT "${source}")
    if(program_TEST)
      wherry_test_headers(${abi})
      wherry_compiled_quickly(${name}_${abi})
      wherry_precompiled_as(${name}_${abi} wherry_test_headers_${abi})
    else()
      wherry_precompiled(${name}_${abi})
    endif()
    target_link_libraries(${name}_${abi} PRIVATE wherry_host_${abi} wherry_window_${abi})
  endforeach()
  foreach(mpi IN LISTS mpis)
    set(abi ${WHERRY_MPI_ABI_${mpi}})
    set(program ${name}-${mpi})
    add_executable(${program})
    target_link_libraries(${program} PRIVATE ${name}_${abi} wherry_linked_${abi} wherry_host_${abi} wherry_window_${abi} mpi_${mpi})
    set_target_properties(${program} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE CXX
      RUNTIME_OUTPUT_DIRECTORY "${folder}/${mpi}" INSTALL_RPATH "${WHERRY_MPI_LIBDIR_${mpi}}")
    if(program_AS_ONE)
      target_link_options(${program} PRIVATE ${WHERRY_LINKED_AS_ONE})
    else()
      target_link_options(${program} PRIVATE ${WHERRY_LINKED_APART})
    endif()
    if(program_INSTALL)
      install(TARGETS ${program} RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/wherry/${mpi}")
    endif()
  endforeach()
endfunction()

# wherry_test_headers(abi): the runtime's headers, which most tests include, read once for all of them.
function(wherry_test_headers abi)
  if(WHERRY_PRECOMPILED AND NOT TARGET wherry_test_headers_${abi})
    add_library(wherry_test_headers_${abi} OBJECT "${PROJECT_BINARY_DIR}/standard_headers.cpp")
    target_link_libraries(wherry_test_headers_${abi} PRIVATE wherry_host_${abi})
    wherry_compiled_quickly(wherry_test_headers_${abi})
    target_precompile_headers(wherry_test_headers_${abi} PRIVATE
      ${WHERRY_STANDARD_HEADERS} <mpi.h> "${PROJECT_SOURCE_DIR}/src/host/runtime.hpp")
  endif()
endfunction()
