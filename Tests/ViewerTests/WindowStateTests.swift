import Testing

@testable import Viewer

@Suite struct WindowStateTests {
    @Test(arguments: [
        "420 300", "420 300 17 -5", "420 300 every-shape", "420 300 17 -5 every-shape",
    ])
    func `a stored state is read again`(_ text: String) {
        #expect(WindowState(text + "\n")?.text == text)
    }

    @Test(arguments: ["", "420", "420 300 17", "1 300", "420 300000", "a b", "420 300 99999 0"])
    func `a damaged state is ignored`(_ text: String) {
        #expect(WindowState(text) == nil)
    }

    @Test(arguments: [
        (500, 400, "landscape"), (499, 400, "any"), (400, 400, "any"), (400, 499, "any"),
        (400, 500, "portrait"),
    ])
    func `a window shows photos of its shape`(width: Int, height: Int, shape: String) {
        #expect(WindowState(width: width, height: height).shape == shape)
    }
}

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
