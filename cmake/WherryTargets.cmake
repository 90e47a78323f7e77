# How every target of Wherry is compiled, and the functions that make targets from folders.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# Everything may end up in the preload, which must not add a name of its own to a program.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -g1 -DNDEBUG")

add_compile_options(-Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 finds overlaps and reads beyond the end in "text" + std::string(...) that are not there (its bug 105651).
  add_compile_options(-Wno-restrict $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overread>)
endif()
if(WHERRY_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC looks for garbage from 1 GiB on, which few files reach, instead of 128 MiB: a tenth less to do.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1048576>)
endif()
# For what goes through many small functions of several files on its way: one program where it is linked with
# WHERRY_LINKED_AS_ONE, ordinary objects elsewhere.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(WHERRY_COMPILED_AS_ONE $<$<CONFIG:Release>:-flto;-ffat-lto-objects>)
  set(WHERRY_LINKED_AS_ONE $<$<CONFIG:Release>:-flto;-flto-partition=one>)
  # GCC optimizes such objects together wherever they are linked, unless told otherwise: a second for each program.
  if(NOT CMAKE_INTERPROCEDURAL_OPTIMIZATION AND NOT CMAKE_CXX_FLAGS MATCHES "-flto")
    set(WHERRY_LINKED_APART $<$<CONFIG:Release>:-fno-lto>)
    include(CheckLinkerFlag)  # half of the usual linker's time, for hundreds of programs
    check_linker_flag(CXX -fuse-ld=gold WHERRY_HAS_GOLD)
    if(WHERRY_HAS_GOLD AND NOT WHERRY_SANITIZE)
      list(APPEND WHERRY_LINKED_APART -fuse-ld=gold)
    endif()
  endif()
endif()
if(WHERRY_SANITIZE)
  add_compile_options(-fsanitize=${WHERRY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WHERRY_SANITIZE})
endif()

# wherry_joined(target [batch]): several of its files are compiled as one, so that what they include and instantiate is
# compiled once: by WHERRY_UNITY, up to so many at a time. In small batches, as a change costs the batch. A file with
# options of its own stays alone.
function(wherry_joined target)
  if(WHERRY_UNITY)
    set(batch 6)
    if(ARGC GREATER 1)
      set(batch ${ARGV1})
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # takes a source that is included for a header
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
    endif()
  endif()
endfunction()

# wherry_compiled_quickly(target): tests, which run once for each time that they are compiled.
function(wherry_compiled_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_options(${target} PRIVATE ${WHERRY_LINKED_APART})
endfunction()

# The C++ sources of a folder (and its subfolders); a new file needs no edit.
function(wherry_sources variable folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  set(${variable} "${sources}" PARENT_SCOPE)
endfunction()

# A pure layer, src/<layer>: the static library wherry_<layer>, linked to the layers below it.
# A folder without sources has headers only.
function(wherry_layer layer)
  wherry_sources(sources "${PROJECT_SOURCE_DIR}/src/${layer}")
  list(TRANSFORM ARGN PREPEND wherry_ OUTPUT_VARIABLE below)
  if(sources)
    add_library(wherry_${layer} STATIC ${sources})
    wherry_precompiled(wherry_${layer})
    wherry_joined(wherry_${layer})
    target_include_directories(wherry_${layer} PUBLIC "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(wherry_${layer} PUBLIC ${below})
  else()
    add_library(wherry_${layer} INTERFACE)
    target_include_directories(wherry_${layer} INTERFACE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(wherry_${layer} INTERFACE ${below})
  endif()
endfunction()

# wherry_built_for(mpis abis [EVERY_ABI]): for which installations and ABIs a program is: none without WHERRY_MPI.
function(wherry_built_for mpis abis)
  set(kind "WHERRY_PROGRAM")
  if("EVERY_ABI" IN_LIST ARGN)
    set(kind "WHERRY")
  endif()
  set(${mpis} "${${kind}_MPIS}" PARENT_SCOPE)
  set(${abis} "${${kind}_ABIS}" PARENT_SCOPE)
endfunction()
