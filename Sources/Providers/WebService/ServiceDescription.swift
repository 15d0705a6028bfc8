internal import JSONFormat
package import ProviderKit
internal import Quoting
package import Translation

/// A web service, as messages name it.
package struct ServiceDescription: Hashable, Sendable {
    package let name: String
    /// The advice for an invalid response: `try again later`.
    private let advice: Message

    package init(_ name: String, advice: Message = Message("try again later")) {
        self.name = name
        self.advice = advice
    }

    /// A server whose address the user entered.
    package static func server(_ name: String) -> ServiceDescription {
        ServiceDescription(
            name, advice: Message("check the address of the server, or try again later"))
    }

    /// Creates a sentence about the service.
    ///
    /// - Parameters:
    ///   - text: A literal in English, with `{service}` for the name of the service.
    ///   - values: The other values by their names.
    ///   - messages: The values that are translated themselves.
    /// - Returns: The sentence.
    package func tr(
        _ text: StaticString, _ values: KeyValuePairs<String, String> = [:],
        messages: KeyValuePairs<String, Message> = [:]
    ) -> Message {
        var all = [(name: "service", value: Message(verbatim: name))]
        all += values.map { (name: $0.key, value: Message(verbatim: $0.value)) }
        all += messages.map { (name: $0.key, value: $0.value) }
        return Message(text, all)
    }

    /// Returns the error for a response that violates the API.
    package func invalidResponse(_ reason: Message) -> ProviderError {
        .failed(
            // Translators: {reason} is “an HTML page” or “a list without photos”, and {advice} “try again later”.
            tr(
                "{service} sent an invalid response ({reason}); {advice}.",
                messages: ["reason": reason, "advice": advice]))
    }

    /// Returns the error for a photo that does not exist.
    package func missing(_ photo: PhotoID) -> ProviderError {
        .notFound(tr("There is no photo {photo} at {service}.", ["photo": photo.text.quoted]))
    }

    /// Returns the error for a source that does not exist.
    package func missing(_ source: SourceID) -> ProviderError {
        .notFound(tr("There is no source {source} at {service}.", ["source": source.text.quoted]))
    }

    /// Checks that an element of a list could be read, unless the list is empty.
    ///
    /// - Parameters:
    ///   - list: The list of a response.
    ///   - problem: The description of a response without such an element.
    /// - Throws: ``ProviderError/failed(_:)`` for an invalid response.
    package func requireReadable(
        _ list: LenientList<some Decodable>, _ problem: @autoclosure () -> Message
    ) throws(ProviderError) {
        if list.isUnreadable { throw invalidResponse(problem()) }
    }
}

extension HTTPResponse {
    /// Decodes the body as JSON; nil for an invalid body.
    package func decodeJSON<Value: Decodable>() -> Value? { JSON.decode(body) }

    /// The object in the body; nil for another body.
    package var record: ServiceRecord? { decodeJSON() }

    /// True for the page of a gateway before the service.
    package var isOtherLogin: Bool { isHTML && hasStatusOfGateway }

    /// True for a status with which a gateway before the service sends its page.
    package var hasStatusOfGateway: Bool {
        [200..<400, 401..<402, 403..<404, 511..<512].contains { $0.contains(status) }
    }
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
