/// The errors of the connection to the bus.
nonisolated package enum BusError: Error, Equatable {
    /// A string does not match its grammar. The values are the kind ("object path") and the string.
    case invalidName(String, String)
    /// A value cannot be marshalled, or a message does not have the expected types.
    case invalidValue(String)
    /// A message or an array exceeds the maximum size of D-Bus: 128 MiB and 64 MiB.
    case tooLarge
    /// There is no bus at the address, or it rejected the connection. The text contains the reason.
    case noBus(String)
    /// The connection is closed; no further message is sent or received.
    case disconnected
    /// The peer, or the bus on its behalf, sent an error reply. A timeout is reported as
    /// `org.freedesktop.DBus.Error.NoReply`.
    case reply(ErrorReply)
}

/// An error reply to a call: a name for programs and a sentence for users.
///
/// A handler throws it to determine the name of the error.
nonisolated package struct ErrorReply: Error, Hashable, Sendable {
    package let name: ErrorName
    package let message: String

    package init(_ name: ErrorName, _ message: String) {
        self.name = name
        self.message = message
    }
}

/// The error names that the D-Bus specification and its reference library define.
nonisolated extension ErrorName {
    package static let failed: ErrorName = "org.freedesktop.DBus.Error.Failed"
    package static let invalidArgs: ErrorName = "org.freedesktop.DBus.Error.InvalidArgs"
    package static let ioError: ErrorName = "org.freedesktop.DBus.Error.IOError"
    package static let limitsExceeded: ErrorName = "org.freedesktop.DBus.Error.LimitsExceeded"
    package static let noReply: ErrorName = "org.freedesktop.DBus.Error.NoReply"
    static let notSupported: ErrorName = "org.freedesktop.DBus.Error.NotSupported"
    package static let nameHasNoOwner: ErrorName = "org.freedesktop.DBus.Error.NameHasNoOwner"
    package static let propertyReadOnly: ErrorName = "org.freedesktop.DBus.Error.PropertyReadOnly"
    package static let serviceUnknown: ErrorName = "org.freedesktop.DBus.Error.ServiceUnknown"
    package static let unknownInterface: ErrorName = "org.freedesktop.DBus.Error.UnknownInterface"
    package static let unknownMethod: ErrorName = "org.freedesktop.DBus.Error.UnknownMethod"
    package static let unknownObject: ErrorName = "org.freedesktop.DBus.Error.UnknownObject"
    package static let unknownProperty: ErrorName = "org.freedesktop.DBus.Error.UnknownProperty"
}
