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
