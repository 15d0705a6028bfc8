/// A client's view of an object of another connection.
package struct BusProxy {
    package let connection: BusConnection
    package let destination: BusName
    package let path: ObjectPath

    package init(_ connection: BusConnection, _ destination: BusName, _ path: ObjectPath) {
        self.connection = connection
        self.destination = destination
        self.path = path
    }

    /// Calls a method and reads its results.
    ///
    /// - Throws: The errors of ``BusConnection/call(_:_:timeout:)``.
    package func call<each In: BusType, each Out: BusType>(
        _ interface: InterfaceName, _ member: MemberName, _ arguments: repeat each In,
        timeout: Duration? = BusConnection.defaultTimeout
    ) async throws -> (repeat each Out) {
        try await connection.call(
            .methodCall(destination, path, interface, member), repeat each arguments,
            timeout: timeout)
    }

    /// Calls a method that has no results.
    ///
    /// - Throws: The errors of ``BusConnection/call(_:_:timeout:)``.
    package func perform<each In: BusType>(
        _ interface: InterfaceName, _ member: MemberName, _ arguments: repeat each In,
        timeout: Duration? = BusConnection.defaultTimeout
    ) async throws {
        let _: Void = try await call(interface, member, repeat each arguments, timeout: timeout)
    }

    /// Reads one property.
    package func property(_ interface: InterfaceName, _ name: MemberName) async throws -> Variant {
        try await call(.properties, "Get", interface.text, name.text)
    }

    /// Reads all properties of an interface.
    package func properties(_ interface: InterfaceName) async throws -> [String: Variant] {
        try await call(.properties, "GetAll", interface.text)
    }

    /// Writes a property.
    package func set(
        _ interface: InterfaceName, _ name: MemberName, to value: any BusType
    ) async throws {
        try await perform(
            .properties, "Set", interface.text, name.text, AnyVariant(value))
    }

    /// Returns the objects below this one, with their interfaces and properties.
    package func managedObjects() async throws -> [ObjectPath: [String: [String: Variant]]] {
        try await call(.objectManager, "GetManagedObjects")
    }

    /// Calls `handler` with the changed properties of `interface` until the returned subscription is released.
    ///
    /// After this method returns, no change is missed; read the properties then.
    package func watch(
        _ interface: InterfaceName, _ handler: @escaping ([String: Variant]) -> Void
    ) async throws -> SignalSubscription {
        let rule = MatchRule(
            sender: destination, path: path, interface: .properties,
            member: "PropertiesChanged", argument0: interface.text)
        return try await connection.subscribe(rule) { signal in
            // A signal with other arguments is not the standard one.
            guard
                let (_, changes, _): (String, [String: Variant], [String]) = try? signal.read()
            else { return }
            handler(changes)
        }
    }
}
