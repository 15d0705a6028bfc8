import Foundation
import TestSupport
import Testing

/// A preloaded library that makes file system calls of the daemon hang.
@MainActor
struct SlowDisk {
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

    /// Makes calls hang whose paths contain a text, until the next call of this function.
    func hang(_ text: String?) throws {
        // Atomically, because the library may read the file at any time.
        try Data((text ?? "").utf8).write(to: URL(filePath: "\(control).new"))
        rename("\(control).new", control)
    }

    private static let source = """
        #define _GNU_SOURCE
        #include <dirent.h>
        #include <dlfcn.h>
        #include <fcntl.h>
        #include <stdarg.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <unistd.h>

        static void wait_while_hanging(const char *path) {
            const char *control = getenv("SLOW_DISK_CONTROL");
            for (;;) {
                char text[4096];
                int file = control && path ? syscall(SYS_openat, AT_FDCWD, control, O_RDONLY | O_CLOEXEC) : -1;
                if (file < 0) return;
                ssize_t count = syscall(SYS_read, file, text, sizeof text - 1);
                syscall(SYS_close, file);
                if (count <= 0) return;
                text[count] = 0;
                if (!strstr(path, text)) return;
                usleep(5000);
            }
        }

        #define REAL(type, name) (wait_while_hanging(path), (type)dlsym(RTLD_NEXT, name))

        int stat(const char *path, struct stat *status) {
            return REAL(int (*)(const char *, struct stat *), "stat")(path, status);
        }

        int lstat(const char *path, struct stat *status) {
            return REAL(int (*)(const char *, struct stat *), "lstat")(path, status);
        }

        DIR *opendir(const char *path) {
            return REAL(DIR *(*)(const char *), "opendir")(path);
        }

        int inotify_add_watch(int file, const char *path, unsigned mask) {
            return REAL(int (*)(int, const char *, unsigned), "inotify_add_watch")(file, path, mask);
        }

        #define OPEN(name) \\
            int name(const char *path, int flags, ...) { \\
                va_list arguments; \\
                va_start(arguments, flags); \\
                int mode = va_arg(arguments, int); \\
                va_end(arguments); \\
                wait_while_hanging(path); \\
                return syscall(SYS_openat, AT_FDCWD, path, flags, mode); \\
            }
        OPEN(open)
        OPEN(open64)
        """
}
