// Passes the inputs of libFuzzer to one of the parsers of untrusted data.
//
//   Fuzzer PARSER [option of libFuzzer…] [corpus folder…]
//   PARSER [option of libFuzzer…] [corpus folder…]
//   Fuzzer --list
//
// If a parser traps, violates memory safety or exceeds its time limit, the program ends and stores the input. See
// `dist/development/fuzz`.

internal import CFuzzer
internal import Glibc

// A copy of the program can have the name of a parser: OSS-Fuzz starts targets without arguments of their own.
let program = String(CommandLine.arguments[0].split(separator: "/").last ?? "")
let isCopy = parsers[program] != nil
let name = isCopy ? program : CommandLine.arguments.dropFirst().first ?? ""
if name == "--list" {
    for parser in parsers.keys.sorted() { print(parser) }
    exit(EXIT_SUCCESS)
}
guard let parser = parsers[name] else {
    var line = "Fuzzer: unknown parser “\(name)”; list the parsers with --list\n"
    line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(EX_USAGE)
}

chosenParser = parser
// The name of the parser is not an argument of libFuzzer.
let skipped = isCopy ? 0 : 1
var count = CommandLine.argc - Int32(skipped)
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? =
    CommandLine.unsafeArgv + skipped
exit(
    LLVMFuzzerRunDriver(&count, &arguments) { data, size in
        MainActor.assumeIsolated {
            chosenParser(Array(UnsafeBufferPointer(start: data, count: size)))
        }
        return 0
    })
