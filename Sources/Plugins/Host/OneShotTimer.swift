internal import System

/// The timer of plugins and their connections.
typealias OneShotTimer = MainLoopTimer
