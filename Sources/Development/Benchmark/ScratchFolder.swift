internal import Glibc

/// A home folder with photos, without the user's files.
final class ScratchFolder {
    static let folders = 40
    private static var all: [String] = []
    /// A gray picture of 64 by 48 pixels. A slideshow passes over photos that cannot be decoded.
    private static let png: [UInt8] = [
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
        0x44, 0x52, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x30, 0x08, 0x00, 0x00, 0x00,
        0x00, 0x84, 0x20, 0x23, 0xc3, 0x00, 0x00, 0x00, 0x28, 0x49, 0x44, 0x41, 0x54, 0x78,
        0xda, 0xed, 0xcc, 0x31, 0x11, 0x00, 0x00, 0x08, 0x04, 0xa0, 0xd7, 0x98, 0xf6, 0x0f,
        0x62, 0x08, 0x37, 0x0f, 0x02, 0x50, 0x93, 0x9b, 0x8e, 0x40, 0x20, 0x10, 0x08, 0x04,
        0x02, 0x81, 0x40, 0x20, 0x78, 0x1a, 0x2c, 0x9e, 0x10, 0x00, 0xba, 0x75, 0x47, 0x09,
        0x10, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
    ]

    private let path: String
    private let photos: Int

    /// - Parameter photos: The number of photos that ``addPhotos()`` creates.
    /// - Throws: `BenchmarkError`.
    init(photos: Int) throws {
        self.photos = photos
        var template = Array("/tmp/imagefeed-benchmark.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchmarkError.system("mkdtemp") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        Self.all.append(path)
        let local = ["home/.local", "home/.local/share", "home/.local/state"]
        for name in ["home", "tmp", "run", "home/.cache", "home/.config", "home/Pictures"] + local {
            try make(name)
        }
    }

    /// Registers a program as an activatable service: the bus starts it on the first message to a name.
    func addService(_ name: String, program: String) throws {
        try? make("home/.local/share/dbus-1")
        try? make("home/.local/share/dbus-1/services")
        try write(
            "[D-BUS Service]\nName=\(name)\nExec=\"\(program)\"\n",
            to: "home/.local/share/dbus-1/services/\(name).service")
    }

    static func removeAll() {
        all.forEach(removeTree)
        all = []
    }

    var environment: [String: String] {
        [
            "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
            "HOME": "\(path)/home",
            "TMPDIR": "\(path)/tmp",
            "XDG_CACHE_HOME": "\(path)/home/.cache",
            "XDG_CONFIG_DIRS": "\(path)/etc",
            "XDG_CONFIG_HOME": "\(path)/home/.config",
            "XDG_DATA_HOME": "\(path)/home/.local/share",
            "XDG_PICTURES_DIR": "\(path)/home/Pictures",
            "XDG_RUNTIME_DIR": "\(path)/run",
            "XDG_STATE_HOME": "\(path)/home/.local/state",
        ]
    }

    /// Creates the photos in all folders, with dates one minute apart.
    func addPhotos() throws {
        for folder in 0..<Self.folders { try make("home/Pictures/Album \(folder)") }
        for photo in 0..<photos {
            let folder = "\(path)/home/Pictures/Album \(photo % Self.folders)"
            try addPhoto("\(folder)/Photo \(photo).png", takenAt: 1_600_000_000 + photo * 60)
        }
    }

    /// Returns the number of photos in a folder.
    func count(in folder: Int) -> Int {
        photos / Self.folders + (folder < photos % Self.folders ? 1 : 0)
    }

    /// Renames a folder `Album NUMBER`.
    func renameFolder(_ number: Int, to name: String) throws {
        try rename("Album \(number)", "\(name) \(number)")
    }

    /// Moves all other folders `Album NUMBER` into a new one.
    func moveAll(to name: String) throws {
        try make("home/Pictures/\(name)")
        for folder in 1..<Self.folders { try rename("Album \(folder)", "\(name)/Album \(folder)") }
    }

    private func rename(_ old: String, _ new: String) throws {
        let pictures = "\(path)/home/Pictures"
        guard Glibc.rename("\(pictures)/\(old)", "\(pictures)/\(new)") == 0 else {
            throw BenchmarkError.system(old)
        }
    }

    /// Installs plugins in separate folders and in the plugin folder of a daemon.
    ///
    /// - Parameters:
    ///   - swift: The provider of Unsplash as a program.
    ///   - manifest: The manifest of the program.
    /// - Returns: The folder that contains one folder for each plugin.
    /// - Throws: The errors of creating and copying files.
    func addPlugins(swift: String, manifest: String) throws -> String {
        let data = "home/.local/share/imagefeed"
        for name in ["plugins", "plugins/splash", "plugins/rss", data, "\(data)/providers"] {
            try make(name)
        }
        for folder in ["plugins/splash", "\(data)/providers"] {
            try make("\(folder)/splash")
            try PluginFiles.copy(swift, to: "\(path)/\(folder)/splash/splash")
            try write(manifest, to: "\(folder)/splash.provider")
        }
        for folder in ["plugins/rss", "\(data)/providers"] {
            try make("\(folder)/rss")
            for (source, target) in [("rss.py", "rss/rss.py"), ("rss.provider", "rss.provider")] {
                try PluginFiles.copy(
                    "dist/examples/rss/\(source)", to: "\(path)/\(folder)/\(target)")
            }
        }
        try make("home/.config/imagefeed")
        try write(
            "[Provider splash]\nAllowLoopback=true\n", to: "home/.config/imagefeed/imagefeed.conf")
        return "\(path)/plugins"
    }

    /// Installs the plugin of `dist/development/flood-plugin.py` once for each flood.
    func addFloods(_ floods: [String], seconds: Int, servers: [String]) throws {
        let data = "home/.local/share/imagefeed"
        for name in [data, "\(data)/providers", "\(data)/providers/flood"] { try make(name) }
        try PluginFiles.copy(
            "dist/development/flood-plugin.py", to: "\(path)/\(data)/providers/flood/flood.py")
        var configuration = ""
        for flood in floods {
            try write(
                """
                [Provider]
                Id=flood_\(flood)
                Name=\(flood)
                Exec=/usr/bin/python3 ./flood/flood.py \(flood)
                Capabilities=feed;
                DefaultSource=home
                Sources=home;
                Hosts=\(servers.joined(separator: ";"));
                [Authentication]
                Type=none

                """, to: "\(data)/providers/flood_\(flood).provider")
            configuration += """
                [Provider flood_\(flood)]
                AllowLoopback=true
                Seconds=\(seconds)
                Servers=\(servers.joined(separator: " "))

                """
        }
        try make("home/.config/imagefeed")
        try write(configuration, to: "home/.config/imagefeed/imagefeed.conf")
    }

    private func write(_ text: String, to name: String) throws {
        let file = "\(path)/\(name)"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BenchmarkError.system(file) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw BenchmarkError.system(file)
        }
    }

    /// Changes the date of the last photo to the current time.
    func touchPhoto() throws {
        let photo = photos - 1
        let file = "\(path)/home/Pictures/Album \(photo % Self.folders)/Photo \(photo).png"
        guard utimensat(AT_FDCWD, file, nil, 0) == 0 else { throw BenchmarkError.system(file) }
    }

    private func addPhoto(_ file: String, takenAt time: Int) throws {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BenchmarkError.system(file) }
        defer { close(descriptor) }
        let moment = timespec(tv_sec: time, tv_nsec: 0)
        guard Glibc.write(descriptor, Self.png, Self.png.count) == Self.png.count,
            futimens(descriptor, [moment, moment]) == 0
        else { throw BenchmarkError.system(file) }
    }

    private func make(_ name: String) throws {
        guard mkdir("\(path)/\(name)", 0o700) == 0 else { throw BenchmarkError.system(name) }
    }
}
