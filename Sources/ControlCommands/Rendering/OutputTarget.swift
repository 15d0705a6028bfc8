internal import Contract
internal import DBus
internal import Glibc
internal import JSONFormat
internal import ProviderKit
internal import Translation

/// The kind of output, which determines the format of results.
enum OutputTarget: Equatable {
    /// A terminal with this number of columns: aligned tables.
    case terminal(columns: Int, isColoured: Bool)
    /// A file or pipe: all fields, separated by tabs, without colours.
    case pipe

    /// Returns `text` with the control sequences of a style, if the target is a terminal with colours.
    func styled(_ text: String, _ style: TextStyle) -> String {
        guard case .terminal(_, isColoured: true) = self, style != .plain, !text.isEmpty else {
            return text
        }
        return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }
}

/// The emphasis of a piece of text.
///
/// The raw value is the parameter of the control sequence SGR. Only the palette of the terminal is used, which suits dark
/// and light backgrounds.
///
/// Source: ECMA-48, 8.3.117.
enum TextStyle: String {
    case plain = ""
    case heading = "1"
    case faint = "2"
    case good = "32"
    case warning = "33"
    case bad = "31"
}

extension OutputTarget {
    /// The kind of standard output.
    static var standardOutput: OutputTarget { target(of: STDOUT_FILENO) }

    /// The kind of standard error.
    static var standardError: OutputTarget { target(of: STDERR_FILENO) }

    private static func target(of descriptor: Int32) -> OutputTarget {
        guard isatty(descriptor) != 0 else { return .pipe }
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        // Source: https://no-color.org: the variable applies if it is set and not empty.
        let isColoured = Console.variable("NO_COLOR").isEmpty && Console.variable("TERM") != "dumb"
        return .terminal(columns: isKnown ? Int(size.ws_col) : 80, isColoured: isColoured)
    }
}

/// The language of results: English in a pipe, because scripts read them, and that of the user on a terminal.
extension OutputTarget {
    func tr(_ text: StaticString, _ values: KeyValuePairs<String, String> = [:]) -> String {
        self.text(Message(text, values))
    }

    func text(_ message: Message) -> String { self == .pipe ? message.english : message.translated }

    /// Returns a text about a number of things.
    ///
    /// - Parameters:
    ///   - singular: A literal in English for one.
    ///   - plural: A literal in English for another number.
    ///   - count: The number.
    ///   - values: The values by their names, including `count`.
    /// - Returns: The text.
    func trn(
        _ singular: StaticString, _ plural: StaticString, _ count: Int,
        _ values: KeyValuePairs<String, String>
    ) -> String {
        self == .pipe
            ? Message(count == 1 ? singular : plural, values).english
            : Translation.trn(singular, plural, count, values)
    }

    /// Returns a property of a photo or a profile as text.
    ///
    /// - Parameters:
    ///   - name: The name of the property.
    ///   - value: The value.
    /// - Returns: The text.
    func text(_ name: String, _ value: Variant) -> String {
        switch (name, value) {
        case ("State", .string(let state)): word(state)
        case (_, .string(let text)): text
        case ("account", .objectPath(let path)): path.lastElement
        case ("created", .int64(let seconds)), ("updated", .int64(let seconds)):
            Timestamp(secondsSince1970: seconds).minute(for: self)
        case (_, .bool(let flag)): word(flag ? "yes" : "no")
        case (_, .double): number(JSON(value).text)
        default: JSON(value).text
        }
    }

    /// Returns a word of the D-Bus contract, such as a state or the name of a property; unchanged if it is unknown.
    func word(_ word: String) -> String {
        guard self != .pipe else { return word }
        return Self.words[word] ?? AccountStateName(rawValue: word)?.word ?? word
    }

    /// Returns a number with the decimal separator of the user.
    func number(_ text: String) -> String {
        self == .pipe ? text : text.replacing(".", with: Self.decimalSeparator)
    }

    private static let decimalSeparator: String = {
        guard isTextTranslated, let locale = newlocale(LC_NUMERIC_MASK, "", nil) else { return "." }
        defer { freelocale(locale) }
        return String(cString: nl_langinfo_l(nl_item(RADIXCHAR), locale))
    }()

    /// The translations of words and of the names of properties.
    static let words = Dictionary(
        uniqueKeysWithValues: [
            // Translators: the state of the daemon: there is a network.
            Message("online"),
            // Translators: the state of a provider.
            Message("not configured"),
            // Translators: the state of a plugin that cannot be used because of an error in its files.
            Message("invalid"),
            Message("disabled"),
            // Translators: the kind of login of a provider: OAuth 2 in a browser.
            Message("oauth2"),
            Message("password"),
            // Translators: no login, no sandbox, or no photo.
            Message("none"),
            // Translators: photos of an account or a service, one after another.
            Message("feed"),
            Message("album"),
            // Translators: a topic, tag or search, whose photos are shown.
            Message("topic"),
            Message("collection"),
            // Translators: the number of likes, or the photos that the user likes.
            Message("likes"),
            // Translators: a capability of a provider, in a list, as are the next seven texts.
            Message("like"),
            Message("profile"), Message("albums"), Message("avatar"), Message("register"),
            Message("search"), Message("download"), Message("server"),
            // Translators: the photos that were taken on this day in earlier years.
            Message("memories"),
            Message("yes"), Message("no"),
            // Translators: a property of a photo, as are the following texts.
            Message("id"),
            Message("account"),
            // Translators: the time at which the photo was taken or published.
            Message("created"),
            Message("updated"), Message("width"), Message("height"),
            // Translators: the mean colour of a photo.
            Message("color"),
            // Translators: a blurred preview of a photo in a few characters.
            Message("blur_hash"),
            // Translators: the point of a photo that stays when the photo is cropped.
            Message("focus"),
            Message("title"), Message("description"), Message("author"),
            // Translators: the user name of the author of a photo.
            Message("author_username"),
            // Translators: the address of the page of the author of a photo.
            Message("author_url"),
            // Translators: the address of the page of a photo.
            Message("url"),
            // Translators: yes if the user likes the photo.
            Message("liked"),
            // Translators: yes if a like has not been sent yet.
            Message("pending"),
            // Translators: yes if a photo is sensitive, such as violence.
            Message("sensitive"),
            // Translators: the type of the file, such as image/jpeg.
            Message("media_type"),
            Message("camera"), Message("latitude"), Message("longitude"),
            // Translators: the text of the post of a photo.
            Message("text"),
            Message("lens"), Message("exposure_time"), Message("aperture"), Message("iso"),
            Message("license"), Message("license_url"),
            // Translators: yes if a photo moves.
            Message("animated"),
            // Translators: a property of a profile, as are the following texts.
            Message("State"),
            Message("Username"),
            // Translators: the full name of a user.
            Message("Name"),
            // Translators: the text in which a user introduces himself or herself.
            Message("Bio"),
            Message("Location"),
            // Translators: the address of the page of a user.
            Message("Url"),
            Message("Avatar"),
            // Translators: yes if the profile can be edited.
            Message("Editable"),
            Message("Version"),
        ].map { ($0.english, $0.translated) })
}

/// Returns a list of names in one line.
func list(_ names: [String]) -> String {
    // Translators: the separator of the names of a list.
    names.joined(separator: tr(", "))
}
