internal import ImageMetadata
internal import Web

// The encoding of messages: a version, a kind, then the fields in order. Numbers have eight bytes, texts are preceded
// by their length. Both programs come from one build and run on one machine, so no other compatibility is needed.

private let version: UInt8 = 1
/// The longest possible message.
package let maximumMessageBytes = 16 << 10

private func encoded(_ kind: UInt8, _ fields: [UInt8]...) -> [UInt8] {
    [version, kind] + fields.joined()
}

private func field(_ number: Int) -> [UInt8] {
    withUnsafeBytes(of: Int64(number).littleEndian) { Array($0) }
}

private func field(_ text: String) -> [UInt8] { field(text.utf8.count) + text.utf8 }

private func optionalField(_ number: Int?) -> [UInt8] {
    let isPresent = number == nil ? 0 : 1
    return field(isPresent) + field(number ?? 0)
}

private func optionalField(_ number: Double?) -> [UInt8] {
    optionalField(number.map { Int(bitPattern: UInt(truncatingIfNeeded: $0.bitPattern)) })
}

private func optionalField(_ text: String?) -> [UInt8] {
    let isPresent = text == nil ? 0 : 1
    return field(isPresent) + field(text ?? "")
}

/// The error of a message that is malformed, or contains a value that is out of range.
struct MalformedMessage: Error {}

/// A reader of messages. It checks every field, because the sender may be compromised.
struct MessageReader {
    private var rest: ArraySlice<UInt8>
    let kind: UInt8

    init(_ bytes: [UInt8]) throws(MalformedMessage) {
        guard bytes.count >= 2, bytes[0] == version else { throw MalformedMessage() }
        kind = bytes[1]
        rest = bytes.dropFirst(2)
    }

    /// Throws unless all fields were read.
    func checkEnd() throws(MalformedMessage) {
        guard rest.isEmpty else { throw MalformedMessage() }
    }

    private mutating func take(_ count: Int) throws(MalformedMessage) -> ArraySlice<UInt8> {
        guard rest.count >= count else { throw MalformedMessage() }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    private mutating func number() throws(MalformedMessage) -> Int {
        let value = try take(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(Int64(bitPattern: value))
    }

    mutating func number(in range: ClosedRange<Int>) throws(MalformedMessage) -> Int {
        let number = try number()
        guard range.contains(number) else { throw MalformedMessage() }
        return number
    }

    mutating func text() throws(MalformedMessage) -> String {
        let bytes = try take(number(in: 0...maximumMessageBytes))
        guard let text = String(validating: bytes, as: UTF8.self) else { throw MalformedMessage() }
        return text
    }

    private mutating func optionalNumber() throws(MalformedMessage) -> Int? {
        let isPresent = try number(in: 0...1) == 1
        let number = try number()
        return isPresent ? number : nil
    }

    /// Reads a number that may be missing.
    mutating func optionalNumber(in range: ClosedRange<Int>) throws(MalformedMessage) -> Int? {
        let number = try optionalNumber()
        guard number.map(range.contains) ?? true else { throw MalformedMessage() }
        return number
    }

    /// Reads a floating-point number that may be missing.
    mutating func optionalNumber(
        in range: ClosedRange<Double>
    ) throws(MalformedMessage) -> Double? {
        let number = try optionalNumber().map { Double(bitPattern: UInt64(bitPattern: Int64($0))) }
        guard number.map(range.contains) ?? true else { throw MalformedMessage() }
        return number
    }

    /// Reads a text that may be missing.
    mutating func optionalText(atMost limit: Int) throws(MalformedMessage) -> String? {
        let isPresent = try number(in: 0...1) == 1
        let text = try text()
        guard text.utf8.count <= limit else { throw MalformedMessage() }
        return isPresent ? text : nil
    }
}

extension ImageJob {
    /// The encoded job; nil if it is too long.
    package var message: [UInt8]? {
        let bytes =
            switch self {
            case .probe: encoded(1)
            case .scale(let pixels, let texts):
                encoded(
                    2, field(pixels), field(texts.count),
                    texts.sorted { $0.key < $1.key }.flatMap { field($0.key) + field($0.value) })
            case .square(let pixels): encoded(4, field(pixels))
            case .initials(let name, let pixels): encoded(5, field(name), field(pixels))
            case .pixels(let width, let height): encoded(3, field(width), field(height))
            }
        return bytes.count <= maximumMessageBytes ? bytes : nil
    }

    package init?(message: [UInt8]) {
        do { try self.init(reading: message) } catch { return nil }
    }

    private init(reading message: [UInt8]) throws(MalformedMessage) {
        var reader = try MessageReader(message)
        let sizes = 1...4096
        let sides = 1...65_535
        switch reader.kind {
        case 1: self = .probe
        case 2:
            let pixels = try reader.number(in: sizes)
            var texts: [String: String] = [:]
            for _ in 0..<(try reader.number(in: 0...100)) {
                let key = try reader.text()
                texts[key] = try reader.text()
            }
            self = .scale(pixels: pixels, texts: texts)
        case 3:
            self = .pixels(
                width: try reader.number(in: sides), height: try reader.number(in: sides))
        case 4: self = .square(pixels: try reader.number(in: sizes))
        case 5: self = .initials(name: try reader.text(), pixels: try reader.number(in: sizes))
        default: throw MalformedMessage()
        }
        try reader.checkEnd()
    }
}

extension ImageReply {
    package var message: [UInt8] {
        switch self {
        case .ready(let confinesFiles): encoded(101, field(confinesFiles ? 1 : 0))
        case .done: encoded(102)
        case .facts(let facts):
            encoded(
                103, field(facts.width), field(facts.height),
                optionalField(facts.clockSeconds.map { Int($0) }),
                optionalField(facts.clockOffset.map { Int($0) }),
                optionalField(facts.camera), optionalField(facts.latitude),
                optionalField(facts.longitude), optionalField(facts.lens),
                optionalField(facts.exposureTime), optionalField(facts.aperture),
                optionalField(facts.iso), field(facts.isAnimated ? 1 : 0))
        case .pixels(let size):
            encoded(
                109, field(size.width), field(size.height), field(size.fullWidth),
                field(size.fullHeight))
        case .failure(.damaged): encoded(104)
        case .failure(.tooLarge): encoded(105)
        case .failure(.notSupported(let text)): encoded(106, field(text))
        case .failure(.cannotWrite(let code)): encoded(107, field(Int(code)))
        case .failure(.misunderstood): encoded(108)
        }
    }

    package init?(message: [UInt8]) {
        do { try self.init(reading: message) } catch { return nil }
    }

    private init(reading message: [UInt8]) throws(MalformedMessage) {
        var reader = try MessageReader(message)
        switch reader.kind {
        case 101:
            self = .ready(confinesFiles: try reader.number(in: 0...1) == 1)
        case 102: self = .done
        case 103: self = .facts(try Self.facts(&reader))
        case 104: self = .failure(.damaged)
        case 105: self = .failure(.tooLarge)
        case 106: self = .failure(.notSupported(try reader.text()))
        case 107: self = .failure(.cannotWrite(Int32(try reader.number(in: 0...4096))))
        case 108: self = .failure(.misunderstood)
        case 109:
            let sides = 1...65_535
            self = .pixels(
                PixelSize(
                    width: try reader.number(in: sides), height: try reader.number(in: sides),
                    fullWidth: try reader.number(in: sides),
                    fullHeight: try reader.number(in: sides)))
        default: throw MalformedMessage()
        }
        try reader.checkEnd()
    }

    private static func facts(_ reader: inout MessageReader) throws(MalformedMessage) -> ImageFacts
    {
        let sizes = 1...Int(Int32.max)
        var facts = ImageFacts(
            width: try reader.number(in: sizes), height: try reader.number(in: sizes))
        // Some thousand years before and after 1970.
        let times = -100_000_000_000...400_000_000_000
        facts.clockSeconds = try reader.optionalNumber(in: times).map(Int64.init)
        facts.clockOffset = try reader.optionalNumber(in: -86400...86400).map(Int64.init)
        // The sender may be compromised, so the text is cleaned again.
        facts.camera = ServiceText.line(try reader.optionalText(atMost: maximumNameBytes))
        let latitude = try reader.optionalNumber(in: -90.0...90)
        let longitude = try reader.optionalNumber(in: -180.0...180)
        if latitude != nil, longitude != nil {
            (facts.latitude, facts.longitude) = (latitude, longitude)
        }
        facts.lens = ServiceText.line(try reader.optionalText(atMost: maximumNameBytes))
        facts.exposureTime = try reader.optionalNumber(in: 0.0...86_400)
        facts.aperture = try reader.optionalNumber(in: 0.0...1000)
        facts.iso = try reader.optionalNumber(in: 0...Int(UInt32.max))
        facts.isAnimated = try reader.number(in: 0...1) == 1
        return facts
    }
}
