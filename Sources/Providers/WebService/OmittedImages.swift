package import Logging
package import ProviderKit
internal import Synchronization
package import Translation

/// The images of an account at a server that cannot be shown, which are counted and logged.
package final class OmittedImages: Sendable {
    private let server: String
    private let logger: Logger
    private let events: AsyncStream<SessionEvent>.Continuation?
    /// The images, so that each counts once.
    private let known = Mutex<Set<String>>([])
    /// The sentences about the images, and about parts of the account that failed.
    private let notices = Mutex<(images: String?, failures: [String])>((nil, []))

    private static let maximumCount = 10_000

    /// - Parameters:
    ///   - server: The server, for the notice.
    ///   - logger: The logger for the reasons.
    ///   - events: The events of the session, which receive a sentence for the user when the number changes.
    package init(
        _ server: String, _ logger: Logger, _ events: AsyncStream<SessionEvent>.Continuation?
    ) {
        self.server = server
        self.logger = logger
        self.events = events
    }

    /// Records an image.
    ///
    /// - Parameters:
    ///   - image: The ID at the service.
    ///   - reason: The reason, as the end of a sentence.
    package func record(_ image: String, _ reason: Message) { record([image], reason) }

    /// Records images with one entry in the log.
    package func record(_ images: [String], _ reason: Message) {
        let count = known.withLock { known -> Int? in
            let before = known.count
            known.formUnion(images.prefix(Self.maximumCount - before))
            return known.count > before ? known.count : nil
        }
        guard let count, let first = images.first else { return }
        logger.info(
            "An image is omitted",
            metadata: ["image": "\(ServiceText.message(first) ?? "")", "reason": "\(reason)"])
        let notice =
            count == 1
            ? tr(
                "An image of {server} is omitted, because {reason}.",
                ["server": server, "reason": reason.translated])
            : trn(
                "{count} image of {server} is omitted; the log of the daemon has the reasons.",
                "{count} images of {server} are omitted; the log of the daemon has the reasons.",
                count, ["server": server])
        report { $0.images = notice }
    }

    /// Replaces the sentences about parts of the account that failed, such as albums.
    package func setFailures(_ sentences: [String]) { report { $0.failures = sentences } }

    private func report(_ change: (inout (images: String?, failures: [String])) -> Void) {
        let (before, after) = notices.withLock { notices in
            let before = notices
            change(&notices)
            return (before, notices)
        }
        guard before != after else { return }
        events?.yield(.notices(after.failures + [after.images].compactMap(\.self)))
    }
}

/// Reports each change of a service's rate limit.
package final class RateLimitReporter: Sendable {
    private let events: AsyncStream<SessionEvent>.Continuation?
    private let reported = Mutex<RateLimit?>(nil)

    package init(_ events: AsyncStream<SessionEvent>.Continuation?) { self.events = events }

    /// Reports the rate limit of a response, unless it equals the previous one.
    ///
    /// - Parameter limit: nil for a response that does not state it.
    package func report(_ limit: RateLimit?) {
        guard let limit else { return }
        let isNew = reported.withLock { reported in
            defer { reported = limit }
            return reported != limit
        }
        if isNew { events?.yield(.rateLimit(limit)) }
    }
}
