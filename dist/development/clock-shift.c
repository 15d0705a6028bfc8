// Shifts the wall clock of a program by CLOCK_SHIFT seconds, for `dist/development/try-clocks`.
//
//   cc -O2 -shared -fPIC -o clock-shift.so clock-shift.c
//   LD_PRELOAD=./clock-shift.so CLOCK_SHIFT=86400 date
//
// The monotonic clock is not shifted, because a library cannot shift the timers of the kernel.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t shift(void) {
    static time_t seconds;
    static int isRead;
    if (!isRead) {
        const char *text = getenv("CLOCK_SHIFT");
        seconds = text ? atol(text) : 0;
        isRead = 1;
    }
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *result) {
    int status = (int)syscall(SYS_clock_gettime, clock, result);
    if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        result->tv_sec += shift();
    }
    return status;
}

int gettimeofday(struct timeval *restrict result, void *restrict zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    result->tv_sec = now.tv_sec;
    result->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}
