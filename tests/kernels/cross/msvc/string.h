/* The functions that our headers use, as Microsoft's C library declares them. */
typedef unsigned long long size_t;
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
