internal import ImageMetadata
internal import Web

// The encoding of messages: a version, a kind, then the fields in order, as text. A field ends with a byte that UTF-8
// does not contain; a missing value is an empty field. Both programs come from one build and run on one machine, so no
// other compatibility is needed.

private let version: UInt8 = 2
private let fieldEnd: UInt8 = 0xff
/// The longest possible message.
package let maximumMessageBytes = 16 << 10

private func encoded(
    _ kind: UInt8, _ fields: (any CustomStringConvertible)?..., texts: [String] = []
) -> [UInt8] {
    let fields = fields.map { $0?.description ?? "" } + texts
    return fields.reduce(into: [version, kind]) { bytes, field in
        bytes += field.utf8
        bytes.append(fieldEnd)
    }
}

/// A reader of messages. It checks every field, because the sender may be compromised. The error of a malformed message,
/// or of a value that is out of range, is ``ImageFailure/misunderstood``.
struct MessageReader {
    /// The fields that were not read.
    private var fields: [ArraySlice<UInt8>]
    let kind: UInt8

    init(_ bytes: [UInt8]) throws(ImageFailure) {
        guard bytes.count >= 2, bytes[0] == version else { throw .misunderstood }
        kind = bytes[1]
        fields = bytes.dropFirst(2).split(separator: fieldEnd, omittingEmptySubsequences: false)
        // Nothing follows the end of the last field.
        guard fields.removeLast().isEmpty else { throw .misunderstood }
        fields.reverse()
    }

    /// Throws unless all fields were read.
    func checkEnd() throws(ImageFailure) {
        guard fields.isEmpty else { throw .misunderstood }
    }

    /// Reads a text. A missing one is empty.
    mutating func text(atMost limit: Int = maximumMessageBytes) throws(ImageFailure) -> String {
        guard let bytes = fields.popLast(), bytes.count <= limit,
            let text = String(validating: bytes, as: UTF8.self)
        else { throw .misunderstood }
        return text
    }

    mutating func flag() throws(ImageFailure) -> Bool {
        guard let flag = Bool(try text()) else { throw .misunderstood }
        return flag
    }

    /// Reads a number that may be missing.
    mutating func optionalNumber<Number: Comparable & LosslessStringConvertible>(
        in range: ClosedRange<Number>
    ) throws(ImageFailure) -> Number? {
        let text = try text()
        if text.isEmpty { return nil }
        guard let number = Number(text), range.contains(number) else { throw .misunderstood }
        return number
    }

    mutating func number(in range: ClosedRange<Int>) throws(ImageFailure) -> Int {
        guard let number = try optionalNumber(in: range) else { throw .misunderstood }
        return number
    }
}

extension ImageJob {
    /// The encoded job; nil if it is too long.
    package var message: [UInt8]? {
        let bytes =
            switch self {
            case .probe: encoded(1)
            case .make(.scaled(let pixels, let texts)):
                encoded(
                    2, pixels, texts.count,
                    texts: texts.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] })
            case .make(.square(let pixels)): encoded(4, pixels)
            case .pixels(let width, let height): encoded(3, width, height)
            }
        return bytes.count <= maximumMessageBytes ? bytes : nil
    }

    /// Decodes a message.
    ///
    /// - Throws: ``ImageFailure/misunderstood``.
    package init(message: [UInt8]) throws(ImageFailure) {
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
            self = .make(.scaled(pixels: pixels, texts: texts))
        case 3:
            self = .pixels(
                width: try reader.number(in: sides), height: try reader.number(in: sides))
        case 4: self = .make(.square(pixels: try reader.number(in: sizes)))
        default: throw .misunderstood
        }
        try reader.checkEnd()
    }
}

extension ImageReply {
    package var message: [UInt8] {
        switch self {
        case .ready(let confinesFiles): encoded(101, confinesFiles)
        case .done: encoded(102)
        case .facts(let facts):
            encoded(
                103, facts.width, facts.height, facts.clockSeconds, facts.clockOffset,
                facts.details.camera, facts.details.latitude, facts.details.longitude,
                facts.details.lens, facts.details.exposureTime, facts.details.aperture,
                facts.details.iso, facts.isAnimated)
        case .pixels(let size):
            encoded(109, size.width, size.height, size.fullWidth, size.fullHeight)
        case .failure(.damaged): encoded(104)
        case .failure(.tooLarge): encoded(105)
        case .failure(.notSupported(let text)): encoded(106, text)
        case .failure(.cannotWrite(let code)): encoded(107, code)
        case .failure(.misunderstood): encoded(108)
        }
    }

    /// Decodes a message.
    ///
    /// - Throws: ``ImageFailure/misunderstood``.
    package init(message: [UInt8]) throws(ImageFailure) {
        var reader = try MessageReader(message)
        switch reader.kind {
        case 101: self = .ready(confinesFiles: try reader.flag())
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
        default: throw .misunderstood
        }
        try reader.checkEnd()
    }

    private static func facts(_ reader: inout MessageReader) throws(ImageFailure) -> ImageFacts {
        let sizes = 1...Int(Int32.max)
        var facts = ImageFacts(
            width: try reader.number(in: sizes), height: try reader.number(in: sizes))
        // Some thousand years before and after 1970.
        let times: ClosedRange<Int64> = -100_000_000_000...400_000_000_000
        facts.clockSeconds = try reader.optionalNumber(in: times)
        facts.clockOffset = try reader.optionalNumber(in: -86400...86400)
        // The sender may be compromised, so the text is cleaned again.
        facts.camera = ServiceText.line(try reader.text(atMost: maximumNameBytes))
        let latitude = try reader.optionalNumber(in: -90.0...90)
        let longitude = try reader.optionalNumber(in: -180.0...180)
        if latitude != nil, longitude != nil {
            (facts.latitude, facts.longitude) = (latitude, longitude)
        }
        facts.lens = ServiceText.line(try reader.text(atMost: maximumNameBytes))
        facts.exposureTime = try reader.optionalNumber(in: 0.0...86_400)
        facts.aperture = try reader.optionalNumber(in: 0.0...1000)
        facts.iso = try reader.optionalNumber(in: 0...Int(UInt32.max))
        facts.isAnimated = try reader.flag()
        return facts
    }
}
