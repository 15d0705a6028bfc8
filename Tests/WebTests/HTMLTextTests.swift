import TestSupport
import Testing

@testable import Web

struct HTMLTextTests {
    @Test(arguments: [
        // HTML that servers send.
        ("<p>image post</p>", "image post"),
        ("<p>one</p><p>two<br>three<br />four</p>", "one\n\ntwo\nthree\nfour"),
        (
            #"<p>see <a href="https://halcy.de/a/long/path"><span class="invisible">https://</span><span class="ellipsis">halcy.de/a/lo</span><span class="invisible">ng/path</span></a> now</p>"#,
            "see halcy.de/a/lo… now"
        ),
        (
            #"<p><span class="h-card"><a href="https://x/@halcy" class="u-url mention">@<span>halcy</span></a></span> hi <a class="mention hashtag" rel="tag">#<span>cats</span></a></p>"#,
            "@halcy hi #cats"
        ),
        (#"<p class="quote-inline">RE: <a href="x">x</a></p><p>yes</p>"#, "yes"),
        (
            #"nice <img class="emoji" alt=":blobcat:" src="x.png"> cat :trans_heart:"#,
            "nice :blobcat: cat :trans_heart:"
        ),
        ("<ul><li>a</li><li>b</li></ul>c", "a\nb\n\nc"),
        ("<pre><code>a  b\n  c</code></pre>d  e\n f", "a  b\n  c\n\nd e f"),
        ("<blockquote><p>q</p></blockquote><p>a</p>", "q\n\na"),
        ("plain  text\nof old", "plain text of old"),
        ("  <p> a </p>  <p></p><p> b </p> ", "a\n\nb"),
        // Character references.
        ("you can&#39;t say &quot;that&quot; &amp; &lt;b&gt;", "you can't say \"that\" & <b>"),
        ("&#x1F600;&#128512;&#X41;&#65", "😀😀AA"),
        ("&nbsp;x&eacute;&Eacute;&hearts;&AMP&copy", "\u{a0}xéÉ♥&©"),
        ("&#0;&#xD800;&#x110000;&#99999999999999999999;", "\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
        ("&#x80;&#150;", "€–"),
        ("&;&#;&#x;&unknown;&amp;amp;&", "&;&#;&#x;&unknown;&amp;&"),
        ("&notit;", "¬it;"), ("&ltx", "<x"),
        (#"<img alt="a&amp;b&copy=c&#39;">"#, "a&b&copy=c'"),
        // Hidden contents.
        ("a<script>alert('<p>')</script>b<style>p{}</style>c", "abc"),
        ("a<SCRIPT>x</ScRiPt >b", "ab"), ("a<script>never ends", "a"),
        ("a<script>x</scripty></script>b", "ab"),
        ("a<!-- <p> -- > -->b<!-->c<!--->d<!doctype html>e<?php ?>f", "abcdef"),
        ("a<!-- x --!>b", "ab"), ("a<!-- x", "a"), ("<template><p>x</p></template>y", "y"),
        ("<title>t</title><head>h</head>b", "b"),
        // Invalid HTML.
        ("a < b <3 c", "a < b <3 c"), ("a<", "a<"), ("a</", "a</"), ("a</>b</3>c", "abc"),
        ("a<b", "a"), ("a<b c=\"d", "a"), ("<p title='>'>a</p>", "a"), ("<p =a/b>c", "c"),
        ("</p>a</div></div>b", "a\nb"), ("<p>a<p>b", "a\n\nb"), ("<i><b>a</i>b</b>c", "abc"),
        ("<span class='invisible'>a<i>b</span>c", "c"),
        ("a\u{0}b", "ab"), ("", ""),
    ])
    func `HTML is converted to the displayed text`(html: String, text: String) {
        #expect(HTMLText.plain(html) == text)
    }

    @Test func `invalid HTML is converted without a crash`() {
        let seed = Simulation.seed
        var random = SeededRandom(seed: seed)
        let pieces = [
            "<", ">", "</", "<p", "<script>", "</script>", "<!--", "-->", "&", "&#", "&#x", ";",
            "amp", "class=\"invisible\"", "'", "\"", "=", " ", "\n", "<br/>", "é", "\u{0}", "<pre>",
            "</pre>", "<span class='ellipsis'>", "</span>", "39", "\u{10ffff}",
        ]
        for _ in 0..<2000 {
            let count = Int.random(in: 0..<40, using: &random)
            let html = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            let text = HTMLText.plain(html)
            #expect(
                !text.hasPrefix("\n") && !text.hasSuffix("\n"), "IMAGEFEED_SEED=\(seed) \(html)")
            #expect(!text.contains("\n\n\n"), "IMAGEFEED_SEED=\(seed) \(html)")
        }
    }
}

/// The time of conversions, which tests that run at the same time would change.
@Suite(.timeLimit(.minutes(10)))
struct HTMLTextLoadTests {
    /// Returns the shortest time of several conversions: a machine that pauses lengthens only some of them.
    private func time(_ html: String, attempts: Int) -> Duration {
        let times = (0..<attempts).map { _ in
            ContinuousClock().measure { _ = HTMLText.plain(html) }
        }
        return times.min() ?? .zero
    }

    @Test(arguments: [
        "<p>", "</p>", "<", "&", "&#1", "<!--", "<script>", "<script></scrip", "<a b='", "<a b=c ",
        "<span class=invisible>", "&amp", "a ", "\n", "</", "<br>",
    ])
    func `repeated pieces take linear time`(piece: String) {
        let html = String(repeating: piece, count: 300_000 / piece.utf8.count)
        #expect(HTMLText.plain(html).utf8.count <= HTMLText.maximumInput)
        // The whole text has 16 times the length. A quadratic conversion would take 256 times as long.
        let count = HTMLText.maximumInput / piece.utf8.count
        let whole = String(repeating: piece, count: count)
        let part = time(String(repeating: piece, count: count / 16), attempts: 5)
        var times: [Duration] = []
        repeat {
            times.append(time(whole, attempts: 1))
            if times[times.count - 1] < part * 80 { return }
        } while times.count < 5
        Issue.record("\(times) for the whole text, and \(part) for a part of it")
    }
}
