/// The criteria that select the signals of a subscription; nil matches any value.
nonisolated package struct MatchRule: Hashable, Sendable {
    package var sender: BusName?
    package var path: ObjectPath?
    /// Selects the object at this path and all objects below it.
    package var pathNamespace: ObjectPath?
    package var interface: InterfaceName?
    package var member: MemberName?
    /// The first argument, a string.
    package var argument0: String?

    package init(
        sender: BusName? = nil, path: ObjectPath? = nil, pathNamespace: ObjectPath? = nil,
        interface: InterfaceName? = nil, member: MemberName? = nil, argument0: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.pathNamespace = pathNamespace
        self.interface = interface
        self.member = member
        self.argument0 = argument0
    }

    /// The match rule in the syntax of the bus.
    ///
    /// Source: D-Bus specification, "Match Rules".
    var text: String {
        var text = "type='signal'"
        if let sender { text += ",sender='\(sender)'" }
        if let path { text += ",path='\(path)'" }
        if let pathNamespace { text += ",path_namespace='\(pathNamespace)'" }
        if let interface { text += ",interface='\(interface)'" }
        if let member { text += ",member='\(member)'" }
        guard let argument0 else { return text }
        text += ",arg0='"
        for character in argument0.unicodeScalars {
            // An apostrophe cannot be escaped inside the quotes.
            text += character == "'" ? #"'\''"# : String(character)
        }
        return text + "'"
    }

    /// The sender if it is a well-known name, whose owner can change; nil for unique names and the bus itself.
    var wellKnownSender: BusName? {
        guard let sender, !sender.isUnique, sender != .bus else { return nil }
        return sender
    }

    /// Returns true if `signal` matches the rule, apart from its sender.
    func matches(_ signal: BusMessage) -> Bool {
        if let member, signal.member != member { return false }
        if let interface, signal.interface != interface { return false }
        if let path, signal.path != path { return false }
        if let pathNamespace, signal.path != pathNamespace,
            signal.path?.elements(below: pathNamespace) == nil
        {
            return false
        }
        guard let argument0 else { return true }
        var decoder = Decoder(signal)
        return (try? String(from: &decoder)) == argument0
    }
}
