import Testing

@testable import imagefeedd

@Suite struct OptionsTests {
    @Test(arguments: [["--log-level"], ["--log-level", "loud"], ["-x"], ["file"]])
    @MainActor func `a wrong command line is refused`(arguments: [String]) {
        guard case .wrong = Options(arguments) else {
            Issue.record("\(arguments) were taken")
            return
        }
    }
}
