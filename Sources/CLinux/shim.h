#pragma once
// Headers of the kernel and of glibc that Swift's Glibc module leaves out.
#include <link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

// Hidden by the feature macros that Swift's Glibc module is read with.
extern char *strptime(const char *restrict text, const char *restrict format, struct tm *restrict result);
extern int accept4(int descriptor, struct sockaddr *restrict address, socklen_t *restrict size, int flags);
struct shim_loaded_object {
    ElfW(Addr) address;
    const char *name;
    const ElfW(Phdr) *headers;
    ElfW(Half) header_count;
};
extern int dl_iterate_phdr(int (*callback)(struct shim_loaded_object *object, size_t size, void *data), void *data);

// prctl takes a variable number of arguments, which Swift does not call.
static inline int shim_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
