@testable import Engine

@MainActor
extension Login {
    /// Cancels the login, and waits until nothing of it is left.
    func cancelAndWait() async {
        cancel()
        await waitForWork()
    }
}
