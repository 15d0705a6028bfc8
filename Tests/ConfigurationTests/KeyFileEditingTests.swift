import Dispatch
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Configuration

/// Tests that an edit changes one value and preserves the rest of the file.
@Suite struct KeyFileEditingTests {
    private func edited(_ text: String, _ value: String = "new") -> String {
        String(
            decoding: KeyFile.setting(value, for: "k", in: "A", of: Array(text.utf8)),
            as: UTF8.self)
    }

    @Test(arguments: [
        ("", "[A]\nk=new\n"), ("[A]\nk=old\n", "[A]\nk=new\n"), ("[A]\nk=old", "[A]\nk=new\n"),
        ("# x\n[A]\n# y\nl=1\n", "# x\n[A]\nk=new\n# y\nl=1\n"),
        ("[B]\nk=1\n", "[B]\nk=1\n\n[A]\nk=new\n"),
        ("[A]\nk=1\n[B]\nk=2\n[A]\nk=3\n", "[A]\nk=1\n[B]\nk=2\n[A]\nk=new\n"),
        ("nonsense\n[A]\nmore\n  k = 1\n", "nonsense\n[A]\nmore\nk=new\n"),
        ("[A]\r\nl=1\r\nk=old\r\n", "[A]\r\nl=1\r\nk=new\r\n"),
        ("[B]\r\nk=1\r\n", "[B]\r\nk=1\r\n\r\n[A]\r\nk=new\r\n"),
        ("  [A]  \nk=1\n", "  [A]  \nk=new\n"),
        ("[A]\n#k=1\n", "[A]\nk=new\n#k=1\n"),
        ("[A]\nl=1\n[B\nk=1\n", "[A]\nk=new\nl=1\n[B\nk=1\n"),
    ])
    func `setting a key changes one line`(text: String, result: String) {
        #expect(edited(text) == result)
    }

    @Test func `bytes that are not UTF-8 are preserved`() {
        let text: [UInt8] = Array("[A]\n# ".utf8) + [0xff, 0xfe, 0x0a]
        #expect(
            KeyFile.setting("v", for: "k", in: "A", of: text)
                == Array("[A]\nk=v\n# ".utf8) + [0xff, 0xfe, 0x0a])
    }

    @Test func `a file with CR LF line ends is read line by line`() {
        let file = KeyFile("[A]\r\nk=v\r\nnonsense\r\nl=w\r\n")
        #expect(file.groups == ["A": ["k": "v", "l": "w"]])
        #expect(file.badLines.map(\.number) == [3])
    }

    @Test func `a value that was set is read back`() {
        let alphabet: [Character] = [
            "a", "=", "[", "]", "#", ";", " ", "\t", "\\", "\n", "\r", "s", "n", "ä", "\u{301}",
            "\"", "$", "😀",
        ]
        let seed = Simulation.seed
        var random = SeededRandom(seed: seed)
        for _ in 0..<3000 {
            func word() -> String {
                String(
                    (0..<Int.random(in: 0...8, using: &random)).compactMap { _ in
                        alphabet.randomElement(using: &random)
                    })
            }
            let value = word()
            let before = ["[A]", "k=1", "[B]", word(), "k=\(word())", word()]
                .shuffled(using: &random).joined(separator: "\n")
            let text = edited(before, value)
            #expect(
                KeyFile(text).groups["A"]?["k"] == value,
                "IMAGEFEED_SEED=\(seed) \(before.debugDescription)")
        }
    }

    @Test func `symbolic links and permissions are preserved`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("[A]\nk=old\n", to: "real.conf")
        try directory.write("mine", to: "real.conf.new")
        let (real, link) = (directory.appending("real.conf"), directory.appending("link.conf"))
        chmod(real, 0o644)
        symlink("real.conf", link)
        try KeyFile.set("new", for: "k", in: "A", at: link)
        var status = stat()
        #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(stat(real, &status) == 0 && status.st_mode & 0o777 == 0o644)
        #expect(directory.has("real.conf.new"))
        #expect(Configuration(paths: [real]).string("A", "k") == "new")
        #expect(access(directory.appending(".real.conf.imagefeed-part"), F_OK) != 0)
    }

    @Test func `concurrent changes of one file are all kept`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("a.conf")
        let errors = Mutex<[any Error]>([])
        DispatchQueue.concurrentPerform(iterations: 40) { number in
            do {
                try KeyFile.set("v", for: "k\(number)", in: "A", at: path)
            } catch {
                errors.withLock { $0.append(error) }
            }
        }
        #expect(errors.withLock { $0.isEmpty })
        #expect(Configuration(paths: [path]).group("A").count == 40)
    }

    @Test func `dangling links and pipes are not written`() throws {
        let directory = try TemporaryDirectory()
        let (link, pipe) = (directory.appending("link"), directory.appending("pipe"))
        symlink("nowhere", link)
        mkfifo(pipe, 0o600)
        for path in [link, pipe] {
            #expect(throws: KeyFile.FileError.self) {
                try KeyFile.set("v", for: "k", in: "A", at: path)
            }
        }
    }
}
