/* Simulates the restriction of user namespaces by AppArmor, as on Ubuntu, for the service manager of a user: a process can
 * create a user namespace, but it cannot use the capabilities in it. dist/development/try-package loads it with
 * LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/prctl.h>

int unshare(int flags)
{
    int (*real)(int) = dlsym(RTLD_NEXT, "unshare");
    if (flags & (CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC)) {
        errno = EPERM;
        return -1;
    }
    return real(flags);
}

int prctl(int option, ...)
{
    int (*real)(int, unsigned long, unsigned long, unsigned long, unsigned long) = dlsym(RTLD_NEXT, "prctl");
    unsigned long values[4];
    va_list list;
    va_start(list, option);
    for (int index = 0; index < 4; index++) values[index] = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_CAPBSET_DROP) {
        errno = EPERM;
        return -1;
    }
    return real(option, values[0], values[1], values[2], values[3]);
}
