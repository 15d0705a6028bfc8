internal import Quoting

extension InterfaceName {
    nonisolated static let properties: InterfaceName = "org.freedesktop.DBus.Properties"
    nonisolated static let objectManager: InterfaceName = "org.freedesktop.DBus.ObjectManager"
}

/// The interfaces that every object has, and the interface that only the root has.
extension InterfaceTable {
    static func standard(for object: ExportedObject, root: ObjectPath) -> [InterfaceTable] {
        object.path == root ? forRoot : forAll
    }

    private static let forAll = [propertiesInterface.table, introspectableInterface.table]
    private static let forRoot = forAll + [objectManagerInterface.table]

    /// The interface that libdbus itself implements.
    static let peer = BusInterface<ExportedObject>(
        "org.freedesktop.DBus.Peer",
        [
            .method("Ping") { _ in },
            .method("GetMachineId", out: ["machine_uuid"]) { _ in "" },
        ]
    ).table

    private static let introspectableInterface = BusInterface<ExportedObject>(
        "org.freedesktop.DBus.Introspectable",
        [
            .method("Introspect", out: ["xml_data"]) { object in
                object.introspection
            }
        ])

    private static let objectManagerInterface = BusInterface<ExportedObject>(
        .objectManager,
        [
            .preparedMethod("GetManagedObjects", out: ["objects"], returning: ManagedObjects.self) {
                (object: ExportedObject, _: BusMessage) in
                object.tree?.onRead?()
                let reply = try object.tree?.managedObjects() ?? PreparedReply(ManagedObjects())
                return .finished(reply)
            },
            .signal(
                "InterfacesAdded", ["object", "interfaces"], ObjectPath.self,
                [String: [String: Variant]].self),
            .signal("InterfacesRemoved", ["object", "interfaces"], ObjectPath.self, [String].self),
        ])

    private static let propertiesInterface = BusInterface<ExportedObject>(
        .properties,
        [
            .method("Get", in: ["interface_name", "property_name"], out: ["value"]) {
                (object: ExportedObject, interface: String, name: String) -> AnyVariant in
                let (exported, property) = try object.property(interface, name)
                object.tree?.onRead?()
                return exported.value(property)
            },
            .method("GetAll", in: ["interface_name"], out: ["properties"]) {
                (object: ExportedObject, interface: String)
                    -> OrderedEntries<String, AnyVariant> in
                let interfaces = try object.interfaces(named: interface)
                object.tree?.onRead?()
                return OrderedEntries(interfaces.flatMap(\.allValues.entries))
            },
            .preparedMethod("Set", in: ["interface_name", "property_name", "value"]) {
                (
                    object: ExportedObject, call: BusMessage, interface: String, name: String,
                    _: SkippedVariant
                ) in
                let (exported, property) = try object.property(interface, name)
                guard let change = try property.set?(exported.object, call) else {
                    throw ErrorReply(.propertyReadOnly, "\(name) is read-only.")
                }
                return .running {
                    try await change()
                    return try PreparedReply()
                }
            },
            .signal(
                "PropertiesChanged",
                ["interface_name", "changed_properties", "invalidated_properties"],
                String.self, [String: Variant].self, [String].self),
        ])
}

extension ExportedObject {
    /// Returns the interfaces with this name, or all of them if the name is empty.
    fileprivate func interfaces(named name: String) throws -> [ExportedInterface] {
        if name.isEmpty { return interfaces }
        let named = interfaces.filter { $0.name.text == name }
        guard let tree,
            !named.isEmpty
                || (InterfaceTable.standard(for: self, root: tree.root)
                    + [InterfaceTable.peer])
                    .contains(where: { $0.name.text == name })
        else {
            throw ErrorReply(.unknownInterface, "\(path) has no interface \(name.quoted).")
        }
        return named
    }

    fileprivate func property(
        _ interface: String, _ name: String
    ) throws -> (ExportedInterface, BusProperty) {
        for candidate in try interfaces(named: interface) {
            if let property = candidate.table.properties.first(where: { $0.name.text == name }) {
                return (candidate, property)
            }
        }
        throw ErrorReply(
            .unknownProperty,
            "\(path) has no property \(name.quoted)\(interface.isEmpty ? "" : " of \(interface)").")
    }
}
