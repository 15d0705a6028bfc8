/// The HTML pages of a login.
package enum Page {
    /// Returns a page of the service.
    package static func document(_ body: String, of service: String) -> String {
        "<!DOCTYPE html>\n<html><head><title>Simulated \(service)</title></head>\n<body>\n\(body)\n</body></html>\n"
    }

    /// Returns the page on which a user approves or denies an authorization.
    ///
    /// - Parameters:
    ///   - request: The request, whose query the form repeats.
    ///   - users: The user names to choose from.
    ///   - scopes: The requested scopes.
    ///   - service: The name of the service.
    /// - Returns: The page; its form is sent to the address of the request.
    package static func consent(
        _ request: RecordedRequest, users: [String], scopes: [String], of service: String
    ) -> Reply {
        let hidden = request.query.fields.map { field in
            "<input type=\"hidden\" name=\"\(escape(field.name))\" value=\"\(escape(field.value))\">"
        }
        let options = users.map { name in
            "<option\(name == "ada" ? " selected" : "")>\(escape(name))</option>"
        }
        let items = scopes.map { "<li>\(escape($0))</li>" }
        return Reply(
            200,
            html: document(
                """
                <h1>Authorize an application</h1>
                <p>It would like to:</p>
                <ul>\(items.joined())</ul>
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
