internal import BusAPI
internal import DBus

/// What has become of a like, or of the end of one.
struct LikeAnswer: Renderable {
    let account: ObjectPath
    let photo: String
    /// Whether the photo is liked, or will be once it is sent.
    let liked: Bool
    /// A ``LikeOutcome``, or one that a later daemon knows.
    let outcome: String

    var json: JSON {
        .object([
            .init("photo", .string(photo)), .init("account", .string(account.text)),
            .init("liked", .bool(liked)), .init("outcome", .string(outcome)),
        ])
    }

    func text(for medium: OutputTarget) -> String {
        let reference = "\(AccountRecord.id(of: account))/\(photo)"
        guard medium != .pipe else {
            return [reference, liked ? "liked" : "not liked", outcome].map(TerminalText.line)
                .joined(separator: "\t") + "\n"
        }
        let more =
            switch LikeOutcome(rawValue: outcome) {
            case .done: ""
            case .queued: ", to be sent later"
            case .local: ", on this computer"
            case nil: ", \(outcome)"
            }
        return TerminalText.line("\(liked ? "Liked" : "Unliked") \(reference)\(more)") + "\n"
    }

    /// What a person should know about it.
    func remark(provider: String) -> String? {
        switch LikeOutcome(rawValue: outcome) {
        case .done, nil: nil
        case .queued:
            "\(provider) cannot be reached or wants fewer requests now: the \(liked ? "like" : "unlike") is kept, and sent later."
        case .local:
            "\(provider) offers no likes: the \(liked ? "like" : "unlike") is kept here."
        }
    }
}
