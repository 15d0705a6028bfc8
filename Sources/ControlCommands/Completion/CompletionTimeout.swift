internal import Dispatch
internal import Glibc

/// Ends the program quietly when it takes too long.
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
