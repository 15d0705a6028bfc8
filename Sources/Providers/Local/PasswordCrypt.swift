internal import CCrypt
internal import Dispatch
internal import Glibc
internal import ProviderKit
internal import System
internal import Translation

/// A hash function for passwords: yescrypt, by libcrypt.
///
/// Each hash takes tens of milliseconds and 16 MiB, so they are computed one at a time on a separate queue.
final class PasswordCrypt: Sendable {
    /// The file names of libcrypt in common distributions.
    static let libraries = ["libcrypt.so.2", "libcrypt.so.1"]
    /// The maximum length of a password in bytes.
    static let limitBytes = Int(SHIM_CRYPT_MAX_PASSPHRASE_SIZE) - 1

    private let queue = DispatchQueue(label: "passwords")
    private let names: [String]
    // `nonisolated(unsafe)`: only accessed on `queue`.
    nonisolated(unsafe) private var library: shim_crypt?

    /// - Parameter libraries: The names to load libcrypt by, on first use.
    init(libraries: [String] = PasswordCrypt.libraries) { names = libraries }

    /// Returns the hash of a password, with a new salt.
    ///
    /// - Throws: `ProviderError.invalidArgument` for a password that is empty, longer than ``limitBytes``, or has a NUL
    ///   in it; `.notSupported` without libcrypt.
    func hash(_ password: Secret) async throws -> String {
        guard Self.isValid(password) else {
            throw ProviderError.invalidArgument(
                "A password has 1 to \(Self.limitBytes) bytes, none of them NUL.")
        }
        return try await run { library throws(ProviderError) in
            let setting = try Self.setting(library)
            let hash = Self.crypt(password, setting, library) { String(cString: $0) }
            guard let hash, hash.hasPrefix(Self.method) else { throw Self.noYescrypt }
            return hash
        }
    }

    /// Returns true if `hash` is a hash of the password.
    ///
    /// - Throws: `ProviderError.notSupported` without libcrypt.
    func matches(_ password: Secret, _ hash: String) async throws -> Bool {
        guard Self.isValid(password) else { return false }
        return try await run { library throws(ProviderError) in
            let isEqual = Self.crypt(password, hash, library) {
                Secret(hash).matches(Secret(String(cString: $0)))
            }
            guard let isEqual else { throw Self.noYescrypt }
            return isEqual
        }
    }

    private static func isValid(_ password: Secret) -> Bool {
        password.withBytes { 1...limitBytes ~= $0.count && !$0.contains(0) }
    }

    private func run<Value: Sendable>(
        _ body: @escaping @Sendable (shim_crypt) throws(ProviderError) -> Value
    ) async throws -> Value {
        try await queue.run { [self] () throws(ProviderError) in try body(try loaded()) }
    }

    // MARK: libcrypt

    /// The prefix of yescrypt hashes.
    ///
    /// Source: crypt(5).
    private static let method = "$y$"

    private static let noYescrypt = ProviderError.notSupported(
        Message(
            "The installed libcrypt does not support yescrypt; update it, or use a user without a password."
        )
    )

    private func loaded() throws(ProviderError) -> shim_crypt {
        if let library { return library }
        var library = shim_crypt()
        var reason = ""
        for name in names {
            guard let problem = shim_crypt_load(&library, name) else {
                self.library = library
                return library
            }
            reason = String(cString: problem)
        }
        throw .notSupported(
            Message(
                "Passwords need libcrypt; install the package libcrypt1 or libxcrypt ({reason}).",
                ["reason": reason]))
    }

    /// Returns a salt with the default cost of the library.
    private static func setting(_ library: shim_crypt) throws(ProviderError) -> String {
        let size = Int(SHIM_CRYPT_GENSALT_OUTPUT_SIZE)
        let setting = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
            library.gensalt?(method, 0, nil, 0, buffer.baseAddress, Int32(size)).map {
                String(cString: $0)
            }
        }
        guard let setting else { throw noYescrypt }
        return setting
    }

    /// Calls `body` with the hash of a password, and erases both from memory.
    private static func crypt<Value>(
        _ password: Secret, _ setting: String, _ library: shim_crypt,
        _ body: (UnsafePointer<CChar>) -> Value
    ) -> Value? {
        let size = Int(SHIM_CRYPT_DATA_SIZE)
        return withZeros(limitBytes + 1) { phrase in
            password.withBytes { phrase.copyMemory(from: $0) }
            return withZeros(size) { scratch in
                phrase.withMemoryRebound(to: CChar.self) { phrase in
                    library.crypt?(phrase.baseAddress, setting, scratch.baseAddress, Int32(size))
                        .map { body($0) }
                }
            }
        }
    }

    /// Calls `body` with zeroed memory, and zeroes it again afterwards.
    private static func withZeros<Value>(
        _ count: Int, _ body: (UnsafeMutableRawBufferPointer) -> Value
    ) -> Value {
        withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { buffer in
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            defer { if let address = buffer.baseAddress { explicit_bzero(address, count) } }
            return body(buffer)
        }
    }
}
