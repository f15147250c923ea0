package loop

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// sentence is 60 characters of which no 50 come twice.
const sentence = "The quick brown fox jumps over the lazy dog and rests a bit. "

// texts feeds deltas.
func texts(d *Detector, deltas ...string) Verdict {
	for _, s := range deltas {
		d.Text(s)
	}
	return d.Verdict()
}

func times(n int, s string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = s
	}
	return list
}

func calls(t testing.TB, d *Detector, list ...string) Verdict {
	t.Helper()
	for _, c := range list {
		name, args, _ := strings.Cut(c, " ")
		if err := d.Call("", name, []byte(args)); err != nil {
			t.Fatal(err)
		}
	}
	return d.Verdict()
}

func repeat(n int, list ...string) (out []string) {
	for range n {
		out = append(out, list...)
	}
	return out
}

func TestCalls(t *testing.T) {
	five := []string{"a", "b", "c", "d", "e"}
	for name, c := range map[string]struct {
		calls []string
		cycle int
	}{
		"none": {nil, 0},
		"four": {repeat(4, `read {"path":"x"}`), 0},
		"five": {repeat(5, `read {"path":"x"}`), 1},
		"order of members": {[]string{`f {"a":1,"b":[{"x":1,"y":2}]}`,
			`f {"b":[{"y":2,"x":1}],"a":1}`, `f {"a":1.0,"b":[{"x":1e0,"y":2}]}`,
			`f { "a" : 1 , "b" : [ {"x":1,"y":2} ] }`, `f {"b":[{"x":1,"y":20e-1}],"a":1}`}, 1},
		"order of elements": {[]string{`f [1,2]`, `f [2,1]`, `f [1,2]`,
			`f [2,1]`, `f [1,2]`}, 0},
		"no arguments":      {[]string{"f", "f {}", "f null", "f", "f {}"}, 1},
		"other arguments":   {append(repeat(4, `f {"n":1}`), `f {"n":2}`), 0},
		"other tool":        {append(repeat(4, "f"), "g", "f"), 0},
		"string and number": {append(repeat(4, `f {"n":1}`), `f {"n":"1"}`), 0},
		"long integers": {append(repeat(4, `f {"n":9007199254740993}`),
			`f {"n":9007199254740992}`), 0},
		"minus zero":                 {append(repeat(4, `f {"n":0}`), `f {"n":-0.0}`), 1},
		"two of a cycle, four times": {repeat(4, "a", "b"), 0},
		"two of a cycle, five times": {repeat(5, "a", "b"), 2},
		"three of a cycle":           {repeat(5, "a", "b", "a"), 3},
		"five of a cycle, 24 calls":  {repeat(5, five...)[:24], 0},
		"five of a cycle":            {repeat(5, five...), 5},
		"six of a cycle":             {repeat(10, "a", "b", "c", "d", "e", "f"), 0},
		"after others": {append(repeat(1, "x", "y", "z"),
			repeat(5, "a", "b")...), 2},
		"broken and begun again": {append(append(repeat(4, "a", "b"), "c"),
			repeat(4, "a", "b")...), 0},
		"five of a cycle after many of others": {append(repeat(6, "1", "2", "3", "4", "5", "6"),
			repeat(5, five...)...), 5},
	} {
		t.Run(name, func(t *testing.T) {
			var d Detector
			v := calls(t, &d, c.calls...)
			want := Verdict{}
			if c.cycle > 0 {
				want = Verdict{Detected: true, Rule: RuleCalls, Period: c.cycle, Count: 1}
			}
			if v != want {
				t.Errorf("got %+v, want %+v", v, want)
			}
		})
	}
}

func TestCallToldAgain(t *testing.T) {
	var d Detector
	for i := range 20 {
		if err := d.Call(fmt.Sprint("call-", i/10), "read", nil); err != nil {
			t.Fatal(err)
		}
	}
	if v := d.Verdict(); v.Detected {
		t.Errorf("two calls, told ten times each, are a loop: %+v", v)
	}
	for _, args := range []string{"{", "{} {}", "{]", "nope", `{"a":1}x`} {
		if err := d.Call("", "f", []byte(args)); err == nil {
			t.Errorf("arguments %q are taken", args)
		}
	}
}

func TestContent(t *testing.T) {
	pad := "" // 190 characters of which no 50 come twice
	for i := range 95 {
		pad += fmt.Sprintf("%02d", i)
	}
	numbered := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprintf("%s and %d is another story.\n", sentence, i))
		}
		return list
	}
	between := func(what string) []string {
		return append(append(times(9, sentence), what), times(9, sentence)...)
	}
	for name, c := range map[string]struct {
		deltas []string
		period int
	}{
		"nothing":       {nil, 0},
		"nine times":    {times(9, sentence), 0},
		"ten times":     {times(10, sentence), len(sentence)},
		"one delta":     {[]string{strings.Repeat(sentence, 10)}, len(sentence)},
		"one character": {times(59, "a"), 1},
		"not quite":     {times(58, "a"), 0},
		"beyond ASCII":  {times(59, "\U0001F600"), 1},
		"250 apart":     {times(10, sentence+pad[:189]), 250},
		"251 apart":     {times(40, sentence+pad), 0},
		"five periods": {repeat(4, sentence+"a", sentence+"b", sentence+"c", sentence+"d",
			sentence+"e"), len(sentence) + 1},
		"different periods":  {numbered(100), 0},
		"a call in between":  {nil, 0}, // see below
		"fence":              {between("\n```\nx\n```\n"), 0},
		"fence in one delta": {between("```x```"), 0},
		"fence in pieces": {append(append(times(9, sentence), "`", "``", "x", "``", "`"),
			times(9, sentence)...), 0},
		"two backticks":   {between("``"), len(sentence) + 2},
		"table":           {between("| Column 1 | Column 2 |"), 0},
		"table on a line": {between("\n| Column 1 | Column 2 |\n"), 0},
		"one bar":         {between("\n| not a table\n"), len(sentence) + 15},
		"rule of a table": {between("\n+---+---+\n"), 0},
		"item":            {between("* item"), 0},
		"item, plus":      {between("\n+ item"), 0},
		"item, dash":      {between("\n  - item"), 0},
		"item, number":    {between("\n12. item"), 0},
		"heading":         {between("\n## More\n"), 0},
		"quote":           {between("> said\n"), 0},
		"divider":         {between("\n-----\n"), 0},
		"divider, box":    {between("\n─────\n"), 0},
		"divider goes on": {times(200, "="), 0},
		"bold":            {between("\n**bold** words\n"), len(sentence) + 16},
		"a number":        {between("\n12.5 percent\n"), len(sentence) + 14},
		"minus":           {between("\n-5 degrees\n"), len(sentence) + 12},
		"hashtag":         {between("\n#topic\n"), len(sentence) + 8},
		"in a code block": {append([]string{"```go\n"}, times(30, sentence)...), 0},
		"after a code block": {append(append([]string{"```go\n"}, times(30, sentence)...),
			append([]string{"\n```\n"}, times(10, sentence)...)...), len(sentence)},
		"list of the same": {times(100, "\n- "+sentence), 0},
		"dash in a sentence": {times(10,
			"well - it is known that this is so, and nobody has ever doubted it. "), 68},
	} {
		t.Run(name, func(t *testing.T) {
			var d Detector
			v := texts(&d, c.deltas...)
			want := Verdict{}
			if c.period > 0 {
				want = Verdict{Detected: true, Rule: RuleContent, Period: c.period, Count: 1}
			}
			if v != want {
				t.Errorf("got %+v, want %+v", v, want)
			}
		})
	}
	t.Run("call", func(t *testing.T) {
		var d Detector
		texts(&d, times(9, sentence)...)
		calls(t, &d, "read")
		if v := texts(&d, times(9, sentence)...); v.Detected {
			t.Errorf("text before a call counts after it: %+v", v)
		}
		if v := texts(&d, sentence); !v.Detected {
			t.Error("ten times after a call are no loop")
		}
	})
	t.Run("call in a code block", func(t *testing.T) {
		var d Detector
		texts(&d, "```\nx")
		calls(t, &d, "read")
		if v := texts(&d, times(10, sentence)...); !v.Detected {
			t.Error("the code block goes on after a call")
		}
	})
}

// TestTrim has a loop come after more text than is kept, and one whose first rounds are further
// back than what is kept.
func TestTrim(t *testing.T) {
	var d Detector
	for i := range 2000 {
		d.Text(fmt.Sprintf("%d and so on ", i*i))
	}
	if n := len(d.content.text); n != 5000 {
		t.Fatalf("%d characters are kept", n)
	}
	windows := 0
	for _, at := range d.content.places {
		windows += len(at)
	}
	if windows != maxText-window+1 {
		t.Fatalf("%d windows are kept", windows)
	}
	if v := texts(&d, times(10, sentence)...); !v.Detected || v.Period != len(sentence) {
		t.Errorf("no loop after much text: %+v", v)
	}
}

func TestStaysDetected(t *testing.T) {
	var d Detector
	d.Prompt("p1")
	texts(&d, times(10, sentence)...)
	calls(t, &d, repeat(9, "read")...)
	if v := texts(&d, "something else altogether"); v.Rule != RuleContent || v.Count != 1 {
		t.Errorf("it was not kept: %+v", v)
	}
	d.Prompt("p1")
	if !d.Verdict().Detected {
		t.Error("the same prompt forgot it")
	}
	d.Clear()
	if v := d.Verdict(); v.Detected || v.Count != 1 {
		t.Errorf("after Clear: %+v", v)
	}
	if v := texts(&d, sentence); v.Detected {
		t.Error("one more time is a loop after Clear")
	}
	if v := texts(&d, times(9, sentence)...); !v.Detected || v.Count != 2 {
		t.Errorf("the second time: %+v", v)
	}
	d.Prompt("p2")
	if v := d.Verdict(); v != (Verdict{}) {
		t.Errorf("another prompt: %+v", v)
	}
	calls(t, &d, repeat(5, "read")...)
	d.Clear()
	if v := calls(t, &d, "write"); v.Detected {
		t.Error("another call after Clear is a loop")
	}
	d.Reset()
	calls(t, &d, repeat(5, "read")...)
	d.Clear()
	if v := calls(t, &d, "read"); !v.Detected || v.Count != 2 {
		t.Errorf("the same call after Clear: %+v", v)
	}
}

// naive is the rule for content without structure, as slow as it is plain.
func naive(text []rune) bool {
	for end := window; end <= len(text); end++ {
		from := max(0, end-maxText)
		var at []int
		for i := from; i+window <= end; i++ {
			if slices.Equal(text[i:i+window], text[end-window:end]) {
				at = append(at, i)
			}
		}
		if len(at) < textTimes {
			continue
		}
		at = at[len(at)-textTimes:]
		periods := map[string]bool{}
		for i := 1; i < len(at); i++ {
			periods[string(text[at[i-1]:at[i]])] = true
		}
		if float64(at[textTimes-1]-at[0])/(textTimes-1) <= maxAverage &&
			len(periods) <= maxPeriods {
			return true
		}
	}
	return false
}

// story is random text without structure that may go round.
func story(r *rand.Rand) string {
	phrase := func() string {
		n := 1 + r.IntN(70)
		var b strings.Builder
		for range n {
			b.WriteByte("abcdef "[r.IntN(7)])
		}
		return b.String()
	}
	stock := []string{phrase(), phrase(), phrase()}
	var b strings.Builder
	b.WriteString("x")
	for range r.IntN(10) {
		switch n := 1 + r.IntN(8); r.IntN(3) {
		case 0:
			b.WriteString(phrase())
		case 1:
			b.WriteString(strings.Repeat(stock[r.IntN(3)], n))
		default:
			for range n {
				b.WriteString(stock[r.IntN(3)])
			}
		}
	}
	return b.String()
}

// cut cuts text into deltas.
func cut(r *rand.Rand, text string) (list []string) {
	all := []rune(text)
	for len(all) > 0 {
		n := min(len(all), 1+r.IntN(30))
		list = append(list, string(all[:n]))
		all = all[n:]
	}
	return list
}

// TestContentAgainstNaive holds the rule to its plain form, however the text is cut and wherever
// the state is written and read.
func TestContentAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	loops := 0
	for i := range 150 {
		text := story(r)
		want := naive([]rune(text))
		if want {
			loops++
		}
		d := &Detector{}
		for _, delta := range cut(r, text) {
			d.Text(delta)
			if r.IntN(10) == 0 {
				d = again(t, d)
			}
		}
		if got := d.Verdict().Detected; got != want {
			t.Fatalf("story %d: detected %v, want %v:\n%q", i, got, want, text)
		}
	}
	if loops < 20 || loops > 130 {
		t.Errorf("%d of 150 stories are loops", loops)
	}
}

// again writes a state and reads it.
func again(t testing.TB, d *Detector) *Detector {
	t.Helper()
	b, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	d2, err := Decode(b)
	if err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return d2
}

// TestC6_08_DeltasAndConsolidated: a stream of deltas and the same with the whole text after it
// have one verdict, as long as whoever reads the stream does not feed the whole text; fed, it would
// be a loop.
func TestC6_08_DeltasAndConsolidated(t *testing.T) {
	type event struct {
		text    string
		partial bool
	}
	verdict := func(events []event) Verdict {
		var d Detector
		for _, e := range events {
			if e.partial {
				d.Text(e.text)
			}
		}
		return d.Verdict()
	}
	for n := 1; n < 12; n++ {
		var deltas []event
		for range n {
			deltas = append(deltas, event{sentence, true})
		}
		both := append(deltas[:n:n], event{strings.Repeat(sentence, n), false})
		if a, b := verdict(deltas), verdict(both); a != b || a.Detected != (n >= 10) {
			t.Errorf("%d times: %+v as deltas, %+v with the whole", n, a, b)
		}
	}
}

func TestStateRefuses(t *testing.T) {
	var d Detector
	texts(&d, times(10, sentence)...)
	calls(t, &d, "f")
	good, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(good); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"nothing":     "",
		"not JSON":    "nope",
		"version":     strings.Replace(string(good), `"v":1`, `"v":2`, 1),
		"no version":  strings.Replace(string(good), `"v":1,`, ``, 1),
		"unknown key": strings.Replace(string(good), `"v":1`, `"v":1,"w":1`, 1),
		"more":        string(good) + "{}",
		"rule":        strings.Replace(string(good), `"content"`, `"other"`, 1),
		"period":      strings.Replace(string(good), `"period":61`, `"period":-1`, 1),
		"count":       strings.Replace(string(good), `"count":1`, `"count":-1`, 1),
		"no count":    strings.Replace(string(good), `"count":1`, `"count":0`, 1),
		"long text": strings.Replace(string(good), `"text":"`,
			`"text":"`+strings.Repeat("x", maxText), 1),
		"prompt": strings.Replace(string(good), `"count"`, `"prompt":"p1","count"`, 1),
		"mark": strings.Replace(string(good), `"count"`,
			`"mark":"`+strings.Repeat("x", maxMark+1)+`","count"`, 1),
		"call": strings.Replace(string(good), `"count"`,
			`"calls":[{"key":"k"}],"count"`, 1),
		"too many": strings.Replace(string(good), `"count"`,
			`"calls":[`+strings.Repeat(`{"key":"`+digest("")+`"},`, maxCalls)+`{"key":"`+digest("")+
				`"}],"count"`, 1),
		"reading":       strings.Replace(string(good), `"reading":{`, `"reading":{"ticks":3`, 1),
		"too large":     string(good) + strings.Repeat(" ", MaxState),
		"state of line": strings.Replace(string(good), `"reading":{`, `"reading":{"state":4`, 1),
	} {
		if bad == string(good) {
			t.Fatalf("%s: nothing was changed: %s", name, good)
		}
		if _, err := Decode([]byte(bad)); err == nil {
			t.Errorf("%s: taken: %.200s", name, bad)
		}
	}
}

func TestStateHoldsNoSecret(t *testing.T) {
	secret := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	d := &Detector{Mark: "here"}
	d.Prompt("the prompt's name")
	d.Text("the token is " + secret + " and more")
	if err := d.Call("id-of-the-call", "tool", []byte(`{"token":"`+secret+`"}`)); err != nil {
		t.Fatal(err)
	}
	d.Text("the token is " + secret + " and more")
	b, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{secret, "id-of-the-call", "prompt's", "tool\""} {
		if strings.Contains(string(b), s) {
			t.Errorf("the state holds %q: %s", s, b)
		}
	}
	if d2 := again(t, d); d2.Mark != "here" {
		t.Errorf("the mark is %q", d2.Mark)
	}
}

func FuzzDetector(f *testing.F) {
	f.Add("```\n| a | b |\n- x\n> y\n1. z\n---\n", uint16(3), "f", []byte(`{"a":[1,2.0,null]}`))
	f.Add(strings.Repeat(sentence, 11), uint16(7), "", []byte(nil))
	f.Add(strings.Repeat("=|+\n", 40), uint16(1), "g", []byte("nope"))
	f.Fuzz(func(t *testing.T, text string, size uint16, name string, args []byte) {
		cut := &Detector{}
		all := []rune(text)
		n := int(size)%97 + 1
		for i := 0; i < len(all); i += n {
			cut.Text(string(all[i:min(len(all), i+n)]))
			if len(cut.content.text) > maxText || len(cut.content.places) > maxText {
				t.Fatalf("%d characters, %d windows", len(cut.content.text),
					len(cut.content.places))
			}
		}
		before := cut.Verdict()
		cut = again(t, cut)
		if cut.Verdict() != before {
			t.Fatalf("%+v became %+v", before, cut.Verdict())
		}
		for range 6 {
			if err := cut.Call("", name, args); err != nil {
				return
			}
		}
		if !cut.Verdict().Detected {
			t.Fatal("six equal calls are no loop")
		}
		again(t, cut)
		once, err := canonical(args)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := canonical(once); err != nil || string(twice) != string(once) {
			t.Fatalf("%q becomes %q: %v", once, twice, err)
		}
	})
}

func FuzzState(f *testing.F) {
	var d Detector
	d.Text("some text\n- item")
	b, _ := d.Encode()
	f.Add(b)
	f.Add([]byte(`{"v":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Decode(b)
		if err != nil {
			return
		}
		d.Text(strings.Repeat(sentence, 11))
		_ = d.Call("", "f", nil) // no arguments are good ones
		again(t, d)
	})
}

func BenchmarkContent(b *testing.B) {
	var text strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&text, "%d and so on ", i*i)
	}
	deltas := cut(rand.New(rand.NewPCG(1, 2)), text.String())
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		var d Detector
		for _, delta := range deltas {
			d.Text(delta)
		}
	}
}
