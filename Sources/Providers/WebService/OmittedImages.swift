package import Logging
package import ProviderKit
internal import Synchronization
package import Translation

/// The images of an account at a server that cannot be shown, which are counted and logged.
package final class OmittedImages: Sendable {
    private let server: String
    private let logger: Logger
    private let onNotice: @Sendable (String) -> Void
    /// The images, so that each counts once.
    private let known = Mutex<Set<String>>([])

    private static let maximumCount = 10_000

    /// - Parameters:
    ///   - server: The server, for the notice.
    ///   - logger: The logger for the reasons.
    ///   - onNotice: Called with a sentence for the user when the number changes.
    package init(_ server: String, _ logger: Logger, onNotice: @escaping @Sendable (String) -> Void)
    {
        self.server = server
        self.logger = logger
        self.onNotice = onNotice
    }

    /// Records an image.
    ///
    /// - Parameters:
    ///   - image: The ID at the service.
    ///   - reason: The reason, as the end of a sentence.
    package func record(_ image: String, _ reason: Message) {
        let count = known.withLock { known -> Int? in
            guard known.count < Self.maximumCount, known.insert(image).inserted
            else { return nil }
            return known.count
        }
        guard let count else { return }
        logger.debug(
            "An image is omitted",
            metadata: ["image": "\(ServiceText.message(image) ?? "")", "reason": "\(reason)"])
        onNotice(
            count == 1
                ? tr(
                    "An image of {server} is omitted, because {reason}.",
                    ["server": server, "reason": reason.translated])
                : trn(
                    "{count} image of {server} is omitted; the log of the daemon has the reasons.",
                    "{count} images of {server} are omitted; the log of the daemon has the reasons.",
                    count, ["server": server])
        )
    }
}

/// Reports each change of a service's rate limit.
package final class RateLimitReporter: Sendable {
    private let onChange: @Sendable (RateLimit) -> Void
    private let reported = Mutex<RateLimit?>(nil)

    package init(onChange: @escaping @Sendable (RateLimit) -> Void) { self.onChange = onChange }

    /// Reports the rate limit of a response, unless it equals the previous one.
    ///
    /// - Parameter limit: nil for a response that does not state it.
    package func report(_ limit: RateLimit?) {
        guard let limit else { return }
        let isNew = reported.withLock { reported in
            defer { reported = limit }
            return reported != limit
        }
        if isNew { onChange(limit) }
    }
}
