package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestBrowserLive looks at a served page while messages come. The reader's place stays, folds and
// the search too, and a reader at the end follows.
func TestBrowserLive(t *testing.T) {
	b := newBrowser(t)
	dir, _ := pageOf(t, longTalk(400), false)
	c := exec.Command("ctx", "view", "-s", "work", "--serve")
	c.Dir = dir
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	b.openAddress(strings.TrimSpace(line))
	// Turns are laid out when they come near, so a place is known after some frames.
	settle := func() {
		b.eval(`new Promise(r=>{let n=70;const f=()=>n-->0?requestAnimationFrame(f):r();f()})`, nil)
	}
	say := func(text string) {
		t.Helper()
		if code, _, stderr := runIn(t, dir, "", "append", "-s", "work", "--role", "user", "-m",
			text); code != 0 {
			t.Fatal(stderr)
		}
		// The page goes away under the call that waits, so the wait is in short calls.
		for said := false; !said; {
			b.tryEval(
				`new Promise(r=>setTimeout(()=>r(document.readyState==='complete'&&document.querySelector('main').textContent.includes(`+quoted(text)+`)),20))`, &said)
		}
		settle()
	}
	type place struct {
		Top, End           float64
		Open, Hidden, Dark bool
		Q, Live            string
	}
	look := func() (p place) {
		t.Helper()
		b.eval(`(()=>{const a=document.querySelectorAll('main .T')[50].querySelector('article'),s=a.closest('.T').querySelector('.S');
			return {Top:a.getBoundingClientRect().top,Open:s.open,Dark:document.documentElement.classList.contains('dark'),
			Hidden:!!document.querySelector('.hid'),Q:document.getElementById('q').value,Live:document.getElementById('live').textContent,
			End:document.documentElement.scrollHeight-innerHeight-scrollY}})()`, &p)
		return p
	}
	b.eval(`(()=>{const a=document.querySelectorAll('main .T')[50];a.querySelector('.S').open=true;document.getElementById('theme').click();
		a.scrollIntoView();scrollBy(0,7)})()`, nil)
	settle()
	b.eval(
		`scrollBy(0,document.querySelectorAll('main .T')[50].querySelector('article').getBoundingClientRect().top-5)`, nil)
	settle()
	before := look()
	say("A new message.")
	after := look()
	if d := after.Top - before.Top; d < -2 || d > 2 || !after.Open ||
		after.Dark != before.Dark || !after.Dark {
		t.Errorf("the place was %+v and is %+v", before, after)
	}
	t.Logf("before %+v, after %+v", before, after)
	b.shot("live")
	b.eval(`scrollTo(0,document.documentElement.scrollHeight)`, nil)
	say("And another one.")
	if p := look(); p.End > 2 {
		t.Errorf("a reader at the end does not follow: %+v", p)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("interrupted: %v", err)
	}
	for said := ""; said != "not connected"; {
		b.eval(`new Promise(r=>setTimeout(()=>r(document.getElementById('live').textContent),20))`,
			&said)
	}
}
