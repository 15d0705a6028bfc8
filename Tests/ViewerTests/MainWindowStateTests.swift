import Testing

@testable import Viewer

@Suite struct MainWindowStateTests {
    @Test func `a stored state is read again`() {
        var state = MainWindowState()
        (state.width, state.height, state.isMaximized) = (900, 700, true)
        state.thumbnails = .large
        (state.account, state.source) = ("/org/example/one", "album:Holidays 2026/Sea")
        #expect(MainWindowState(state.text + "\n") == state)
    }

    @Test(arguments: ["", "900", "900 700", "900 700 0", "1 700 0 1", "900 70000 0 1", "a b c d"])
    func `a damaged size is ignored`(_ text: String) {
        #expect(MainWindowState(text) == MainWindowState())
        #expect(MainWindowState("\(text)\n/account\nsource\n").account == "/account")
    }
}
