import EngineModel
import FoundationEssentials
import Glibc
import ImageMetadata
import ProviderKit
import TestSupport
import Testing

@testable import LocalProvider

/// Marked photos that other programs edit, copy and move, with these programs.
@Suite(.timeLimit(.minutes(20))) struct EditingProgramsTests {
    private static let names = ["liked", "hidden", "current"]

    /// Shell scripts that run in the pictures folder, with the marked photos in `x`, other photos in `y`, and the empty
    /// folder `$t` outside.
    static let scripts = [
        "for f in $names; do cp x/$f.jpg y/copy-$f.jpg; rm x/$f.jpg; done",
        "for f in $names; do cp x/$f.jpg \"$t\"; cp \"$t/$f.jpg\" x/; done",
        "cp x/*.jpg \"$t\"; exiftool -q -overwrite_original -AllDates+=1 \"$t\"; cp -p \"$t\"/*.jpg x/",
        // The other photos are replaced.
        "mv x/*.jpg y/",
        "for f in $names; do mv x/$f.jpg y/moved-$f.jpg; done",
        "mv x/*.jpg \"$t\"; mv \"$t\"/*.jpg x/",
        "mv x/*.jpg \"$t\"; sleep 1; mv \"$t\"/*.jpg x/",
        "for f in $names; do mv x/$f.jpg x/tmp.jpg; mv y/$f.jpg x/$f.jpg; mv x/tmp.jpg y/$f.jpg; done",
        "rsync -a x/ \"$t\"; exiftool -q -overwrite_original -AllDates+=1 \"$t\"; rsync -a \"$t/\" x/",
        "rsync -a x/ \"$t\"; exiftool -q -overwrite_original -AllDates+=1 \"$t\"; rsync -a --inplace \"$t/\" x/",
        """
        export GIT_CONFIG_GLOBAL=/dev/null; git init -q; git config user.email a@b; git config user.name a
        git add .; git commit -qm 1; git checkout -qb other; git rm -q -r x; git commit -qm 2
        git checkout -q -; sleep 1; git checkout -q other; git checkout -q -
        """,
        "exiftool -q -overwrite_original -AllDates+=1 x",
        "exiftool -q -overwrite_original -P -AllDates+=1 x",
        "exiftool -q -overwrite_original_in_place -AllDates+=1 x",
        "exiftool -q -AllDates+=1 x",
        "exiftool -q -overwrite_original -SubSecTimeOriginal=77 x",
        "exiftool -q '-FileName<y/%f-new.jpg' -AllDates+=1 x; exiftool -q -overwrite_original -Artist=a x y",
        "jhead -q -ta+1:00 x/*.jpg",
        "jhead -q -ft x/*.jpg",
        "exiv2 -a 1:00:00 adjust x/*.jpg",
        "exiv2 -k -a 1:00:00 adjust x/*.jpg",
        "mogrify -rotate 90 x/*.jpg",
        "mogrify -strip -resize 50% x/*.jpg; sleep 1; mogrify -resize 50% x/*.jpg",
        "for f in $names; do mogrify -resize 50% x/$f.jpg; mv x/$f.jpg y/small-$f.jpg; done",
        "mogrify -resize 50% x/*.jpg; mv x z",
        "tar cf \"$t/a.tar\" x; rm -r x; tar xf \"$t/a.tar\"",
        "tar cf \"$t/a.tar\" x; tar xf \"$t/a.tar\"",
        "mv x \"$t/x\"; mv y x; mv \"$t/x\" y",
        "mv x \"$t/x\"; mv y x; sleep 1; mv \"$t/x\" y",
        "mv x \"$t/x\"; mkdir x; cp -p \"$t\"/x/*.jpg x/",
    ]

    private func shell(_ script: String, in folder: String, _ other: String) async throws {
        let names = Self.names.joined(separator: " ")
        let result = try await ChildProcess(
            "/bin/sh", ["-ec", "cd '\(folder)'; t='\(other)'; names='\(names)'\n\(script)"],
            environment: ["PATH": "/usr/bin:/bin", "HOME": other]
        ).result()
        try #require(result.exit == .code(0), "\(result.error)")
    }

    /// The programs that are not installed.
    private static let missing = [
        "convert", "exiftool", "exiv2", "git", "jhead", "mogrify", "rsync", "tar",
    ].filter { access("/usr/bin/\($0)", X_OK) != 0 && access("/bin/\($0)", X_OK) != 0 }

    private static let needed: Comment =
        "Not installed: \(missing.joined(separator: ", ")); see dist/dependencies test"

    @Test(
        .enabled(if: missing.isEmpty, needed),
        arguments: ["gif", "tif", "jpg", "png", "webp", "dng"])
    func `a program that edits metadata keeps the image data`(format: String) async throws {
        let folder = try TemporaryDirectory()
        try await shell(
            """
            if [ \(format) = dng ]; then
                convert -size 1200x900 -seed 1 plasma: -compress jpeg \\
                    -define tiff:rows-per-strip=900 a.tif
                exiftool -q -n -DNGVersion='1 4 0 0' -o a.dng a.tif
            else convert -size 120x90 -seed 1 plasma: -colors 100 a.\(format); fi
            """, in: folder.path, folder.path)
        let path = folder.appending("a.\(format)")
        func imageData() throws -> (bytes: [UInt8], count: Int) {
            let file = Array(try Data(contentsOf: URL(filePath: path)))
            let ranges = ImageFormat.dataRanges(of: Bytes(file))
            return (ranges.flatMap { file[$0] }, file.count)
        }
        let before = try imageData()
        #expect(before.bytes.count < before.count)
        try await shell(
            "exiftool -q -overwrite_original -XMP:Creator=a -XMP:Title=b -Comment=c a.\(format)",
            in: folder.path, folder.path)
        let after = try imageData()
        #expect(after.count != before.count)
        #expect(after.bytes == before.bytes)
    }

    @Test(.enabled(if: missing.isEmpty, needed), arguments: scripts)
    func `no mark is lost`(script: String) async throws {
        let folder = try await PhotosFixture.scanned(["z.jpg"])
        let other = folder.directory.appending("outside")
        PhotosFixture.makeFolder(other)
        try await shell(
            """
            mkdir x y; seed=1
            for d in x y; do for f in $names; do
            convert -size 40x30 -seed $seed plasma: $d/$f.jpg; seed=$((seed + 1))
            done; done
            exiftool -q -overwrite_original '-AllDates=2024:05:06 10:00:00' x y
            """, in: folder.root, other)
        _ = try await folder.session.refresh(.all)
        let marked = try await folder.photos(SourceID("album:x"))
        func id(_ title: String) throws -> PhotoID {
            try #require(marked.first { $0.title == title }?.id)
        }
        let (liked, hidden, current) = try (id("liked"), id("hidden"), id("current"))
        _ = try await folder.session.setLiked(liked, true)
        try await folder.session.setMarked([hidden], .hidden)
        try await folder.session.setMarked([current], .current)
        try await shell(script, in: folder.root, other)
        _ = try await folder.session.refresh(.all)
        let photos = try await folder.photos()
        let shown = Set(photos.map(\.id))
        for (name, id) in zip(Self.names, [liked, hidden, current]) {
            #expect(shown.contains(id), "\(name) has another ID")
            #expect(folder.session.folder.marks.contains(try #require(id.row)), "\(name) is lost")
        }
        #expect(photos.filter(\.isLiked).map(\.id) == [liked])
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.root)
        #expect(photos.count == files.count { $0.hasSuffix(".jpg") })
    }
}
