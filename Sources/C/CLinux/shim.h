#pragma once
// Headers of the kernel and of glibc that Swift's Glibc module leaves out.
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Declarations that the feature macros of Swift's Glibc module hide.
extern int accept4(int descriptor, struct sockaddr *restrict address, socklen_t *restrict size, int flags);
struct shim_loaded_object {
    ElfW(Addr) address;
    const char *name;
    const ElfW(Phdr) *headers;
    ElfW(Half) header_count;
};
extern int dl_iterate_phdr(int (*callback)(struct shim_loaded_object *object, size_t size, void *data), void *data);

// Swift cannot call prctl, which is variadic.
static inline int shim_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

// Creates a file in memory that can be sealed. From Linux 6.3 on, the file cannot be made executable.
static inline int shim_memfd(const char *name) {
    int descriptor = (int)syscall(SYS_memfd_create, name, 1u /* MFD_CLOEXEC */ | 8u /* MFD_NOEXEC_SEAL */);
    if (descriptor < 0 && errno == EINVAL)
        descriptor = (int)syscall(SYS_memfd_create, name, 1u | 2u /* MFD_ALLOW_SEALING */);
    return descriptor;
}

// Adds the seals F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_WRITE, which glibc declares only with _GNU_SOURCE.
static inline int shim_seal(int descriptor) { return fcntl(descriptor, 1033, 1 | 2 | 4 | 8); }

// Messages with at most four descriptors. Their control data is accessed with macros, which Swift does not import.
enum { SHIM_MOST_DESCRIPTORS = 4 };

static inline ssize_t shim_send(
    int descriptor, const void *bytes, size_t count, const int *descriptors, int descriptor_count) {
    union {
        char buffer[CMSG_SPACE(SHIM_MOST_DESCRIPTORS * sizeof(int))];
        struct cmsghdr alignment;
    } control = {{0}};
    struct iovec part = {(void *)bytes, count};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor_count > 0) {
        message.msg_control = control.buffer;
        message.msg_controllen = CMSG_SPACE(descriptor_count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(descriptor_count * sizeof(int));
        for (int i = 0; i < descriptor_count; i++) ((int *)CMSG_DATA(header))[i] = descriptors[i];
    }
    return sendmsg(descriptor, &message, MSG_NOSIGNAL);
}

// Receives a message. Returns the number of bytes; -1 with errno, which is EMSGSIZE for a message that does not fit.
// The caller owns the descriptors.
static inline ssize_t shim_receive(
    int descriptor, void *bytes, size_t count, int *descriptors, int *descriptor_count) {
    union {
        char buffer[CMSG_SPACE(SHIM_MOST_DESCRIPTORS * sizeof(int))];
        struct cmsghdr alignment;
    } control;
    struct iovec part = {bytes, count};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.buffer, .msg_controllen = sizeof control.buffer};
    *descriptor_count = 0;
    ssize_t received = recvmsg(descriptor, &message, MSG_CMSG_CLOEXEC);
    if (received < 0) return received;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        int here = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (int i = 0; i < here && *descriptor_count < SHIM_MOST_DESCRIPTORS; i++)
            descriptors[(*descriptor_count)++] = ((int *)CMSG_DATA(header))[i];
    }
    if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
        while (*descriptor_count > 0) close(descriptors[--*descriptor_count]);
        errno = EMSGSIZE;
        return -1;
    }
    return received;
}
