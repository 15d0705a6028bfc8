// Starts a plugin under a system call filter, and sends the listener for the starts of threads to the daemon.
//
//   imagefeed-plugin-launcher FILTER SOCKET PROGRAM [ARGUMENT...]
//   imagefeed-plugin-launcher --wait PIPE PROGRAM [ARGUMENT...]
//
// FILTER is a descriptor from which the instructions of the filter are read. SOCKET is a descriptor of a Unix socket
// to which the listener is sent if the filter has one: the descriptor on which the kernel reports the starts of threads.
//
// The second form starts PROGRAM after a byte was written to PIPE: the daemon has placed the process, whose children
// will be in the same control group. Without the byte, it exits.
//
// Only the process that installs a filter receives its listener, and bwrap installs filters without a listener. The
// program is small and in C, because it runs before each plugin.
//
// Source: seccomp_unotify(2).
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int failed(const char *what) {
    dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(errno));
    return 126;
}

static int send_descriptor(int socket, int descriptor) {
    union {
        char buffer[CMSG_SPACE(sizeof(int))];
        struct cmsghdr alignment;
    } control = {{0}};
    struct iovec part = {"", 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.buffer, .msg_controllen = sizeof control.buffer};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

// Returns 1 if a descriptor can be sent: the kernel limits the descriptors in transit of all processes of the user.
static int can_send(void) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return 0;
    int result = send_descriptor(pair[0], STDIN_FILENO);
    close(pair[0]);
    close(pair[1]);
    return result == 0;
}

// Returns the instruction that makes a call wait for a decision of the daemon; NULL if the filter has none.
static struct sock_filter *report(struct sock_fprog *program) {
    for (unsigned short index = 0; index < program->len; index++) {
        struct sock_filter *instruction = program->filter + index;
        if (instruction->code == (BPF_RET | BPF_K) && instruction->k == SECCOMP_RET_USER_NOTIF) return instruction;
    }
    return NULL;
}

// Installs the filter, and sends its listener. Returns 0 for success.
static int filter_calls(struct sock_fprog *program, int socket) {
    int listener = -1;
    struct sock_filter *reporting = report(program);
    if (reporting != NULL && can_send()) {
        listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, program);
        // A listener that is not received would make the starts of threads wait or fail.
        if (listener >= 0 && send_descriptor(socket, listener) != 0) return failed("Sending the listener");
    }
    // The process may have a listener of another program already.
    if (listener < 0) {
        // Without a decision of the daemon, the calls are allowed.
        if (reporting != NULL) reporting->k = SECCOMP_RET_ALLOW;
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) != 0) return failed("Filtering system calls");
    }
    // Descriptors in transit are in no table whose length is limited. The calls were needed until here.
    struct sock_filter sending[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmmsg, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog second = {sizeof sending / sizeof *sending, sending};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &second, 0, 0) != 0) return failed("Filtering system calls");
    return 0;
}

int main(int count, char **arguments) {
    if (count > 3 && strcmp(arguments[1], "--wait") == 0) {
        int pipe = atoi(arguments[2]);
        char byte;
        ssize_t length;
        while ((length = read(pipe, &byte, 1)) < 0 && errno == EINTR) {}
        if (length != 1) return 126;
        close(pipe);
        execv(arguments[3], arguments + 3);
        return failed(arguments[3]);
    }
    if (count < 4) return 64;
    int filter = atoi(arguments[1]), socket = atoi(arguments[2]);
    struct sock_filter instructions[1024];
    size_t length = 0;
    ssize_t part;
    while ((part = read(filter, (char *)instructions + length, sizeof instructions - length)) > 0) length += part;
    if (length == sizeof instructions) errno = E2BIG;
    if (part < 0 || length == sizeof instructions) return failed("Reading the system call filter");
    struct sock_fprog program = {length / sizeof *instructions, instructions};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("Setting no_new_privs");
    if (filter_calls(&program, socket) != 0) return 126;
    if (syscall(SYS_close_range, 3, ~0U, 0) != 0) return failed("Closing descriptors");
    if (chdir("/") != 0) return failed("Changing the working directory");
    execv(arguments[3], arguments + 3);
    return failed(arguments[3]);
}
