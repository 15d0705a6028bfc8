internal import CAdwaita
internal import System

/// A reference to a GObject.
///
/// The handlers of its signals live as long as the GObject. A handler that refers to the owner of the widget captures it
/// weakly.
@MainActor
package class Object {
    let raw: UnsafeMutableRawPointer

    /// Takes a floating reference, or adds one to an object that has owners.
    init(sinking pointer: UnsafeMutableRawPointer) { raw = g_object_ref_sink(pointer) }

    /// Takes ownership of a reference.
    init(owning pointer: UnsafeMutableRawPointer?) {
        guard let pointer else { fatalError("GTK created no object") }
        raw = pointer
    }
    convenience init(owning pointer: OpaquePointer?) {
        self.init(owning: pointer.map { UnsafeMutableRawPointer($0) })
    }

    isolated deinit { g_object_unref(raw) }

    /// The pointer as a C type whose structure is known.
    func cast<Instance>(to type: Instance.Type = Instance.self) -> UnsafeMutablePointer<Instance> {
        raw.assumingMemoryBound(to: type)
    }

    /// The pointer as a C type whose structure is private.
    var opaque: OpaquePointer { OpaquePointer(raw) }

    /// Calls `handler` for each emission of a signal.
    func connect(_ signal: String, _ handler: @escaping (SignalCall) -> Void) {
        _ = shim_connect(
            raw, signal, HandlerContext.retained(handler),
            { closure, result, count, values, _, _ in
                let call = SignalCall(result: result, count: Int(count), values: values)
                HandlerContext<SignalCall>.call(shim_closure_context(closure), call)
            },
            { context, _ in HandlerContext<SignalCall>.release(context) })
    }

    /// Adds an action to a group.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - type: The type of the parameter; nil for none.
    ///   - handler: Receives the parameter.
    func addAction(_ name: String, type: String?, _ handler: @escaping (OpaquePointer?) -> Void) {
        let type = type.flatMap { g_variant_type_new($0) }
        let action = Object(owning: g_simple_action_new(name, type))
        g_variant_type_free(type)
        action.connect("activate") { call in handler(call.variant(1)) }
        g_action_map_add_action(opaque, action.opaque)
    }

    /// Calls `handler` when a property changes.
    func onChange(of property: String, _ handler: @escaping () -> Void) {
        connect("notify::\(property)") { _ in handler() }
    }
}

/// A handler as the context of a C callback. Used on the main thread only.
final class HandlerContext<Argument> {
    private let handler: (Argument) -> Void

    private init(_ handler: @escaping (Argument) -> Void) { self.handler = handler }

    static func retained(_ handler: @escaping (Argument) -> Void) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(HandlerContext(handler)).toOpaque()
    }
    nonisolated static func call(_ context: UnsafeMutableRawPointer?, _ argument: Argument) {
        CallbackContext.enter(context, argument) { (context: HandlerContext, argument) in
            context.handler(argument)
        }
    }
    nonisolated static func release(_ context: UnsafeMutableRawPointer?) {
        if let context { Unmanaged<HandlerContext>.fromOpaque(context).release() }
    }
}

/// One emission of a signal, valid until the handler returns.
///
/// The argument 0 is the object of the signal.
@MainActor
struct SignalCall {
    let result: UnsafeMutablePointer<GValue>?
    let count: Int
    let values: UnsafePointer<GValue>?

    private func value<Value>(
        _ index: Int, _ read: (UnsafePointer<GValue>?) -> Value
    ) -> Value? { index < count ? values.map { read($0 + index) } : nil }

    func int(_ index: Int) -> Int { Int(value(index, g_value_get_int) ?? 0) }
    func unsigned(_ index: Int) -> UInt32 { value(index, g_value_get_uint) ?? 0 }
    func double(_ index: Int) -> Double { value(index, g_value_get_double) ?? 0 }
    func flags(_ index: Int) -> UInt32 { value(index, g_value_get_flags) ?? 0 }
    func string(_ index: Int) -> String { text(value(index, g_value_get_string) ?? nil) }
    func object(_ index: Int) -> UnsafeMutableRawPointer? {
        value(index, g_value_get_object) ?? nil
    }
    func pointer(_ index: Int) -> UnsafeMutableRawPointer? {
        value(index, g_value_get_pointer) ?? nil
    }
    func variant(_ index: Int) -> OpaquePointer? { value(index, g_value_get_variant) ?? nil }
    /// The object of the signal.
    var sender: OpaquePointer? { object(0).map { OpaquePointer($0) } }

    /// Sets the result of a signal that returns a boolean.
    func reply(_ flag: Bool) { result.map { g_value_set_boolean($0, flag ? 1 : 0) } }
    /// Sets the result of a signal that returns a number.
    func reply(_ number: Int32) { result.map { g_value_set_int($0, number) } }
}

/// Returns the text of a C string of the caller and frees the string; empty for NULL.
nonisolated func text(taking string: UnsafeMutablePointer<CChar>?) -> String {
    defer { g_free(string) }
    return text(string)
}

/// Returns the message of an error and frees the error; empty for NULL.
nonisolated func message(taking error: UnsafeMutablePointer<GError>?) -> String {
    defer { if let error { g_error_free(error) } }
    return text(error?.pointee.message)
}

/// Returns plain text as markup.
nonisolated func markup(_ plain: String) -> String { text(taking: g_markup_escape_text(plain, -1)) }

/// Returns the text of a C string that GTK owns; empty for NULL.
nonisolated func text(_ string: UnsafePointer<CChar>?) -> String {
    string.map { String(cString: $0) } ?? ""
}
