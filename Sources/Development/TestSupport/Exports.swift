// LoopbackHTTP needs neither a bus nor the testing library, and is a module of its own for programs that are not tests.
// Tests get it from here.
@_exported public import LoopbackHTTP
