// Users of this simulator also need the faults and recorded requests of `ServiceSimulator`.
@_exported public import ServiceSimulator
