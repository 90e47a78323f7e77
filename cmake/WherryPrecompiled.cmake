# The standard library's headers, which take most of the compiler's time, read once for many targets.
#
# wherry_precompiled(target): for a target whose options are those of WherryTargets.cmake but for -O, -D, -I and -flto; a file
# that has others must set SKIP_PRECOMPILE_HEADERS. Not with other compilers, a compiler launcher such as ccache, or
# CMAKE_DISABLE_PRECOMPILE_HEADERS, as in the debug build: there a file that does not include what it uses is found.

set(WHERRY_STANDARD_HEADERS
  <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <coroutine> <cstddef> <cstdint> <cstdio> <cstdlib>
  <cstring> <deque> <functional> <limits> <list> <map> <memory> <mutex> <numeric> <optional> <random> <set> <span> <sstream>
  <string> <string_view> <thread> <tuple> <unordered_map> <utility> <vector>)
set(WHERRY_PRECOMPILED OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_COMPILER_LAUNCHER
   AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  set(WHERRY_PRECOMPILED ON)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/standard_headers.cpp" CONTENT "")
  add_library(wherry_standard_headers OBJECT "${PROJECT_BINARY_DIR}/standard_headers.cpp")
  target_precompile_headers(wherry_standard_headers PRIVATE ${WHERRY_STANDARD_HEADERS})
endif()

function(wherry_precompiled target)
  wherry_precompiled_as(${target} wherry_standard_headers)
endfunction()

# wherry_precompiled_as(target headers): the same with those of another target.
function(wherry_precompiled_as target headers)
  if(WHERRY_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM ${headers})
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fPIC>)  # as they are; programs would have -fPIE
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      # With them GCC 12 reports its bug 105651 (WherryTargets.cmake) by other names as well.
      target_compile_options(${target} PRIVATE -Wno-stringop-overflow -Wno-array-bounds)
    endif()
  endif()
endfunction()
