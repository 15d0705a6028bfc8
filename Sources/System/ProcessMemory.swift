internal import CLinux
internal import Glibc

/// The memory use of the process.
package enum ProcessMemory {
    /// Releases memory that is not needed until the next request: free heap, and the read-only pages of programs and
    /// libraries, which the kernel reads from their files again on access.
    ///
    /// Takes about a millisecond. The first accesses to the released memory take about another millisecond in total.
    package static func trim() {
        malloc_trim(0)
        dl_iterate_phdr(
            { object, _, _ in
                if let object { ProcessMemory.dropReadOnlyPages(of: object.pointee) }
                return 0
            }, nil)
    }

    private static func dropReadOnlyPages(of object: shim_loaded_object) {
        let page = UInt(sysconf(Int32(_SC_PAGESIZE)))
        for header in UnsafeBufferPointer(start: object.headers, count: Int(object.header_count))
        // The memory of a segment that is writable, even temporarily during relocation, differs from the file.
        where header.p_type == PT_LOAD && header.p_flags & UInt32(PF_W) == 0 {
            let start = UInt(object.address + header.p_vaddr)
            let end = (start + UInt(header.p_filesz) + page - 1) & ~(page - 1)
            let first = start & ~(page - 1)
            madvise(UnsafeMutableRawPointer(bitPattern: first), Int(end - first), MADV_DONTNEED)
        }
    }
}
