internal import BusAPI
internal import DBus

/// A photo, as a person names it: `ACCOUNT/ID`, or the bare id of a photo of the default account.
///
/// The id may hold anything, a slash too; what stands before the first slash is an account only if it can be one.
struct PhotoReference: Equatable {
    /// nil: the default account.
    let account: String?
    let id: String

    init(_ text: String) {
        let prefix = ServiceName.accounts.text + "/"
        let short = text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : text[...]
        guard let slash = short.firstIndex(of: "/"),
            short[..<slash].utf8.allSatisfy(Self.isAccountByte)
        else {
            account = nil
            id = String(short)
            return
        }
        account = slash == short.startIndex ? nil : String(short[..<slash])
        id = String(short[short.index(after: slash)...])
    }

    private static func isAccountByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
