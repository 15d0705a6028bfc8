// The parts that need neither a bus nor the testing library lie apart, for programs that are no tests; whoever
// writes a test has them from here.
@_exported public import LoopbackHTTP
