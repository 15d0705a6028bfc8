import Foundation
import Testing

/// Tests that only the files of a provider name its service.
struct NamesTests {
    /// The names of the providers and their services, and the folders of the providers.
    private static let names: [(name: String, folder: String)] = {
        let folders = try? FileManager.default.contentsOfDirectory(
            atPath: repository.appending(path: "Sources/Providers").path)
        // The photos of this computer, and the code that providers share.
        let own = (folders ?? []).filter { !["Local", "WebService"].contains($0) }
        // Other texts contain these words, too.
        let words = ["Daily", "Unsplash"]
        return own.map { ((words.contains($0) ? "\($0)Provider" : $0).lowercased(), $0) }
            + [("wikimedia", "Daily"), ("pixelfed", "Mastodon")]
    }()

    @Test func `each provider is tested`() { #expect(Self.names.count >= 7) }

    /// The files that list all providers: with their keys in the configuration, and with their names in other languages.
    private static let lists: Set = [
        "Configuration/Configuration+Checking.swift", "Viewer/Model/Account.swift",
    ]

    @Test(arguments: names)
    func `a provider consists of its folder, one line in the daemon, and its lines in lists`(
        name: String, folder: String
    ) throws {
        let sources = repository.appending(path: "Sources")
        let own = [
            "Providers/\(folder)/",
            // The simulator of a picture a day has the name of its service.
            "Development/\(folder == "Daily" ? "Wikimedia" : folder)Simulator/",
            "Development/\(folder.lowercased())-simulator/",
            "Development/\(folder.lowercased())-plugin/",
            // The fuzzer uses every parser, and this program contains every simulator. The benchmark compares a provider
            // with its plugin.
            "Development/Fuzzer/", "Development/simulated-services/", "Development/Benchmark/",
        ]
        var found: Set<String> = []
        let files = try #require(FileManager.default.enumerator(atPath: sources.path))
        for case let file as String in files
        where file.hasSuffix(".swift") && !own.contains(where: file.hasPrefix) {
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            if text.lowercased().contains(name) { found.insert(file) }
        }
        #expect(found.subtracting(Self.lists).isSubset(of: ["imagefeedd/Daemon.swift"]))
        guard found.contains("imagefeedd/Daemon.swift") else { return }
        let daemon = try String(
            contentsOf: sources.appending(path: "imagefeedd/Daemon.swift"), encoding: .utf8)
        let lines = daemon.split(separator: "\n").filter { $0.lowercased().contains(name) }
        #expect(lines.count == 2)
    }
}
