internal import CDBus

/// The types of a sequence of values: `aa{sv}s`. D-Bus type `g`.
///
/// Source: D-Bus specification, "Summary of types".
nonisolated package struct Signature: BusGrammar {
    package static let noun = "signature"
    package let text: String

    package init(unchecked text: String) { self.text = text }

    package static func matches(_ text: String) -> Bool { isValid(text, dbus_signature_validate) }
}
