import Contract
import DBus
import Foundation
import TestSupport
import Testing

@testable import ControlCommands

@MainActor @Suite(.privateBus, .fakeService, .timeLimit(.minutes(10))) struct DownloadTests {
    /// Creates and returns the working folder of the program.
    private func folder() throws -> String {
        let path = try PrivateBus.current.directory.appending("downloads")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: try folder()).sorted()
    }

    private func content(_ name: String) throws -> String {
        try Control.content("downloads/\(name)")
    }

    @discardableResult
    private func download(_ words: String, status: Int32 = 0) async throws -> Outputs {
        try await Control.shell(
            "cd '\(try folder())' && exec \"$CTL\" download \(words)", status: status)
    }

    @Test(arguments: [
        ("7", "7.jpg", "7.jpg"), ("local_ada/7 -o .", "7.jpg", "7.jpg"),
        ("7 -o photo", "photo", "photo"), ("-Xy -o ./", "./_2dXy.jpg", "_2dXy.jpg"),
        ("local_ada/../../x", "_2e._2f.._2fx.jpg", "_2e._2f.._2fx.jpg"),
    ])
    func `a photo is saved under its ID`(words: String, path: String, name: String) async throws {
        let result = try await download(words)
        #expect((result.output, result.error) == (path + "\n", ""))
        #expect(try files() == [name])
        #expect(try content(name) == FakeTransfer.bytes)
    }

    @Test func `a saved file has the default mode of new files`() async throws {
        try await Control.shell("cd '\(try folder())' && umask 027 && exec \"$CTL\" download 7")
        var status = stat()
        #expect(stat(try folder() + "/7.jpg", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o640)
    }

    @Test func `an existing file is replaced only with --force`() async throws {
        let path = try folder() + "/7.jpg"
        try "mine".write(toFile: path, atomically: false, encoding: .utf8)
        let refused = try await download("7", status: 1)
        #expect(refused.error.contains("--force"))
        #expect(service.account.transfers.value.isEmpty)
        #expect(try content("7.jpg") == "mine")
        try await download("7 --force")
        #expect(try content("7.jpg") == FakeTransfer.bytes)
        #expect(try files() == ["7.jpg"])
    }

    /// Runs a shell command in the folder; `$e` is a byte that is not UTF-8.
    private func shell(_ line: String, status: Int32 = 0) async throws -> Outputs {
        try await Control.shell(
            "cd '\(try folder())' && e=$(printf '\\351') && set -e && LC_ALL=C && \(line)",
            status: status)
    }

    @Test(arguments: ["-o \"caf$e.jpg\"", "--output \"caf$e.jpg\"", "\"--output=./caf$e.jpg\""])
    func `a path that is not UTF-8 keeps its bytes`(words: String) async throws {
        let result = try await shell(
            "test \"$(\"$CTL\" download 7 \(words))\" -ef \"caf$e.jpg\"; ls | od -An -c")
        #expect(result.output.split(separator: " ").joined() == "caf351.jpg\\n\n")
    }

    @Test func `a photo on this computer keeps a name that is not UTF-8`() async throws {
        service.account.imagePath = "\(try folder())/links/7"
        let result = try await shell(
            """
            mkdir links; ln -s "/pictures/caf$e.jpg" links/7
            "$CTL" download 7 >/dev/null; ls *.jpg | od -An -c
            """)
        #expect(result.output.split(separator: " ").joined() == "caf351.jpg\\n\n")
    }

    @Test func `a photo is saved in a folder whose name is not UTF-8`() async throws {
        let result = try await shell(
            """
            mkdir "d$e"
            test "$("$CTL" download 7 -o "d$e")" = "d$e/7.jpg"
            cat "d$e/7.jpg"
            """)
        #expect(result.output == FakeTransfer.bytes)
    }

    @Test(arguments: ["photo \"$e\"", "feed --source=\"$e\"", "like -- -o \"$e\""])
    func `an argument other than UTF-8 is refused unless it is a path`(words: String) async throws {
        let result = try await shell("\"$CTL\" \(words)", status: 64)
        #expect(result.error.contains("is not valid UTF-8."), "\(result.error)")
    }

    @Test func `--force replaces the target of a symbolic link`() async throws {
        let result = try await shell(
            """
            mkdir a b; echo mine >b/photo; chmod 604 b/photo
            ln -s ../b/photo a/second; ln -s a/second link
            "$CTL" download 7 -o link --force
            readlink link a/second; cat b/photo; stat -c ' %a' b/photo; find * | sort
            """)
        #expect(
            result.output
                == "link\na/second\n../b/photo\nthe photo 604\na\na/second\nb\nb/photo\nlink\n")
    }

    @Test func `--force creates the missing target of a symbolic link`() async throws {
        let result = try await shell(
            "ln -s new link; \"$CTL\" download 7 -o link --force; readlink link; cat new")
        #expect(result.output == "link\nnew\nthe photo")
    }

    @Test(arguments: ["mkfifo x", "ln -s x x", "ln -s /dev/null x"])
    func `--force replaces only regular files`(setup: String) async throws {
        let result = try await shell("\(setup); \"$CTL\" download 7 -o x --force", status: 1)
        #expect(result.error.hasPrefix("imagefeedctl: x cannot be "), "\(result.error)")
        #expect(service.account.transfers.value.isEmpty)
        #expect(try files() == ["x"])
    }

    @Test func `a file that is created meanwhile is not replaced`() async throws {
        let path = try folder() + "/slow.jpg"
        let control = try Control.start(["download", "slow", "-o", path])
        let transfer = try await service.account.transfers.wait { $0.first }
        try "mine".write(toFile: path, atomically: false, encoding: .utf8)
        transfer.succeed()
        #expect(try await control.exitStatus() == .code(1))
        #expect(try content("slow.jpg") == "mine")
        #expect(try files() == ["slow.jpg"])
    }

    @Test func `a killed download leaves no file`() async throws {
        let control = try Control.start(["download", "slow", "-o", try folder()])
        _ = try await service.account.transfers.wait { $0.first }
        control.kill(SIGKILL)
        #expect(try await control.exitStatus() == .signal(SIGKILL))
        #expect(try files() == [])
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `Ctrl-C cancels the download and leaves no file`(signal: Int32) async throws {
        let control = try Control.start(["download", "slow", "-o", try folder()])
        let transfer = try await service.account.transfers.wait { $0.first }
        #expect(try files() == [])
        control.kill(signal)
        #expect(try await control.exitStatus() == .code(130))
        #expect(throws: ErrorReply.self) { try transfer.result.value?.get() }
        #expect(try files() == [])
    }

    @Test(arguments: [(ServiceError.offline, Int32(75)), (.storageFull, 1), (.serviceFailed, 1)])
    func `a failed download leaves no file`(error: ServiceError, status: Int32) async throws {
        let control = try Control.start(["download", "slow", "-o", try folder()])
        try await service.account.transfers.wait { $0.first }.fail(error)
        let result = try await control.result(status: status)
        #expect(result.output == "")
        #expect(result.error.hasPrefix("imagefeedctl: It did not work."))
        #expect(try files() == [])
    }

    @Test(arguments: ["7 -o missing/x", "7 -o missing/", "7 -o /proc/x", "NotFound"])
    func `a download that cannot be saved is not started`(words: String) async throws {
        let result = try await download(words, status: 1)
        #expect(result.error.split(separator: "\n").count == 1)
        #expect(service.account.transfers.value.isEmpty)
        #expect(try files() == [])
    }

    @Test func `a terminal shows the progress`() async throws {
        let terminal = try Terminal("\"$CTL\" download slow -o \(try folder())")
        try await terminal.wait(for: "  0%  0 B of 3.0 MB")
        let transfer = try await service.account.transfers.wait { $0.first }
        transfer.advance()
        try await terminal.wait(for: " 50%  1.5 MB of 3.0 MB")
        transfer.succeed()
        let screen = try await terminal.screen()
        #expect(screen.hasSuffix("\r\u{1B}[2K\(try folder())/slow.jpg\n"))
    }

    @Test(arguments: [(0, 40), (1, 40), (1_500_000, 80), (3_000_000, 20), (9_000_000, 200)])
    func `the progress bar fits the terminal`(received: Int, columns: Int) {
        var progress = TransferProgress()
        #expect(progress.line(columns) == "0 B")
        progress.apply(["Received": .uint64(UInt64(received)), "Total": .uint64(3_000_000)])
        let line = progress.line(columns)
        #expect(line.count < columns)
        #expect(line.contains("% "))
        #expect(line.filter { $0 == "#" || $0 == "." }.count <= 44)
    }

    @Test(arguments: [
        (UInt64(0), "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_999, "999.9 kB"),
        (1_000_000, "1.0 MB"), (.max, "18.4 EB"),
    ])
    func `sizes have a suitable unit`(bytes: UInt64, text: String) {
        #expect(TransferProgress.size(bytes) == text)
    }

    @Test(arguments: [
        ("7", "image/png", "7.png"), ("a b/ü", "image/svg+xml", "a_20b_2f_c3_bc"),
        ("..", nil, "_2e."), ("-rf", "../../x", "_2drf"),
    ])
    func `a service cannot choose the name of a file`(id: String, type: String?, name: String) {
        #expect(DownloadCommand.fileName(ofID: id, mediaType: type) == name)
        #expect(
            DownloadCommand.fileName(ofID: String(repeating: "é", count: 999), mediaType: type)
                .utf8.count < 210)
    }
}
