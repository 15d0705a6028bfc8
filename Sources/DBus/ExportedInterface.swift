/// An interface on one object, whatever the type behind it.
final class ExportedInterface {
    let name: InterfaceName
    let methods: [BusMethod<AnyObject>]
    let properties: [BusProperty<AnyObject>]
    let signals: [SignalDescription]
    /// True if the value of a property can change without a call of ``ExportedObject/noteChange()``.
    let hasUnannouncedProperties: Bool
    private let object: AnyObject
    /// Hashes of the marshalled values that clients were last told, in the order of ``properties``.
    private var told: [Int?]

    init<Object: AnyObject>(_ declaration: BusInterface<Object>, on object: Object) {
        name = declaration.name
        signals = declaration.signals
        self.object = object
        methods = declaration.methods
        properties = declaration.properties
        hasUnannouncedProperties = properties.contains { $0.emits == .never }
        told = Array(repeating: nil, count: declaration.properties.count)
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

    /// Reads the new value from `call`; nil for a property that is read-only.
    func change(
        _ property: BusProperty<AnyObject>, _ call: BusMessage
    ) throws -> PropertyChange? {
        try property.set?(object, call)
    }

    var allValues: OrderedEntries<String, AnyVariant> {
        OrderedEntries(properties.map { ($0.name.text, value($0)) })
    }

    /// The properties whose values are others than clients were told; they count as told from now
    /// on.
    func takeChanges() -> OrderedEntries<String, AnyVariant> {
        var changes = OrderedEntries<String, AnyVariant>()
        var encoder = Encoder()
        for (index, property) in properties.enumerated() where property.emits == .value {
            let value = value(property)
            guard let hash = hash(of: value, &encoder), told[index] != hash else { continue }
            told[index] = hash
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
