// LoopbackHTTP is a separate module, because programs that are not tests use it without a bus and the testing library.
// Tests import it through this module.
@_exported public import LoopbackHTTP
