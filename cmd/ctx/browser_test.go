package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// browser is a headless browser that a test drives by the DevTools protocol, over two pipes.
type browser struct {
	t       *testing.T
	to      io.Writer
	from    *bufio.Reader
	next    int
	session string
}

// newBrowser starts the browser that CTX_BROWSER names. Without one the test is skipped: nothing of
// what it checks was checked.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	path := os.Getenv("CTX_BROWSER")
	if path == "" || runtime.GOOS == "windows" {
		t.Skip(
			"NOT CHECKED: no browser. CTX_BROWSER=/usr/bin/chromium go test ./cmd/ctx " +
				"-run TestBrowser")
	}
	in, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu",
		"--remote-debugging-pipe", "--window-size=1300,1000", "--hide-scrollbars",
		"--user-data-dir="+t.TempDir())
	c.ExtraFiles = []*os.File{in, out}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = in.Close(), out.Close()
	b := &browser{t: t, to: to, from: bufio.NewReaderSize(from, 1<<20)}
	t.Cleanup(func() {
		b.session = ""
		b.call("Browser.close", nil)
		_ = c.Wait()
		_, _ = to.Close(), from.Close()
	})
	return b
}

// call calls a method and returns its result. It skips events.
func (b *browser) call(method string, params any) json.RawMessage {
	b.t.Helper()
	result, err := b.try(method, params)
	if err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	return result
}

// try is call for a method that may fail, as one does whose page goes away.
func (b *browser) try(method string, params any) (json.RawMessage, error) {
	b.t.Helper()
	b.next++
	m := map[string]any{"id": b.next, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	text, err := json.Marshal(m)
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	if err != nil {
		b.t.Fatal(err)
	}
	for {
		line, err := b.from.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		var answer struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(line[:len(line)-1], &answer); err != nil {
			b.t.Fatal(err)
		}
		if answer.ID != b.next {
			continue
		}
		if answer.Error != nil {
			return nil, errors.New(answer.Error.Message)
		}
		return answer.Result, nil
	}
}

func (b *browser) field(raw json.RawMessage, name string) string {
	m := map[string]any{}
	if err := json.Unmarshal(raw, &m); err != nil {
		b.t.Fatal(err)
	}
	return fmt.Sprint(m[name])
}

// open opens a file in a new tab, and returns when it is loaded.
func (b *browser) open(path string) {
	b.t.Helper()
	b.openAddress("file://" + path)
}

// newTab makes the calls that follow go to a new, empty tab.
func (b *browser) newTab() {
	b.t.Helper()
	b.session = ""
	target := b.field(b.call("Target.createTarget", map[string]any{"url": "about:blank"}),
		"targetId")
	b.session = b.field(
		b.call("Target.attachToTarget", map[string]any{"targetId": target, "flatten": true}),
		"sessionId")
	b.call("Page.enable", nil)
	b.call("Page.bringToFront", nil) // a tab behind another one paints nothing
}

// openAddress opens an address in a new tab, and returns when it is loaded.
func (b *browser) openAddress(address string) {
	b.t.Helper()
	b.newTab()
	b.call("Page.navigate", map[string]any{"url": address})
	b.eval(
		`new Promise(r=>{if(document.readyState==='complete')r(1);else addEventListener('load',()=>r(1))})`, nil)
}

// eval evaluates an expression in the page, waits for a promise, and decodes its value.
func (b *browser) eval(expression string, value any) {
	b.t.Helper()
	raw := b.call("Runtime.evaluate",
		map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		b.t.Fatal(err)
	}
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	if value != nil {
		if err := json.Unmarshal(answer.Result.Value, value); err != nil {
			b.t.Fatalf("%s: %s: %v", expression, answer.Result.Value, err)
		}
	}
}

// tryEval is eval for a page that may go away meanwhile: value then stays as it is.
func (b *browser) tryEval(expression string, value any) {
	b.t.Helper()
	raw, err := b.try("Runtime.evaluate",
		map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	var answer struct {
		Result struct{ Value json.RawMessage }
	}
	if err == nil && json.Unmarshal(raw, &answer) == nil && len(answer.Result.Value) > 0 {
		_ = json.Unmarshal(answer.Result.Value, value)
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// shot writes a picture of the page into the directory that CTX_SHOTS names.
func (b *browser) shot(name string) {
	dir := os.Getenv("CTX_SHOTS")
	if dir == "" {
		return
	}
	data, err := base64.StdEncoding.DecodeString(
		b.field(b.call("Page.captureScreenshot", nil), "data"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), data, 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// runBeside is runIn with the other programs of ctx beside this one.
func runBeside(dir, stdin string, args ...string) (code int, stdout, stderr string) {
	w := testWorld(dir, stdin)
	w.beside = func() string {
		path, _ := exec.LookPath("ctx-view-serve") // that of TestMain
		return filepath.Dir(path)
	}
	return runWorld(w, args)
}

// pageOf makes a store with a session of n messages in lines, compacts it, and returns the
// directory and the page of the session.
func pageOf(t *testing.T, lines string, compacted bool) (dir, page string) {
	t.Helper()
	dir = t.TempDir()
	page = filepath.Join(dir, "page.html")
	runs := [][]string{{"init"}, {"append", "-s", "work", "--jsonl"}}
	if compacted {
		runs = append(runs, []string{"compact", "-s", "work"})
	}
	for _, args := range append(runs,
		[]string{"export", "-s", "work", "--format", "html", "-o", page}) {
		stdin := ""
		if args[0] == "append" {
			stdin = lines
		}
		if code, _, stderr := runBeside(dir, stdin, args...); code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, stderr)
		}
	}
	return dir, page
}

// longTalk returns n messages of a conversation with calls, as JSON lines.
func longTalk(n int) string {
	var b strings.Builder
	at := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	topics := []string{"parser", "upload", "index", "cache", "window", "server", "branch"}
	for i := range n {
		topic := topics[i/16%len(topics)]
		stamp := at.Add(time.Duration(i) * time.Minute).Format(time.RFC3339)
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b,
				`{"role":"user","text":"Please fix the %s: step %d fails with status %d.","time":%q}`, topic, i, 400+i%100, stamp)
		case 1:
			fmt.Fprintf(&b,
				`{"role":"model","author":"m","parts":[{"text":"I look at the %s."},{"functionCall":{"id":"c%d","name":"edit",`+
					`"args":{"file_path":"src/%s%d.go","old_string":"a := %d\nb","new_string":"a := %d\nb"}}}],"time":%q}`, topic, i, topic, i%5, i, i+1, stamp)
		case 2:
			fmt.Fprintf(&b,
				`{"role":"tool","parts":[{"functionResponse":{"id":"c%d","name":"edit","response":{"output":"%s%d.go: line %d changed"}}}],"time":%q}`,
				i-1, topic, i%5, i, stamp)
		default:
			fmt.Fprintf(&b,
				`{"role":"model","author":"m","text":"The %s is fixed. It was the limit of %d in src/%s%d.go; the port is %d now.","time":%q}`,
				topic, i, topic, i%5, 8000+i, stamp)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestBrowserSources clicks the sentences of summaries. What opens is what `ctx expand` prints.
func TestBrowserSources(t *testing.T) {
	b := newBrowser(t)
	dir, page := pageOf(t, longTalk(2400), true)
	b.open(page)
	var opened []struct{ ID, Text, Digest string }
	b.eval(`document.querySelectorAll('.k').forEach(k=>k.open=true);
		[...document.querySelectorAll('.sum p>a')].slice(0,200).map(x=>{x.click();
		const s=x.parentElement.nextElementSibling;return {ID:s.getAttribute('data-of'),Text:s.querySelector('.w').textContent,
		Digest:s.querySelectorAll('code')[1].textContent}})`, &opened)
	if len(opened) < 100 {
		t.Fatalf("%d sentences", len(opened))
	}
	for _, o := range opened {
		code, out, stderr := runIn(t, dir, "", "expand", "--json", o.ID)
		if code != 0 {
			t.Fatalf("expand %s: %s", o.ID, stderr)
		}
		var doc struct{ ID, Text string }
		if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.ID != o.ID ||
			doc.Text != o.Text {
			t.Fatalf("%s opens %q, and expand prints %q (%v)", o.ID, o.Text, doc.Text, err)
		}
		_, header, _ := runIn(t, dir, "", "show", o.ID)
		if digest := strings.TrimPrefix(o.Digest, "sha256 "); len(digest) != 64 ||
			!strings.Contains(header, digest) {
			t.Fatalf("%s: digest %q is not in\n%s", o.ID, o.Digest, header)
		}
	}
	t.Logf("%d sentences clicked", len(opened))
	b.shot("sources")
}

// TestBrowserHostile opens a page with markup in every field. Nothing of it runs, and the policy
// blocks what the test itself tries.
func TestBrowserHostile(t *testing.T) {
	b := newBrowser(t)
	_, page := pageOf(t, hostileLines(), false)
	b.open(page)
	var found struct {
		Canary         string
		Scripts, Alien int
		Blocked        []string
	}
	b.eval(`new Promise(done=>{const blocked=[];
		addEventListener('securitypolicyviolation',e=>blocked.push(e.effectiveDirective));
		const add=(tag,set)=>{const e=document.createElement(tag);set(e);document.body.append(e)};
		add('script',e=>e.textContent='window.canary=1');
		add('img',e=>e.src='data:image/gif;base64,R0lGODlhAQABAAAAACw=');
		add('style',e=>e.textContent='body{display:none}');
		add('iframe',e=>e.src='data:text/html,x');
		try{fetch('http://127.0.0.1:1/').catch(()=>{})}catch(e){}
		setTimeout(()=>done({Canary:String(window.canary),Scripts:document.querySelectorAll('script:not([type])').length,
			Alien:document.querySelectorAll('main img,main iframe,main script,main style,main svg,main [onclick],main [onerror],main [onload],main a[href^="javascript"]').length,
			Blocked:blocked.sort()}),500)})`, &found)
	if found.Canary != "undefined" || found.Scripts != 2 || found.Alien != 0 {
		t.Errorf("something got out: %+v", found)
	}
	for _, what := range []string{"connect-src", "frame-src", "img-src", "script-src-elem",
		"style-src-elem"} {
		if !strings.Contains(strings.Join(found.Blocked, " "), what) {
			t.Errorf("the policy did not block %s: %v", what, found.Blocked)
		}
	}
	b.shot("hostile")
}

// TestBrowserSizes opens pages of several sizes and tells how long that took, and takes pictures.
func TestBrowserSizes(t *testing.T) {
	b := newBrowser(t)
	for _, n := range []int{6, 800, 1000, 50_000} {
		if n > 1000 && os.Getenv("CTX_BROWSER_LARGE") == "" {
			t.Logf("NOT CHECKED: %d messages; CTX_BROWSER_LARGE=1 checks them", n)
			continue
		}
		_, page := pageOf(t, longTalk(n), n <= 1000)
		info, err := os.Stat(page)
		if err != nil {
			t.Fatal(err)
		}
		first, longest := b.keys(page)
		b.open(page)
		var took struct {
			Paint, Ready, Load float64
			Messages           int
		}
		b.eval(`new Promise(done=>requestAnimationFrame(()=>setTimeout(()=>{const n=performance.getEntriesByType('navigation')[0],
			p=performance.getEntriesByName('first-contentful-paint')[0];
			done({Paint:p?p.startTime:-1,Ready:n.domInteractive,Load:n.loadEventEnd,Messages:document.querySelectorAll('main .T>article,main .S>article').length})},0)))`, &took)
		var search float64
		b.eval(`new Promise(done=>{const q=document.getElementById('q'),t=performance.now();q.value='status 404';q.oninput();
			const wait=()=>document.getElementById('hits').textContent?done(performance.now()-t):setTimeout(wait,5);wait()})`, &search)
		if n == 1000 && info.Size() > 400_000 {
			t.Errorf("a page of %d messages has %d bytes", n, info.Size())
		}
		if took.Messages != n {
			t.Errorf("%d messages of %d", took.Messages, n)
		}
		t.Logf(
			"%d messages: %d bytes, first paint %.0f ms, first key answered after %d ms, longest "+
				"answer %d ms, all there %.0f ms, loaded %.0f ms, search %.0f ms",
			n, info.Size(), took.Paint, first.Milliseconds(), longest.Milliseconds(), took.Ready,
			took.Load, search)
	}
	if os.Getenv("CTX_SHOTS") != "" {
		b.shots(t)
	}
}

// keys opens a page and presses j again and again while it loads. It returns when the first key was
// answered by a message, counted from the navigation, and the longest time that an answer took.
func (b *browser) keys(page string) (first, longest time.Duration) {
	b.t.Helper()
	b.newTab()
	start := time.Now()
	b.call("Page.navigate", map[string]any{"url": "file://" + page})
	for {
		var said struct{ State, Here string }
		asked := time.Now()
		b.tryEval(`(()=>{document.dispatchEvent(new KeyboardEvent('keydown',{key:'j',bubbles:true}));
			const here=document.querySelector('.here');return {State:document.readyState,Here:here?here.id:''}})()`, &said)
		if said.Here == "" {
			continue
		}
		if first == 0 {
			first = time.Since(start)
		}
		longest = max(longest, time.Since(asked))
		if said.State == "complete" {
			return first, longest
		}
	}
}

// shots takes pictures of a page: light, dark, on a phone, on paper.
func (b *browser) shots(t *testing.T) {
	_, page := pageOf(t, longTalk(120), true)
	media := func(name, scheme string) {
		b.call("Emulation.setEmulatedMedia", map[string]any{"media": name,
			"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
	}
	b.open(page)
	b.eval(
		`document.querySelectorAll('.S')[1].open=true;document.querySelectorAll('.k')[0].open=true;document.querySelector('.sum p>a').click()`, nil)
	for _, scheme := range []string{"light", "dark"} {
		media("screen", scheme)
		b.shot(scheme)
	}
	media("print", "light")
	b.shot("print")
	media("screen", "light")
	b.call("Emulation.setDeviceMetricsOverride",
		map[string]any{"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true})
	b.open(page)
	b.call("Emulation.setDeviceMetricsOverride",
		map[string]any{"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true})
	b.shot("phone")
}

// hostileLines are messages with what could break out of a page, in every field that a message has.
func hostileLines() string {
	bad := []string{
		"<script>window.canary=1</script>", "</script><script>window.canary=1</script>",
		"<!--<script>window.canary=1//",
		"</div></article></main></body></html><img src=x onerror=window.canary=1>",
		`" onmouseover="window.canary=1" x="`, "' onclick='window.canary=1",
		"<svg/onload=window.canary=1>", "<a href=javascript:window.canary=1>x</a>",
		"<iframe src=data:text/html,<script>parent.canary=1</script>>",
		"</title></style></textarea><script>window.canary=1</script>",
		"\u202eevil\u2066\u200f\u061c", "&lt;script&gt;&#x3c;", "]]><![CDATA[", "\u2028\u2029",
		"{{.}} ${window.canary=1} `x`", "[call x] {\"a\":1}",
		"```\n</code><script>window.canary=1</script>\n",
		"@@ -1 +1 @@\n+<script>window.canary=1</script>\n-</ins>",
	}
	var b strings.Builder
	put := func(m map[string]any) {
		m["time"] = "2026-01-02T10:00:00Z"
		line, _ := json.Marshal(m)
		b.Write(append(line, '\n'))
	}
	for i, text := range append(bad, strings.Repeat("<b>x", 262_144)) {
		arg := text
		if len(arg) > 1<<16 {
			arg = arg[:1<<16]
		}
		name := text[:min(len(text), 60)]
		name = strings.ToValidUTF8(name, "")
		id := fmt.Sprint("c", i)
		put(map[string]any{"role": "user", "author": name, "text": text})
		put(map[string]any{"role": "model", "author": name,
			"parts": []any{map[string]any{"text": text},
				map[string]any{"functionCall": map[string]any{
					"id": id, "name": name,
					"args": map[string]any{"file_path": arg, name: arg, "old_string": arg,
						"n": []any{arg, 1, nil}}}}}})
		put(map[string]any{"role": "tool",
			"parts": []any{map[string]any{"functionResponse": map[string]any{
				"id": id, "name": name, "response": map[string]any{"output": arg, "error": arg}}}}})
	}
	return b.String()
}
