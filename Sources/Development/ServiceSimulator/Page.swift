/// The little HTML that a login needs.
package enum Page {
    /// A page of the service.
    package static func document(_ body: String, of service: String) -> String {
        "<!DOCTYPE html>\n<html><head><title>Simulated \(service)</title></head>\n<body>\n\(body)\n</body></html>\n"
    }

    /// Asks a user whether an application may do what it wants to.
    ///
    /// - Parameters:
    ///   - request: Its query comes back with the decision.
    ///   - users: Who there is.
    ///   - scopes: What the application wants.
    ///   - service: The name of the service.
    /// - Returns: The page; its form goes to where it came from.
    package static func consent(
        _ request: RecordedRequest, users: [String], scopes: [String], of service: String
    ) -> Reply {
        let hidden = request.query.fields.map { field in
            "<input type=\"hidden\" name=\"\(escape(field.name))\" value=\"\(escape(field.value))\">"
        }
        let options = users.map { name in
            "<option\(name == "ada" ? " selected" : "")>\(escape(name))</option>"
        }
        let wishes = scopes.map { "<li>\(escape($0))</li>" }
        return Reply(
            200,
            html: document(
                """
                <h1>Authorize an application</h1>
                <p>It would like to:</p>
                <ul>\(wishes.joined())</ul>
                <form method="post" action="\(request.path)">
                \(hidden.joined(separator: "\n"))
                <label>You are <select name="username">\(options.joined())</select></label>
                <button name="decision" value="approve">Authorize</button>
                <button name="decision" value="deny">Deny</button>
                </form>
                """, of: service))
    }

    package static func escape(_ text: String?) -> String {
        var escaped = ""
        for character in text ?? "" {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
