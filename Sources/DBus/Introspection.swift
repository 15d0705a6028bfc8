extension ExportedObject {
    /// The introspection data of this object. Source: D-Bus specification, "Introspection Data Format".
    var introspection: String {
        var xml = """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>

            """
        xml += InterfaceTable.peer.introspection
        if let tree {
            for table in InterfaceTable.standard(for: self, root: tree.root) {
                xml += table.introspection
            }
        }
        for interface in interfaces { xml += interface.table.introspection }
        for child in tree?.children(of: path) ?? [] { xml += " <node name=\"\(child)\"/>\n" }
        return xml + "</node>\n"
    }
}

extension InterfaceTable {
    /// The description of the interface. Names and signatures contain no characters that need escaping in XML.
    fileprivate var introspection: String {
        var xml = " <interface name=\"\(name)\">\n"
        for method in methods {
            xml += element(
                "method", method.name,
                method.inputs.map { argument($0, " direction=\"in\"") }
                    + method.outputs.map { argument($0, " direction=\"out\"") })
        }
        for signal in signals {
            xml += element("signal", signal.name, signal.arguments.map { argument($0, "") })
        }
        for property in properties {
            let access = property.set == nil ? "read" : "readwrite"
            xml +=
                "  <property name=\"\(property.name)\" type=\"\(property.type)\" access=\"\(access)\""
            xml +=
                property.isConstant
                ? """
                >
                   <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
                  </property>

                """
                : "/>\n"
        }
        return xml + " </interface>\n"
    }
}

private func element(_ tag: String, _ name: MemberName, _ arguments: [String]) -> String {
    guard !arguments.isEmpty else { return "  <\(tag) name=\"\(name)\"/>\n" }
    return "  <\(tag) name=\"\(name)\">\n\(arguments.joined())  </\(tag)>\n"
}

private func argument(_ argument: ArgumentDescription, _ direction: String) -> String {
    "   <arg name=\"\(argument.name)\" type=\"\(argument.type)\"\(direction)/>\n"
}
