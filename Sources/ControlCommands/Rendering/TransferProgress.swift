internal import DBus

/// How far a transfer has come.
struct TransferProgress {
    private(set) var received: UInt64 = 0
    /// In bytes; 0: unknown.
    private(set) var total: UInt64 = 0

    /// Takes over what the properties of a transfer tell.
    mutating func apply(_ changes: [String: Variant]) {
        if case .uint64(let bytes)? = changes["Received"] { received = bytes }
        if case .uint64(let bytes)? = changes["Total"] { total = bytes }
    }

    /// A bar that fits into `columns`, and numbers; numbers alone where the end is not known.
    func line(_ columns: Int) -> String {
        guard total > 0 else { return Self.size(received) }
        // A service may send more than it has announced.
        let share = min(1, Double(received) / Double(total))
        let percent = String(Int(share * 100))
        let numbers =
            String(repeating: " ", count: 3 - percent.count)
            + "\(percent)%  \(Self.size(received)) of \(Self.size(total))"
        // The last column stays free: some terminals begin a new line there.
        let room = min(40, columns - numbers.count - 5)
        guard room >= 5 else { return String(numbers.prefix(max(0, columns - 1))) }
        let full = Int(share * Double(room))
        let bar = String(repeating: "#", count: full) + String(repeating: ".", count: room - full)
        return "[\(bar)] \(numbers)"
    }

    /// Bytes for a person: `999 B`, `1.5 MB`; powers of 1000.
    static func size(_ bytes: UInt64) -> String {
        guard bytes >= 1000 else { return "\(bytes) B" }
        var tenths = bytes / 100
        var unit = 0
        let units = ["kB", "MB", "GB", "TB", "PB", "EB"]
        while tenths >= 10000 {
            tenths /= 1000
            unit += 1
        }
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}
