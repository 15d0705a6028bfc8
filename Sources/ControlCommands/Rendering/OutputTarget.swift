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
        guard case .terminal(_, isColoured: true) = self, let code = style.code, !text.isEmpty
        else {
            return text
        }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}

/// The emphasis of a piece of text.
enum TextStyle {
    case plain
    case heading
    case faint
    case good
    case warning
    case bad

    /// The parameter of the control sequence SGR. Only the palette of the terminal is used, which suits dark and light
    /// backgrounds.
    ///
    /// Source: ECMA-48, 8.3.117.
    fileprivate var code: String? {
        switch self {
        case .plain: nil
        case .heading: "1"
        case .faint: "2"
        case .good: "32"
        case .warning: "33"
        case .bad: "31"
        }
    }
}

extension OutputTarget {
    /// The kind of standard output.
    static var standardOutput: OutputTarget {
        target(of: STDOUT_FILENO)
    }

    /// The kind of standard error.
    static var standardError: OutputTarget { target(of: STDERR_FILENO) }

    private static func target(of descriptor: Int32) -> OutputTarget {
        guard isatty(descriptor) != 0 else { return .pipe }
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        // Source: https://no-color.org: the variable applies if it is set and not empty.
        let isColoured = environment("NO_COLOR").isEmpty && environment("TERM") != "dumb"
        return .terminal(columns: isKnown ? Int(size.ws_col) : 80, isColoured: isColoured)
    }

    private static func environment(_ name: String) -> String {
        getenv(name).map { String(cString: $0) } ?? ""
    }
}

/// The language of results: English in a pipe, because scripts read them, and that of the user on a terminal.
extension OutputTarget {
    func tr(_ text: StaticString, _ values: KeyValuePairs<String, String> = [:]) -> String {
        self.text(Message(text, values))
    }

    func text(_ message: Message) -> String {
        self == .pipe ? message.english : message.translated
    }

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

    static let words = [
        // Translators: the state of the daemon: there is a network.
        "online": tr("online"),
        // Translators: the state of a provider.
        "not configured": tr("not configured"),
        // Translators: the state of a plugin that cannot be used because of an error in its files.
        "invalid": tr("invalid"),
        "disabled": tr("disabled"),
        // Translators: the kind of login of a provider: OAuth 2 in a browser.
        "oauth2": tr("oauth2"),
        "password": tr("password"),
        // Translators: no login, no sandbox, or no photo.
        "none": tr("none"),
        // Translators: photos of an account or a service, one after another.
        "feed": tr("feed"),
        "album": tr("album"),
        // Translators: a topic, tag or search, whose photos are shown.
        "topic": tr("topic"),
        "collection": tr("collection"),
        // Translators: the number of likes, or the photos that the user likes.
        "likes": tr("likes"),
        // Translators: a capability of a provider, in a list, as are the next seven texts.
        "like": tr("like"),
        "profile": tr("profile"),
        "albums": tr("albums"),
        "avatar": tr("avatar"),
        "register": tr("register"),
        "search": tr("search"),
        "download": tr("download"),
        "server": tr("server"),
        // Translators: the photos that were taken on this day in earlier years.
        "memories": tr("memories"),
        "yes": tr("yes"),
        "no": tr("no"),
        // Translators: a property of a photo, as are the following texts.
        "id": tr("id"),
        "account": tr("account"),
        // Translators: the time at which the photo was taken or published.
        "created": tr("created"),
        "updated": tr("updated"),
        "width": tr("width"),
        "height": tr("height"),
        // Translators: the mean colour of a photo.
        "color": tr("color"),
        // Translators: a blurred preview of a photo in a few characters.
        "blur_hash": tr("blur_hash"),
        // Translators: the point of a photo that stays when the photo is cropped.
        "focus": tr("focus"),
        "title": tr("title"),
        "description": tr("description"),
        "author": tr("author"),
        // Translators: the user name of the author of a photo.
        "author_username": tr("author_username"),
        // Translators: the address of the page of the author of a photo.
        "author_url": tr("author_url"),
        // Translators: the address of the page of a photo.
        "url": tr("url"),
        // Translators: yes if the user likes the photo.
        "liked": tr("liked"),
        // Translators: yes if a like has not been sent yet.
        "pending": tr("pending"),
        // Translators: yes if a photo is sensitive, such as violence.
        "sensitive": tr("sensitive"),
        // Translators: the type of the file, such as image/jpeg.
        "media_type": tr("media_type"),
        "camera": tr("camera"),
        "latitude": tr("latitude"),
        "longitude": tr("longitude"),
        // Translators: the text of the post of a photo.
        "text": tr("text"),
        "lens": tr("lens"),
        "exposure_time": tr("exposure_time"),
        "aperture": tr("aperture"),
        "iso": tr("iso"),
        "license": tr("license"),
        "license_url": tr("license_url"),
        // Translators: yes if a photo moves.
        "animated": tr("animated"),
        // Translators: a property of a profile, as are the following texts.
        "State": tr("State"),
        "Username": tr("Username"),
        // Translators: the full name of a user.
        "Name": tr("Name"),
        // Translators: the text in which a user introduces himself or herself.
        "Bio": tr("Bio"),
        "Location": tr("Location"),
        // Translators: the address of the page of a user.
        "Url": tr("Url"),
        "Avatar": tr("Avatar"),
        // Translators: yes if the profile can be edited.
        "Editable": tr("Editable"),
        "Version": tr("Version"),
    ]

    private static func tr(_ text: StaticString) -> String { Translation.tr(text) }
}

/// Returns a list of names in one line.
func list(_ names: [String]) -> String {
    // Translators: the separator of the names of a list.
    names.joined(separator: tr(", "))
}
