internal import Glibc
internal import LoopbackHTTP

/// nghttpx as an HTTP/2 frontend with TLS and a self-signed certificate, for a server with HTTP/1.1.
package final class HTTP2Frontend: Sendable {
    /// The port on 127.0.0.1.
    package let port: UInt16
    /// The path of the certificate.
    package let certificate: String
    private let directory: TemporaryDirectory
    private let process: ChildProcess

    /// Starts nghttpx and waits until it accepts connections.
    ///
    /// - Parameter target: The port of the server on 127.0.0.1.
    /// - Throws: `SpawnError`; ``Failure``; the error of a temporary directory.
    package init(to target: UInt16) async throws {
        directory = try TemporaryDirectory()
        certificate = directory.appending("certificate.pem")
        let key = directory.appending("key.pem")
        try await Self.makeCertificate(certificate, key, in: directory)
        port = LoopbackPort.reserve()
        process = try ChildProcess(
            "/usr/sbin/nghttpx",
            [
                "--conf=/dev/null", "--single-process", "--workers=1", "--log-level=NOTICE",
                "--no-ocsp",
                "--frontend=127.0.0.1,\(port)", "--backend=127.0.0.1,\(target)",
                "--errorlog-file=/dev/stderr", key, certificate,
            ], environment: directory.environment)
        let (process, port) = (process, port)
        try await process.standardError.wait { output in
            output.isComplete || output.text.contains("Listening on 127.0.0.1:\(port)")
                ? true : nil
        }
        guard process.isRunning else { throw Failure(reason: process.standardError.value.text) }
    }

    /// Creates a self-signed certificate for 127.0.0.1.
    ///
    /// - Parameters:
    ///   - certificate: The path of the certificate.
    ///   - key: The path of the key.
    ///   - directory: The home folder of the program.
    /// - Throws: `SpawnError`; ``Failure``.
    package static func makeCertificate(
        _ certificate: String, _ key: String, in directory: TemporaryDirectory
    ) async throws {
        let openssl = try ChildProcess(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
                "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
            ], environment: directory.environment)
        let result = try await openssl.result()
        guard result.exit == .code(0) else {
            throw Failure(reason: openssl.standardError.value.text)
        }
    }

    /// The error for a frontend that cannot be started.
    package struct Failure: Error {
        /// The error output of the program.
        package let reason: String
    }
}
