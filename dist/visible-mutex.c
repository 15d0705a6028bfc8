// Lets ThreadSanitizer see the lock of Swift's Synchronization: see `dist/sanitize`.
//
// A Mutex that is free is taken and given back by atomic operations that the compiler puts into our
// own code, where ThreadSanitizer sees them. A Mutex that somebody waits for is handed over by the
// kernel, in two functions of libswiftSynchronization, which is not instrumented: whatever the lock
// protects then looks like a race. These take the place of the two, and tell.
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
