internal import Quoting

/// An interface as a table. The declaration of a member defines its signature, dispatch and introspection data.
///
/// The handlers are called on an `Object`.
package struct BusInterface<Object: AnyObject> {
    let table: InterfaceTable

    /// - Parameters:
    ///   - name: The name on the bus.
    ///   - members: In the order in which introspection shows them.
    package init(_ name: InterfaceName, _ members: [BusMember<Object>]) {
        var table = InterfaceTable(name: name)
        // By index: an iterator over a generic element makes the runtime search all conformances at start.
        for index in 0..<members.count {
            members[index].add(&table)
        }
        self.table = table
    }
}

/// The members of an interface with the type of the object erased; their functions take an instance of it.
struct InterfaceTable {
    let name: InterfaceName
    var methods: [BusMethod] = []
    var properties: [BusProperty] = []
    var signals: [(name: MemberName, arguments: [ArgumentDescription])] = []

    func method(_ name: MemberName) -> BusMethod? { methods.first { $0.name == name } }
}

/// A member of an interface.
package struct BusMember<Object: AnyObject> {
    /// Adds the member to the table of its interface.
    let add: (inout InterfaceTable) -> Void
}

/// The name and type of an argument.
typealias ArgumentDescription = (name: String, type: Signature)

struct BusMethod {
    let name: MemberName
    let inputs: [ArgumentDescription]
    let outputs: [ArgumentDescription]
    /// Decodes the arguments and calls the handler.
    let invoke: (AnyObject, BusMessage) throws -> Invocation
}

/// The state of a call when its handler returns.
package enum Invocation {
    case finished(PreparedReply)
    case running(@MainActor () async throws -> PreparedReply)
}

/// Stores the new value of a property.
typealias PropertyChange = @MainActor () async throws -> Void

struct BusProperty {
    let name: MemberName
    let type: Signature
    /// True if the value never changes; `PropertiesChanged` announces all other properties with their values.
    let isConstant: Bool
    let get: (AnyObject) -> any BusType
    /// The function that reads the new value from a call of `Properties.Set`; nil for a read-only property.
    let set: ((AnyObject, BusMessage) throws -> PropertyChange)?
}

extension BusMember {
    /// Declares a method that is finished when the handler returns.
    package static func method<each In: BusType, each Out: BusType>(
        _ name: MemberName, in inputs: [String] = [], out outputs: [String] = [],
        _ handler: @escaping (Object, repeat each In) throws -> (repeat each Out)
    ) -> BusMember {
        preparedMethod(name, in: inputs, out: outputs, returning: repeat (each Out).self) {
            (object: Object, _: BusMessage, arguments: repeat each In) in
            let results = try handler(object, repeat each arguments)
            return .finished(try PreparedReply(repeat each results))
        }
    }

    /// Declares a method whose handler may wait, for example for a thread, a service or the user.
    package static func asyncMethod<each In: BusType, each Out: BusType>(
        _ name: MemberName, in inputs: [String] = [], out outputs: [String] = [],
        _ handler: @escaping @MainActor (Object, repeat each In) async throws -> (repeat each Out)
    ) -> BusMember {
        asyncCallerMethod(name, in: inputs, out: outputs) {
            (object: Object, _: BusName?, arguments: repeat each In) in
            try await handler(object, repeat each arguments)
        }
    }

    /// Declares an asynchronous method whose handler also takes the unique name of the caller.
    ///
    /// - Parameters:
    ///   - name: The name of the method.
    ///   - inputs: The names of the arguments.
    ///   - outputs: The names of the results.
    ///   - handler: Returns the results, or throws.
    /// - Returns: The member.
    package static func asyncCallerMethod<each In: BusType, each Out: BusType>(
        _ name: MemberName, in inputs: [String] = [], out outputs: [String] = [],
        _ handler:
            @escaping @MainActor (Object, BusName?, repeat each In) async throws
            -> (repeat each Out)
    ) -> BusMember {
        preparedMethod(name, in: inputs, out: outputs, returning: repeat (each Out).self) {
            (object: Object, call: BusMessage, values: repeat each In) in
            let arguments = (repeat each values)
            let caller = call.sender
            return .running {
                let results = try await handler(object, caller, repeat each arguments)
                return try PreparedReply(repeat each results)
            }
        }
    }

    /// Declares a method whose handler marshals its results, for example because they are often the same and are stored
    /// in this form.
    ///
    /// - Parameters:
    ///   - name: The name of the method.
    ///   - inputs: The names of the arguments.
    ///   - outputs: The names of the results.
    ///   - results: The types of the results.
    ///   - handler: Returns a prepared reply, or the work that makes it. It takes the call, which the work must not
    ///     retain.
    /// - Returns: The member.
    package static func preparedMethod<each In: BusType, each Out: BusType>(
        _ name: MemberName, in inputs: [String] = [], out outputs: [String] = [],
        returning results: repeat (each Out).Type,
        handler: @escaping (Object, BusMessage, repeat each In) throws -> Invocation
    ) -> BusMember {
        let method = BusMethod(
            name: name, inputs: describe(inputs, repeat (each In).self),
            outputs: describe(outputs, repeat each results)
        ) { object, call in
            let arguments: (repeat each In) = try call.readArguments()
            return try handler(
                unsafeDowncast(object, to: Object.self), call, repeat each arguments)
        }
        return BusMember { $0.methods.append(method) }
    }

    /// Declares a property.
    ///
    /// - Parameters:
    ///   - name: The name of the property.
    ///   - isConstant: True if the value never changes.
    ///   - get: Returns the value.
    ///   - set: Returns when a value that a client wrote has been stored; nil if clients can only read the property.
    /// - Returns: The member.
    package static func property<Value: BusType>(
        _ name: MemberName, isConstant: Bool = false, _ get: @escaping (Object) -> Value,
        set: (@MainActor (Object, Value) async throws -> Void)? = nil
    ) -> BusMember {
        let property = BusProperty(
            name: name, type: Value.signature, isConstant: isConstant,
            get: { get(unsafeDowncast($0, to: Object.self)) },
            set: set.map { set in
                { object, call in
                    let value: Value = try call.readPropertyValue()
                    return { try await set(unsafeDowncast(object, to: Object.self), value) }
                }
            })
        return BusMember { $0.properties.append(property) }
    }

    /// Declares a signal with the names and types of its arguments.
    package static func signal<each Argument: BusType>(
        _ name: MemberName, _ names: [String] = [], _ types: repeat (each Argument).Type
    ) -> BusMember {
        let arguments = describe(names, repeat each types)
        return BusMember { $0.signals.append((name, arguments)) }
    }
}

nonisolated private func describe<each Value: BusType>(
    _ names: [String], _ types: repeat (each Value).Type
) -> [ArgumentDescription] {
    var signatures: [Signature] = []
    for type in repeat each types { signatures.append(type.signature) }
    precondition(names.count == signatures.count, "\(names) name \(signatures.count) arguments")
    return zip(names, signatures).map { ($0, $1) }
}

nonisolated extension BusMessage {
    /// Reads the arguments of a call. Arguments of other types are an `InvalidArgs` error.
    fileprivate func readArguments<each Value: BusType>() throws -> (repeat each Value) {
        do {
            return try read()
        } catch {
            let expected = signatureText(repeat (each Value).self)
            let name = member?.text ?? "The method"
            if signature.text == expected, case .invalidValue(let reason) = error {
                throw ErrorReply(
                    .invalidArgs, "The arguments of \(name) cannot be read: \(reason).")
            }
            let takes = expected.isEmpty ? "no arguments" : "(\(expected))"
            throw ErrorReply(
                .invalidArgs, "\(name) takes \(takes), not \("(\(signature))".excerpt).")
        }
    }

    /// Reads the third argument of `Properties.Set`: a variant that contains a `Value`.
    fileprivate func readPropertyValue<Value: BusType>() throws -> Value {
        var decoder = Decoder(self)
        decoder.next()
        decoder.next()
        var inner = decoder.enter()
        do {
            return try Value(from: &inner)
        } catch {
            throw ErrorReply(.invalidArgs, "The property takes a value of type \(Value.signature).")
        }
    }
}
