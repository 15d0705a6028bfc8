internal import Glibc

/// Runs `work` on a thread of its own: it blocks, which no thread of a pool may.
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
    precondition(code == 0, "there are no threads left")
    pthread_detach(thread)
}
