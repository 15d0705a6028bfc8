internal import CTranslation
internal import Glibc

/// The texts of the programs in the language of the user.
///
/// The catalog is that of gettext. It is opened at the first text, and never for English, so that a program in English
/// opens no file. Source: GNU gettext manual, "Locale Environment Variables" and "Interface to gettext".
enum Catalog {
    static let domain = "imagefeed"

    /// True if the user reads another language than that of the source, and has a catalog for it.
    static var isTranslated: Bool { locale != nil }

    /// The locale of the catalog. It is that of the thread during a look-up only: the texts of `strerror` and of
    /// libraries, which programs compare and log, stay in English.
    nonisolated(unsafe) private static let locale: locale_t? = {
        guard let language = language(variable: variable), !language.hasPrefix("en"),
            let locale = shim_message_locale(), let folder = folder()
        else { return nil }
        bindtextdomain(domain, folder)
        bind_textdomain_codeset(domain, "UTF-8")
        let previous = uselocale(locale)
        defer { uselocale(previous) }
        // The empty text is the header of a catalog.
        return dgettext(domain, "")[0] == 0 ? nil : locale
    }()

    /// The first language that the environment names; nil for the language of the source.
    static func language(variable: (String) -> String?) -> String? {
        func set(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
        guard let locale = set("LC_ALL") ?? set("LC_MESSAGES") ?? set("LANG"),
            locale != "C", locale != "POSIX"
        else { return nil }
        let language = set("LANGUAGE") ?? locale
        return language == "C" || language.hasPrefix("C.") ? nil : language
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// The folder of catalogs: that of TEXTDOMAINDIR, or the one beside the folder of the program.
    private static func folder() -> String? {
        if let folder = variable("TEXTDOMAINDIR") { return folder }
        guard let path = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(path) }
        var parts = String(cString: path).split(separator: "/").dropLast()
        if parts.suffix(2) == ["libexec", "imagefeed"] { parts.removeLast() }
        return "/" + (parts.dropLast() + ["share", "locale"]).joined(separator: "/")
    }

    static func text(_ text: String) -> String {
        text.withCString { text in translated { dgettext(domain, text) } } ?? text
    }

    static func text(_ singular: StaticString, _ plural: StaticString, _ count: Int) -> String {
        translated {
            dngettext(domain, singular.pointer, plural.pointer, UInt(count.magnitude))
        } ?? (count == 1 ? "\(singular)" : "\(plural)")
    }

    private static func translated(_ look: () -> UnsafeMutablePointer<CChar>) -> String? {
        guard let locale else { return nil }
        let previous = uselocale(locale)
        defer { uselocale(previous) }
        return String(cString: look())
    }
}

extension StaticString {
    /// The characters, which end with a NUL byte.
    fileprivate var pointer: UnsafePointer<CChar> {
        UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
