package sanitize

import "bytes"

// wordSpans finds values that a name precedes without a separator of code: in prose (the password is …), in a call
// ("KEY", "…"), in a table (| Key | … |), in XML (<key>…</key>) and in SQL (PASSWORD '…').
func wordSpans(found []span, b []byte) []span {
	runs := bareRuns{b: b}
	found = isSpans(found, b, &runs)
	found = callSpans(found, b)
	found = tableSpans(found, b)
	found = elementSpans(found, b)
	return sqlSpans(found, b)
}

// isSpans reads "the password is hunter2".
func isSpans(found []span, b []byte, runs *bareRuns) []span {
	for at := 0; ; {
		i := indexFrom(b, at, " is ")
		if i < 0 {
			return found
		}
		at = i + len(" is ")
		if kind := keyBefore(b, i); kind != noKey {
			if v := valueAfter(runs, at); v.start < v.end && b[v.start] != '*' && judge(b[v.start:v.end], false, kind) {
				found = append(found, span{v.start, v.end, kind.class()})
			}
		}
	}
}

// callSpans reads ("KEY", "value"), as in Setenv, Set and put.
func callSpans(found []span, b []byte) []span {
	for at := 0; ; {
		i := indexFrom(b, at, ",")
		if i < 0 {
			return found
		}
		at = i + 1
		if i < 3 || !isQuote(b[i-1]) {
			continue
		}
		end := i - 1
		for end > 0 && b[end-1] == '\\' {
			end--
		}
		kind := keyOf(b[nameStart(b, end):end])
		if kind == noKey {
			continue
		}
		open := nameStart(b, end) - 1
		for open > 0 && (isQuote(b[open]) || b[open] == '\\') {
			open--
		}
		quote := openingQuote(b, blanks(b, at))
		if open < 0 || b[open] != '(' || quote < 0 {
			continue
		}
		v := quotedValue(b, quote)
		if kind == headerKey && bytes.IndexByte(b[v.start:v.end], ' ') >= 0 {
			continue // the rule for headers keeps the scheme
		}
		if judge(b[v.start:v.end], true, kind) {
			found = append(found, span{v.start, v.end, kind.class()})
		}
	}
}

// tableSpans reads | Key | value |, and a column of values under a key.
func tableSpans(found []span, b []byte) []span {
	var columns []keyKind // of the table's first row
	for start := 0; start < len(b); {
		end := start + bytes.IndexByte(b[start:], '\n')
		if end < start {
			end = len(b)
		}
		line := b[start:end]
		if bytes.IndexByte(line, '|') < 0 {
			columns, start = nil, end+1
			continue
		}
		first := columns == nil
		before := noKey
		n := 0
		for at := 0; at < len(line); n++ {
			cellEnd := at + bytes.IndexByte(line[at:], '|')
			if cellEnd < at {
				cellEnd = len(line)
			}
			from, to := trimCell(line, at, cellEnd)
			cell := line[from:to]
			at = cellEnd + 1
			kind := before
			if n < len(columns) && columns[n] != noKey {
				kind = columns[n]
			}
			before = cellKey(cell)
			if first {
				columns = append(columns, before)
			}
			if kind != noKey && judge(cell, false, kind) {
				found = append(found, span{start + from, start + to, kind.class()})
			}
		}
		start = end + 1
	}
	return found
}

// trimCell leaves out the blanks, quotes and emphasis around line[from:to].
func trimCell(line []byte, from, to int) (int, int) {
	in := func(c byte) bool { return isSpace(c) || isQuote(c) || c == '*' }
	from = runEnd(line[:to], from, in)
	for to > from && in(line[to-1]) {
		to--
	}
	return from, to
}

// cellKey decides what kind of key a cell names, which may be in words.
func cellKey(cell []byte) keyKind {
	if len(cell) == 0 || len(cell) > maxKey || runEnd(cell, 0, func(c byte) bool { return isDotted(c) || c == ' ' }) != len(cell) {
		return noKey
	}
	return keyOf(cell)
}

// elementSpans reads <key>value</key>, and an element with the key in an attribute before its value.
func elementSpans(found []span, b []byte) []span {
	for at := 0; ; {
		i := indexFrom(b, at, "</")
		if i < 0 {
			return found
		}
		at = i + len("</")
		start := i
		for start > max(0, i-4*maxBare) && b[start-1] != '>' && b[start-1] != '<' && b[start-1] != '\n' {
			start--
		}
		if start == i || start < 2 || b[start-1] != '>' {
			continue
		}
		end := trimKey(b, start-1)
		if kind := keyOf(b[nameStart(b, end):end]); kind != noKey && judge(b[start:i], true, kind) {
			found = append(found, span{start, i, kind.class()})
		}
	}
}

// sqlSpans reads PASSWORD '…' and IDENTIFIED BY '…'.
func sqlSpans(found []span, b []byte) []span {
	for _, word := range [...]string{"PASSWORD", "password", "BY", "by"} {
		for at := 0; ; {
			i := indexFrom(b, at, word)
			if i < 0 {
				break
			}
			at = i + len(word)
			if word == "BY" || word == "by" {
				before := bytes.TrimRight(b[max(0, i-16):i], " ")
				if n := len(before) - len("IDENTIFIED"); n < 0 || !bytes.EqualFold(before[n:], []byte("IDENTIFIED")) {
					continue
				}
			}
			quote := blanks(b, at)
			if quote == at || !startsToken(b, i) || quote >= len(b) || b[quote] != '\'' {
				continue
			}
			if v := quotedValue(b, quote); judge(b[v.start:v.end], true, strongKey) {
				found = append(found, span{v.start, v.end, strongKey.class()})
			}
		}
	}
	return found
}
