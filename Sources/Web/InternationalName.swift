@_spi(_Unicode) internal import Swift

/// The ASCII form of internationalized host names.
///
/// Accepts what RFC 5892 permits in a label: lowercase letters, digits, marks and hyphens that compatibility mapping
/// leaves alone. Unlike IDNA 2003, it keeps `ß` and final sigma: their mapping leads to other servers.
package enum InternationalName {
    /// The characters that separate labels (RFC 3490 §3.1).
    private static let dots: Set<Character> = [".", "\u{3002}", "\u{ff0e}", "\u{ff61}"]
    /// The letters that compatibility mapping changes, and RFC 5892 §2.6 permits nevertheless.
    private static let exceptions: Set<Unicode.Scalar> = ["\u{df}", "\u{3c2}"]

    /// Converts a host name to lowercase ASCII.
    ///
    /// - Parameter name: The name, as a user wrote it.
    /// - Returns: The name with Punycode labels; nil if a label has invalid characters. ASCII labels are
    ///   not checked.
    package static func ascii(_ name: Substring) -> String? {
        var labels: [String] = []
        for label in name.split(omittingEmptySubsequences: false, whereSeparator: dots.contains) {
            guard let label = asciiLabel(label.lowercased()) else { return nil }
            labels.append(label)
        }
        return labels.joined(separator: ".")
    }

    private static func asciiLabel(_ label: String) -> String? {
        guard !label.utf8.allSatisfy({ $0 < 0x80 }) else { return label }
        let scalars = Array(label._nfc)
        guard let first = scalars.first, !isMark(first), scalars.allSatisfy(isPermitted),
            // RFC 5891 §4.2.3.1: reserved for prefixes such as `xn--`.
            !(scalars.count > 3 && scalars[2] == "-" && scalars[3] == "-"),
            scalars.first != "-", scalars.last != "-", let encoded = Punycode.encode(scalars)
        else { return nil }
        return "xn--" + encoded
    }

    private static func isPermitted(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return scalar == "-" || "a"..."z" ~= scalar || "0"..."9" ~= scalar
        }
        guard !scalar.properties.changesWhenNFKCCaseFolded || exceptions.contains(scalar) else {
            return false
        }
        return switch scalar.properties.generalCategory {
        case .lowercaseLetter, .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark,
            .decimalNumber:
            true
        default: false
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }
}

/// The Punycode encoding of labels.
///
/// Source: RFC 3492.
enum Punycode {
    private static let base = 36
    private static let minimumThreshold = 1
    private static let maximumThreshold = 26
    private static let skew = 38
    private static let damp = 700
    private static let initialBias = 72
    private static let initialScalar: UInt32 = 0x80
    /// The longest label that is encoded, in scalars. The encoded form is no shorter.
    private static let maximumLength = 63

    /// Encodes a label, without the prefix `xn--`.
    ///
    /// - Parameter label: The scalars of the label.
    /// - Returns: The encoded label, whose ASCII characters keep their case; nil for a label that is too long.
    static func encode(_ label: [Unicode.Scalar]) -> String? {
        guard label.count <= maximumLength else { return nil }
        var output = label.filter(\.isASCII).map { UInt8($0.value) }
        let basicCount = output.count
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var next = initialScalar
        var delta = 0
        var bias = initialBias
        var handled = basicCount
        while handled < label.count {
            guard let smallest = label.lazy.map(\.value).filter({ $0 >= next }).min() else {
                return nil
            }
            // At most 63 scalars of 21 bits: no overflow.
            delta += Int(smallest - next) * (handled + 1)
            next = smallest
            for scalar in label {
                if scalar.value < next { delta += 1 }
                guard scalar.value == next else { continue }
                append(delta, bias, to: &output)
                bias = adapted(delta, count: handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends a number as an integer of variable length (RFC 3492 §3.3).
    private static func append(_ number: Int, _ bias: Int, to output: inout [UInt8]) {
        var rest = number
        var position = base
        while true {
            let threshold = min(max(position - bias, minimumThreshold), maximumThreshold)
            guard rest >= threshold else { break }
            output.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
        output.append(digit(rest))
    }

    private static func digit(_ value: Int) -> UInt8 {
        value < 26 ? UInt8(ascii: "a") + UInt8(value) : UInt8(ascii: "0") + UInt8(value - 26)
    }

    /// Returns the bias for the next delta (RFC 3492 §6.1).
    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / damp : delta / 2
        delta += delta / count
        var bias = 0
        while delta > (base - minimumThreshold) * maximumThreshold / 2 {
            delta /= base - minimumThreshold
            bias += base
        }
        return bias + (base - minimumThreshold + 1) * delta / (delta + skew)
    }
}
