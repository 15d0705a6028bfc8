internal import Dispatch
internal import Glibc
internal import System

// The program that tests a plugin for `imagefeedctl provider test`. It prints one JSON object per line: the plugin,
// each check, and the exit status.

// The HTTP client requires that SIGPIPE is ignored.
signal(SIGPIPE, SIG_IGN)
MainLoop.use()
umask(0o077)

guard let options = CommandLine.arguments.dropFirst().first.flatMap({ Options($0) }) else {
    exit(EX_USAGE)
}

Report.endWithReader()
Task { exit(await ProviderTest.run(options)) }
MainLoop.run()
