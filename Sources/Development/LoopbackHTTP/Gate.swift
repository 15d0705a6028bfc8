internal import Glibc

/// A semaphore that blocks threads until a test opens it.
package final class Gate: Sendable {
    // Set once before the object is shared; the semaphore functions are thread-safe.
    private nonisolated(unsafe) let semaphore: UnsafeMutablePointer<sem_t>

    package init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    package func open() { sem_post(semaphore) }

    /// Blocks until ``open()``.
    package func wait() {
        while sem_wait(semaphore) < 0 && errno == EINTR {}
        // The gate stays open for the next thread.
        sem_post(semaphore)
    }
}
