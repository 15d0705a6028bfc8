/// A character reference: `&amp;`, `&#39;`, `&#x1F600;`.
///
/// Source: WHATWG HTML §13.2.5.72 to §13.2.5.80; the names of HTML 4, `apos`, and those of characters in keys and
/// addresses. Other names stay unresolved in the text.
enum CharacterReference {
    /// The limit of the length of a name, longer than the longest known name.
    private static let maximumName = 10

    /// Resolves a reference at the start of the input.
    ///
    /// - Parameters:
    ///   - input: Begins with the `&`.
    ///   - inAttribute: True in the value of an attribute, where `&copy=` is not a reference.
    /// - Returns: The UTF-8 bytes of the character, and the length of the reference in the input. Text that is not a
    ///   reference resolves to `&`, with length 1.
    static func resolve(
        _ input: ArraySlice<UInt8>, inAttribute: Bool
    ) -> (bytes: [UInt8], length: Int) {
        let start = input.index(after: input.startIndex)
        guard start < input.endIndex else { return ([UInt8(ascii: "&")], 1) }
        if input[start] == UInt8(ascii: "#") { return number(input, start + 1) }
        return name(input, start, inAttribute: inAttribute)
    }

    private static func name(
        _ input: ArraySlice<UInt8>, _ start: Int, inAttribute: Bool
    ) -> (bytes: [UInt8], length: Int) {
        let word = input[start...].prefix(maximumName).prefix { $0.isLetter || $0.isDigit }
        let isWhole =
            word.endIndex < input.endIndex && input[word.endIndex] == UInt8(ascii: ";")
        if isWhole, let scalar = scalars[String(decoding: word, as: UTF8.self)] {
            return (Array(String(scalar).utf8), word.count + 2)
        }
        // Some names need no semicolon; the longest match counts (§13.2.5.73).
        for length in stride(from: min(word.count, 6), to: 1, by: -1) {
            let name = String(decoding: word.prefix(length), as: UTF8.self)
            guard let scalar = bareScalars[name] else { continue }
            let next = start + length < input.endIndex ? input[start + length] : 0
            if inAttribute, next == UInt8(ascii: "=") || next.isLetter || next.isDigit { break }
            return (Array(String(scalar).utf8), length + 1)
        }
        return ([UInt8(ascii: "&")], 1)
    }

    private static func number(
        _ input: ArraySlice<UInt8>, _ start: Int
    ) -> (bytes: [UInt8], length: Int) {
        var position = start
        var base = 10
        if position < input.endIndex, input[position].lowercased == UInt8(ascii: "x") {
            base = 16
            position += 1
        }
        let digitsStart = position
        var value: UInt32 = 0
        while position < input.endIndex,
            let digit = Character(UnicodeScalar(input[position])).hexDigitValue, digit < base
        {
            // A value beyond Unicode stays at 0x110000 and cannot overflow.
            value = min(value * UInt32(base) + UInt32(digit), 0x110000)
            position += 1
        }
        guard position > digitsStart else { return ([UInt8(ascii: "&")], 1) }
        if position < input.endIndex, input[position] == UInt8(ascii: ";") { position += 1 }
        return (Array(String(scalar(value)).utf8), position - input.startIndex)
    }

    /// Returns the character with a number. Numbers from 0x80 to 0x9f mean the characters of Windows-1252 (§13.2.5.80).
    private static func scalar(_ value: UInt32) -> Unicode.Scalar {
        let replacement: Unicode.Scalar = "\u{fffd}"
        if value == 0 { return replacement }
        if 0x80...0x9f ~= value { return windows[Int(value - 0x80)] }
        return Unicode.Scalar(value) ?? replacement
    }

    private static let windows: [Unicode.Scalar] = Array(
        "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ".unicodeScalars)

    private static let scalars = table(withoutSemicolon + " " + withSemicolon)
    private static let bareScalars = table(withoutSemicolon)

    private static func table(_ text: String) -> [String: Unicode.Scalar] {
        var scalars: [String: Unicode.Scalar] = [:]
        for entry in text.split(whereSeparator: \.isWhitespace) {
            let parts = entry.split(separator: "=")
            guard parts.count == 2, let value = UInt32(parts[1], radix: 16) else { continue }
            scalars[String(parts[0])] = Unicode.Scalar(value)
        }
        return scalars
    }

    /// Names that are also valid without the semicolon, and their characters.
    private static let withoutSemicolon = """
        AElig=c6 AMP=26 Aacute=c1 Acirc=c2 Agrave=c0 Aring=c5 Atilde=c3 Auml=c4 COPY=a9
        Ccedil=c7 ETH=d0 Eacute=c9 Ecirc=ca Egrave=c8 Euml=cb GT=3e Iacute=cd Icirc=ce Igrave=cc
        Iuml=cf LT=3c Ntilde=d1 Oacute=d3 Ocirc=d4 Ograve=d2 Oslash=d8 Otilde=d5 Ouml=d6 QUOT=22
        REG=ae THORN=de Uacute=da Ucirc=db Ugrave=d9 Uuml=dc Yacute=dd aacute=e1 acirc=e2
        acute=b4 aelig=e6 agrave=e0 amp=26 aring=e5 atilde=e3 auml=e4 brvbar=a6 ccedil=e7
        cedil=b8 cent=a2 copy=a9 curren=a4 deg=b0 divide=f7 eacute=e9 ecirc=ea egrave=e8 eth=f0
        euml=eb frac12=bd frac14=bc frac34=be gt=3e iacute=ed icirc=ee iexcl=a1 igrave=ec
        iquest=bf iuml=ef laquo=ab lt=3c macr=af micro=b5 middot=b7 nbsp=a0 not=ac ntilde=f1
        oacute=f3 ocirc=f4 ograve=f2 ordf=aa ordm=ba oslash=f8 otilde=f5 ouml=f6 para=b6
        plusmn=b1 pound=a3 quot=22 raquo=bb reg=ae sect=a7 shy=ad sup1=b9 sup2=b2 sup3=b3
        szlig=df thorn=fe times=d7 uacute=fa ucirc=fb ugrave=f9 uml=a8 uuml=fc yacute=fd yen=a5
        yuml=ff
        """

    /// Names that need the semicolon, and their characters.
    private static let withSemicolon = """
        Alpha=391 Beta=392 Chi=3a7 Dagger=2021 Delta=394 Epsilon=395 Eta=397 Gamma=393 Iota=399
        Kappa=39a Lambda=39b Mu=39c Nu=39d OElig=152 Omega=3a9 Omicron=39f Phi=3a6 Pi=3a0
        Prime=2033 Psi=3a8 Rho=3a1 Scaron=160 Sigma=3a3 Tau=3a4 Theta=398 Upsilon=3a5 Xi=39e
        Yuml=178 Zeta=396 alefsym=2135 alpha=3b1 and=2227 ang=2220 apos=27 asymp=2248 bdquo=201e
        beta=3b2 bull=2022 cap=2229 chi=3c7 circ=2c6 clubs=2663 cong=2245 crarr=21b5 cup=222a
        dArr=21d3 dagger=2020 darr=2193 delta=3b4 diams=2666 empty=2205 emsp=2003 ensp=2002
        epsilon=3b5 equiv=2261 eta=3b7 euro=20ac exist=2203 fnof=192 forall=2200 frasl=2044
        gamma=3b3 ge=2265 hArr=21d4 harr=2194 hearts=2665 hellip=2026 image=2111 infin=221e
        int=222b iota=3b9 isin=2208 kappa=3ba lArr=21d0 lambda=3bb lang=2329 larr=2190
        lceil=2308 ldquo=201c le=2264 lfloor=230a lowast=2217 loz=25ca lrm=200e lsaquo=2039
        lsquo=2018 mdash=2014 minus=2212 mu=3bc nabla=2207 ndash=2013 ne=2260 ni=220b notin=2209
        nsub=2284 nu=3bd oelig=153 oline=203e omega=3c9 omicron=3bf oplus=2295 or=2228
        otimes=2297 part=2202 permil=2030 perp=22a5 phi=3c6 pi=3c0 piv=3d6 prime=2032 prod=220f
        prop=221d psi=3c8 rArr=21d2 radic=221a rang=232a rarr=2192 rceil=2309 rdquo=201d
        real=211c rfloor=230b rho=3c1 rlm=200f rsaquo=203a rsquo=2019 sbquo=201a scaron=161
        sdot=22c5 sigma=3c3 sigmaf=3c2 sim=223c spades=2660 sub=2282 sube=2286 sum=2211 sup=2283
        supe=2287 tau=3c4 there4=2234 theta=3b8 thetasym=3d1 thinsp=2009 tilde=2dc trade=2122
        uArr=21d1 uarr=2191 upsih=3d2 upsilon=3c5 weierp=2118 xi=3be zeta=3b6 zwj=200d zwnj=200c
        colon=3a commat=40 equals=3d lowbar=5f percnt=25 period=2e plus=2b sol=2f
        """
}
