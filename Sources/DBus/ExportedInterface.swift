/// An interface of one object, with the type of the object erased.
final class ExportedInterface {
    let name: InterfaceName
    let methods: [BusMethod<AnyObject>]
    let properties: [BusProperty<AnyObject>]
    let signals: [SignalDescription]
    /// True if the value of a property can change without a call of ``ExportedObject/announceChanges()``.
    let hasUnannouncedProperties: Bool
    private let object: AnyObject
    /// The hashes of the marshalled values that were last announced, in the order of ``properties``.
    private var announcedHashes: [Int?]

    init<Object: AnyObject>(_ declaration: BusInterface<Object>, on object: Object) {
        name = declaration.name
        signals = declaration.signals
        self.object = object
        methods = declaration.methods
        properties = declaration.properties
        hasUnannouncedProperties = properties.contains { $0.emits == .never }
        announcedHashes = Array(repeating: nil, count: declaration.properties.count)
    }

    func invoke(_ method: BusMethod<AnyObject>, _ call: BusMessage) throws -> Invocation {
        try method.invoke(object, call)
    }

    func method(_ name: MemberName) -> BusMethod<AnyObject>? { methods.first { $0.name == name } }

    func property(_ name: MemberName) -> BusProperty<AnyObject>? {
        properties.first { $0.name == name }
    }

    func value(_ property: BusProperty<AnyObject>) -> AnyVariant {
        AnyVariant(property.get(object))
    }

    /// Reads the new value from `call`; returns nil if the property is read-only.
    func change(
        _ property: BusProperty<AnyObject>, _ call: BusMessage
    ) throws -> PropertyChange? {
        try property.set?(object, call)
    }

    var allValues: OrderedEntries<String, AnyVariant> {
        OrderedEntries(properties.map { ($0.name.text, value($0)) })
    }

    /// Returns the properties whose values differ from the announced ones, and records them as announced.
    func takeChanges() -> OrderedEntries<String, AnyVariant> {
        var changes = OrderedEntries<String, AnyVariant>()
        var encoder = Encoder()
        for (index, property) in properties.enumerated() where property.emits == .value {
            let value = value(property)
            guard let hash = hash(of: value, &encoder), announcedHashes[index] != hash else {
                continue
            }
            announcedHashes[index] = hash
            changes.entries.append((property.name.text, value))
        }
        return changes
    }

    /// Returns the hash of a marshalled value; nil for a value that cannot be marshalled.
    private func hash(of value: AnyVariant, _ encoder: inout Encoder) -> Int? {
        encoder.removeAll()
        guard (try? value.encode(into: &encoder)) != nil else { return nil }
        var hasher = Hasher()
        encoder.bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}
