import Glibc
import ImageMetadata
import ProviderKit
import Testing

@testable import LocalProvider

/// Raw files of each kind, with a preview of a headers-only JPEG image.
@Suite(.timeLimit(.minutes(10))) struct RawFilesTests {
    /// The endings of names, except for those of files that are no TIFF files and whose previews are not found.
    nonisolated private static let endings = [
        "3fr", "arw", "cr2", "cr3", "dcr", "dcs", "dng", "erf", "fff", "gpr", "iiq", "k25", "kdc",
        "mef", "mos", "nef", "nrw", "orf", "ori", "pef", "raf", "raw", "rw2", "rwl", "sr2", "srf",
        "srw",
    ]

    @Test(arguments: endings)
    func `a raw file is a photo if it has a large preview`(ending: String) async throws {
        let file = Self.file(ending, width: 1000)
        let header = try #require(ImageHeader(Bytes(file)))
        #expect(header.shownSize == (1000, 768) && header.preview != nil)
        #expect((header.taken?.seconds, header.details.camera) == (1_083_827_289, "Maker Model"))
        let folder = try await PhotosFixture.ready(["b.jpg"])
        try folder.add("c.\(ending)", seconds: 3_000_000, bytes: Self.file(ending, width: 999))
        try folder.add("a.\(ending)", seconds: 2_000_000, bytes: file)
        try await folder.shows(["a", "b"])
        #expect(try await folder.titlesAfterScan() == ["a", "b"])
        let id = try await folder.id("a")
        for picture in ["a.jpg", "a.HEIC"] {
            try folder.add(picture, seconds: 2_000_000, bytes: Self.picture(width: 1000))
            try await folder.become {
                let photos = try await folder.photos()
                return photos.map(\.title) == ["a", "b"] && photos[0].id != id
            }
            unlink(folder.path(picture))
            try await folder.become { try await folder.photos().map(\.id).contains(id) }
        }
    }

    // MARK: Files

    /// A field of a TIFF table: a tag, a type and a value.
    private typealias Field = (tag: Int, type: Int, value: [UInt8])

    private static func big(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    static func little(_ number: Int, _ count: Int = 4) -> [UInt8] { big(number, count).reversed() }

    /// A table, followed by its values.
    private static func table(_ fields: [Field], at offset: Int) -> [UInt8] {
        var entries: [UInt8] = []
        var values: [UInt8] = []
        for (tag, type, value) in fields {
            let count = value.count / ([3: 2, 4: 4][type] ?? 1)
            entries += little(tag, 2) + little(type, 2) + little(count)
            if value.count > 4 {
                entries += little(offset + 6 + 12 * fields.count + values.count)
                values += value
            } else {
                entries += value + [UInt8](repeating: 0, count: 4 - value.count)
            }
        }
        return little(fields.count, 2) + entries + little(0) + values
    }

    private static let camera: [Field] = [
        (0x10f, 2, Array("Maker\0".utf8)), (0x110, 2, Array("Model\0".utf8)),
    ]
    private static let details: [Field] = [(0x9003, 2, Array("2004:05:06 07:08:09\0".utf8))]

    /// A TIFF file with a camera, a time, and further fields of the first table.
    private static func tiff(
        _ signature: [UInt8] = Array("II*\0".utf8), start: Int = 8, fields: [Field] = [],
        sensor: [Field] = [], preview: [UInt8] = []
    ) -> [UInt8] {
        func first(_ sensorStart: Int, _ detailsStart: Int, _ previewStart: Int) -> [UInt8] {
            var all = camera + fields + [(0x8769, 4, little(detailsStart))]
            if !sensor.isEmpty { all.append((0x14a, 4, little(sensorStart))) }
            if !preview.isEmpty {
                all += [(0x201, 4, little(previewStart)), (0x202, 4, little(preview.count))]
            }
            return table(all, at: start)
        }
        let sensorStart = start + first(0, 0, 0).count
        let detailsStart = sensorStart + table(sensor, at: sensorStart).count
        let end = detailsStart + table(details, at: detailsStart).count
        let head = signature + little(start) + [UInt8](repeating: 0, count: start - 8)
        return head + first(sensorStart, detailsStart, end) + table(sensor, at: sensorStart)
            + table(details, at: detailsStart) + preview
    }

    /// The headers of a JPEG image, with EXIF if it is not empty.
    static func picture(width: Int, exif: [UInt8] = []) -> [UInt8] {
        let block = Array("Exif\0\0".utf8) + exif
        let segment = exif.isEmpty ? [] : [0xff, 0xe1] + big(block.count + 2, 2) + block
        return [0xff, 0xd8] + segment + [0xff, 0xc0, 0, 11, 8, 3, 0] + big(width, 2)
            + [1, 1, 0x11, 0, 0xff, 0xda, 0, 2, 0xff, 0xd9]
    }

    private static func box(_ type: String, _ contents: [UInt8]) -> [UInt8] {
        big(contents.count + 8, 4) + Array(type.utf8) + contents
    }

    /// A raw file whose preview has this width and is 768 pixels high.
    private static func file(_ ending: String, width: Int) -> [UInt8] {
        let preview = picture(width: width)
        // The values of a color filter array.
        let sensor: [Field] = [(0x106, 3, little(32_803, 2))]
        switch ending {
        case "raf":
            let preview = picture(width: width, exif: tiff())
            let head = Array("FUJIFILMCCD-RAW 0201".utf8)
            return head + [UInt8](repeating: 0, count: 84 - head.count) + big(92, 4)
                + big(preview.count, 4) + preview
        case "cr3":
            let id = [UInt8](repeating: 7, count: 16)
            func block(_ fields: [Field]) -> [UInt8] {
                Array("II*\0".utf8) + little(8) + table(fields, at: 8)
            }
            let metadata = box("CMT1", block(camera)) + box("CMT2", block(details))
            let image = [UInt8](repeating: 0, count: 12) + big(preview.count, 4) + preview
            return box("ftyp", Array("crx \0\0\0\u{1}crx isom".utf8))
                + box("moov", box("uuid", id + metadata))
                + box("uuid", id + [UInt8](repeating: 0, count: 8) + box("PRVW", image))
        case "orf", "ori":
            return tiff(Array("IIRO".utf8), sensor: sensor, preview: preview)
        case "raw", "rw2", "rwl":
            return tiff(Array("IIU\0".utf8), start: 24, fields: [(0x2e, 7, preview)])
        case "cr2":
            let file = tiff(start: 16, sensor: sensor, preview: preview)
            return file[..<8] + Array("CR\u{2}\0\0\0\0\0".utf8) + file[16...]
        case "dng", "gpr":
            return tiff(fields: [(0xc612, 1, [1, 4, 0, 0])], preview: preview)
        default: return tiff(sensor: sensor, preview: preview)
        }
    }
}
