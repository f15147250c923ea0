package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
)

// plain opens a page in a browser that runs none of its scripts.
func (b *browser) plain(page string) {
	b.t.Helper()
	b.newTab()
	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true})
	b.call("Page.navigate", map[string]any{"url": "file://" + page})
	for loaded := false; !loaded; {
		b.tryEval(`document.readyState==='complete'&&location.protocol==='file:'`, &loaded)
	}
}

// TestBrowserWithoutScripts reads a page whose script does not run. Each message is there with
// the words that `ctx expand` prints. What is folded opens by the browser alone, and nothing that
// only a script could serve is shown.
func TestBrowserWithoutScripts(t *testing.T) {
	b := newBrowser(t)
	dir, page := pageOf(t, longTalk(160), true)
	b.plain(page)
	var ran bool
	b.eval(`!document.querySelector('.tools').hidden`, &ran)
	if ran {
		t.Fatal("the script of the page ran")
	}
	type message struct{ ID, Words string }
	var shown []message
	b.eval(
		`[...document.querySelectorAll('main article')].map(m=>({ID:m.id,Words:m.querySelector('.w').textContent}))`, &shown)
	if len(shown) != 160 {
		t.Fatalf("%d messages of 160", len(shown))
	}
	for _, m := range shown {
		code, out, stderr := runIn(t, dir, "", "expand", "--json", m.ID)
		var doc struct{ ID, Text string }
		if err := json.Unmarshal([]byte(out), &doc); code != 0 || err != nil ||
			doc.Text != m.Words {
			t.Fatalf("%s shows %q, and expand prints %q (%v) %s", m.ID, m.Words,
				doc.Text, err, stderr)
		}
	}
	var folds struct{ Folded, Unreachable, Seen int }
	b.eval(`(()=>{const all=[...document.querySelectorAll('main article')],
		shut=m=>{for(let p=m.parentElement;p;p=p.parentElement)if(p.tagName==='DETAILS'&&!p.open)return p};
		const folded=all.filter(shut);
		document.querySelectorAll('details>summary').forEach(s=>{if(!s.parentElement.open)s.click()});
		return {Folded:folded.length,Unreachable:all.filter(shut).length,Seen:all.filter(m=>m.querySelector('.w').getClientRects().length).length}})()`, &folds)
	if folds.Folded == 0 || folds.Unreachable != 0 || folds.Seen != len(shown) {
		t.Errorf("clicks on what is folded: %+v of %d messages", folds, len(shown))
	}
}

// TestBrowserWhileLoading uses a page that is half there: keys, the search, a sentence whose source
// is to come. What waits is done when the rest is there. The page then goes to the message that its
// address names, unless the reader has gone elsewhere.
func TestBrowserWhileLoading(t *testing.T) {
	b := newBrowser(t)
	_, path := pageOf(t, longTalk(400), true)
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	half := bytes.Index(page, []byte("<main>")) + 40_000
	half += bytes.Index(page[half:], []byte("<section"))
	ids := regexp.MustCompile("<article class=[a-z]+ id=([0-9a-f]{12})").FindAllSubmatch(page, -1)
	last := string(ids[len(ids)-1][1])
	for _, moves := range []bool{false, true} {
		rest := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write(page[:half])
			_ = http.NewResponseController(w).Flush()
			<-rest
			_, _ = w.Write(page[half:])
		}))
		b.newTab()
		b.call("Page.navigate", map[string]any{"url": server.URL + "/#" + last})
		for there := false; !there; {
			b.tryEval(`document.querySelectorAll('main article').length>20`, &there)
		}
		const press = `const press=k=>document.dispatchEvent(new KeyboardEvent('keydown',{key:k,bubbles:true}));`
		var early struct {
			State, Hits  string
			Moved, Waits bool
		}
		if moves {
			b.eval(press+`press('j');press('j');press('j');press('k')`, nil)
		}
		b.eval(`new Promise(done=>{const tops=[...document.querySelectorAll('main .T>article')],here=document.querySelector('.here');
		window.waiting=[...document.querySelectorAll('.sum p>a')].find(a=>!document.getElementById(a.hash.slice(1)));window.waiting.click();
		const q=document.getElementById('q');q.value='status';q.oninput();
		const wait=()=>document.getElementById('hits').textContent?done({State:document.readyState,Moved:here===tops[1],
			Hits:document.getElementById('hits').textContent,Waits:!window.waiting.parentElement.nextElementSibling.classList.contains('src')}):setTimeout(wait,5);wait()})`, &early)
		if early.State != "loading" || early.Moved != moves ||
			!strings.HasSuffix(early.Hits, " so far") || !early.Waits {
			t.Errorf("while the page loads: %+v", early)
		}
		close(rest)
		var late struct {
			Here, Hits string
			Source     bool
		}
		b.eval(`new Promise(done=>{const wait=()=>document.readyState==='complete'?done({Here:document.querySelector('.here').id,
		Hits:document.getElementById('hits').textContent,Source:window.waiting.parentElement.nextElementSibling.classList.contains('src')}):setTimeout(wait,5);wait()})`, &late)
		if (late.Here == last) == moves || late.Hits != "100 hits" || !late.Source {
			t.Errorf("when it is there: %+v, and the address is of %s", late, last)
		}
		server.Close()
	}
}

// TestBrowserAccessible has axe look at pages, light, dark and on a phone. CTX_AXE is the path of
// axe.min.js of the npm package axe-core; without it nothing is checked.
func TestBrowserAccessible(t *testing.T) {
	b := newBrowser(t)
	path := os.Getenv("CTX_AXE")
	if path == "" {
		t.Skip(
			"NOT CHECKED: no axe. CTX_AXE=node_modules/axe-core/axe.min.js, from npm " +
				"install axe-core")
	}
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir, page := pageOf(t, longTalk(120), true)
	_, hostile := pageOf(t, hostileLines(), false)
	project := dir + "/project.html"
	if code, _, stderr := runBeside(dir, "", "view", "-o", project); code != 0 {
		t.Fatal(stderr)
	}
	look := func(name string) {
		t.Helper()
		b.eval(string(axe)+";1", nil)
		var found []struct {
			ID, Impact, Help string
			Nodes            []struct{ HTML, FailureSummary string }
		}
		b.eval(`axe.run(document,{resultTypes:['violations']}).then(r=>r.violations)`, &found)
		for _, f := range found {
			n := f.Nodes[0]
			report := t.Logf
			if f.Impact == "serious" || f.Impact == "critical" {
				report = t.Errorf
			}
			report("%s: %s: %s: %s, %d places, the first: %.200s: %s",
				name, f.Impact, f.ID, f.Help, len(f.Nodes), n.HTML,
				strings.ReplaceAll(n.FailureSummary, "\n", " "))
		}
	}
	for _, scheme := range []string{"light", "dark"} {
		for name, path := range map[string]string{"session": page, "project": project,
			"hostile": hostile} {
			if name == "hostile" && scheme == "dark" {
				continue // its lines of a megabyte take axe half a minute
			}
			b.open(path)
			b.call("Emulation.setEmulatedMedia",
				map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme",
					"value": scheme}}})
			b.eval(
				`document.querySelectorAll('details').forEach(d=>d.open=true);document.querySelectorAll('.sum p>a').forEach(x=>x.click())`, nil)
			look(name + ", " + scheme)
			if name == "hostile" {
				continue
			}
			b.call("Emulation.setDeviceMetricsOverride",
				map[string]any{"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true})
			look(name + ", " + scheme + ", phone")
		}
	}
}
