internal import FoundationEssentials
package import Logging
package import ProviderKit
internal import Quoting

/// A web service, as messages name it.
package struct Service: Hashable, Sendable {
    package let name: String
    /// The advice for an invalid response: `try again later`.
    private let advice: String

    package init(_ name: String, advice: String = "try again later") {
        self.name = name
        self.advice = advice
    }

    /// A server whose address the user entered.
    package static func server(_ name: String) -> Service {
        Service(name, advice: "check the address of the server, or try again later")
    }

    /// Returns the error for a response that violates the API.
    package func invalidResponse(_ reason: String) -> ProviderError {
        .failed("\(name) sent an invalid response (\(reason)); \(advice).")
    }

    /// Returns the error for a photo that does not exist.
    package func missing(_ photo: PhotoID) -> ProviderError {
        .notFound("There is no photo \(photo.text.quoted) at \(name).")
    }

    /// Returns the error for a source that does not exist.
    package func missing(_ source: SourceID) -> ProviderError {
        .notFound("There is no source \(source.text.quoted) at \(name).")
    }

    /// Decodes the body of a response as JSON.
    ///
    /// - Throws: ``ProviderError/failed(_:)`` for an invalid response.
    package func decode<Value: Decodable>(
        _ response: HTTPResponse, _ logger: Logger
    ) throws(ProviderError) -> Value {
        if let value: Value = response.decodeJSON() { return value }
        logger.debug(
            "Cannot decode a response",
            metadata: ["status": "\(response.status)", "bytes": "\(response.body.count)"])
        throw invalidResponse("an unexpected document")
    }
}

extension HTTPResponse {
    /// Decodes the body as JSON; nil for an invalid body.
    package func decodeJSON<Value: Decodable>() -> Value? {
        try? JSONDecoder().decode(Value.self, from: Data(body))
    }

    /// The object in the body; nil for another body.
    package var record: ServiceRecord? { decodeJSON() }
}

extension WebAddress {
    /// Creates an address from a response of a service; nil for an address that is not secure.
    ///
    /// - Parameters:
    ///   - text: The address.
    ///   - allowsLoopback: True if the service is on this computer and may refer to loopback addresses.
    package init?(_ text: String?, allowsLoopback: Bool) {
        guard let text, let address = WebAddress(text),
            address.isLoopback ? allowsLoopback : address.scheme == .https
        else { return nil }
        self = address
    }
}
