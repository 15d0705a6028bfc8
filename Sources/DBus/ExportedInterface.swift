/// An interface on one object, whatever the type behind it.
final class ExportedInterface {
    let name: InterfaceName
    let methods: [BusMethod<AnyObject>]
    let properties: [BusProperty<AnyObject>]
    let signals: [SignalDescription]
    private let object: AnyObject
    /// What clients were last told of each property, as hashes of the marshalled values.
    private var told: [MemberName: Int] = [:]

    init<Object: AnyObject>(_ declaration: BusInterface<Object>, on object: Object) {
        name = declaration.name
        signals = declaration.signals
        self.object = object
        // Only ever called with `object`, whose type is `Object`.
        methods = declaration.methods.map { method in
            BusMethod(
                name: method.name, inputs: method.inputs, outputs: method.outputs,
                invoke: { try method.invoke(unsafeDowncast($0, to: Object.self), $1) })
        }
        properties = declaration.properties.map { property in
            BusProperty(
                name: property.name, type: property.type, emits: property.emits,
                isVolatile: property.isVolatile || property.emits == .never,
                get: { property.get(unsafeDowncast($0, to: Object.self)) },
                set: property.set.map { set in
                    { try set(unsafeDowncast($0, to: Object.self), $1) }
                })
        }
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

    /// Hashes of the values of volatile properties.
    var volatileHashes: [Int] {
        properties.filter(\.isVolatile).map { property in
            var encoder = Encoder()
            // A value that cannot be marshalled equals no other.
            guard (try? value(property).encode(into: &encoder)) != nil else {
                return .random(in: .min ... .max)
            }
            return encoder.bytes.hashValue
        }
    }

    /// The properties whose values are others than clients were told; they count as told from now
    /// on.
    func takeChanges() -> OrderedEntries<String, AnyVariant> {
        var changes = OrderedEntries<String, AnyVariant>()
        for property in properties where property.emits == .value {
            let value = value(property)
            var encoder = Encoder()
            guard (try? value.encode(into: &encoder)) != nil,
                told.updateValue(encoder.bytes.hashValue, forKey: property.name)
                    != encoder.bytes.hashValue
            else { continue }
            changes.entries.append((property.name.text, value))
        }
        return changes
    }
}
