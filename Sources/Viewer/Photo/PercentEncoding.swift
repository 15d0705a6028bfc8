extension String {
    /// The text as a part of a URI. Source: RFC 3986 §2.3.
    var percentEncoded: String {
        utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            if byte < 128, character.isLetter || character.isNumber || "-._~".contains(character) {
                return String(character)
            }
            let hexadecimal = String(byte, radix: 16, uppercase: true)
            return "%" + (byte < 16 ? "0" : "") + hexadecimal
        }.joined()
    }
}
