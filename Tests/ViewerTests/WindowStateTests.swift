import Testing

@testable import Viewer

@Suite struct WindowStateTests {
    @Test(arguments: ["420 300", "420 300 17 -5"])
    func `a stored state is read again`(_ text: String) {
        #expect(WindowState(text + "\n")?.text == text)
    }

    @Test(arguments: ["", "420", "420 300 17", "1 300", "420 300000", "a b", "420 300 99999 0"])
    func `a damaged state is ignored`(_ text: String) {
        #expect(WindowState(text) == nil)
    }
}
