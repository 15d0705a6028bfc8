internal import Glibc
package import ServiceSimulator

/// The state of the simulated service.
package struct CommonsState: SimulatedState {
    package var faults = FaultPlan()
    var origin = ""
    var imageOrigin = ""
    var pictures: [SimulatedPicture] = []
    var lag = 0
    var imagesPerResponse = 500
    var showsIcons = false
    var refusedWidths: Set<Int> = []
    private var lastPage = 1000

    var now: Moment { Moment(time(nil)) }

    /// Adds the picture of the day of a time.
    @discardableResult
    mutating func add(
        _ date: Moment, _ change: (inout SimulatedPicture) -> Void
    ) -> SimulatedPicture {
        lastPage += 7
        var picture = SimulatedPicture(page: lastPage, date: date)
        change(&picture)
        pictures.append(picture)
        return picture
    }

    package func username(_ request: RecordedRequest) -> String? { nil }

    package mutating func reply(to request: RecordedRequest, _ fault: Fault?) -> Reply {
        if let reply = fault?.replacement { return reply }
        var reply = request.host == .commons ? apiReply(request) : imageReply(request)
        fault?.change(&reply)
        return reply
    }
}
