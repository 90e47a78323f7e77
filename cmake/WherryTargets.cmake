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
  # GCC 12 finds overlaps in "text" + std::string(...) that are not there (its bug 105651).
  add_compile_options(-Wno-restrict)
endif()
if(WHERRY_WERROR)
  add_compile_options(-Werror)
endif()
# For what goes through many small functions of several files on its way: one program where it is linked with
# WHERRY_LINKED_AS_ONE, ordinary objects elsewhere.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(WHERRY_COMPILED_AS_ONE $<$<CONFIG:Release>:-flto;-ffat-lto-objects>)
  set(WHERRY_LINKED_AS_ONE $<$<CONFIG:Release>:-flto;-flto-partition=one>)
endif()
if(WHERRY_SANITIZE)
  add_compile_options(-fsanitize=${WHERRY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WHERRY_SANITIZE})
endif()

# The C++ sources of a folder (and its subfolders); a new file needs no edit.
function(wherry_sources variable folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  set(${variable} "${sources}" PARENT_SCOPE)
endfunction()

# A pure layer, src/<layer>: the static library wherry_<layer>, linked to the layers below it.
# A folder without sources has headers only.
function(wherry_layer layer)
  wherry_sources(sources "${CMAKE_CURRENT_SOURCE_DIR}")
  list(TRANSFORM ARGN PREPEND wherry_ OUTPUT_VARIABLE below)
  if(sources)
    add_library(wherry_${layer} STATIC ${sources})
    wherry_precompiled(wherry_${layer})
    target_include_directories(wherry_${layer} PUBLIC "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(wherry_${layer} PUBLIC ${below})
  else()
    add_library(wherry_${layer} INTERFACE)
    target_include_directories(wherry_${layer} INTERFACE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(wherry_${layer} INTERFACE ${below})
  endif()
endfunction()
