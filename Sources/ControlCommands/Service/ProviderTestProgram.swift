internal import DBus
internal import Glibc
internal import JSONFormat
internal import System
internal import Translation

/// The program that tests a plugin. It is separate, so that this program does not contain the code that runs plugins.
@MainActor
enum ProviderTestProgram {
    private static let name = "imagefeed-provider-test"
    /// The number of the key's descriptor in the program.
    private static let keyDescriptor: Int32 = 3

    /// Runs the program to its end.
    ///
    /// - Parameters:
    ///   - options: The options.
    ///   - key: The key of the account.
    ///   - handler: Called with each line of its output.
    /// - Throws: ``CommandFailure`` if the program cannot be started, or if it fails without a result; the error of the
    ///   handler.
    static func run(
        _ options: [JSON.Member], key: FileDescriptor?,
        _ handler: @escaping ([UInt8]) throws -> Void
    ) async throws {
        let ends = try PipeEnds()
        let output = ends.takeWriting()
        var descriptors = [STDOUT_FILENO: output]
        var members: [JSON.Member] = []
        if let key {
            descriptors[keyDescriptor] = key.rawValue
            members = [.init("key_descriptor", .integer(Int64(keyDescriptor)))]
        }
        let process: SpawnedProcess
        do {
            process = try SpawnedProcess(
                HelperProgram.path(name), [JSON.object(options + members).text],
                descriptors: descriptors)
            close(output)
        } catch {
            close(output)
            throw CommandFailure(
                .failed,
                tr("The test cannot be started: {reason}", ["reason": error.message.translated]))
        }
        _ = try await LineReader().run(ends.takeReading(), handler)
        if case .signal(let number) = await process.exit() {
            throw CommandFailure(
                .failed, tr("The test was ended by signal {signal}.", ["signal": String(number)]))
        }
    }
}
