internal import CCrypt
internal import Dispatch
internal import Glibc
internal import ProviderKit

/// Makes of passwords what is kept of them: yescrypt, as libcrypt writes it.
///
/// Each takes tens of milliseconds and 16 MiB, so they are made one after the other, on a queue of their own.
final class PasswordCrypt: Sendable {
    /// The names of libcrypt, as the distributions have it.
    static let libraries = ["libcrypt.so.2", "libcrypt.so.1"]
    /// How many bytes a password may have.
    static let limitBytes = Int(SHIM_CRYPT_MAX_PASSPHRASE_SIZE) - 1

    private let queue = DispatchQueue(label: "passwords")
    private let names: [String]
    // Touched on `queue` alone.
    nonisolated(unsafe) private var library: shim_crypt?

    /// - Parameter libraries: What the dynamic loader looks for when the first password is given.
    init(libraries: [String] = PasswordCrypt.libraries) { names = libraries }

    /// What is to be kept of a password, salted anew each time.
    ///
    /// - Throws: `ProviderError.invalidArgument` for a password that is empty, longer than
    ///   ``limitBytes``, or has a NUL in it; `.notSupported` without libcrypt.
    func hash(_ password: Secret) async throws -> String {
        guard Self.isPossible(password) else {
            throw ProviderError.invalidArgument(
                "A password has 1 to \(Self.limitBytes) bytes, none of them NUL.")
        }
        return try await run { library throws(ProviderError) in
            let setting = try Self.setting(library)
            let hash = Self.crypt(password, setting, library) { String(cString: $0) }
            guard let hash, hash.hasPrefix(Self.method) else { throw Self.tooOld }
            return hash
        }
    }

    /// Whether a password is the one of which `hash` was made.
    ///
    /// - Throws: `ProviderError.notSupported` without libcrypt.
    func matches(_ password: Secret, _ hash: String) async throws -> Bool {
        guard Self.isPossible(password) else { return false }
        return try await run { library throws(ProviderError) in
            let same = Self.crypt(password, hash, library) {
                Secret(hash).matches(Secret(String(cString: $0)))
            }
            guard let same else { throw Self.tooOld }
            return same
        }
    }

    private static func isPossible(_ password: Secret) -> Bool {
        password.withBytes { 1...limitBytes ~= $0.count && !$0.contains(0) }
    }

    private func run<Value: Sendable>(
        _ body: @escaping @Sendable (shim_crypt) throws(ProviderError) -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(with: Result { try body(try loaded()) })
            }
        }
    }

    // MARK: libcrypt

    /// Source: crypt(5).
    private static let method = "$y$"

    private static let tooOld = ProviderError.notSupported(
        "The libcrypt that is installed does not know yescrypt; a user without a password needs none."
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
            "Passwords cannot be kept without libcrypt: install it, as the package libcrypt1 or libxcrypt"
                + " (\(reason)).")
    }

    /// A salt, and how much work a hash is: as much as the library finds right.
    private static func setting(_ library: shim_crypt) throws(ProviderError) -> String {
        let size = Int(SHIM_CRYPT_GENSALT_OUTPUT_SIZE)
        let setting = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
            library.gensalt?(method, 0, nil, 0, buffer.baseAddress, Int32(size)).map {
                String(cString: $0)
            }
        }
        guard let setting else { throw tooOld }
        return setting
    }

    /// Calls `body` with the hash of a password, and leaves nothing of either in memory.
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

    /// Lends memory that holds zeros, and does so again before it is given back.
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
