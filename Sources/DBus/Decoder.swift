internal import CDBus
internal import Glibc

/// A reader of the values of a message, in order.
///
/// libdbus has validated each received message. The decoder only checks that it contains the expected types.
nonisolated package struct Decoder {
    /// Retained because the iterator refers to its bytes.
    private let message: BusMessage
    private var iterator: DBusMessageIter

    /// Starts before the first value of `message`.
    init(_ message: BusMessage) {
        self.message = message
        iterator = DBusMessageIter()
        message.withRawMessage { _ = dbus_message_iter_init($0, &iterator) }
    }

    private init(_ message: BusMessage, _ iterator: DBusMessageIter) {
        self.message = message
        self.iterator = iterator
    }

    /// True if there are no further values.
    package var isAtEnd: Bool {
        mutating get { typeCode == SHIM_DBUS_TYPE_INVALID }
    }

    /// Skips the current value. The C function is `dbus_message_iter_next`.
    package mutating func next() { dbus_message_iter_next(&iterator) }

    /// Returns a decoder for the contents of the current container, which is not skipped.
    package mutating func enter() -> Decoder {
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        return Decoder(message, inner)
    }

    /// Throws unless the current value has the complete type `signature`.
    package mutating func check(_ signature: Signature) throws(BusError) {
        guard currentSignature == signature else {
            throw .invalidValue("expected \(signature), found \(currentSignature)")
        }
    }

    /// Returns a decoder for the elements of the current array and skips the array.
    package mutating func enterArray(of element: Signature) throws(BusError) -> Decoder {
        try check(Signature(unchecked: "a\(element)"))
        let elements = enter()
        next()
        return elements
    }

    mutating func basic<Value: FixedBusType>(
        _ signature: Signature, as type: Value.Type
    ) throws(BusError) -> Value {
        try checkBasic(signature)
        var value = Value()
        dbus_message_iter_get_basic(&iterator, &value)
        next()
        return value
    }

    mutating func string(_ signature: Signature) throws(BusError) -> String {
        try checkBasic(signature)
        var text: UnsafePointer<CChar>?
        dbus_message_iter_get_basic(&iterator, &text)
        defer { next() }
        return text.map { String(cString: $0) } ?? ""
    }

    /// Compares the length of the current string, or of a string in the current variant, with a limit.
    ///
    /// - Parameter maximumBytes: The limit.
    /// - Returns: True if a string is longer than the limit.
    mutating func holdsText(longerThan maximumBytes: Int) -> Bool {
        switch UInt8(truncatingIfNeeded: typeCode) {
        case UInt8(ascii: "s"), UInt8(ascii: "o"):
            var text: UnsafePointer<CChar>?
            dbus_message_iter_get_basic(&iterator, &text)
            return text.map { strnlen($0, maximumBytes + 1) > maximumBytes } ?? false
        case UInt8(ascii: "v"):
            var inner = enter()
            return inner.holdsText(longerThan: maximumBytes)
        default: return false
        }
    }

    /// True if the current value is neither a container nor a variant.
    var isBasic: Bool {
        mutating get { dbus_type_is_basic(dbus_message_iter_get_arg_type(&iterator)) != 0 }
    }

    /// Reads the current value of any type.
    mutating func anyValue() throws(BusError) -> Variant {
        let code = UInt8(truncatingIfNeeded: typeCode)
        switch code {
        case UInt8(ascii: "y"): return .byte(try UInt8(from: &self))
        case UInt8(ascii: "b"): return .bool(try Bool(from: &self))
        case UInt8(ascii: "n"): return .int16(try Int16(from: &self))
        case UInt8(ascii: "q"): return .uint16(try UInt16(from: &self))
        case UInt8(ascii: "i"): return .int32(try Int32(from: &self))
        case UInt8(ascii: "u"): return .uint32(try UInt32(from: &self))
        case UInt8(ascii: "x"): return .int64(try Int64(from: &self))
        case UInt8(ascii: "t"): return .uint64(try UInt64(from: &self))
        case UInt8(ascii: "d"): return .double(try Double(from: &self))
        case UInt8(ascii: "s"): return .string(try String(from: &self))
        case UInt8(ascii: "o"): return .objectPath(try ObjectPath(from: &self))
        case UInt8(ascii: "g"): return .signature(try Signature(from: &self))
        case UInt8(ascii: "h"): return .fileDescriptor(try FileDescriptor(from: &self))
        case UInt8(ascii: "v"): return .variant(try Variant(from: &self))
        case UInt8(ascii: "r"): return .structure(try anyContents())
        case UInt8(ascii: "a"): return try anyArray()
        default: throw .invalidValue("expected a value, found none")
        }
    }

    private mutating func anyContents() throws(BusError) -> [Variant] {
        var values: [Variant] = []
        var inner = enter()
        while !inner.isAtEnd { values.append(try inner.anyValue()) }
        next()
        return values
    }

    private mutating func anyArray() throws(BusError) -> Variant {
        let element = Signature(unchecked: String(currentSignature.text.dropFirst()))
        guard element.text.utf8.first == UInt8(ascii: "{") else {
            return .array(try anyContents(), of: element)
        }
        // The type of a key has one character.
        let types = element.text.dropFirst().dropLast()
        let key = Signature(unchecked: String(types.prefix(1)))
        let value = Signature(unchecked: String(types.dropFirst()))
        var inner = enter()
        defer { next() }
        var entries: [Variant.Entry] = []
        while !inner.isAtEnd {
            var pair = inner.enter()
            let key = try pair.anyValue()
            entries.append(Variant.Entry(key: key, value: try pair.anyValue()))
            inner.next()
        }
        return .dictionary(entries, key: key, value: value)
    }

    private mutating func checkBasic(_ signature: Signature) throws(BusError) {
        guard typeCode == Int(signature.text.utf8.first ?? 0) else {
            throw .invalidValue("expected \(signature), found \(currentSignature)")
        }
    }

    private var typeCode: Int {
        mutating get { Int(dbus_message_iter_get_arg_type(&iterator)) }
    }

    /// The complete type of the current value; empty at the end.
    private var currentSignature: Signature {
        mutating get {
            guard let text = dbus_message_iter_get_signature(&iterator) else {
                return Signature(unchecked: "")
            }
            defer { dbus_free(text) }
            return Signature(unchecked: String(cString: text))
        }
    }
}
