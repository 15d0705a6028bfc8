internal import Web

/// The used properties of an XMP packet. The packet is searched as text, which works for attributes and elements, and for
/// all prefixes of the namespaces.
///
/// Source: ISO 16684-1; XMP specification, part 2.
struct XMP {
    private let packet: [UInt8]

    /// Reads a packet; nil if there is none.
    init?(_ source: (some ByteSource)?) {
        guard let source, let packet = source.bytes(at: 0, min(source.count, 1 << 20))?.array
        else { return nil }
        self.packet = Self.properties(packet)
    }

    /// Returns a packet without comments, and without the elements of `xmpMM`, which describe changes and other files.
    private static func properties(_ packet: [UInt8]) -> [UInt8] {
        var kept: [UInt8] = []
        // The end of the comment or element that is left out; empty outside of one.
        var end: [UInt8] = []
        var rest = packet[...]
        while !rest.isEmpty {
            let next = rest.dropFirst().firstIndex(of: UInt8(ascii: "<")) ?? rest.endIndex
            let part = rest[..<next]
            rest = rest[next...]
            if end.isEmpty {
                if part.starts(with: "<!--".utf8) {
                    end = Array("-->".utf8)
                } else if part.starts(with: "<xmpMM:".utf8) || part.starts(with: "<xapMM:".utf8) {
                    let name = part.dropFirst().prefix { !" \t\r\n/>".utf8.contains($0) }
                    let tag = part[..<(part.lastIndex(of: UInt8(ascii: ">")) ?? next)]
                    let isOneTag = tag.last == UInt8(ascii: "/")
                    end = isOneTag ? Array("/>".utf8) : Array("</".utf8) + name
                } else {
                    kept += part
                    continue
                }
            }
            if !Array(part).occurrences(of: end).isEmpty { end = [] }
        }
        return kept
    }

    /// The time of capture.
    var taken: CivilTime? {
        time([":DateTimeOriginal", ":DateCreated", ":CreateDate", ":DateTimeDigitized"])
    }

    /// The time of the location, in UTC.
    var located: CivilTime? {
        time([":GPSTimeStamp"]).map { CivilTime(seconds: $0.seconds, offset: $0.offset ?? 0) }
    }

    /// The camera, its settings and the place. Its numbers are positive.
    var details: CaptureDetails {
        var details = CaptureDetails()
        details.camera = CaptureDetails.camera(make: text(":Make"), model: text(":Model"))
        details.lens = text(":LensModel") ?? text(":Lens")
        details.exposureTime = positive(":ExposureTime", atMost: 86_400)
        details.aperture = positive(":FNumber", atMost: 1000)
        let sensitivity = text(":PhotographicSensitivity") ?? text(":ISOSpeedRatings")
        details.iso = sensitivity.flatMap { Int($0) }.flatMap { 1...65_535 ~= $0 ? $0 : nil }
        if let latitude = coordinate(":GPSLatitude", positive: "N", negative: "S"),
            let location = validLocation(
                latitude, coordinate(":GPSLongitude", positive: "E", negative: "W"),
                datum: text(":GPSMapDatum") ?? "")
        {
            (details.latitude, details.longitude) = location
        }
        return details
    }

    /// Returns the first plausible time of some properties. A date may lack the day, and the month.
    private func time(_ names: [String]) -> CivilTime? {
        for name in names {
            for value in values(name) {
                let date = value.prefix(10).prefix { "-0123456789".utf8.contains($0) }
                let whole = date + "-01-01".utf8.dropFirst(max(0, date.count - 4))
                if let time = CivilTime(value.prefix(40)) ?? CivilTime(whole), time.isPlausible {
                    return time
                }
            }
        }
        return nil
    }

    /// Returns a text on one line.
    private func text(_ name: String) -> String? {
        guard let value = values(name).first(where: { !$0.isEmpty }), value.count < 256
        else { return nil }
        return ServiceText.line(String(validating: value, as: UTF8.self))
    }

    /// Reads a positive number, which may be a fraction, `1/250`; nil if it is larger than `limit`.
    private func positive(_ name: String, atMost limit: Double) -> Double? {
        let parts = text(name)?.split(separator: "/").map { Double($0) ?? .nan } ?? []
        guard 1...2 ~= parts.count, case let number = parts[0] / (parts.count == 2 ? parts[1] : 1)
        else { return nil }
        return number > 0 && number <= limit ? number : nil
    }

    /// Reads degrees, minutes and seconds, `52,30,36N`. The last number may have a fraction.
    private func coordinate(
        _ name: String, positive: Character, negative: Character
    ) -> Double? {
        guard let text = text(name), let hemisphere = text.last else { return nil }
        let parts = text.dropLast().split(separator: ",").map { Double($0) ?? .nan }
        guard 1...3 ~= parts.count, 0...180 ~= parts[0],
            parts.dropFirst().allSatisfy({ 0...60 ~= $0 })
        else { return nil }
        let degrees = parts.reversed().reduce(0) { $0 / 60 + $1 }
        if hemisphere == positive { return degrees }
        return hemisphere == negative ? -degrees : nil
    }

    /// Returns the values of a property.
    private func values(_ name: String) -> some Sequence<ArraySlice<UInt8>> {
        packet.occurrences(of: Array(name.utf8)).lazy.map {
            let value = Self.value(packet[$0.upperBound...], of: name)
            guard value.contains(UInt8(ascii: "&")),
                let text = String(validating: value, as: UTF8.self)
            else { return value }
            return Array(HTMLText.plain(text).utf8)[...]
        }
    }

    /// Reads the value of a property: of an attribute, or of an element, in which it may be in elements of RDF, or in their
    /// attributes.
    ///
    /// - Parameters:
    ///   - text: The text after the name of the property.
    ///   - name: The name.
    /// - Returns: The value, as far as it is in the first 400 bytes.
    private static func value(
        _ text: ArraySlice<UInt8>, of name: String
    ) -> ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { " \r\n\t".utf8.contains(byte) }
        var rest = text.prefix(400)
        guard let next = rest.first, isBlank(next) || "=>".utf8.contains(next) else { return [] }
        rest = rest.drop(while: isBlank)
        if rest.first == UInt8(ascii: "=") {
            rest = rest.dropFirst().drop(while: isBlank)
            guard let quote = rest.popFirst(), "\"'".utf8.contains(quote) else { return [] }
            return rest.prefix { $0 != quote }.drop(while: isBlank)
        }
        guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return [] }
        // The element ends with its only tag, or before the next tag of its name.
        let isOneTag = rest[..<end].last == UInt8(ascii: "/")
        let element = Array(isOneTag ? rest[..<end] : rest)
        let length = element.occurrences(of: Array(name.utf8)).first?.lowerBound ?? element.count
        let valueName = "rdf:value"
        if let inner = element.occurrences(of: Array(valueName.utf8)).first,
            inner.lowerBound < length
        {
            return value(element[inner.upperBound...], of: valueName)
        }
        repeat {
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")),
                rest[..<end].last != UInt8(ascii: "/")
            else { return [] }
            rest = rest[(end + 1)...].drop(while: isBlank)
        } while rest.starts(with: "<rdf:".utf8)
        return rest.prefix { $0 != UInt8(ascii: "<") }
    }
}
