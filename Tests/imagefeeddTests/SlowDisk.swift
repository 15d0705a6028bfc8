import Foundation
import TestSupport
import Testing

/// A preloaded library that makes file system calls of the daemon slow, hang or fail.
@MainActor
struct SlowDisk {
    /// The fault of calls with paths that contain a text.
    enum Fault {
        case delay(microseconds: Int, String)
        case hang(String)
        case fail(Int32, String)
    }

    private let control: String
    /// The program that starts the daemon with the library, with its arguments.
    let launcher: [String]

    /// Compiles the library.
    init() async throws {
        let directory = try PrivateBus.current.directory
        control = directory.appending("slow-disk.control")
        let source = try directory.write(Self.source, to: "slow-disk.c")
        let library = directory.appending("slow-disk.so")
        let compiler = try ChildProcess(
            "/usr/bin/cc", ["-shared", "-fPIC", "-O1", "-o", library, source],
            environment: ["PATH": "/usr/bin:/bin"])
        try #require(try await compiler.exitStatus() == .code(0))
        launcher = ["/usr/bin/env", "LD_PRELOAD=\(library)", "SLOW_DISK_CONTROL=\(control)"]
    }

    /// Sets the faults and removes the previous ones.
    func set(_ faults: [Fault]) throws {
        let lines = faults.map { fault in
            switch fault {
            case .delay(let microseconds, let text): "d \(microseconds) \(text)\n"
            case .hang(let text): "h 0 \(text)\n"
            case .fail(let code, let text): "f \(code) \(text)\n"
            }
        }
        // Atomically, because the library may read the file at any time.
        try Data(lines.joined().utf8).write(to: URL(filePath: "\(control).new"))
        rename("\(control).new", control)
    }

    private static let source = """
        #define _GNU_SOURCE
        #include <dirent.h>
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <stdarg.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <unistd.h>

        /* Returns 0 or an error. */
        static int fault(const char *path) {
            const char *control = getenv("SLOW_DISK_CONTROL");
            if (!control || !path) return 0;
            for (;;) {
                char text[4096], *rest = text, *line;
                int hangs = 0, file = syscall(SYS_openat, AT_FDCWD, control, O_RDONLY | O_CLOEXEC);
                if (file < 0) return 0;
                ssize_t count = syscall(SYS_read, file, text, sizeof text - 1);
                syscall(SYS_close, file);
                if (count < 0) return 0;
                text[count] = 0;
                while ((line = strsep(&rest, "\\n")) && *line) {
                    int number, start;
                    if (sscanf(line + 1, "%d %n", &number, &start) < 1) continue;
                    if (!strstr(path, line + 1 + start)) continue;
                    if (*line == 'd') usleep(number);
                    if (*line == 'f') return number;
                    if (*line == 'h') hangs = 1;
                }
                if (!hangs) return 0;
                usleep(5000);
            }
        }

        #define REAL(type, name) ((type)dlsym(RTLD_NEXT, name))
        #define CHECK(path, failed) \\
            do { int code = fault(path); if (code) { errno = code; return failed; } } while (0)

        int stat(const char *path, struct stat *status) {
            CHECK(path, -1);
            return REAL(int (*)(const char *, struct stat *), "stat")(path, status);
        }

        int lstat(const char *path, struct stat *status) {
            CHECK(path, -1);
            return REAL(int (*)(const char *, struct stat *), "lstat")(path, status);
        }

        DIR *opendir(const char *path) {
            CHECK(path, NULL);
            return REAL(DIR *(*)(const char *), "opendir")(path);
        }

        int inotify_add_watch(int file, const char *path, unsigned mask) {
            CHECK(path, -1);
            return REAL(int (*)(int, const char *, unsigned), "inotify_add_watch")(file, path, mask);
        }

        #define OPEN(name) \\
            int name(const char *path, int flags, ...) { \\
                va_list arguments; \\
                va_start(arguments, flags); \\
                int mode = va_arg(arguments, int); \\
                va_end(arguments); \\
                CHECK(path, -1); \\
                return syscall(SYS_openat, AT_FDCWD, path, flags, mode); \\
            }
        OPEN(open)
        OPEN(open64)
        """
}
