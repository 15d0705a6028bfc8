/// Reads the time of capture in an XMP packet; nil if there is none. The packet is searched as text, which works for
/// attributes and elements, and for all prefixes of the namespaces. A date may lack the day, and the month.
///
/// Source: ISO 16684-1; XMP specification, part 2.
func readXMPTime(_ packet: (some ByteSource)?) -> CivilTime? {
    guard let packet, let bytes = packet.bytes(at: 0, min(packet.count, 1 << 20))?.array else {
        return nil
    }
    // The types of references to other files, and of changes.
    let others = [Array("stRef".utf8), Array("stEvt".utf8)]
    for name in [":DateTimeOriginal", ":DateCreated", ":CreateDate", ":DateTimeDigitized"] {
        for found in bytes.occurrences(of: Array(name.utf8))
        where !others.contains(Array(bytes[..<found.lowerBound].suffix(5))) {
            let value = xmpValue(bytes[found.upperBound...])
            let date = value.prefix(10).prefix { "-0123456789".utf8.contains($0) }
            let whole = date + "-01-01".utf8.dropFirst(max(0, date.count - 4))
            if let time = CivilTime(value.prefix(40)) ?? CivilTime(whole), time.isPlausible {
                return time
            }
        }
    }
    return nil
}

/// Reads the value of a property: of an attribute, or of an element, in which it may be in elements of RDF.
///
/// - Parameter text: The text after the name of the property.
/// - Returns: The value, as far as it is in the first 400 bytes.
private func xmpValue(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isBlank(_ byte: UInt8) -> Bool { " \r\n\t".utf8.contains(byte) }
    var rest = text.prefix(400)
    guard let next = rest.first, isBlank(next) || "=>".utf8.contains(next) else { return [] }
    rest = rest.drop(while: isBlank)
    if rest.first == UInt8(ascii: "=") {
        rest = rest.dropFirst().drop(while: isBlank)
        let quote = rest.popFirst()
        return rest.prefix { $0 != quote }.drop(while: isBlank)
    }
    repeat {
        guard let end = rest.firstIndex(of: UInt8(ascii: ">")),
            rest[..<end].last != UInt8(ascii: "/")
        else { return [] }
        rest = rest[(end + 1)...].drop(while: isBlank)
    } while rest.starts(with: "<rdf:".utf8)
    return rest.prefix { $0 != UInt8(ascii: "<") }
}
