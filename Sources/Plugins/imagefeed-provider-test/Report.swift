internal import Glibc
internal import JSONFormat
internal import PluginProtocol
internal import ProviderKit
internal import System

/// The check of one rule.
struct Check {
    /// The result of a check. A warning means that the plugin works, but not as its author may expect.
    enum Result: String {
        case passed, skipped, warning, failed
    }

    let name: String
    /// The section of imagefeed-providers(7) that describes the rule.
    var section: Section
    private(set) var result = Result.passed
    private(set) var findings: [String] = []
    /// Information for the author of the plugin, independent of the result.
    var note = ""

    init(_ name: String, _ section: Section) {
        self.name = name
        self.section = section
    }

    /// The largest number of findings of one check.
    private static let maximumFindings = 20

    mutating func fail(_ finding: String) { add(finding, .failed) }
    mutating func warn(_ finding: String) { add(finding, result == .failed ? .failed : .warning) }
    mutating func skip(_ reason: String) { add(reason, result == .passed ? .skipped : result) }

    private mutating func add(_ finding: String, _ new: Result) {
        result = new
        if findings.count < Self.maximumFindings { findings.append(finding) }
    }
}

/// A section of imagefeed-providers(7), by its heading.
enum Section: String {
    case manifest = "THE MANIFEST"
    case provider = "The group Provider"
    case protocolRules = "THE PROTOCOL"
    case calls = "Calls of the daemon"
    case photos = "Photos"
    case requests = "Calls and notifications of the program"
    case errors = "Errors"
    case limits = "LIMITS"
    case sandbox = "SANDBOX"
    case testing = "TESTING"
}

/// The output of the program: one JSON object per line.
enum Report {
    private(set) static var hasFailure = false

    /// Performs a check, and shows its result.
    @discardableResult static func check(
        _ name: String, _ section: Section, _ body: @MainActor (inout Check) async -> Void
    ) async -> Check {
        var check = Check(name, section)
        await body(&check)
        show(check)
        return check
    }

    static func show(_ check: Check) {
        if check.result == .failed { hasFailure = true }
        write([
            "name": .string(check.name), "section": .string(check.section.rawValue),
            "result": .string(check.result.rawValue),
            "findings": .array(check.findings.map { .string(ServiceText.withoutControls($0)) }),
            "note": .string(check.note),
        ])
    }

    static func write(_ value: JSON) {
        guard writeAll(value.line, to: STDOUT_FILENO) else { exit(EXIT_FAILURE) }
    }

    private static var reader: DescriptorSource?

    /// Ends the program when the reader of standard output closes the pipe.
    static func endWithReader() {
        var status = stat()
        guard fstat(STDOUT_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else { return }
        let end = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
        reader = DescriptorSource(end, .reading) { exit(EXIT_FAILURE) }
        reader?.resume()
    }
}

extension Duration {
    /// The duration in seconds with two digits, as text.
    var seconds: String {
        let hundredths = Int((self / .milliseconds(10)).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) s"
    }
}

extension Int {
    /// The number with a noun.
    func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }

    /// The number of bytes as text.
    var bytes: String {
        self < 1 << 10 ? "\(self) B" : self < 1 << 20 ? "\(self >> 10) KiB" : "\(self >> 20) MiB"
    }
}
