package import Logging
package import ProviderKit
internal import Synchronization
package import Translation

/// The images of an account at a server that cannot be shown, which are counted and logged.
package final class OmittedImages: Sendable {
    private let server: String
    private let logger: Logger
    private let events: AsyncStream<SessionEvent>.Continuation?
    private let omissions = Mutex(Omissions())

    private struct Omissions {
        /// The images, so that each counts once, with the reasons.
        var images: [String: (reason: Message, entry: String?)] = [:]
        /// The sentences about parts of the account that failed.
        var failures: [String] = []
    }

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

    /// Records images with one entry in the log.
    ///
    /// - Parameters:
    ///   - images: The IDs at the service.
    ///   - reason: The reason, as the end of a sentence.
    ///   - entry: The entry of an ordered list that has the image; nil for another list.
    package func record(_ images: [String], _ reason: Message, in entry: String? = nil) {
        let isNew = change { omissions in
            let new = images.prefix(Self.maximumCount - omissions.images.count)
                .filter { omissions.images[$0]?.reason != reason }
            for image in new { omissions.images[image] = (reason, nil) }
            // The image may have been recorded for another list before.
            if let entry { for image in images { omissions.images[image]?.entry = entry } }
            return !new.isEmpty
        }
        guard isNew, let first = images.first else { return }
        logger.info(
            "An image is omitted",
            metadata: ["image": "\(ServiceText.message(first) ?? "")", "reason": "\(reason)"])
    }

    /// Removes images, because they can be shown. Their IDs are not composed if no image is omitted.
    package func remove(_ images: @autoclosure () -> [String]) {
        _ = change { omissions in
            let before = omissions.images.count
            guard before > 0 else { return false }
            for image in images() { omissions.images[image] = nil }
            return omissions.images.count < before
        }
    }

    /// Removes the images whose entries left a part of an ordered list.
    ///
    /// - Parameters:
    ///   - start: The first entry of the part.
    ///   - end: The end of the part.
    ///   - entries: The entries that are in the part.
    package func remove(from start: String, to end: String, except entries: Set<String>) {
        _ = change { omissions in
            let before = omissions.images.count
            omissions.images = omissions.images.filter { _, image in
                guard let entry = image.entry, start <= entry, entry < end else { return true }
                return entries.contains(entry)
            }
            return omissions.images.count < before
        }
    }

    /// Replaces the sentences about parts of the account that failed, such as albums.
    package func setFailures(_ sentences: [String]) {
        _ = change { omissions in
            defer { omissions.failures = sentences }
            return omissions.failures != sentences
        }
    }

    /// Makes a change, and reports the sentences if it returns true.
    ///
    /// - Returns: The result of the change.
    private func change(_ body: (inout Omissions) -> Bool) -> Bool {
        omissions.withLock { omissions in
            guard body(&omissions) else { return false }
            events?.yield(
                .notices(omissions.failures + [notice(omissions.images)].compactMap(\.self)))
            return true
        }
    }

    private func notice(_ images: [String: (reason: Message, entry: String?)]) -> String? {
        guard let reason = images.values.first?.reason else { return nil }
        return images.count == 1
            ? tr(
                "An image of {server} is omitted, because {reason}.",
                ["server": server, "reason": reason.translated])
            : trn(
                "{count} image of {server} is omitted; the log of the daemon has the reasons.",
                "{count} images of {server} are omitted; the log of the daemon has the reasons.",
                images.count, ["server": server])
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
