internal import PluginProtocol

extension Duration {
    /// The duration in seconds with two digits, as text.
    var seconds: String {
        let hundredths = Int((self / .milliseconds(10)).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) s"
    }
}

extension Int {
    /// The number with a noun.
    func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }

    /// The number of bytes as text.
    var bytes: String {
        self < 1 << 10 ? "\(self) B" : self < 1 << 20 ? "\(self >> 10) KiB" : "\(self >> 20) MiB"
    }
}

extension JSONValue {
    /// The text; nil for other types.
    var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The elements of an array; none for other types.
    var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
}
