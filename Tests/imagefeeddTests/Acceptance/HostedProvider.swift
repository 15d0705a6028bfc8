import Foundation
import TestSupport
import Testing

/// A provider that the daemon under test runs as a program of its own.
@MainActor
enum HostedProvider {
    private static let folder = "home/.local/share/imagefeed/providers"

    /// The ID of an account, as the contract has it.
    static func accountID(_ provider: String, _ name: String) -> String {
        name.utf8.reduce(into: "\(provider)_") { id, byte in
            let character = Character(Unicode.Scalar(byte))
            if character.isASCII, character.isLetter || character.isNumber || character == "_" {
                id.append(character)
            } else {
                id += "_" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
    }

    /// Puts a program that was built along with the tests, and its manifest, where a user would.
    ///
    /// - Parameters:
    ///   - product: The program's name.
    ///   - manifest: Its manifest, in which it is `./ID/ID`.
    ///   - id: The provider's id.
    /// - Throws: What keeps it from being put there.
    static func install(_ product: String, _ manifest: String, id: String) throws {
        let directory = try PrivateBus.current.directory
        try directory.write("", to: "\(folder)/\(id)/README")
        try BuiltProducts.copy(product, to: directory.appending("\(folder)/\(id)/\(id)"))
        try directory.write(manifest, to: "\(folder)/\(id).provider")
    }

    /// Puts an example where a user would.
    ///
    /// - Parameters:
    ///   - id: Its id, after which its folder and its files are named.
    ///   - script: Its file; nil for a program that was built along with the tests.
    ///   - change: What is different in the manifest.
    /// - Throws: What keeps it from being put there.
    static func installExample(
        _ id: String, script: String? = nil, _ change: (String) -> String = { $0 }
    ) throws {
        let examples = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "dist/examples/\(id)")
        let manifest = change(
            try String(contentsOf: examples.appending(path: "\(id).provider"), encoding: .utf8))
        guard let script else { return try install("\(id)-example", manifest, id: id) }
        let directory = try PrivateBus.current.directory
        try directory.write(
            try String(contentsOf: examples.appending(path: script), encoding: .utf8),
            to: "\(folder)/\(id)/\(script)")
        try directory.write(manifest, to: "\(folder)/\(id).provider")
    }
}
