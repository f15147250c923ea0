package oracle

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// arriving pulls from a folder that another program syncs, and in which not all has arrived. The
// pull takes in what it can, or asks for patience; it never speaks of tampering.
func (p *party) arriving() {
	at := p.anywhere()
	files := append(at.files("stores"), at.files("heads")...)
	if at.git || len(files) == 0 {
		return
	}
	path := files[p.rng.IntN(len(files))]
	whole, err := os.ReadFile(path)
	if err != nil {
		p.Fatal(err)
	}
	part := whole[:p.rng.IntN(len(whole))]
	if p.rng.IntN(2) == 0 {
		err = os.Remove(path)
	} else {
		err = os.WriteFile(path, part, 0o600)
	}
	if err != nil {
		p.Fatal(err)
	}
	_ = os.WriteFile(filepath.Join(at.root, "heads", "desktop.ini"), nil, 0o600)
	_ = os.WriteFile(filepath.Join(filepath.Dir(path), "._x (conflicted copy)"), nil, 0o600)
	p.note("%s: of %s %d of %d bytes have arrived", p.name, filepath.Base(path), len(part),
		len(whole))
	r := p.do(false, "pull", at.name)
	if r.Code > 1 || strings.Contains(r.Err, "tampered") {
		p.fails("pull of what has not arrived: exit code %d: %s", r.Code, r.Err)
	}
	if r.Code != 0 && strings.Contains(r.Out+r.Err, "nothing new") {
		p.fails("pull says that nothing is new, and could not look: %s%s", r.Out, r.Err)
	}
	p.keeps("pull of what has not arrived")
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		p.Fatal(err)
	}
	p.pullFrom(at)
}

// files lists the files of a remote under a folder, in order.
func (at *place) files(folder string) (list []string) {
	_ = filepath.WalkDir(filepath.Join(at.root, folder),
		func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.HasPrefix(d.Name(), ".") &&
				!strings.HasSuffix(path, ".ini") {
				list = append(list, path)
			}
			return nil
		})
	return list
}

// away pulls from a remote that is not there.
func (p *party) away() {
	at := p.anywhere()
	if _, err := os.Stat(at.root); err != nil {
		return
	}
	if err := os.Rename(at.root, at.root+"-away"); err != nil {
		p.Fatal(err)
	}
	r := p.do(false, "pull", at.name)
	_ = os.RemoveAll(at.root)
	if err := os.Rename(at.root+"-away", at.root); err != nil {
		p.Fatal(err)
	}
	if strings.Contains(r.Out+r.Err, "nothing new") {
		p.fails("pull says that nothing is new, and could not look: %s%s", r.Out, r.Err)
	}
	p.keeps("pull of nothing")
	p.pullFrom(at)
}

// twin pulls into a copy of the store that has fallen behind it. It hears of it.
func (p *party) twin() {
	at, copy := p.anywhere(), filepath.Join(p.dir, ".twin")
	defer os.RemoveAll(copy)
	p.push()
	if err := os.CopyFS(filepath.Join(copy, ".gemini"),
		os.DirFS(filepath.Join(p.dir, ".gemini"))); err != nil {
		p.Fatal(err)
	}
	before := len(p.now["work"])
	p.say("work", 1)
	if p.pushTo(at); p.shares[at.name] == nil || len(p.now["work"]) == before {
		return // it has not fallen behind
	}
	r := p.do(false, "-C", copy, "pull", at.name)
	if r.Code == 0 {
		p.fails("pull into a copy of the store that has fallen behind: %s%s", r.Out, r.Err)
	}
	p.logs = nil
}

// damage has a copy of the store damaged and repaired. The repair loses nothing that could be read.
func (p *party) damage() {
	store := filepath.Join(p.dir, ".gemini")
	var files []string
	_ = filepath.WalkDir(filepath.Join(store, "context", "objects"),
		func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files = append(files, path)
				if strings.HasSuffix(path, ".pack") { // most messages are in few of these
					files = append(files, path, path, path)
				}
			}
			return nil
		})
	if len(files) == 0 {
		return
	}
	saved := filepath.Join(p.world.dir, "saved")
	if err := os.CopyFS(saved, os.DirFS(store)); err != nil {
		p.Fatal(err)
	}
	path := files[p.rng.IntN(len(files))]
	p.note("%s: %s is %s", p.name, filepath.Base(path), p.spoil(path))
	before := p.readable()
	if r := p.command("fsck", "--repair"); !p.Failed() {
		done := p.server.run(p, &r)
		p.repairs++
		p.note("%s: ctx fsck --repair: %d %s%s", p.name, done.Code, done.Out, done.Err)
		if done.Code < -1 || strings.Contains(done.Err, "would lose") {
			p.fails("fsck --repair: %s", done.Err)
		}
	}
	after := p.readable()
	for id, text := range before {
		if after[id] != text && !p.forgot[id] { // it ends a forget that was stopped
			p.fails("a repair of %s lost %.12s %q", filepath.Base(path), id, text)
			break
		}
	}
	left, _ := filepath.Glob(filepath.Join(p.dir, ".gemini*"))
	for _, dir := range left {
		if err := os.RemoveAll(dir); err != nil {
			p.Fatal(err)
		}
	}
	if err := os.Rename(saved, store); err != nil {
		p.Fatal(err)
	}
	p.logs = nil
	p.keeps("a repair of a copy")
}

// spoil damages a file, and says how.
func (p *party) spoil(path string) string {
	b, err := os.ReadFile(path)
	if err != nil || len(b) == 0 {
		return "empty"
	}
	_ = os.Chmod(path, 0o600)
	how := ""
	switch p.rng.IntN(5) {
	case 0, 1:
		b, how = b[:len(b)-1-p.rng.IntN(min(len(b), 1+p.rng.IntN(64)))], "cut off"
	case 2:
		b, how = append(b, "garbage8"...), "longer"
	case 3:
		b[p.rng.IntN(len(b))] ^= 1 << p.rng.IntN(8)
		how = "changed"
	default:
		at := p.rng.IntN(len(b))
		clear(b[at:min(len(b), at+1+p.rng.IntN(512))])
		how = "zero in part"
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		p.Fatal(err)
	}
	return how
}

// readable returns the messages that can be read, of all sessions, by ids.
func (p *party) readable() map[string]string {
	texts := map[string]string{}
	c := p.command("session", "list", "--json")
	for line := range strings.Lines(p.server.run(p, &c).Out) {
		var s struct{ Session string }
		if json.Unmarshal([]byte(line), &s) != nil || s.Session == "" {
			continue
		}
		c := p.command("log", "-s", s.Session, "--json")
		for line := range strings.Lines(p.server.run(p, &c).Out) {
			var r record
			if json.Unmarshal([]byte(line), &r) == nil && r.Text != nil {
				texts[r.ID] = *r.Text
			}
		}
	}
	return texts
}
