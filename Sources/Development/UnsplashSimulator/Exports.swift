// Whoever asks this service wants to make it fail, and to see what was asked, as with any other.
@_exported public import ServiceSimulator
