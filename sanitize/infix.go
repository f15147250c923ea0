package sanitize

import "bytes"

// infixSpans finds the formats that are known by what stands inside them.
func infixSpans(found []span, b []byte) []span {
	found = telegramSpans(found, b)
	found = twilioSpans(found, b)
	found = discordSpans(found, b)
	found = aroundSpans(found, b, around{class: "terraform", mark: ".atlasv1.", in: isAlnum, before: 14, after: 60, most: 80, then: isURLSafe})
	found = aroundSpans(found, b, around{class: "azure", mark: "8Q~", in: isAlnum, before: 3, after: 31, most: 36, then: isDotTilde})
	found = aroundSpans(found, b, around{class: "azure", mark: "7Q~", in: isAlnum, before: 3, after: 31, most: 36, then: isDotTilde})
	found = aroundSpans(found, b, around{class: "mailchimp", mark: "-us", in: isHex, before: 32, after: 1, most: 2, then: isDigit})
	found = mailgunSpans(found, b)
	return dsnSpans(found, b)
}

// around describes a token with a mark inside: exactly before bytes of one alphabet in front of it, and between after and
// most bytes of another one behind.
type around struct {
	class       string
	mark        string
	in          func(byte) bool
	before      int
	after, most int
	then        func(byte) bool
}

func isDotTilde(c byte) bool { return isDotted(c) || c == '~' }

func aroundSpans(found []span, b []byte, a around) []span {
	for at := 0; ; {
		i := indexFrom(b, at, a.mark)
		if i < 0 {
			return found
		}
		at = i + len(a.mark)
		start := i
		for start > 0 && i-start <= a.before && a.in(b[start-1]) && (i-start < a.before || !startsToken(b, start)) {
			start--
		}
		end := runEnd(b[:min(len(b), at+a.most+1)], at, a.then)
		if i-start != a.before || !startsToken(b, start) || end-at < a.after || end-at > a.most {
			continue
		}
		found = append(found, span{start, end, a.class})
		at = end
	}
}

// twilioSpans finds API keys: SK and 32 hexadecimal digits.
func twilioSpans(found []span, b []byte) []span {
	for at := 0; ; {
		start := indexFrom(b, at, "SK")
		if start < 0 {
			return found
		}
		at = start + len("SK")
		if !startsToken(b, start) {
			continue
		}
		if end := runEnd(b[:min(len(b), at+33)], at, isAlnum); end-at == 32 && lowerHex(b[at:end]) {
			found = append(found, span{start, end, "twilio"})
			at = end
		}
	}
}

// discordSpans finds the tokens of bots: 24 to 28 bytes of base64 that begin as a number does, a dot, 6, a dot, 27 to 38.
func discordSpans(found []span, b []byte) []span {
	for at := 0; ; {
		dot := indexFrom(b, at, ".")
		if dot < 0 {
			return found
		}
		at = dot + 1
		if dot+7 >= len(b) || b[dot+7] != '.' || runEnd(b[:dot+7], dot+1, isURLSafe) != dot+7 {
			continue
		}
		end := runEnd(b[:min(len(b), dot+8+39)], dot+8, isURLSafe)
		start := dot
		for start > 0 && dot-start < 28 && isURLSafe(b[start-1]) && !(dot-start >= 23 && startsToken(b, start)) {
			start--
		}
		if n := end - dot - 8; n < 27 || n > 38 || dot-start < 23 || !startsToken(b, start) || bytes.IndexByte([]byte("MNO"), b[start]) < 0 {
			continue
		}
		found = append(found, span{start, end, "discord"})
		at = end
	}
}

// mailgunSpans finds 32, 8 and 8 hexadecimal digits with dashes between them.
func mailgunSpans(found []span, b []byte) []span {
	for at := 0; ; {
		i := indexFrom(b, at, "-")
		if i < 0 {
			return found
		}
		at = i + 1
		if i < 32 || i+18 > len(b) || b[i+9] != '-' || !lowerHex(b[i-32:i]) || !lowerHex(b[i+1:i+9]) || !lowerHex(b[i+10:i+18]) ||
			!startsToken(b, i-32) || i+18 < len(b) && isURLSafe(b[i+18]) {
			continue
		}
		found = append(found, span{i - 32, i + 18, "mailgun"})
		at = i + 18
	}
}

// dsnSpans finds the password in user:PASSWORD@tcp(host)/db, which is no URL.
func dsnSpans(found []span, b []byte) []span {
	for _, mark := range [...]string{"@tcp(", "@unix("} {
		for at := 0; ; {
			i := indexFrom(b, at, mark)
			if i < 0 {
				break
			}
			start, colon := i, -1
			for start > max(at, i-256) && isAuthority(b[start-1]) {
				start--
				if b[start] == ':' {
					colon = start
				}
			}
			at = i + len(mark)
			if colon >= 0 && colon+1 < i && !standIn(unmarked(b[colon+1:i])) {
				found = append(found, span{colon + 1, i, "url-password"})
			}
		}
	}
	return found
}
