# The standard library's headers, which take most of the compiler's time, read once for many targets.
#
# wherry_precompiled(target): for a target that is compiled with the options of WherryTargets.cmake and no others but -O, -D
# and -I; what has others has DISABLE_ or SKIP_PRECOMPILE_HEADERS. A file still includes what it uses: builds with sanitizers have no
# precompiled headers, and neither have those with other compilers, or with a cache of compilers' results, which have rules of
# their own for them.

set(WHERRY_PRECOMPILED OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT WHERRY_SANITIZE)
  set(WHERRY_PRECOMPILED ON)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/standard_headers.cpp" CONTENT "")
  add_library(wherry_standard_headers OBJECT "${PROJECT_BINARY_DIR}/standard_headers.cpp")
  target_precompile_headers(wherry_standard_headers PRIVATE
    <algorithm> <array> <atomic> <cstddef> <cstdint> <cstring> <functional> <map> <memory> <mutex> <numeric> <optional>
    <span> <string> <string_view> <utility> <vector>)
endif()

function(wherry_precompiled target)
  if(WHERRY_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM wherry_standard_headers)
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      # Bug 105651 again (WherryTargets.cmake), by other names, for these are not system headers any more.
      target_compile_options(${target} PRIVATE -Wno-stringop-overflow -Wno-array-bounds)
    endif()
  endif()
endfunction()
