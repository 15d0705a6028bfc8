internal import Glibc

/// Runs `work` on a new thread, because `work` blocks and must not occupy a thread of a pool.
package func onThread(_ work: @escaping @Sendable () -> Void) {
    final class Box {
        let work: @Sendable () -> Void
        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
    }
    var thread = pthread_t()
    let context = Unmanaged.passRetained(Box(work)).toOpaque()
    let code = pthread_create(
        &thread, nil,
        { context in
            if let context { Unmanaged<Box>.fromOpaque(context).takeRetainedValue().work() }
            return nil
        }, context)
    precondition(code == 0, "cannot create a thread")
    pthread_detach(thread)
}
