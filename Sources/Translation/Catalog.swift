internal import CTranslation
internal import Glibc

/// The texts of the programs in the language of the user.
///
/// The catalog is that of gettext. It is opened at the first text, and never for English, so that a program in English
/// opens no file. Source: GNU gettext manual, "Locale Environment Variables" and "Interface to gettext".
enum Catalog {
    static let domain = "imagefeed"

    /// True if the user reads another language than that of the source.
    static let isTranslated: Bool = {
        guard let language = language(variable: variable), !language.hasPrefix("en") else {
            return false
        }
        // Only messages: numbers of other formats would have a decimal comma.
        guard setlocale(LC_MESSAGES, "") != nil, let folder = folder() else { return false }
        bindtextdomain(domain, folder)
        bind_textdomain_codeset(domain, "UTF-8")
        // The texts of `strerror`. Without this line, they have the codeset of LC_CTYPE, which is ASCII.
        bind_textdomain_codeset("libc", "UTF-8")
        return true
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

    static func text(_ text: StaticString) -> String {
        guard isTranslated else { return "\(text)" }
        return String(cString: dgettext(domain, text.pointer))
    }

    static func text(_ singular: StaticString, _ plural: StaticString, _ count: Int) -> String {
        guard isTranslated else { return count == 1 ? "\(singular)" : "\(plural)" }
        return String(
            cString: dngettext(domain, singular.pointer, plural.pointer, UInt(count.magnitude)))
    }
}

extension StaticString {
    /// The characters, which end with a NUL byte.
    fileprivate var pointer: UnsafePointer<CChar> {
        UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
