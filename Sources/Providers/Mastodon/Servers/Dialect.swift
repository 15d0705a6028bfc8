/// How a server speaks the API that Mastodon has made.
enum Dialect: Sendable {
    case mastodon
    case pixelfed
    /// Another software that speaks it.
    case other

    /// - Parameter version: What the server says of itself: `4.6.4`, or
    ///   `3.5.3 (compatible; Pixelfed 0.11.13)`.
    init(version: String) {
        let version = version.lowercased()
        self =
            if version.contains("pixelfed") { .pixelfed } else if version.contains("compatible") {
                .other
            } else { .mastodon }
    }
}
