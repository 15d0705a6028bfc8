// Simulators and their tests use the random numbers, observed values and errors of LoopbackHTTP.
@_exported public import LoopbackHTTP
