/// What can go wrong between us and the bus.
nonisolated package enum BusError: Error, Equatable {
    /// A string does not obey its grammar. First the kind ("object path"), then the string.
    case invalidName(String, String)
    /// A value cannot be marshalled, or a message does not hold the types that were expected.
    case invalidValue(String)
    /// A message or an array is larger than D-Bus allows: 128 MiB and 64 MiB.
    case tooLarge
    /// There is no bus to connect to, or it refused us. The text says what was tried.
    case noBus(String)
    /// The connection is closed; nothing more will be sent or received on it.
    case disconnected
    /// The peer, or the bus in its name, answered with an error. No answer in time is one of these:
    /// `org.freedesktop.DBus.Error.NoReply`.
    case reply(ErrorReply)
}

/// An error that goes over the bus in answer to a call: a name for programs, a sentence for people.
///
/// A handler throws it to choose the name itself.
nonisolated package struct ErrorReply: Error, Hashable, Sendable {
    package let name: ErrorName
    package let message: String

    package init(_ name: ErrorName, _ message: String) {
        self.name = name
        self.message = message
    }
}

/// The errors that the D-Bus specification and its reference library define.
nonisolated extension ErrorName {
    package static let failed: ErrorName = "org.freedesktop.DBus.Error.Failed"
    package static let invalidArgs: ErrorName = "org.freedesktop.DBus.Error.InvalidArgs"
    package static let ioError: ErrorName = "org.freedesktop.DBus.Error.IOError"
    package static let limitsExceeded: ErrorName = "org.freedesktop.DBus.Error.LimitsExceeded"
    package static let noReply: ErrorName = "org.freedesktop.DBus.Error.NoReply"
    package static let nameHasNoOwner: ErrorName = "org.freedesktop.DBus.Error.NameHasNoOwner"
    package static let propertyReadOnly: ErrorName = "org.freedesktop.DBus.Error.PropertyReadOnly"
    package static let serviceUnknown: ErrorName = "org.freedesktop.DBus.Error.ServiceUnknown"
    package static let unknownInterface: ErrorName = "org.freedesktop.DBus.Error.UnknownInterface"
    package static let unknownMethod: ErrorName = "org.freedesktop.DBus.Error.UnknownMethod"
    package static let unknownObject: ErrorName = "org.freedesktop.DBus.Error.UnknownObject"
    package static let unknownProperty: ErrorName = "org.freedesktop.DBus.Error.UnknownProperty"
}
