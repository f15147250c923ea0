package secrets

import (
	"bytes"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// discordAt finds tokens of bots: 24 to 28 bytes of base64 that begin like a number, the dot at
// b[dot], 6 bytes, a dot, 27 to 38 bytes.
func (s *scan) discordAt(dot int) {
	b := s.b
	if dot+7 >= len(b) || b[dot+7] != '.' || dot < 23 ||
		chars.RunEnd(b[:dot+7], dot+1, chars.IsURLSafe) != dot+7 {
		return
	}
	end := chars.RunEnd(b[:min(len(b), dot+8+39)], dot+8, chars.IsURLSafe)
	start := dot
	for start > 0 && dot-start < 28 && chars.IsURLSafe(b[start-1]) &&
		!(dot-start >= 23 && chars.StartsToken(b, start)) {
		start--
	}
	if n := end - dot - 8; n < 27 || n > 38 || dot-start < 23 || !chars.StartsToken(b, start) ||
		bytes.IndexByte([]byte("MNO"), b[start]) < 0 {
		return
	}
	s.add(start, end, "discord")
}

// mailgunAt finds 32, 8 and 8 hexadecimal digits with dashes between them, the first dash at b[i].
func (s *scan) mailgunAt(i int) {
	b := s.b
	if i < 32 || i+18 > len(b) || b[i+9] != '-' || !lowerHex(b[i+1:i+9]) ||
		!lowerHex(b[i+10:i+18]) ||
		!lowerHex(b[i-32:i]) ||
		!chars.StartsToken(b, i-32) || i+18 < len(b) && chars.IsURLSafe(b[i+18]) {
		return
	}
	s.add(i-32, i+18, "mailgun")
}

// facebookAt finds access tokens of apps: 15 or 16 digits, the bar at b[i], and 27 to 40 bytes of
// base64.
func (s *scan) facebookAt(i int) {
	b := s.b
	if i < 15 || !chars.IsDigit(b[i-1]) || !chars.IsDigit(b[i-15]) {
		return
	}
	start := chars.RunStart(b, max(0, i-17), i, chars.IsDigit)
	end := chars.RunEnd(b, i+1, chars.IsURLSafe)
	if n := i - start; n < 15 || n > 16 || end-i-1 < 27 || end-i-1 > 40 ||
		!chars.Measure(b[i+1:end]).Mixed() {
		return
	}
	s.add(start, end, "facebook")
}

// bitlockerAt finds recovery passwords of BitLocker: eight numbers of six digits, the first dash at
// b[i].
func (s *scan) bitlockerAt(i int) {
	const size = 8*7 - 1
	if i < 6 || i-6+size > len(s.b) || !chars.StartsToken(s.b, i-6) {
		return
	}
	for n, c := range s.b[i-6 : i-6+size] {
		if n%7 == 6 != (c == '-') || n%7 != 6 && !chars.IsDigit(c) {
			return
		}
	}
	s.add(i-6, i-6+size, strongKey.Class())
}

func lowerHex(body []byte) bool {
	return chars.Only(body, func(c byte) bool { return chars.IsHex(c) && !chars.IsUpper(c) })
}

// dsnAt finds the password in user:PASSWORD@tcp(host)/db, which is no URL. The @ is at b[i].
func (s *scan) dsnAt(i, _ int) {
	b := s.b
	start, colon := i, -1
	for start > max(0, i-256) && isAuthority(b[start-1]) {
		start--
		if b[start] == ':' {
			colon = start
		}
	}
	if colon >= 0 && colon+1 < i && !standIn(unmarked(b[colon+1:i])) {
		s.add(colon+1, i, "url-password")
	}
}
