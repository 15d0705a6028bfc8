// Makes the lock of Swift's Synchronization module visible to ThreadSanitizer: see `dist/development/sanitize`.
//
// Without contention, a Mutex is locked and unlocked by atomic operations that the compiler inlines into the
// instrumented code. With contention, two functions of libswiftSynchronization lock and unlock it by system calls. This
// library is not instrumented, so that ThreadSanitizer reports races for data that the lock protects. The functions
// below wrap these two functions and report the synchronization.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// Synchronization._MutexHandle._lockSlow(Swift.UInt32) -> ()
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
// Synchronization._MutexHandle._unlockSlow() -> ()
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

void __tsan_acquire(void *address);
void __tsan_release(void *address);

SWIFT void lock(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT void unlock(SELF void *mutex) __asm__(UNLOCK);

SWIFT void lock(uint32_t thread, SELF void *mutex) {
    ((__typeof__(&lock))dlsym(RTLD_NEXT, LOCK))(thread, mutex);
    __tsan_acquire(mutex);
}

SWIFT void unlock(SELF void *mutex) {
    __tsan_release(mutex);
    ((__typeof__(&unlock))dlsym(RTLD_NEXT, UNLOCK))(mutex);
}
