internal import JSONFormat
package import ProviderKit
internal import Quoting
internal import Translation

/// An error reply: an error of JSON-RPC whose `data` has a `kind`.
package struct PluginRefusal: Error, Hashable, Sendable {
    /// The kinds of errors in `imagefeed-providers(7)`.
    package enum Kind: String, CaseIterable, Sendable {
        case notFound = "not-found"
        case invalidArgument = "invalid-argument"
        case notSupported = "not-supported"
        case notConfigured = "not-configured"
        case staleCursor = "stale-cursor"
        case noSuchUser = "no-such-user"
        case failed
        case rateLimited = "rate-limited"
        case unauthorized
        case denied
        case refused
        // Errors of HTTP requests.
        case unreachable
        case invalidResponse = "broken-answer"
        case tooLarge = "too-large"
        case invalidAddress = "invalid-address"
        case forbiddenAddress = "forbidden-address"
        case keyringLocked = "keyring-locked"
        case keyringUnavailable = "keyring-unavailable"
        case cancelled
    }

    // The error codes of JSON-RPC 2.0 that are in use, and the code of all other errors.
    package static let methodNotFound: Int64 = -32601
    private static let invalidParameters: Int64 = -32602
    private static let otherError: Int64 = -32000

    package let code: Int64
    /// The kind; nil for an error that JSON-RPC itself defines.
    package var kind: Kind?
    /// One line without control characters, of at most ``ServiceText/maximumMessageLength`` bytes; may be empty.
    package let message: String
    /// The message without its full stop, as a part of a sentence.
    package var reason: String { message.hasSuffix(".") ? String(message.dropLast()) : message }
    /// The end of a rate limit, for ``Kind/rateLimited``.
    package var until: Timestamp?
    /// The maximum number of bytes, for ``Kind/tooLarge``.
    package var limit: Int?

    package init(_ kind: Kind?, _ message: String, code: Int64 = otherError) {
        self.code = code
        self.kind = kind
        self.message = ServiceText.message(message) ?? ""
    }

    /// Creates the reply to a call of an unknown method.
    package static func unknownMethod(_ name: String) -> PluginRefusal {
        PluginRefusal(nil, "There is no method “\(name.excerpt)”.", code: methodNotFound)
    }

    init(_ reader: PluginReader) throws(PluginFault) {
        let code = try reader.required("code", reader.integer)
        self.init(nil, try reader.requiredText("message"), code: code)
        guard case .object = reader.value["data"] else { return }
        let data = try reader.object("data")
        kind = try data.text("kind").flatMap(Kind.init)
        until = try data.validTime("until")
        limit = try data.count("limit")
    }

    var json: JSON {
        let data: JSON = ["kind": JSON(kind?.rawValue), "until": JSON(until), "limit": JSON(limit)]
        return [
            "code": .integer(code), "message": .string(message),
            "data": data == [:] ? .null : data,
        ]
    }

    // MARK: Errors of this program

    /// Creates the reply for an error of this process.
    package init(_ error: any Error) {
        switch error {
        case let refusal as PluginRefusal: self = refusal
        case let error as ProviderError: self.init(error)
        case let error as HTTPError: self.init(error)
        case let fault as PluginFault:
            self.init(nil, fault.description, code: Self.invalidParameters)
        case SecretStoreError.locked(let message): self.init(.keyringLocked, message.english)
        case let error as SecretStoreError: self.init(.keyringUnavailable, error.message.english)
        case is CancellationError: self.init(.cancelled, "The call was cancelled.")
        default: self.init(.failed, "\(error)")
        }
    }

    private init(_ error: ProviderError) {
        let kind: Kind =
            switch error {
            case .notFound: .notFound
            case .invalidArgument, .userExists, .wrongPassword: .invalidArgument
            case .notSupported: .notSupported
            case .notConfigured: .notConfigured
            case .staleCursor: .staleCursor
            case .noSuchUser: .noSuchUser
            case .failed, .storageFull: .failed
            case .rateLimited: .rateLimited
            case .unauthorized: .unauthorized
            case .denied: .denied
            case .refused: .refused
            }
        self.init(kind, "\(error)")
        if case .rateLimited(let until) = error { self.until = until }
    }

    private init(_ error: HTTPError) {
        switch error {
        case .unreachable(let reason): self.init(.unreachable, reason.english)
        case .failed(let reason): self.init(.invalidResponse, reason.english)
        case .tooLarge(let limit):
            self.init(.tooLarge, "\(error)")
            self.limit = limit
        case .invalidAddress(let reason): self.init(.invalidAddress, reason.english)
        case .forbiddenAddress(let reason): self.init(.forbiddenAddress, reason.english)
        case .cannotWrite: self.init(.failed, "\(error)")
        }
    }

    /// Returns the error that a caller gets.
    ///
    /// - Parameter name: The name of the other process, for an error without a message.
    /// - Returns: A ``ProviderError``, an ``HTTPError``, a ``SecretStoreError`` or a `CancellationError`.
    package func error(of name: String) -> any Error {
        let sentence = message.isEmpty ? "\(name) gave no reason." : message
        return switch kind {
        case .notFound: ProviderError.notFound(Message(verbatim: sentence))
        case .invalidArgument: ProviderError.invalidArgument(sentence)
        case .notSupported: ProviderError.notSupported(Message(verbatim: sentence))
        case .notConfigured: ProviderError.notConfigured(Message(verbatim: sentence))
        case .staleCursor: ProviderError.staleCursor
        case .noSuchUser: ProviderError.noSuchUser(Message(verbatim: sentence))
        case .rateLimited: ProviderError.rateLimited(until: until)
        case .unauthorized: ProviderError.unauthorized
        case .denied: ProviderError.denied(Message(verbatim: sentence))
        case .refused: ProviderError.refused(Message(verbatim: sentence))
        case .unreachable: HTTPError.unreachable(Message(verbatim: reason))
        // The reasons of ``HTTPError/failed(_:)`` are not sentences; other texts are.
        case .invalidResponse where message.isEmpty || message.hasSuffix("."):
            ProviderError.failed(Message(verbatim: sentence))
        case .invalidResponse: HTTPError.failed(Message(verbatim: message))
        case .tooLarge:
            if let limit {
                HTTPError.tooLarge(limit: limit)
            } else {
                ProviderError.failed(
                    Message("The service sent a response that is too large; try again later."))
            }
        case .invalidAddress: HTTPError.invalidAddress(Message(verbatim: message))
        case .forbiddenAddress: HTTPError.forbiddenAddress(Message(verbatim: message))
        case .keyringLocked: SecretStoreError.locked(Message(verbatim: sentence))
        case .keyringUnavailable: SecretStoreError.unavailable(Message(verbatim: sentence))
        case .cancelled: CancellationError()
        case .failed: ProviderError.failed(Message(verbatim: sentence))
        case nil where code == Self.methodNotFound:
            ProviderError.notSupported(Message(verbatim: sentence))
        case nil: ProviderError.failed(Message(verbatim: "\(name) failed: \(sentence)"))
        }
    }
}
