internal import CSandbox
internal import Glibc

/// The system calls that a process may make from now on: seccomp. Every other call fails with `EPERM`.
///
/// A call through the interface of another architecture kills the process.
///
/// Source: seccomp(2).
package struct SystemCallFilter {
    private var instructions: [sock_filter] = []
    /// The result of calls without a rule.
    private let otherwise: UInt32

    /// - Parameter allowsOthers: True if calls without a rule are allowed; false if they fail with `EPERM`.
    package init(allowsOthers: Bool = false) {
        otherwise = allowsOthers ? Self.allowing : Self.failure(EPERM)
        let architecture: UInt32
        #if arch(x86_64)
            architecture = 0xc000_003e
        #elseif arch(arm64)
            architecture = 0xc000_00b7
        #else
            #error("The number of this architecture is missing: AUDIT_ARCH in linux/audit.h")
        #endif
        load(at: Self.architectureOffset)
        jump(unless: architecture, over: 1)
        add(BPF_JMP | BPF_JA, 1)
        result(0x8000_0000)  // SECCOMP_RET_KILL_PROCESS
        load(at: Self.numberOffset)
        #if arch(x86_64)
            // x32 has the same architecture number but its own call numbers.
            add(BPF_JMP | BPF_JGE | BPF_K, 0x4000_0000, over: 1)
            result(Self.failure(ENOSYS))
        #endif
    }

    /// Allows calls.
    package mutating func allow(_ calls: [some BinaryInteger]) { decide(calls, Self.allowing) }

    /// Allows a call if all 64 bits of an argument are 0.
    package mutating func allow(_ call: some BinaryInteger, argumentIsZero argument: Int) {
        let offset = Self.argumentsOffset + 8 * UInt32(argument)
        jump(unless: UInt32(call), over: 6)
        load(at: offset)
        jump(unless: 0, over: 3)
        load(at: offset + 4)
        jump(unless: 0, over: 1)
        result(Self.allowing)
        load(at: Self.numberOffset)
    }

    private mutating func decide(_ calls: [some BinaryInteger], _ verdict: UInt32) {
        for call in calls {
            jump(unless: UInt32(call), over: 1)
            result(verdict)
        }
    }

    /// Decides about a call if the masked bits of an argument have a value. Only the low 32 bits of the argument are
    /// compared.
    ///
    /// - Parameters:
    ///   - verdict: The result of the call.
    ///   - call: The number of the call.
    ///   - argument: The index of the argument, from 0.
    ///   - mask: The bits that are compared.
    ///   - value: The value of these bits.
    mutating func check(
        _ verdict: UInt32, _ call: some BinaryInteger, argument: Int, mask: UInt32 = .max,
        is value: UInt32
    ) {
        jump(unless: UInt32(call), over: 5)
        load(at: Self.argumentsOffset + 8 * UInt32(argument))
        add(BPF_ALU | BPF_AND | BPF_K, mask)
        jump(unless: value, over: 1)
        result(verdict)
        load(at: Self.numberOffset)
    }

    /// Makes calls fail with an error.
    mutating func refuse(_ calls: [some BinaryInteger], with code: Int32 = EPERM) {
        decide(calls, Self.failure(code))
    }

    /// Enforces the filter for all threads.
    ///
    /// - Throws: ``SandboxError``.
    package func enforce() throws(SandboxError) {
        var whole = wholeProgram
        let count = UInt16(whole.count)
        let code = whole.withUnsafeMutableBufferPointer { instructions in
            var program = sock_fprog(len: count, filter: instructions.baseAddress)
            return shim_filter_system_calls(&program)
        }
        try ProcessRestrictions.check(code, "Filtering system calls")
    }

    /// The filter for a process that is about to start: `struct sock_filter`, 8 bytes each.
    package var program: [UInt64] { wholeProgram.map { unsafeBitCast($0, to: UInt64.self) } }

    private var wholeProgram: [sock_filter] {
        var whole = self
        whole.result(otherwise)
        return whole.instructions
    }

    // MARK: Instructions

    static let allowing: UInt32 = 0x7fff_0000  // SECCOMP_RET_ALLOW
    /// The call waits for the decision of the ``SystemCallListener``. Without a listener, `imagefeed-plugin-launcher`
    /// makes the filter allow it.
    static let consulting: UInt32 = 0x7fc0_0000  // SECCOMP_RET_USER_NOTIF
    // struct seccomp_data; both architectures are little-endian.
    private static let numberOffset: UInt32 = 0
    private static let architectureOffset: UInt32 = 4
    private static let argumentsOffset: UInt32 = 16

    static func failure(_ code: Int32) -> UInt32 { 0x0005_0000 | UInt32(code) }

    private mutating func load(at offset: UInt32) { add(BPF_LD | BPF_W | BPF_ABS, offset) }

    private mutating func jump(unless value: UInt32, over count: UInt8) {
        add(BPF_JMP | BPF_JEQ | BPF_K, value, over: count)
    }

    private mutating func result(_ value: UInt32) { add(BPF_RET | BPF_K, value) }

    /// Adds an instruction. A condition that is false skips the next `count` instructions.
    private mutating func add(_ code: Int32, _ value: UInt32, over count: UInt8 = 0) {
        instructions.append(sock_filter(code: UInt16(code), jt: 0, jf: count, k: value))
    }
}
