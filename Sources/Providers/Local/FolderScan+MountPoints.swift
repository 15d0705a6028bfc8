internal import Storage

/// File systems that are not mounted.
extension FolderScan {
    /// Returns the mount points of the last scan at which no file system is mounted now.
    func lostMounts() throws -> Set<[UInt8]> {
        if let lostMountPoints { return lostMountPoints }
        let known = try index { index throws(StorageError) in try index.mountPoints }
        let lost = known.isEmpty ? [] : known.subtracting(files.mountPoints)
        lostMountPoints = lost
        return lost
    }

    /// Returns true if an empty folder was the mount point of a file system that is not mounted now. An empty mount
    /// point does not prove that the photos are deleted.
    func isLostMountPoint(_ path: [UInt8]) throws -> Bool {
        let lost = try lostMounts()
        return !lost.isEmpty && lost.contains(files.realPath(path) ?? path)
    }

    /// Returns true if a path does not exist because its file system is not mounted. The folder of the mount point may be
    /// deleted, as udisks does it when a disk is removed.
    func isBelowLostMountPoint(_ path: [UInt8]) throws -> Bool {
        let lost = try lostMounts()
        guard !lost.isEmpty else { return false }
        let path = files.realPath(path) ?? path
        for mountPoint in lost where path == mountPoint || RelativePath.isBelow(path, mountPoint) {
            switch files.list(mountPoint, watch: {}) {
            case .success(let listing): if listing.isEmpty { return true }
            case .failure: return true
            }
        }
        return false
    }
}
