internal import ImageMetadata
internal import Web

// The encoding of messages: a version, a kind, then the fields in order. Numbers have eight bytes, texts are preceded
// by their length. Both programs come from one build and run on one machine, so no other compatibility is needed.

private let version: UInt8 = 1
/// The longest possible message.
package let maximumMessageBytes = 16 << 10

struct MessageWriter {
    private(set) var bytes: [UInt8] = []

    init(kind: UInt8) { bytes = [version, kind] }

    mutating func append(_ number: Int) {
        withUnsafeBytes(of: Int64(number).littleEndian) { bytes += $0 }
    }

    mutating func append(_ text: String) {
        append(text.utf8.count)
        bytes += text.utf8
    }

    /// Appends a number that may be missing.
    mutating func append(_ number: Int?) {
        append(number == nil ? 0 : 1)
        append(number ?? 0)
    }

    /// Appends a floating-point number that may be missing.
    mutating func append(_ number: Double?) {
        append(number.map { Int(bitPattern: UInt(truncatingIfNeeded: $0.bitPattern)) })
    }

    /// Appends a text that may be missing.
    mutating func append(_ text: String?) {
        append(text == nil ? 0 : 1)
        append(text ?? "")
    }
}

/// A reader of messages. It checks every field, because the sender may be compromised.
struct MessageReader {
    private var rest: ArraySlice<UInt8>
    let kind: UInt8

    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 2, bytes[0] == version else { return nil }
        kind = bytes[1]
        rest = bytes.dropFirst(2)
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number() -> Int? {
        guard rest.count >= 8 else { return nil }
        let value = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        rest = rest.dropFirst(8)
        return Int(Int64(bitPattern: value))
    }

    mutating func number(in range: ClosedRange<Int>) -> Int? {
        guard let number = number(), range.contains(number) else { return nil }
        return number
    }

    mutating func text() -> String? {
        guard let count = number(in: 0...maximumMessageBytes), rest.count >= count else {
            return nil
        }
        defer { rest = rest.dropFirst(count) }
        return String(validating: rest.prefix(count), as: UTF8.self)
    }

    /// Reads a number that may be missing. The outer nil means: malformed.
    mutating func optionalNumber() -> Int?? {
        guard let isPresent = number(in: 0...1), let number = number() else { return nil }
        return .some(isPresent == 1 ? number : nil)
    }

    /// Reads a floating-point number that may be missing. The outer nil means: malformed, not a number or not in the
    /// range.
    mutating func optionalNumber(in range: ClosedRange<Double>) -> Double?? {
        guard let bits = optionalNumber() else { return nil }
        let number = bits.map { Double(bitPattern: UInt64(bitPattern: Int64($0))) }
        return number.map(range.contains) ?? true ? .some(number) : nil
    }

    /// Reads a text that may be missing. The outer nil means: malformed or too long.
    mutating func optionalText(atMost limit: Int) -> String?? {
        guard let isPresent = number(in: 0...1), let text = text(), text.utf8.count <= limit else {
            return nil
        }
        return .some(isPresent == 1 ? text : nil)
    }
}

extension ImageJob {
    /// The encoded job; nil if it is too long.
    package var message: [UInt8]? {
        var writer: MessageWriter
        switch self {
        case .probe: writer = MessageWriter(kind: 1)
        case .scale(let pixels, let texts):
            writer = MessageWriter(kind: 2)
            writer.append(pixels)
            writer.append(texts.count)
            for (key, text) in texts.sorted(by: { $0.key < $1.key }) {
                writer.append(key)
                writer.append(text)
            }
        case .square(let pixels):
            writer = MessageWriter(kind: 4)
            writer.append(pixels)
        case .initials(let name, let pixels):
            writer = MessageWriter(kind: 5)
            writer.append(name)
            writer.append(pixels)
        case .pixels(let width, let height):
            writer = MessageWriter(kind: 3)
            writer.append(width)
            writer.append(height)
        }
        return writer.bytes.count <= maximumMessageBytes ? writer.bytes : nil
    }

    package init?(message: [UInt8]) {
        guard var reader = MessageReader(message) else { return nil }
        let sizes = 1...4096
        let sides = 1...65_535
        switch reader.kind {
        case 1: self = .probe
        case 2:
            guard let pixels = reader.number(in: sizes), let count = reader.number(in: 0...100)
            else { return nil }
            var texts: [String: String] = [:]
            for _ in 0..<count {
                guard let key = reader.text(), let text = reader.text() else { return nil }
                texts[key] = text
            }
            self = .scale(pixels: pixels, texts: texts)
        case 3:
            guard let width = reader.number(in: sides), let height = reader.number(in: sides)
            else { return nil }
            self = .pixels(width: width, height: height)
        case 4:
            guard let pixels = reader.number(in: sizes) else { return nil }
            self = .square(pixels: pixels)
        case 5:
            guard let name = reader.text(), let pixels = reader.number(in: sizes) else {
                return nil
            }
            self = .initials(name: name, pixels: pixels)
        default: return nil
        }
        guard reader.isAtEnd else { return nil }
    }
}

extension ImageReply {
    package var message: [UInt8] {
        var writer: MessageWriter
        switch self {
        case .ready(let restrictions):
            writer = MessageWriter(kind: 101)
            writer.append(Int(restrictions.rawValue))
        case .done: writer = MessageWriter(kind: 102)
        case .facts(let facts):
            writer = MessageWriter(kind: 103)
            writer.append(facts.width)
            writer.append(facts.height)
            writer.append(facts.clockSeconds.map { Int($0) })
            writer.append(facts.clockOffset.map { Int($0) })
            writer.append(facts.camera)
            writer.append(facts.latitude)
            writer.append(facts.longitude)
            writer.append(facts.lens)
            writer.append(facts.exposureTime)
            writer.append(facts.aperture)
            writer.append(facts.iso)
            writer.append(facts.isAnimated ? 1 : 0)
        case .pixels(let size):
            writer = MessageWriter(kind: 109)
            for number in [size.width, size.height, size.fullWidth, size.fullHeight] {
                writer.append(number)
            }
        case .failure(.damaged): writer = MessageWriter(kind: 104)
        case .failure(.tooLarge): writer = MessageWriter(kind: 105)
        case .failure(.notSupported(let text)):
            writer = MessageWriter(kind: 106)
            writer.append(text)
        case .failure(.cannotWrite(let code)):
            writer = MessageWriter(kind: 107)
            writer.append(Int(code))
        case .failure(.misunderstood): writer = MessageWriter(kind: 108)
        }
        return writer.bytes
    }

    package init?(message: [UInt8]) {
        guard var reader = MessageReader(message) else { return nil }
        switch reader.kind {
        case 101:
            guard let restrictions = reader.number(in: 0...255) else { return nil }
            self = .ready(HelperRestrictions(rawValue: UInt8(restrictions)))
        case 102: self = .done
        case 103:
            let sizes = 1...Int(Int32.max)
            // Some thousand years before and after 1970.
            let times = -100_000_000_000...400_000_000_000
            guard let width = reader.number(in: sizes), let height = reader.number(in: sizes),
                let taken = reader.optionalNumber(), let offset = reader.optionalNumber(),
                let camera = reader.optionalText(atMost: Self.maximumNameBytes),
                let latitude = reader.optionalNumber(in: -90...90),
                let longitude = reader.optionalNumber(in: -180...180),
                let lens = reader.optionalText(atMost: Self.maximumNameBytes),
                let exposureTime = reader.optionalNumber(in: 0...86_400),
                let aperture = reader.optionalNumber(in: 0...1000),
                let iso = reader.optionalNumber(), let isAnimated = reader.number(in: 0...1),
                iso.map((0...Int(UInt32.max)).contains) ?? true, taken.map(times.contains) ?? true,
                offset.map((-86400...86400).contains) ?? true
            else { return nil }
            var facts = ImageFacts(width: width, height: height)
            (facts.clockSeconds, facts.clockOffset) = (
                taken.map(Int64.init), offset.map(Int64.init)
            )
            // The sender may be compromised, so the text is cleaned again.
            (facts.camera, facts.lens) = (ServiceText.line(camera), ServiceText.line(lens))
            if latitude != nil, longitude != nil {
                (facts.latitude, facts.longitude) = (latitude, longitude)
            }
            (facts.exposureTime, facts.aperture) = (exposureTime, aperture)
            (facts.iso, facts.isAnimated) = (iso, isAnimated == 1)
            self = .facts(facts)
        case 104: self = .failure(.damaged)
        case 105: self = .failure(.tooLarge)
        case 106:
            guard let text = reader.text() else { return nil }
            self = .failure(.notSupported(text))
        case 107:
            guard let code = reader.number(in: 0...4096) else { return nil }
            self = .failure(.cannotWrite(Int32(code)))
        case 108: self = .failure(.misunderstood)
        case 109:
            let sides = 1...65_535
            guard let width = reader.number(in: sides), let height = reader.number(in: sides),
                let fullWidth = reader.number(in: sides), let fullHeight = reader.number(in: sides)
            else { return nil }
            self = .pixels(
                PixelSize(
                    width: width, height: height, fullWidth: fullWidth, fullHeight: fullHeight))
        default: return nil
        }
        guard reader.isAtEnd else { return nil }
    }
}
