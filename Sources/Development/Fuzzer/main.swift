// Passes the inputs of libFuzzer to one of the parsers of untrusted data.
//
//   Fuzzer PARSER [option of libFuzzer…] [corpus folder…]
//   Fuzzer --list
//
// If a parser traps, violates memory safety or exceeds its time limit, the program ends and stores the input. See
// `dist/fuzz`.

internal import CFuzzer
internal import Glibc

let name = CommandLine.arguments.dropFirst().first ?? ""
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
var count = CommandLine.argc - 1
// The name of the parser is not an argument of libFuzzer.
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
exit(
    LLVMFuzzerRunDriver(&count, &arguments) { data, size in
        MainActor.assumeIsolated {
            chosenParser(Array(UnsafeBufferPointer(start: data, count: size)))
        }
        return 0
    })
