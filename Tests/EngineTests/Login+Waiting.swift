@testable import Engine

@MainActor
extension Login {
    /// Cancels the login and waits for the end of its work.
    func cancelAndWait() async {
        cancel()
        await waitForWork()
    }
}
