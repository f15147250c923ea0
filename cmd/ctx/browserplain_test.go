package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// plain opens a page in a browser that runs none of its scripts.
func (b *browser) plain(page string) {
	b.t.Helper()
	b.session = ""
	target := b.field(b.call("Target.createTarget", map[string]any{"url": "about:blank"}), "targetId")
	b.session = b.field(b.call("Target.attachToTarget", map[string]any{"targetId": target, "flatten": true}), "sessionId")
	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true})
	b.call("Page.enable", nil)
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
	b.eval(`[...document.querySelectorAll('main article')].map(m=>({ID:m.id,Words:m.querySelector('.w').textContent}))`, &shown)
	if len(shown) != 160 {
		t.Fatalf("%d messages of 160", len(shown))
	}
	for _, m := range shown {
		code, out, stderr := runIn(t, dir, "", "expand", "--json", m.ID)
		var doc struct{ ID, Text string }
		if err := json.Unmarshal([]byte(out), &doc); code != 0 || err != nil || doc.Text != m.Words {
			t.Fatalf("%s shows %q, and expand prints %q (%v) %s", m.ID, m.Words, doc.Text, err, stderr)
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

// TestBrowserAccessible has axe look at pages, light, dark and on a phone. CTX_AXE is the path of
// axe.min.js of the npm package axe-core; without it nothing is checked.
func TestBrowserAccessible(t *testing.T) {
	b := newBrowser(t)
	path := os.Getenv("CTX_AXE")
	if path == "" {
		t.Skip("NOT CHECKED: no axe. CTX_AXE=node_modules/axe-core/axe.min.js, from npm install axe-core")
	}
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir, page := pageOf(t, longTalk(120), true)
	_, hostile := pageOf(t, hostileLines(), false)
	project := dir + "/project.html"
	if code, _, stderr := runIn(t, dir, "", "view", "-o", project); code != 0 {
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
				name, f.Impact, f.ID, f.Help, len(f.Nodes), n.HTML, strings.ReplaceAll(n.FailureSummary, "\n", " "))
		}
	}
	for _, scheme := range []string{"light", "dark"} {
		for name, path := range map[string]string{"session": page, "project": project, "hostile": hostile} {
			b.open(path)
			b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
			b.eval(`document.querySelectorAll('details').forEach(d=>d.open=true);document.querySelectorAll('a.x').forEach(x=>x.click())`, nil)
			look(name + ", " + scheme)
			b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true})
			look(name + ", " + scheme + ", phone")
		}
	}
}
