extension StringProtocol {
    /// The text as a sentence: with a full stop unless it is empty or ends in a punctuation mark.
    package var sentence: String {
        guard let last, !".!?…".contains(last) else { return String(self) }
        return "\(self)."
    }
}
