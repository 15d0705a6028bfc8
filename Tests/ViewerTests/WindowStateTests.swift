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
