internal import Dispatch
internal import Glibc

/// A timer that ends the program without a message after a time limit.
@MainActor
final class CompletionTimeout {
    private let timer: any DispatchSourceTimer

    init(milliseconds: Int) {
        timer = DispatchSource.makeTimerSource(queue: .main)
        timer.schedule(deadline: .now() + .milliseconds(milliseconds))
        timer.setEventHandler { exit(ProgramStatus.done.rawValue) }
        timer.activate()
    }

    isolated deinit { timer.cancel() }
}
