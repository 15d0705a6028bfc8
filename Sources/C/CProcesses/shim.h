#pragma once
// The code between fork and exec is C, because other threads may hold locks of the Swift runtime.
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

// The properties of a process with fewer rights than its parent.
struct shim_start {
    const char *path;
    char *const *arguments;
    char *const *environment;
    // The descriptors that become 0, 1, 2 and so on; all others are closed. Each is greater than their count.
    const int *descriptors;
    int descriptor_count;
    const struct shim_limit *limits;
    int limit_count;
    int niceness;
    // A ruleset of Landlock, or -1.
    int landlock;
};

// Creates a pipe. The feature macros of Swift's Glibc module hide pipe2.
static inline int shim_pipe(int *ends) { return (int)syscall(SYS_pipe2, ends, O_CLOEXEC); }

// Creates a pair of sockets that preserve message boundaries and transfer descriptors.
static inline int shim_message_pipe(int *ends) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends); }

__attribute__((noreturn)) static inline void shim_start_child(const struct shim_start *start, pid_t parent,
                                                              int report) {
    // Ends the process with its parent, which may have ended before this call.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) goto failed;
    if (getppid() != parent) _exit(126);
    setsid();
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < 65; number++) sigaction(number, &standard, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // The kernel kills this process before its parent when memory runs out.
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0) {
        (void)!write(score, "1000", 4);
        close(score);
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) goto failed;
    // The loop below may overwrite the descriptor of the ruleset.
    if (start->landlock >= 0 && syscall(446, start->landlock, 0) != 0) goto failed;
    for (int number = 0; number < start->descriptor_count; number++)
        if (dup2(start->descriptors[number], number) < 0) goto failed;
    // exec closes the descriptor for reports. The descriptors above it are closed below.
    if (report != start->descriptor_count) {
        if (dup2(report, start->descriptor_count) < 0) goto failed;
        report = start->descriptor_count;
    }
    if (fcntl(report, F_SETFD, FD_CLOEXEC) != 0) goto failed;
    // close_range, which Linux before 5.9 lacks.
    if (syscall(436, (unsigned)report + 1, ~0u, 0) != 0) {
        for (int number = report + 1; number < 65536; number++) close(number);
    }
    for (int index = 0; index < start->limit_count; index++) {
        struct rlimit limit = {start->limits[index].value, start->limits[index].value}, before;
        // Keeps a lower existing limit.
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
// Returns the process ID, or -1 with errno. The caller keeps its descriptors. The kernel kills the program when the
// thread that calls this function ends.
static inline pid_t shim_start_process(const struct shim_start *start) {
    int report[2];
    if (shim_pipe(report) != 0) return -1;
    // Must be above the numbers that dup2 overwrites in the child.
    int high = fcntl(report[1], F_DUPFD_CLOEXEC, 64);
    close(report[1]);
    if (high < 0) {
        close(report[0]);
        return -1;
    }
    pid_t parent = getpid();
    // fork would run the fork handlers of libraries.
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

// Lowers the soft limit of descriptors of a child that has just been started. A child that limits itself already has a
// lower limit, or lowers the limit later.
static inline void shim_lower_descriptor_limit(pid_t process, rlim_t value) {
    struct rlimit limit;
    if (syscall(SYS_prlimit64, process, RLIMIT_NOFILE, NULL, &limit) != 0 || limit.rlim_cur <= value) return;
    limit.rlim_cur = value;
    syscall(SYS_prlimit64, process, RLIMIT_NOFILE, &limit, NULL);
}

// Returns a descriptor that can be read after a process has exited.
static inline int shim_pidfd_open(pid_t process) { return (int)syscall(434, process, 0); }
