/* What Python's own pyconfig.h says on 64-bit Linux, macOS and Windows, as far as its other headers ask. */
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define HAVE_SSIZE_T 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TYPES_H 1
#ifdef _WIN32
#define MS_WINDOWS
#define MS_WIN64
#define NT_THREADS
#define SIZEOF_LONG 4
#define SIZEOF_WCHAR_T 2
#else
#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1
#define HAVE_PTHREAD_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_UNISTD_H 1
#define SIZEOF_LONG 8
#define SIZEOF_WCHAR_T 4
#endif
