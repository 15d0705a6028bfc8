import Contract
import DBus
import Foundation
import TestSupport

/// A fake transfer of a few bytes, which ends when the test or the client ends it.
@MainActor final class FakeTransfer {
    nonisolated static let bytes = "the photo"

    private let destination: FileDescriptor
    private unowned let object: ExportedObject
    let result = Observed<Result<Bool, ErrorReply>?>(nil)
    private var received: UInt64 = 0

    init(_ destination: FileDescriptor, _ object: ExportedObject) {
        self.destination = destination
        self.object = object
    }

    /// Announces that half of the bytes have arrived.
    func advance() {
        received = 1_500_000
        object.announceChanges()
    }

    func succeed() {
        let file = FileHandle(fileDescriptor: destination.rawValue, closeOnDealloc: false)
        file.write(Data(Self.bytes.utf8))
        result.update { $0 = .success(true) }
    }

    func fail(_ error: ServiceError) {
        result.update { $0 = .failure(ErrorReply(error.name, "It did not work.")) }
    }

    static let interface = BusInterface<FakeTransfer>(
        .transfer,
        [
            .asyncMethod("Wait") { transfer in _ = try await transfer.result.wait { $0 }.get() },
            .method("Cancel") { $0.fail(.cancelled) },
            .property("State") { _ in "running" },
            .property("Received") { $0.received },
            .property("Total") { _ in 3_000_000 as UInt64 },
        ])
}
