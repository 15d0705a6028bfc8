internal import Testing

/// A catalog of texts in the language `xx`, which a program uses in place of the installed ones.
package struct TestCatalog: Sendable {
    /// The path of the compiled catalog.
    package let path: String
    /// The variables with which a program uses the catalog.
    package let environment: [String: String]

    /// Compiles a catalog in a directory.
    ///
    /// - Parameters:
    ///   - entries: The entries in the format of gettext, without the header.
    ///   - directory: The directory.
    /// - Throws: An error of `Testing` if an entry is malformed; the errors of the directory and of `msgfmt`.
    package init(_ entries: String, in directory: TemporaryDirectory) async throws {
        let source = try directory.write(
            #"msgid "" msgstr "Content-Type: text/plain; charset=UTF-8\n""# + "\n" + entries,
            to: "xx.po")
        path = try directory.write("", to: "locale/xx/LC_MESSAGES/imagefeed.mo")
        environment = [
            "LC_ALL": "C.UTF-8", "LANGUAGE": "xx", "TEXTDOMAINDIR": directory.appending("locale"),
        ]
        let (exit, _, error) = try await ChildProcess(
            "/usr/bin/msgfmt", ["--output-file", path, source], environment: directory.environment
        ).result()
        try #require(exit == .code(0), "\(error)")
    }
}
