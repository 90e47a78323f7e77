/* An allocator of the program's own, for LD_PRELOAD: glibc's under another address is enough to tell. */
#include <stddef.h>

void* __libc_malloc(size_t);
void __libc_free(void*);

void* malloc(size_t bytes) { return __libc_malloc(bytes); }
void free(void* block) { __libc_free(block); }
