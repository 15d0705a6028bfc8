internal import Glibc
internal import System

/// A timer that ends the program without a message after a time limit.
@MainActor
final class CompletionTimeout {
    private let timer: MainLoopTimer

    init(milliseconds: Int) {
        timer = MainLoopTimer(after: .milliseconds(milliseconds)) {
            exit(ProgramStatus.done.rawValue)
        }
    }
}
