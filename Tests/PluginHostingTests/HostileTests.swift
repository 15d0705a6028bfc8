import Glibc
import HTTP
import LoopbackHTTP
import PluginHosting
import ProviderKit
import TestSupport
import Testing

/// Plugins that misbehave or exceed their permissions.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct HostileTests {

    // MARK: Data and hosts

    @Test(arguments: sandboxes)
    func `a plugin cannot open a connection`(_ level: SandboxKind) async throws {
        let server = try LoopbackServer(LoopbackResponse(text: "secret"))
        let plugin = try PluginFixture(
            """
            show(attempt(lambda: socket.create_connection(("127.0.0.1", \(server.port)), 5)))
            """, level: level)
        #expect(try await plugin.shown() == "PermissionError")
        #expect(server.connections.value.accepted == 0)
    }

    @Test(arguments: sandboxes)
    func `a plugin cannot read SSH keys or the keyring`(_ level: SandboxKind) async throws {
        let directory = try TemporaryDirectory()
        let key = try directory.write("PRIVATE", to: "home/.ssh/id_ed25519")
        let socket = directory.appending("run/keyring")
        let listener = try boundSocket(SOCK_STREAM, at: socket)
        defer { close(listener) }
        try #require(listen(listener, 5) == 0)
        let plugin = try PluginFixture(
            """
            def keyring():
                s = socket.socket(socket.AF_UNIX); s.connect("\(socket)")
            show([attempt(lambda: open("\(key)").read()),
                  attempt(keyring), attempt(lambda: open("/proc/\(getpid())/environ").read()),
                  os.environ.get("DBUS_SESSION_BUS_ADDRESS")])
            """, level: level, directory: directory)
        let shown = try #require(try await plugin.shown())
        #expect(!shown.contains("done"), "\(shown)")
        #expect(shown.contains("PermissionError"))
    }

    @Test(arguments: sandboxes)
    func `a plugin cannot read the data of another account`(_ level: SandboxKind) async throws {
        let directory = try TemporaryDirectory()
        let data = try directory.write("TOKEN", to: "home/.local/share/imagefeed/data.sqlite")
        let plugin = try PluginFixture(
            """
            reply = ask("http", {"account": "7", "url": "https://example.org/"})
            show([attempt(lambda: open("\(data)").read()), reply["error"]["data"]["kind"]])
            """, level: level, directory: directory)
        let shown = try #require(try await plugin.shown())
        #expect(shown.hasSuffix("'denied']"))
        #expect(!shown.contains("done"))
        #expect(plugin.log.value.contains { $0.contains("its account is in no running call") })
    }

    @Test(arguments: sandboxes)
    func `requests of a plugin to other hosts are refused`(_ level: SandboxKind) async throws {
        let http = ScriptedHTTP()
        let plugin = try PluginFixture(
            """
            def kind(url):
                return ask("http", {"account": account, "url": url})["error"]["data"]["kind"]
            show([kind(url) for url in ("https://evil.test/", "http://127.0.0.1/", "http://example.org/",
                "https://example.org@evil.test/", "file:///etc/passwd", "https://[::1]/")])
            """, level: level, http: http)
        let shown = try #require(try await plugin.shown())
        #expect(shown.ranges(of: "forbidden-address").count == 4, "\(shown)")
        #expect(shown.ranges(of: "invalid-address").count == 2, "\(shown)")
        #expect(http.requests.value.isEmpty)
        #expect(plugin.log.value.contains { $0.contains("https://evil.test is not in Hosts") })
        #expect(
            plugin.log.value.contains { $0.contains("“file:///etc/passwd” is not an absolute") })
    }

    @Test(arguments: ["http://127.0.0.1:9/", "https://evil.test/", "http://192.168.0.1/"])
    func `a redirect of a request to another host is refused`(_ target: String) async throws {
        signal(SIGPIPE, SIG_IGN)
        let server = try LoopbackServer(.redirect(to: target))
        let plugin = try PluginFixture(
            """
            show(ask("http", {"account": account, "url": "\(server.origin)/"})["error"]["data"]["kind"])
            """, hosts: "\(server.origin);", http: CurlClient(userAgent: "Test") {})
        #expect(try await plugin.shown() == "forbidden-address")
        #expect(server.connections.value.accepted == 1)
        try await plugin.logged("an HTTP request was refused")
    }

    /// The service did not receive the request, so the error must not report an invalid response of the service.
    @Test(arguments: ["Host", "transfer-encoding", "a b"])
    func `a forbidden header field is a failure of the plugin`(_ name: String) async throws {
        let http = ScriptedHTTP()
        let plugin = try PluginFixture(
            """
            error = ask("http", {"account": account, "url": "https://example.org/",
                "headers": [["\(name)", "x"]]})["error"]
            show([error["data"]["kind"], error["message"]])
            """, http: http)
        let shown = try #require(try await plugin.shown())
        #expect(shown.hasPrefix("['failed', "), "\(shown)")
        #expect(shown.contains("header field “\(name)”"), "\(shown)")
        #expect(http.requests.value.isEmpty)
        try await plugin.logged("an HTTP request was refused")
    }

    // MARK: Resources

    /// Little processor time of the daemon. The window and the time limit of the call do not end first on a busy
    /// machine.
    private static var littleTime: PluginLimits {
        .quick {
            $0.answering = .seconds(300)
            $0.daemonProcessorTime = .milliseconds(100)
            $0.processorWindow = .seconds(300)
        }
    }

    private static let excessiveTime =
        "it takes more than 0.1 seconds of the daemon's processor time in 300 seconds"

    @Test(arguments: sandboxes)
    func `a plugin cannot start processes`(_ level: SandboxKind) async throws {
        let plugin = try PluginFixture(
            """
            import subprocess
            show([attempt(os.fork), attempt(lambda: subprocess.run(["/bin/true"])),
                  attempt(lambda: os.posix_spawn("/bin/true", ["true"], {}))])
            """, level: level)
        #expect(try await plugin.shown() == list("PermissionError", 3))
    }

    @Test(arguments: sandboxes)
    func `a plugin cannot change outer files and processes`(_ level: SandboxKind) async throws {
        let directory = try TemporaryDirectory()
        let key = try directory.write("PRIVATE", to: "home/.ssh/id_ed25519")
        chmod(key, 0o600)
        let plugin = try PluginFixture(
            """
            import ctypes, fcntl, resource, struct
            libc = ctypes.CDLL(None, use_errno=True)
            libc.mmap.restype = ctypes.c_void_p
            # An address whose lower half is 0.
            limit = libc.mmap(ctypes.c_void_p(1 << 32), ctypes.c_size_t(4096), 3, 0x100022, -1, ctypes.c_size_t(0))
            ctypes.memmove(limit, struct.pack("QQ", 16, 16), 16)
            prlimit = {"x86_64": 302, "aarch64": 261}[os.uname().machine]
            def lower():
                if libc.syscall(prlimit, os.getppid(), 7, ctypes.c_void_p(1 << 32), None) != 0: raise OSError
            show([attempt(lambda: os.chmod("\(key)", 0o777)), attempt(lambda: os.chown("\(key)", -1, 0)),
                  attempt(lambda: os.utime("\(key)", (0, 0))), attempt(lambda: os.truncate("\(key)", 0)),
                  attempt(lambda: os.setxattr("\(key)", "user.x", b"1")), attempt(lower),
                  attempt(lambda: os.setpriority(os.PRIO_USER, 0, 19)),
                  attempt(lambda: fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid())),
                  attempt(lambda: fcntl.fcntl(0, 10, 9))])
            """, level: level, directory: directory)
        let shown = try #require(try await plugin.shown())
        #expect(!shown.contains("done"), "\(shown)")
        var status = stat()
        #expect(stat(key, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(status.st_size == 7 && status.st_mtim.tv_sec > 0)
    }

    /// The resources have limits per user, or none.
    @Test(arguments: sandboxes)
    func `a plugin cannot use resources without an own limit`(_ level: SandboxKind) async throws {
        let plugin = try PluginFixture(
            """
            import ctypes, fcntl
            libc = ctypes.CDLL(None, use_errno=True)
            libc.mmap.restype = ctypes.c_void_p
            def mapped(flags):
                address = libc.mmap(None, ctypes.c_size_t(1 << 30), 3, flags, -1, ctypes.c_size_t(0))
                return address != ctypes.c_void_p(-1).value
            io_setup = {"x86_64": 206, "aarch64": 0}[os.uname().machine]
            file = os.open(sys.argv[0], os.O_RDONLY)
            flags = ctypes.create_string_buffer(8)
            show([mapped(0x122), libc.syscall(io_setup, 8192, flags), libc.inotify_init1(0),
                  libc.close_range(ctypes.c_uint(100), ctypes.c_uint(200), 2),
                  attempt(lambda: fcntl.fcntl(0, 1031, 1 << 20)),
                  attempt(lambda: fcntl.fcntl(file, 1024, fcntl.F_WRLCK)),
                  attempt(lambda: fcntl.ioctl(file, 0x40086602, flags)),
                  attempt(lambda: os.getxattr(sys.argv[0], "user.x"))])
            """, level: level)
        #expect(
            try await plugin.shown() == """
                [False, -1, -1, -1, 'PermissionError', 'PermissionError', 'OSError', 'OSError']
                """)
    }

    /// Another process would have no filter.
    @Test func `a plugin in bubblewrap is the only process in its sandbox`() async throws {
        let plugin = try PluginFixture(
            "show([name for name in os.listdir('/proc') if name.isdigit()])")
        #expect(try await plugin.shown() == "['1']")
    }

    @Test func `a plugin cannot change the scheduling of its parent`() async throws {
        let plugin = try PluginFixture(
            """
            parent = os.getppid()
            show([attempt(lambda: os.sched_setaffinity(parent, {0})), attempt(lambda: os.setpriority(0, parent, 19)),
                  attempt(lambda: os.sched_setscheduler(parent, os.SCHED_IDLE, os.sched_param(0))),
                  attempt(lambda: os.nice(1)), attempt(lambda: os.sched_setaffinity(0, {0}))])
            """, level: .landlock)
        let refused = Array(repeating: "'PermissionError'", count: 3).joined(separator: ", ")
        #expect(try await plugin.shown() == "[\(refused), 'done: 11', 'done: None']")
    }

    /// A listener of seccomp would decide about the system calls, and the plugin would outlive the daemon.
    @Test(arguments: sandboxes)
    func `a plugin cannot add a seccomp listener or clear its death signal`(
        _ level: SandboxKind
    ) async throws {
        let plugin = try PluginFixture(
            """
            import ctypes, errno, struct
            libc = ctypes.CDLL(None, use_errno=True)
            def outcome(result): return "done" if result >= 0 else errno.errorcode[ctypes.get_errno()]
            allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
            filter = ctypes.create_string_buffer(struct.pack("H6xP", 1, ctypes.addressof(allow)))
            seccomp = {"x86_64": 317, "aarch64": 277}[os.uname().machine]
            show([outcome(libc.syscall(seccomp, 1, 8, filter)), outcome(libc.syscall(seccomp, 1, 0, filter)),
                  outcome(libc.prctl(1, 0))])
            """, level: level)
        #expect(try await plugin.shown() == "['EPERM', 'done', 'EPERM']")
    }

    @Test(arguments: sandboxes)
    func `a plugin gets no memory beyond its limit`(_ level: SandboxKind) async throws {
        let plugin = try PluginFixture(
            """
            import mmap
            kept = []
            def eat():
                while len(kept) < 4096: kept.append(bytearray(1 << 20))
            heap = attempt(eat)
            size = len(kept); kept.clear()
            show([heap, 256 < size < 512, attempt(lambda: mmap.mmap(-1, 1 << 30)),
                  attempt(lambda: os.memfd_create("x")), attempt(lambda: open("/dev/shm/x", "wb")),
                  attempt(lambda: open("/tmp/x", "wb"))])
            """, level: level)
        let shown = try #require(try await plugin.shown())
        #expect(shown.hasPrefix("['MemoryError', True, 'PermissionError', 'PermissionError', "))
        #expect(!shown.contains("done"), "\(shown)")
    }

    /// Each forwarded notification becomes a signal on the bus.
    @Test(arguments: ["rateLimit", "status"])
    func `notifications about accounts have a limited rate`(_ method: String) async throws {
        let plugin = try PluginFixture(
            """
            for number in range(800):
                state = "loading" if number < 799 else "failed"
                write({"method": "\(method)", "params": {"account": account, "remaining": number, "limit": 1000,
                       "state": state, "reason": str(number)}})
            show("sent")
            """)
        let start = ContinuousClock.now
        #expect(try await plugin.shown() == "sent")
        var count = 0
        for await event in plugin.session.events {
            count += 1
            switch event {
            case .rateLimit(let limit) where limit.remaining == 799: break
            case .status(.failed): break
            default: continue
            }
            break
        }
        // Four in a second, the first one, and the state of a new session; the clocks may differ.
        let limit = (ContinuousClock.now - start) / .milliseconds(250) + 3
        #expect(count >= 2 && Double(count) <= limit, "\(count) events, at most \(limit)")
    }

    @Test(arguments: [
        #"write({"method": "log", "params": {"message": "x"}})"#,
        #"sys.stderr.write("x" * 70 + "\n")"#,
    ])
    func `a plugin that floods its output or its standard error is ended`(
        _ flood: String
    ) async throws {
        let start = ContinuousClock.now
        let plugin = try PluginFixture("while True: \(flood)", limits: Self.littleTime)
        await plugin.expectFailure(Self.excessiveTime)
        try await plugin.logged(Self.excessiveTime)
        // The log contains a part of the messages.
        plugin.expectFewLogLines(since: start)
    }

    /// Each byte is a packet of its own if the plugin sets `O_DIRECT`. A pipe joins bytes that are written without pauses,
    /// and a busy reader then reaches the limit of a message before the limit of time.
    @Test(arguments: ["0", "os.O_DIRECT"])
    func `reading single bytes counts as time for the plugin`(_ flags: String) async throws {
        let plugin = try PluginFixture(
            """
            import fcntl, time
            fcntl.fcntl(1, fcntl.F_SETFL, fcntl.fcntl(1, fcntl.F_GETFL) | \(flags))
            while True: os.write(1, b" "); time.sleep(1e-4)
            """, limits: Self.littleTime)
        await plugin.expectFailure(Self.excessiveTime)
    }

    @Test func `a plugin that sends a gigabyte in a line is ended`() async throws {
        let plugin = try PluginFixture(
            """
            for _ in range(1024): sys.stdout.write("x" * (1 << 20))
            """)
        await plugin.expectFailure("it sends a message of more than 8 MiB")
        try await plugin.logged("process=")
    }

    @Test(arguments: sandboxes)
    func `a plugin that leaves an answer unread is ended`(_ level: SandboxKind) async throws {
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 4 << 20)
        let server = try LoopbackServer(LoopbackResponse(body: body))
        let plugin = try PluginFixture(
            """
            write({"id": "x", "method": "http", "params": {"account": account, "url": "\(server.origin)/"}})
            time.sleep(1000)
            """, limits: .quick { $0.reading = .milliseconds(500) }, level: level,
            hosts: "\(server.origin);", http: CurlClient(userAgent: "Test") {})
        let reason = "it leaves messages unread on its standard input for 0.5 seconds"
        await plugin.expectFailure(reason)
        try await plugin.logged("A plugin failed plugin=odd")
        #expect(plugin.log.value.contains { $0.contains(reason) })
    }

    @Test func `a plugin that reads an answer slowly is not ended`() async throws {
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 4 << 20)
        let server = try LoopbackServer(LoopbackResponse(body: body))
        // The limit is longer than any pause, and shorter than all of them.
        let plugin = try PluginFixture(
            """
            write({"id": "x", "method": "http", "params": {"account": account, "url": "\(server.origin)/"}})
            count = 0
            while count < 4 << 20:
                count += len(os.read(0, 1 << 19))
                time.sleep(0.45)
            show("read")
            """, limits: .quick { $0.reading = .seconds(3) }, hosts: "\(server.origin);",
            http: CurlClient(userAgent: "Test") {})
        #expect(try await plugin.shown() == "read")
    }

    @Test(arguments: sandboxes)
    func `a plugin can read the configuration of OpenSSL`(_ level: SandboxKind) async throws {
        let path = "/etc/ssl/openssl.cnf"
        guard access(path, R_OK) == 0 else { return }
        let plugin = try PluginFixture(
            "show(attempt(lambda: len(open('\(path)').read()) > 0))", level: level)
        #expect(try await plugin.shown() == "done: True")
    }

    @Test(arguments: sandboxes)
    func `a plugin in Node.js starts without a compiler`(_ level: SandboxKind) async throws {
        guard access("/usr/bin/node", X_OK) == 0 else { return }
        let plugin = try PluginFixture(
            command: "/usr/bin/node --jitless ./odd/odd.py",
            program: """
                require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
                    const { id, method } = JSON.parse(line)
                    const photos = [{ id: "1", title: "node" }]
                    const result = method == "initialize" ? { protocol: 1 } : { photos }
                    console.log(JSON.stringify({ jsonrpc: "2.0", id, result }))
                })
                """, level: level)
        #expect(try await plugin.shown() == "node")
    }

    @Test func `a plugin that does not read its input is ended`() async throws {
        let plugin = try PluginFixture(
            "time.sleep(1000)", limits: .quick { $0.lineBytes = 1 << 16 })
        let calls = (0..<3).map { _ in
            Task { try await plugin.session.fetchPage(SourceID("home"), from: nil) }
        }
        // More than the capacity of a pipe.
        let place = String(repeating: "x", count: 4 << 20)
        await #expect(throws: ProviderError.self) {
            try await plugin.session.fetchPage(SourceID("home"), from: place)
        }
        // A call that starts only now starts the plugin again.
        for call in calls { call.cancel() }
        for call in calls { _ = await call.result }
        try await plugin.logged(
            "it does not read its standard input, and more than 64 KiB of messages wait")
    }

    // MARK: Text

    /// Python code of a text with a control character, an override of the direction, a line break, and 7 MB.
    private static let harmfulText = #"("\u001b[31mNo\u202e\nmore " + "x" * (7 << 20))"#

    private func expectHarmless(
        _ texts: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for text in texts {
            #expect(text.utf8.count < 4000, sourceLocation: sourceLocation)
            let isHarmless = ServiceText.line(text) == text
            #expect(isHarmless, "\(text.prefix(200))", sourceLocation: sourceLocation)
        }
    }

    @Test func `the message of a refused start is cleaned and bounded`() async throws {
        let plugin = try PluginFixture(
            opening: """
                lines = sys.stdin
                class Requests:
                    def __iter__(self):
                        for line in lines:
                            error = {"code": -32000, "message": \(Self.harmfulText)}
                            print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "error": error}), flush=True)
                        yield from ()
                sys.stdin = Requests()
                """)
        for _ in 0..<PluginLimits().failures {
            let error = await #expect(throws: ProviderError.self) { try await plugin.page() }
            expectHarmless(["\(String(describing: error))"])
        }
        try await plugin.logged("[31mNo more xxx")
        try await plugin.disablements.wait { $0.isEmpty ? nil : true }
        expectHarmless(plugin.log.value + plugin.disablements.value)
        expectHarmless(["\(plugin.provider.condition.reason)"])
    }

    @Test(arguments: [
        #"write({"id": request["id"], "error": {"code": -32000, "message": harmful}})"#,
        #"write({"id": request["id"], "error": {"code": 1, "message": harmful, "data": {"kind": harmful}}})"#,
        #"write({"id": request["id"], "error": {"code": 1, "message": harmful, "data": {"kind": "denied"}}})"#,
        #"write({"method": "log", "params": {"message": harmful}}); os._exit(3)"#,
        #"sys.stderr.write(harmful[:12000] + "\n"); sys.stderr.flush(); os._exit(3)"#,
        #"write({"id": "x", "method": harmful[:200], "params": {}}); sys.stdin.readline(); os._exit(3)"#,
        #"write({"id": harmful, "method": "http"})"#,
        #"answer({"photos": [{"id": harmful}]})"#,
        #"answer({"photos": [{"id": "1", harmful: 1, "title": 7}]})"#,
        #"ask("http", {"account": account, "url": harmful}); os._exit(3)"#,
    ])
    func `texts in errors and the log are cleaned and bounded`(_ script: String) async throws {
        let plugin = try PluginFixture("harmful = \(Self.harmfulText)\n\(script)")
        let error = await #expect(throws: (any Error).self) { try await plugin.page() }
        expectHarmless(["\(error as Any)"])
        try await plugin.logged("plugin=odd")
        expectHarmless(plugin.log.value)
    }

    @Test func `texts of a page are cleaned and bounded`() async throws {
        let plugin = try PluginFixture(
            """
            harmful = ("\\u001b[31mNo\\u202e\\nmore " + "x" * (1 << 20))
            answer({"photos": [{"id": "1", "title": harmful, "description": harmful, "author": harmful,
                "author_username": harmful, "color": harmful, "media_type": harmful, "url": harmful}]})
            """)
        let photo = try #require(try await plugin.page().photos.first?.photo)
        for text in [photo.title, photo.author, photo.authorUsername] {
            let text = try #require(text)
            #expect(text.hasPrefix("[31mNo more xxx"))
            #expect(text.utf8.count <= ServiceText.maximumLength)
        }
        #expect(photo.description?.hasPrefix("[31mNo\nmore xxx") == true)
        #expect(photo.description?.utf8.count ?? .max <= ServiceText.maximumLength)
        #expect(photo.color == nil && photo.mediaType == nil && photo.url == nil)
    }

    // MARK: Results

    @Test(arguments: [
        ("pass", Duration.milliseconds(300), "0.3 seconds"),
        ("sys.stdout.close(); os.close(1); time.sleep(1000)", .seconds(2), "2 seconds"),
    ])
    func `a call without a result, also without an output, fails after the time limit`(
        _ script: String, _ limit: Duration, _ time: String
    ) async throws {
        let plugin = try PluginFixture(script, limits: .quick { $0.answering = limit })
        await plugin.expectFailure("it did not answer the call page within \(time)")
        try await plugin.logged("it did not answer the call page within \(time)")
    }

    @Test func `a plugin that sends two results for a call is ended`() async throws {
        let plugin = try PluginFixture("show('once'); show('twice')")
        #expect(try await plugin.shown() == "once")
        try await plugin.logged("it sent the result of an unknown call")
    }

    @Test(arguments: [
        ("sys.stdout.write('what?\\n'); sys.stdout.flush()", "a value is missing, in “what?”"),
        (
            "sys.stdout.write('x' * 9999 + '\\n'); sys.stdout.flush()",
            "in “\(String(repeating: "x", count: 99))…”"
        ),
        ("sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush()", "it sent an invalid message"),
        ("write({'method': 'log', 'params': {}})", "it sent an invalid message"),
        ("write({'id': 'x' * 300, 'method': 'http'})", "it sent an invalid message"),
        ("write({'id': 77, 'result': {'photos': []}})", "it sent the result of an unknown call"),
        ("answer([])", "it sent an invalid result"),
        ("answer({'photos': [{'id': 7}]})", "it sent an invalid result"),
        ("os._exit(3)", "ended with status 3"), ("os.abort()", "(signal "),
    ])
    func `an invalid result fails its call`(_ script: String, _ reason: String) async throws {
        let plugin = try PluginFixture(script)
        await plugin.expectFailure(reason)
        try await plugin.logged("plugin=odd")
    }

    @Test func `sources that are not in the manifest are omitted and logged once`() async throws {
        let plugin = try PluginFixture(
            opening: """
                lines = sys.stdin
                class Requests:
                    def __iter__(self):
                        for line in lines:
                            request = json.loads(line)
                            if request["method"] != "sources": yield line
                            else: print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"sources": [
                                {"id": id, "title": id, "kind": "feed"} for id in ("home", "other", "third")]}}), flush=True)
                sys.stdin = Requests()
                """)
        for _ in 0..<2 { #expect(try await plugin.session.sources().map(\.id.text) == ["home"]) }
        let lines = plugin.log.value.filter { $0.contains("are omitted") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("sources=other, third") == true, "\(lines)")
    }

    @Test(arguments: sandboxes)
    func `a plugin that ignores SIGTERM is killed`(_ level: SandboxKind) async throws {
        let plugin = try PluginFixture(
            """
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            show("here")
            while True:
                try: time.sleep(1)
                except BaseException: pass
            """, level: level)
        #expect(try await plugin.shown() == "here")
        plugin.host.stop()
        try await plugin.logged("A plugin did not end in time and was killed")
        try await plugin.logged("A plugin has ended")
    }

    @Test func `five exits disable a plugin until its program changes`() async throws {
        let plugin = try PluginFixture("pass", opening: "sys.exit(1)")
        for _ in 0..<4 { await plugin.expectFailure("status 1") }
        #expect(plugin.disablements.value.isEmpty)
        await plugin.expectFailure("status 1")
        #expect(plugin.disablements.value.count == 1)
        #expect(plugin.provider.condition.state == .disabled)
        await plugin.expectFailure("disabled until its files change")
        await plugin.expectFailure("disabled until its files change")
        #expect(plugin.disablements.value.count == 1)
        #expect(plugin.log.value.count { $0.contains("A plugin failed") } == 5)
        try await plugin.replaceProgram("show('well')")
        #expect(try await plugin.shown() == "well")
        #expect(plugin.provider.condition.state == .ready)
        #expect(plugin.disablements.value.count == 1)
    }

    @Test func `a failed plugin is not started again during its pause`() async throws {
        let plugin = try PluginFixture(
            "os._exit(1)", limits: .quick { $0.firstPause = .seconds(1000) })
        await plugin.expectFailure("status 1")
        await plugin.expectFailure("status 1")
        // The rest of the pause depends on the machine.
        await plugin.expectFailure("is not started again for ")
    }
}

/// The sandboxes in which each plugin is tested.
private let sandboxes: [SandboxKind] = [.bubblewrap, .landlock]
