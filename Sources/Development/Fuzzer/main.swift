// Feeds what libFuzzer thinks up to one of the parsers that read what strangers send.
//
//   Fuzzer PARSER [option of libFuzzer…] [corpus folder…]
//   Fuzzer --list
//
// A parser that traps, overruns memory or takes too long ends the program, and the input is kept. See
// `dist/fuzz`.

internal import CFuzzer
internal import Glibc

let name = CommandLine.arguments.dropFirst().first ?? ""
if name == "--list" {
    for parser in parsers.keys.sorted() { print(parser) }
    exit(EXIT_SUCCESS)
}
guard let parser = parsers[name] else {
    var line = "Fuzzer: there is no parser “\(name)”; --list names them\n"
    line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(EX_USAGE)
}

chosenParser = parser
var count = CommandLine.argc - 1
// The name of the parser is none of libFuzzer's arguments.
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
exit(
    LLVMFuzzerRunDriver(&count, &arguments) { data, size in
        MainActor.assumeIsolated {
            chosenParser(Array(UnsafeBufferPointer(start: data, count: size)))
        }
        return 0
    })
