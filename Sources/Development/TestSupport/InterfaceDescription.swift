package import Foundation
internal import FoundationXML
internal import Testing

/// An interface in introspection data.
package struct InterfaceDescription: Equatable {
    /// A description of each member: kind, name, argument names and types, access and annotations.
    package var members: Set<String> = []
    /// The version in the sentence "This documentation describes version N of this interface."; nil without it.
    package var version: UInt32?

    /// The members without their annotations.
    package var signatures: Set<String> {
        Set(members.map { String($0[..<($0.range(of: " org.")?.lowerBound ?? $0.endIndex)]) })
    }

    /// Returns the interfaces in introspection data by name.
    package static func parse(_ xml: Data) -> [String: InterfaceDescription] {
        IntrospectionParser.parse(xml).interfaces
    }

    /// Returns the interfaces in the XML files of a folder by name.
    package static func files(in folder: URL) throws -> [String: InterfaceDescription] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "xml" }
            .reduce(into: [:]) { $0.merge(parse(try Data(contentsOf: $1))) { $1 } }
    }
}

/// A parser of introspection data.
private final class IntrospectionParser: NSObject, XMLParserDelegate {
    private(set) var interfaces: [String: InterfaceDescription] = [:]
    private var interface: String?
    private var member: String?
    /// The version in the comment before the next interface.
    private var version: UInt32?

    static func parse(_ xml: Data) -> IntrospectionParser {
        let result = IntrospectionParser()
        let parser = XMLParser(data: xml)
        parser.delegate = result
        #expect(parser.parse())
        return result
    }

    func parser(_ parser: XMLParser, foundComment comment: String) {
        guard interface == nil,
            let match = comment.firstMatch(of: /describes version (\d+) of this interface\./)
        else { return }
        version = UInt32(match.1)
    }

    func parser(
        _ parser: XMLParser, didStartElement element: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) {
        let name = attributes["name"] ?? ""
        switch element {
        case "interface":
            interface = name
            interfaces[name] = InterfaceDescription(version: version)
        case "method", "signal": member = "\(element) \(name)"
        case "property":
            let (type, access) = (attributes["type"] ?? "", attributes["access"] ?? "")
            member = "\(element) \(name) \(type) \(access)"
        case "arg":
            let direction = attributes["direction"] ?? (isInSignal ? "out" : "in")
            member? += " \(direction) \(name) \(attributes["type"] ?? "")"
        case "annotation": member? += " \(name) \(attributes["value"] ?? "")"
        default: break
        }
    }

    func parser(
        _ parser: XMLParser, didEndElement element: String, namespaceURI: String?,
        qualifiedName: String?
    ) {
        if element == "interface" { (interface, version) = (nil, nil) }
        guard ["method", "signal", "property"].contains(element), let interface, let member else {
            return
        }
        interfaces[interface]?.members.insert(member)
        self.member = nil
    }

    private var isInSignal: Bool { member?.hasPrefix("signal ") == true }
}
