/// The path of a file.
struct FilePath: Answer {
    let path: String

    var json: JSON { .object([.init("path", .string(path))]) }

    /// A program gets the path as it is, whatever is in it.
    func text(for medium: Medium) -> String {
        (medium == .pipe ? path : PlainText.line(path)) + "\n"
    }
}
