import Testing

@testable import imagefeedd

@Suite struct OptionsTests {
    @Test(arguments: [["--log-level"], ["--log-level", "loud"], ["-x"], ["file"]])
    @MainActor func `an invalid command line is rejected`(arguments: [String]) {
        guard case .invalid = Options(arguments) else {
            Issue.record("\(arguments) were accepted")
            return
        }
    }
}
