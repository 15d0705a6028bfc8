/// Range checks for numbers from a service.
package enum ServiceNumber {
    /// Returns a width or height in pixels; nil for one that is not possible.
    package static func size(_ value: Int?) -> Int? {
        value.flatMap { 1...Int(Int32.max) ~= $0 ? $0 : nil }
    }

    /// Returns a number of photos or likes; nil for one that D-Bus cannot transport as an unsigned 32-bit integer.
    package static func count(_ value: Int?) -> Int? {
        value.flatMap { 0...Int(UInt32.max) ~= $0 ? $0 : nil }
    }
}
