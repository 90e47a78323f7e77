# Kernels that Highway (libhwy-dev) compiles for each set of instructions; which one runs, the processor says.

find_path(WHERRY_HIGHWAY_INCLUDE hwy/highway.h)
find_library(WHERRY_HIGHWAY hwy)
set(WHERRY_HAS_HIGHWAY OFF)
if(WHERRY_HIGHWAY_INCLUDE AND WHERRY_HIGHWAY)
  set(WHERRY_HAS_HIGHWAY ON)
  message(STATUS "Highway: ${WHERRY_HIGHWAY}")
else()
  message(STATUS "Highway: not found; the applications barnes_hut, lj_fluid and nbody are not built, layouts are copied "
    "without vector kernels (install libhwy-dev)")
endif()

# wherry_vector_kernels(target SOURCES source... [OPTIONS option...] [HEADERS_ONLY]): sources of the target, in the folder
# that calls this, that include Highway. HEADERS_ONLY: nothing is linked, and without Highway they are compiled without it.
function(wherry_vector_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 kernels "HEADERS_ONLY" "" "SOURCES;OPTIONS")
  if(WHERRY_HIGHWAY_INCLUDE)
    target_include_directories(${target} SYSTEM PRIVATE "${WHERRY_HIGHWAY_INCLUDE}")
    set_property(SOURCE ${kernels_SOURCES} APPEND PROPERTY COMPILE_DEFINITIONS WHERRY_HIGHWAY)
  endif()
  if(NOT kernels_HEADERS_ONLY)
    target_link_libraries(${target} PUBLIC "${WHERRY_HIGHWAY}")
  endif()
  if(WHERRY_SANITIZE)
    # Each vector is a variable in a scope of its own: to watch them all takes the compiler minutes.
    list(APPEND kernels_OPTIONS -fno-sanitize-address-use-after-scope)
  endif()
  set_source_files_properties(${kernels_SOURCES} PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS "${kernels_OPTIONS}")
endfunction()
