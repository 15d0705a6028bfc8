internal import CLinux
internal import Glibc

/// What the process takes of the machine's memory.
enum Footprint {
    /// Gives back what is not needed until the next request: free heap, and the pages of programs and
    /// libraries that only read what is in their file, which come back from there when they are used.
    ///
    /// Takes about a millisecond, and as much again when everything is used once more.
    static func shrink() {
        malloc_trim(0)
        dl_iterate_phdr(
            { object, _, _ in
                if let object { Footprint.dropReadOnlyPages(of: object.pointee) }
                return 0
            }, nil)
    }

    private static func dropReadOnlyPages(of object: shim_loaded_object) {
        let page = UInt(sysconf(Int32(_SC_PAGESIZE)))
        for header in UnsafeBufferPointer(start: object.headers, count: Int(object.header_count))
        // A segment that is written to, if only while the library is loaded, is not what the file has.
        where header.p_type == PT_LOAD && header.p_flags & UInt32(PF_W) == 0 {
            let start = UInt(object.address + header.p_vaddr)
            let end = (start + UInt(header.p_filesz) + page - 1) & ~(page - 1)
            let first = start & ~(page - 1)
            madvise(UnsafeMutableRawPointer(bitPattern: first), Int(end - first), MADV_DONTNEED)
        }
    }
}
