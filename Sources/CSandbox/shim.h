#pragma once
// What the kernel offers to those who want to be able to do less. glibc has no functions for most of it, and
// those that take a variable number of arguments Swift does not call.

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int shim_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }
static inline int shim_die_with_parent(int signal) { return prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0); }
static inline int shim_set_dumpable(int is_dumpable) { return prctl(PR_SET_DUMPABLE, is_dumpable, 0, 0, 0); }

// For all threads; where a filter that is there already keeps the newer call back, for this one.
static inline long shim_filter_system_calls(const struct sock_fprog *program) {
    long result = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, program);
    if (result == 0) return 0;
    if (result > 0) {
        // The id of a thread that has other filters.
        errno = ESRCH;
        return -1;
    }
    if (errno != EPERM && errno != ENOSYS) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0);
}

// Refuses the next call that a filter has not decided about, with EPERM.
//
// Returns the number of the call; -1 where none waits, -2 where none will ever come. Does not wait.
static inline int shim_refuse_next(int listener) {
    struct pollfd state = {.fd = listener, .events = POLLIN};
    if (poll(&state, 1, 0) <= 0) return -1;
    // An error may be a signal that came while others were looking, too.
    if (!(state.revents & POLLIN)) return state.revents & (POLLHUP | POLLNVAL) ? -2 : -1;
    // A later kernel may tell more.
    union {
        struct seccomp_notif call;
        char room[512];
    } told = {{0}};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &told) != 0) return errno == ENOENT || errno == EINTR ? -1 : -2;
    union {
        struct seccomp_notif_resp refusal;
        char room[512];
    } answer = {{.id = told.call.id, .error = -EPERM}};
    // Fails where the caller is gone.
    while (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0 && errno == EINTR) {}
    return told.call.data.nr;
}

// Closes every descriptor from `first` on.
static inline long shim_close_from(unsigned first) { return syscall(__NR_close_range, first, ~0U, 0); }

// Of landlock.h, whose constants are those of the kernel that the C library was built for. Each version of the
// kernel's interface knows the rights up to some bit, and the fields of the structure up to some byte.
struct shim_landlock_ruleset {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

struct shim_landlock_path {
    uint64_t rights;
    int32_t descriptor;
} __attribute__((packed));

static inline long shim_landlock_version(void) { return syscall(444, NULL, (size_t)0, 1U); }

static inline long shim_landlock_create(const struct shim_landlock_ruleset *ruleset, size_t size) {
    return syscall(444, ruleset, size, 0U);
}

static inline long shim_landlock_allow(int ruleset, const struct shim_landlock_path *path) {
    return syscall(445, ruleset, 1, path, 0U);
}

static inline long shim_landlock_restrict(int ruleset) { return syscall(446, ruleset, 0U); }
