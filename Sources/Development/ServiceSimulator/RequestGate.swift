internal import Glibc

/// Requests that wait at the door of the service until a test lets them in.
package final class RequestGate: Sendable {
    let pattern: RequestPattern
    // Is set before anybody else has the object; the functions of semaphores may be called on any thread.
    private nonisolated(unsafe) let semaphore: UnsafeMutablePointer<sem_t>

    init(_ pattern: RequestPattern) {
        self.pattern = pattern
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Lets in those that wait, and all that come.
    package func release() { sem_post(semaphore) }

    /// Blocks until ``release()``.
    func wait() {
        while sem_wait(semaphore) < 0 && errno == EINTR {}
        // The door stays open for the next one.
        sem_post(semaphore)
    }
}
