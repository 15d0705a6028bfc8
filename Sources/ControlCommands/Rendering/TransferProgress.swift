internal import Contract
internal import Translation

extension TransferProgress {
    /// Returns a progress bar with numbers that fits into `columns`; only the number of bytes if the size is unknown.
    func line(_ columns: Int) -> String {
        guard total > 0 else { return Self.size(received) }
        // A service may send more bytes than it announced.
        let share = min(1, Double(received) / Double(total))
        let percent = String(Int(share * 100))
        let numbers =
            String(repeating: " ", count: 3 - percent.count)
            + "\(percent)%  "
            + tr(
                "{received} of {total}",
                ["received": Self.size(received), "total": Self.size(total)])
        // The last column stays empty, because some terminals start a new line after it.
        let room = min(40, columns - numbers.displayWidth - 5)
        guard room >= 5 else { return String(numbers.prefix(max(0, columns - 1))) }
        let full = Int(share * Double(room))
        let bar = String(repeating: "#", count: full) + String(repeating: ".", count: room - full)
        return "[\(bar)] \(numbers)"
    }

    /// Returns a size with a decimal unit, such as `999 B` or `1.5 MB`.
    static func size(_ bytes: UInt64) -> String {
        guard bytes >= 1000 else { return "\(bytes) B" }
        var tenths = bytes / 100
        var unit = 0
        let units = ["kB", "MB", "GB", "TB", "PB", "EB"]
        while tenths >= 10000 {
            tenths /= 1000
            unit += 1
        }
        let number = OutputTarget.standardError.number("\(tenths / 10).\(tenths % 10)")
        return "\(number) \(units[unit])"
    }
}
