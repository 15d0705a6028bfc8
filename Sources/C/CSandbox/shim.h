#pragma once
// The kernel interfaces for sandboxing. glibc has no functions for most of them, and Swift cannot call variadic
// functions.

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int shim_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }
static inline int shim_die_with_parent(int signal) { return prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0); }
static inline int shim_set_dumpable(int is_dumpable) { return prctl(PR_SET_DUMPABLE, is_dumpable, 0, 0, 0); }

// Installs a filter for all threads; only for the calling thread if an earlier filter forbids the call seccomp.
static inline long shim_filter_system_calls(const struct sock_fprog *program) {
    long result = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, program);
    if (result == 0) return 0;
    if (result > 0) {
        // The result is the ID of a thread with other filters.
        errno = ESRCH;
        return -1;
    }
    if (errno != EPERM && errno != ENOSYS) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0);
}

// A system call that waits for the decision of a listener.
struct shim_call {
    uint64_t id;
    // The ID of the thread that made the call.
    pid_t thread;
};

// Receives the next system call that waits for a decision. Does not block.
//
// Returns 1 for a call, 0 if no call is waiting, -1 if no further call is possible.
static inline int shim_take_call(int listener, struct shim_call *call) {
    struct pollfd state = {.fd = listener, .events = POLLIN};
    if (poll(&state, 1, 0) <= 0) return 0;
    // poll may report another event without POLLIN.
    if (!(state.revents & POLLIN)) return state.revents & (POLLHUP | POLLNVAL) ? -1 : 0;
    // A later kernel may write a larger structure.
    union {
        struct seccomp_notif call;
        char room[512];
    } report = {{0}};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &report) != 0) return errno == ENOENT || errno == EINTR ? 0 : -1;
    call->id = report.call.id;
    call->thread = (pid_t)report.call.pid;
    return 1;
}

// Permits a system call if `error` is 0; otherwise makes it fail with `error`. Has no effect if the caller has ended.
static inline void shim_answer_call(int listener, uint64_t id, int error) {
    union {
        struct seccomp_notif_resp answer;
        char room[512];
    } answer = {{.id = id, .error = -error, .flags = error == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0}};
    while (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0 && errno == EINTR) {}
}

// Returns the number of threads of the process to which a thread belongs; -1 if the number is unknown.
static inline int shim_thread_count(pid_t thread) {
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/task", (int)thread);
    struct stat status;
    // A folder has two links, and one more for each folder in it.
    return stat(path, &status) == 0 ? (int)status.st_nlink - 2 : -1;
}

// Closes every descriptor from `first` on.
static inline long shim_close_from(unsigned first) { return syscall(__NR_close_range, first, ~0U, 0); }

// The structures of linux/landlock.h, which are declared here because the installed header may belong to an older
// kernel. Each version of the kernel interface supports the rights up to some bit, and the fields of the structure up
// to some byte.
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
