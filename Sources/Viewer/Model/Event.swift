/// The observers of a change.
final class Event<Value> {
    /// The handlers with their owners, to which the references are weak.
    private var observers: [(owner: () -> AnyObject?, handler: (Value) -> Void)] = []

    /// Calls `handler` for each change as long as `owner` exists, in place of the owner's previous handler.
    func observe(_ owner: AnyObject, _ handler: @escaping (Value) -> Void) {
        observers.removeAll { $0.owner() == nil || $0.owner() === owner }
        observers.append(({ [weak owner] in owner }, handler))
    }

    func emit(_ value: Value) {
        observers.removeAll { $0.owner() == nil }
        for observer in observers where observer.owner() != nil { observer.handler(value) }
    }
}

extension Event where Value == Void {
    func emit() { emit(()) }
}
