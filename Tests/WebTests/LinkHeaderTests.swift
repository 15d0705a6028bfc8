import Testing
import Web

struct LinkHeaderTests {
    @Test(arguments: [
        (
            ["<https://a/?page=9>; rel=\"last\", <https://a/?page=2>; rel=\"next\""],
            "https://a/?page=2"
        ),
        (["<b,;c>;rel=next"], "b,;c"),
        (["<a>; rel=\"last\"", "<b>; REL=\"Prev NEXT\""], "b"),
        (["<a>; title=\"x, <c>; rel=\\\"next\\\"\"; rel=last, <b>; rel=next"], "b"),
        (["<a>; rel=prev; rel=next"], nil), (["<a>"], nil), (["a; rel=next"], nil), ([""], nil),
        (["<a; rel=next"], nil), ([], nil), (["<a>; rel"], nil), (["<a>; rel=\"next"], "a"),
        (["<a>;;;; rel=next,,"], "a"), (["<a>;"], nil), (["<a>; =;=,; rel=next"], nil),
    ])
    func `the first target of a relation is returned`(values: [String], target: String?) {
        #expect(LinkHeader.target("next", in: values) == target)
    }
}
