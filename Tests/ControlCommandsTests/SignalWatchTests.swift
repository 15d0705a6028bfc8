import Glibc
import LoopbackHTTP
import Testing

@testable import ControlCommands

/// Tests of the delivery of signals. Each runs in a process of its own, because signals have one handler per process.
@Suite(.timeLimit(.minutes(10))) struct SignalWatchTests {
    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal may arrive on any thread`(_ number: Int32) async {
        await #expect(processExitsWith: .success) { @MainActor [number] in
            let watch = SignalWatch { exit(EXIT_SUCCESS) }
            onThread {
                var signals = sigset_t()
                sigemptyset(&signals)
                pthread_sigmask(SIG_SETMASK, &signals, nil)
                pthread_kill(pthread_self(), number)
            }
            // The closure above ends the process during this wait.
            try await Task.sleep(for: .seconds(300))
            withExtendedLifetime(watch) {}
            exit(EXIT_FAILURE)
        }
    }
}
