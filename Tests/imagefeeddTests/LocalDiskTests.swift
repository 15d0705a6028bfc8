import Contract
import TestSupport
import Testing

/// Tests of local photos on disks with little space.
@Suite(
    .privateBus, .endsDaemons, .timeLimit(.minutes(10)),
    .enabled(if: Disk.canMount, "mounting takes root"))
@MainActor
struct LocalDiskTests {
    @Test(arguments: [48, 96, 128, 192, 256])
    func `photos are served although their index does not fit on the disk`(
        kibibytes: Int
    ) async throws {
        let (daemon, _, ada) = try await startWithUser(
            (0..<60).map { "\($0)" }, launcher: Disk.small(Disk.cache, kibibytes: kibibytes))
        try await poll { try await ada.page("all", cursor: "", count: 60).photos.count == 60 }
        try await daemon.stop()
    }
}
