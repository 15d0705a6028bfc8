#pragma once
// What happens between fork and exec is C: no Swift may run there, since other threads may hold its locks.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct shim_limit {
    int resource;
    rlim_t value;
};

// A program that is started with less than its parent has.
struct shim_start {
    const char *path;
    char *const *arguments;
    char *const *environment;
    // What becomes 0, 1, 2, and so on; the rest is closed. Each is above their number.
    const int *descriptors;
    int descriptor_count;
    const struct shim_limit *limits;
    int limit_count;
    int niceness;
    // A ruleset of Landlock, or -1.
    int landlock;
};

// Hidden by the feature macros that Swift's Glibc module is read with.
static inline int shim_pipe(int *ends) { return (int)syscall(SYS_pipe2, ends, O_CLOEXEC); }

// Messages keep their bounds, and take descriptors along.
static inline int shim_message_pipe(int *ends) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends); }

static inline long shim_close_range(unsigned first, unsigned last, int flags) {
    return syscall(436, first, last, flags);
}

__attribute__((noreturn)) static inline void shim_start_child(const struct shim_start *start, pid_t parent,
                                                              int report) {
    // Death with the parent, which may have died before this.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) goto failed;
    if (getppid() != parent) _exit(126);
    setsid();
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < 65; number++) sigaction(number, &standard, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // The first to go when memory runs out: rather this than its parent.
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0) {
        (void)!write(score, "1000", 4);
        close(score);
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) goto failed;
    // While its descriptor is what it was.
    if (start->landlock >= 0 && syscall(446, start->landlock, 0) != 0) goto failed;
    for (int number = 0; number < start->descriptor_count; number++)
        if (dup2(start->descriptors[number], number) < 0) goto failed;
    // The one for reports is closed by exec, as is all that comes later.
    if (report != start->descriptor_count) {
        if (dup2(report, start->descriptor_count) < 0) goto failed;
        report = start->descriptor_count;
    }
    if (fcntl(report, F_SETFD, FD_CLOEXEC) != 0) goto failed;
    if (shim_close_range((unsigned)report + 1, ~0u, 0) != 0) {
        // Linux before 5.9.
        for (int number = report + 1; number < 65536; number++) close(number);
    }
    for (int index = 0; index < start->limit_count; index++) {
        struct rlimit limit = {start->limits[index].value, start->limits[index].value}, before;
        // What is lower already stays.
        if (getrlimit(start->limits[index].resource, &before) == 0 && before.rlim_max < limit.rlim_max)
            limit.rlim_cur = limit.rlim_max = before.rlim_max;
        if (setrlimit(start->limits[index].resource, &limit) != 0) goto failed;
    }
    setpriority(PRIO_PROCESS, 0, start->niceness);
    execve(start->path, start->arguments, start->environment);
failed:;
    int code = errno;
    (void)!write(report, &code, sizeof code);
    _exit(126);
}

// Starts a program.
//
// Returns its id, or -1 with errno. The descriptors stay the caller's. The thread has to live as long as the
// program shall: it dies with it.
static inline pid_t shim_start_process(const struct shim_start *start) {
    int report[2];
    if (shim_pipe(report) != 0) return -1;
    // So that no dup2 of the child overwrites it.
    int high = fcntl(report[1], F_DUPFD_CLOEXEC, 64);
    close(report[1]);
    if (high < 0) {
        close(report[0]);
        return -1;
    }
    pid_t parent = getpid();
    // Not fork: what libraries want to have done then is not wanted here.
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) shim_start_child(start, parent, high);
    int code = errno;
    close(high);
    if (child > 0) {
        ssize_t count;
        while ((count = read(report[0], &code, sizeof code)) < 0 && errno == EINTR) {}
        if (count == sizeof code) {
            while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
            child = -1;
        }
    }
    close(report[0]);
    errno = code;
    return child;
}

// Lowers the soft limit of descriptors of a child that has just been started. A child that limits itself has a lower
// one already, or lowers it later.
static inline void shim_lower_descriptor_limit(pid_t process, rlim_t value) {
    struct rlimit limit;
    if (syscall(SYS_prlimit64, process, RLIMIT_NOFILE, NULL, &limit) != 0 || limit.rlim_cur <= value) return;
    limit.rlim_cur = value;
    syscall(SYS_prlimit64, process, RLIMIT_NOFILE, &limit, NULL);
}

// A descriptor that can be read from when a process has ended.
static inline int shim_pidfd_open(pid_t process) { return (int)syscall(434, process, 0); }
