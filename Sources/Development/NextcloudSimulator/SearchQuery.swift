internal import ServiceSimulator
internal import XML

/// A search request, evaluated in the same way as by a server with a database.
///
/// Source: RFC 5323; `FileSearchBackend.php` (`search`, `getFolderForPath`) and `SearchBuilder.php` of server 31 for its
/// limits and scopes, and of 29.0.11 for the TypeError.
struct SearchQuery {
    /// An error response: the status and the exception.
    struct Failure: Error {
        let status: Int
        let message: String
        var exception: String?
    }

    /// A value of a property in the database. nil is NULL.
    enum Value: Comparable {
        case number(Int)
        case text(String)
    }

    /// The value of a property of a file.
    typealias Properties = (_ property: String, SimulatedFile) -> Value?

    /// The paths of the folders.
    let scopes: [String]
    let selected: [XMLElement]
    let limit: Int
    private let condition: XMLElement
    private let order: [(property: String, isDescending: Bool)]
    private let version: Version

    /// Reads the body of a request.
    init(_ root: XMLElement, _ version: Version) throws(Failure) {
        self.version = version
        guard root.name == "searchrequest", let search = root.child("basicsearch"),
            let scopes = search.child("from")?.children.compactMap({ $0.child("href")?.text }),
            !scopes.isEmpty, let condition = search.child("where")?.children.first
        else { throw Failure(status: 400, message: "Invalid search request") }
        self.scopes = scopes
        self.condition = condition
        selected = search.child("select")?.child("prop")?.children ?? []
        limit = search.child("limit")?.child("nresults").flatMap { Int($0.text) } ?? 100
        order = (search.child("orderby")?.children ?? []).map { order in
            (
                order.child("prop")?.children.first?.name ?? "",
                order.child("descending") != nil
            )
        }
        guard Self.comparisons(in: condition) <= 100 else {
            throw Failure(
                status: 500,
                message: "Invalid search query, maximum operator limit of 100 exceeded")
        }
        for property in order.map(\.property) { try check(property, isOrder: true) }
        try check(condition)
    }

    /// Counts as `FileSearchBackend::countSearchOperators`.
    private static func comparisons(in condition: XMLElement) -> Int {
        ["and", "or", "not"].contains(condition.name)
            ? condition.children.reduce(0) { $0 + comparisons(in: $1) } : 1
    }

    /// Checks the properties and operators of a condition.
    private func check(_ condition: XMLElement) throws(Failure) {
        switch condition.name {
        case "and", "or":
            for child in condition.children { try check(child) }
        case "not":
            guard let child = condition.children.first,
                !["and", "or", "not"].contains(child.name)
            else {
                throw Failure(
                    status: 500, message: "Binary operators inside \"not\" is not supported")
            }
            try check(child)
        case "is-defined" where version == .v28:
            throw Failure(status: 500, message: "Unsupported operation is-defined")
        case "eq", "lt", "lte", "gt", "gte", "like", "is-defined":
            let property = condition.child("prop")?.children.first?.name ?? ""
            try check(property, isOrder: false)
            guard version != .v29 || !property.hasPrefix("metadata-") else {
                throw Failure(
                    status: 500,
                    message:
                        "OC\\Files\\Cache\\SearchBuilder::getParameterForValue(): Argument #3 ($paramType) must be of type string, null given",
                    exception: "TypeError")
            }
            let operators: Set =
                switch property {
                case "fileid", "favorite": ["eq"]
                case "getcontenttype", "displayname": ["eq", "like"]
                default: ["eq", "lt", "lte", "gt", "gte", "is-defined"]
                }
            guard operators.contains(condition.name) else {
                throw Failure(
                    status: 500,
                    message: "Unsupported comparison for field \(property): \(condition.name)")
            }
        default: throw Failure(status: 400, message: "Unsupported operation \(condition.name)")
        }
    }

    private func check(_ property: String, isOrder: Bool) throws(Failure) {
        var known: Set = ["getcontenttype", "getlastmodified", "favorite"]
        if !isOrder { known.formUnion(["fileid", "displayname"]) }
        if version.hasMetadata { known.insert("metadata-photos-original_date_time") }
        guard known.contains(property) else {
            throw Failure(
                status: 400,
                message: "requested property is not a valid property for this scope: \(property)")
        }
    }

    /// Returns the matching files. The order of files with equal values is arbitrary, as in a database.
    func results(_ files: [SimulatedFile], _ value: Properties) -> [SimulatedFile] {
        let found = files.filter { matches($0, condition, value) == true }
        let ordered = found.sorted { left, right in
            for (property, isDescending) in order {
                let (first, second) = (value(property, left), value(property, right))
                guard first != second else { continue }
                // NULL is the highest value, as in PostgreSQL.
                guard let first else { return isDescending }
                guard let second else { return !isDescending }
                return isDescending ? first > second : first < second
            }
            return Self.arbitrary(left.id) < Self.arbitrary(right.id)
        }
        // The server sorts results of several storages again, without the values of metadata.
        return ordered.prefix(limit).sorted { Self.arbitrary($0.id) < Self.arbitrary($1.id) }
    }

    private static func arbitrary(_ id: Int) -> Int { id &* 7919 % 1009 }

    /// Evaluates a condition with the logic of SQL: nil is unknown.
    private func matches(
        _ file: SimulatedFile, _ condition: XMLElement, _ value: Properties
    ) -> Bool? {
        func results() -> [Bool?] { condition.children.map { matches(file, $0, value) } }
        switch condition.name {
        case "and":
            let all = results()
            return all.contains(false) ? false : all.contains(nil) ? nil : true
        case "or":
            let all = results()
            return all.contains(true) ? true : all.contains(nil) ? nil : false
        case "not": return condition.children.first.flatMap { matches(file, $0, value) }.map { !$0 }
        default: break
        }
        let property = condition.child("prop")?.children.first?.name ?? ""
        let own = value(property, file)
        guard condition.name != "is-defined" else { return own != nil }
        guard let own else { return nil }
        let literal = condition.child("literal")?.text ?? ""
        if property == "favorite" { return own == .number(1) }
        if condition.name == "like", case .text(let text) = own {
            return text.hasPrefix(literal.prefix { $0 != "%" })
        }
        let other: Value? =
            if case .number = own {
                Int(literal).map(Value.number) ?? Self.time(literal).map(Value.number)
            } else { .text(literal) }
        guard let other else { return nil }
        return switch condition.name {
        case "eq": own == other
        case "lt": own < other
        case "lte": own <= other
        case "gt": own > other
        default: own >= other
        }
    }

    /// Parses `2026-11-22T20:00:00+00:00`.
    private static func time(_ text: String) -> Int? {
        let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
        guard numbers.count == 8, text.hasSuffix("+00:00") else { return nil }
        return Moment(year: numbers[0], month: numbers[1], day: numbers[2]).secondsSince1970
            + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
    }
}
