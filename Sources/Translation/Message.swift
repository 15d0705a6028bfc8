/// A sentence for the user, in English for programs and logs, and in the language of the user.
///
///     throw ProviderError.failed(Message("{server} does not answer.", ["server": name]))
public struct Message: Hashable, Sendable, CustomStringConvertible {
    private let text: String?
    private let values: [(name: String, value: Message)]
    /// The sentence in English: for details of D-Bus errors and for logs.
    public let english: String

    /// Creates a sentence from a literal.
    ///
    /// - Parameters:
    ///   - text: A literal in English, with names in braces for the values. `dist/translate` collects these literals.
    ///   - values: The values by their names.
    public init(_ text: StaticString, _ values: KeyValuePairs<String, String> = [:]) {
        self.init(text, values.map { ($0.key, Message(verbatim: $0.value)) })
    }

    /// Creates a sentence with values that are translated themselves.
    public init(_ text: StaticString, messages values: KeyValuePairs<String, Message>) {
        self.init(text, values.map { ($0.key, $0.value) })
    }

    package init(_ text: StaticString, _ values: [(name: String, value: Message)]) {
        self.init("\(text)", values)
    }

    private init(_ text: String, _ values: [(name: String, value: Message)]) {
        self.text = text
        self.values = values
        english = filled(text) { name in values.first { $0.name == name }?.value.english }
    }

    /// Creates a sentence that is the same in each language, such as one of a server.
    public init(verbatim text: String) {
        self.text = nil
        values = []
        english = text
    }

    /// Creates a sentence from its ``stored`` form.
    package init(stored: String) {
        let parts = stored.split(separator: Self.separator, omittingEmptySubsequences: false)
        guard parts.count > 1 else {
            self.init(verbatim: stored)
            return
        }
        let values = stride(from: 1, to: parts.count - 1, by: 2).map {
            (name: String(parts[$0]), value: Message(verbatim: String(parts[$0 + 1])))
        }
        self.init(String(parts[0]), values)
    }

    /// The sentence as one text, from which it can be translated later. Its values are in English.
    package var stored: String {
        guard let text else { return english }
        let parts = [text] + values.flatMap { [$0.name, $0.value.english] }
        return parts.map { $0 + String(Self.separator) }.joined()
    }

    /// A control character, which no sentence contains.
    private static let separator: Character = "\u{1f}"

    /// The sentence in the language of the user.
    public var translated: String {
        guard let text, Catalog.isTranslated else { return english }
        return filled(Catalog.text(text)) { name in
            values.first { $0.name == name }?.value.translated
        }
    }

    public var description: String { english }

    /// Sentences are equal if they are the same in English.
    public static func == (left: Message, right: Message) -> Bool { left.english == right.english }

    public func hash(into hasher: inout Hasher) { hasher.combine(english) }
}

/// An error with a sentence for the user.
public protocol ExplainedError: Error {
    /// One sentence, at most two.
    var message: Message { get }
}

extension ExplainedError where Self: CustomStringConvertible {
    /// The message in English.
    public var description: String { message.english }
}

extension Message {
    /// Creates the sentence of an error. The text of an error without one is in English.
    public init(_ error: any Error) {
        self = (error as? any ExplainedError)?.message ?? Message(verbatim: "\(error)")
    }
}
