package score

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// script reads lines of "minute who: text" as messages of one conversation. A name that begins with
// model or tool has that role; the name user is a person of unknown name.
func script(lines string) []Features {
	var list []Features
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		minute, rest, _ := strings.Cut(line, " ")
		who, text, _ := strings.Cut(rest, ": ")
		n, err := strconv.Atoi(minute)
		if err != nil {
			panic(err)
		}
		m := Message{Conversation: "c", Role: "user", Author: who,
			Time: time.Date(2024, 1, 1, 9, n, 0, 0, time.UTC), Text: text}
		if who == "model" || who == "tool" || who == "user" {
			m.Role, m.Author = who, ""
		}
		list = append(list, Of(m))
	}
	return list
}

// channel is interleaved talk: the printer in cluster 1, the kernel in 2, the music in 3.
func channel() *Candidates {
	c := &Candidates{}
	for i, f := range script(`
		0 ann: how do I get my epson printer to work with cups?
		0 kim: anyone know why the kernel panics on boot after the upgrade to 2.6.28?
		1 bob: ann: is the printer listed by lpinfo?
		1 lee: kim: which initrd does grub load
		1 max: rhythmbox has no sound at all, do I need alsa or pulse?
		2 ann: bob: yes, lpinfo shows usb://EPSON/Stylus
		2 eva: max: run alsamixer and look whether it is muted
		2 kim: lee: the generic one, initrd.img-2.6.28-11
		3 bob: ann: then add it in the cups page at localhost:631
		3 max: eva: it was muted, how silly
		3 gus: good morning
		3 ida: is there a mirror of the archive in Chile?
		3 jon: ida: cl.archive.ubuntu.com
	`) {
		c.Touch([]uint64{1, 2, 1, 2, 3, 1, 3, 2, 1, 3, 4, 5, 5}[i], []Features{f})
	}
	return c
}

func TestPlaceInACrowd(t *testing.T) {
	for _, tt := range []struct {
		name, said, ahead string
		want              uint64 // 0 for a new one
	}{
		{"the person spoken to", "4 bob: ann: did it print?", "", 1},
		{"a comma", "4 bob: ann, did it print?", "", 1},
		{"an at sign", "4 bob: @kim try the older one", "", 2},
		{"a name with text glued to it", "4 bob: @kim你好 try the older one", "", 2},
		{"a name without a sign", "4 nat: what about the older one kim", "", 2},
		{"a word that is nobody's name", "4 nat: hello all: where do I report a broken wiki page?",
			"", 0},
		{"a reply to who spoke to me", "4 ann: ok it printed a page", "", 1},
		{"an answer to who spoke to me, with a name that is new to the cluster",
			"4 ann: bob: it works", "", 1},
		{"thanks to a person", "4 ann: bob thanks", "", 1},
		{"thanks to nobody", "4 ann: thanks", "", 1},
		{"a nod", "4 lee: hmm", "", 2},
		{"a quote",
			"4 nat: > kernel panics on boot after the upgrade to 2.6.28 -- had that with " +
				"initrd.img-2.6.28-11", "", 2},
		{"the words alone",
			"4 nat: the kernel 2.6.28 upgrade panics on boot here as well, the generic initrd", "",
			2},
		{"a new author who asks", "4 nat: hi, can I resize an ntfs partition without losing data?",
			"", 0},
		{"an author of the channel who asks something else",
			"4 gus: hi, how does one resize an ntfs partition?", "", 0},
		{"who is spoken to next", "4 eva: and?", "4 max: eva: sound works now", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, joined := channel().Place(script(tt.said), script(tt.ahead), 0.5)
			if got != tt.want || joined != (tt.want != 0) {
				t.Errorf("%q joins %d (%v), want %d", tt.said, got, joined, tt.want)
			}
		})
	}
}

// The next message of the author decides where an ambiguous message belongs.
func TestPlaceLooksAhead(t *testing.T) {
	for _, tt := range []struct {
		ahead string
		want  uint64
	}{
		{"", 1},
		{"4 bob: max: pulse was the culprit for the sound here", 3},
	} {
		c := channel()
		for i, f := range script(
			"3 bob: max: which alsa mixer is that\n3 bob: ann: and lpinfo again?") {
			c.Touch([]uint64{3, 1}[i], []Features{f})
		}
		if got, _ := c.Place(script("4 bob: had the same thing once"), script(tt.ahead),
			0.5); got != tt.want {
			t.Errorf("before %q it joins %d, want %d", tt.ahead, got, tt.want)
		}
	}
}

// Two people who talk stay together until an hour of silence, whatever their words.
func TestPlaceInADialogue(t *testing.T) {
	for _, tt := range []struct {
		name, said string
		want       uint64
	}{
		{"goes on", "6 bob: try it with the flag", 1},
		{"another word altogether", "8 ann: my cat sits on the keyboard", 1},
		{"half an hour later, the same people", "36 ann: it compiles now", 1},
		{"hours later", "300 joe: hi, does anybody use the new router?", 0},
	} {
		c := &Candidates{}
		for _, f := range script(
			"0 ann: the build fails with an undefined symbol\n1 bob: which one?\n2 ann: " +
				"parse_header\n4 bob: you have to link libhttp") {
			c.Touch(1, []Features{f})
		}
		if got, joined := c.Place(script(tt.said), nil, 0.5); got != tt.want ||
			joined != (tt.want != 0) {
			t.Errorf("%s: joins %d (%v), want %d", tt.name, got, joined, tt.want)
		}
	}
}

func TestPlaceExchange(t *testing.T) {
	c := &Candidates{}
	for i, s := range []string{
		`0 user: The login test fails since yesterday, have a look at auth/session.go
		 0 model: I read the file first. read_file auth/session.go
		 0 tool: func NewSession(user string) (*Session, error) { return nil, ErrExpired }
		 0 model: NewSession returns ErrExpired for a fresh cookie.`,
		`3 user: Please write a Dockerfile for the importer
		 3 model: write_file deploy/importer/Dockerfile
		 3 tool: FROM golang:1.22-alpine AS builder
		 3 model: The image builds on alpine and runs as nobody.`,
	} {
		c.Touch(uint64(i+1), script(s))
	}
	for _, tt := range []struct {
		name, said string
		want       uint64
	}{
		{"the same file",
			"5 user: add a case for an empty user\n5 model: replace auth/session.go\n5 tool: 1 " +
				"replacement in auth/session.go", 1},
		{"a call and its result say it, the prompt does not",
			"5 user: and now?\n5 model: run_shell_command go test ./auth -run NewSession\n5 " +
				"tool: FAIL ErrExpired auth/session.go:14", 1},
		{"a nod goes on with the exchange before", "5 user: ok, commit\n5 model: Done.", 2},
		{"the image",
			"5 user: make the image smaller\n5 model: replace deploy/importer/Dockerfile alpine " +
				"builder\n5 tool: 1 replacement", 2},
		{"a prompt alone", "5 user: auth/session.go again: NewSession and ErrExpired", 1},
		{"a prompt alone about something else", "5 user: Which countries border on Austria?", 0},
		{"something else",
			"5 user: Which countries border on Austria?\n5 model: Germany, Czechia, Slovakia, " +
				"Hungary, Slovenia, Italy, Switzerland, Liechtenstein.", 0},
	} {
		if got, joined := c.Place(script(tt.said), nil, 0.5); got != tt.want ||
			joined != (tt.want != 0) {
			t.Errorf("%s: joins %d (%v), want %d", tt.name, got, joined, tt.want)
		}
	}
}

// In a meeting nobody is addressed by name; a topic ends after about 4500 words.
func TestPlaceMeeting(t *testing.T) {
	var lines strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&lines, "%d %s: the remote control should have a button %d that fits\n", i/8,
			[]string{"Designer", "Manager", "Marketer"}[i%3], i)
	}
	c := &Candidates{}
	clusters := play(c, script(lines.String()))
	runs := 1
	for i := range clusters[1:] {
		if clusters[i] != clusters[i+1] {
			runs++
		}
	}
	if last := clusters[len(clusters)-1]; last != 3 || runs != 3 {
		t.Errorf("%d clusters in %d runs for 10,000 words, want 3 in 3", last, runs)
	}
}

// Comments that are hours apart belong together, although each has another author.
func TestPlaceComments(t *testing.T) {
	var lines strings.Builder
	for i := range 60 {
		fmt.Fprintf(&lines, "%d reader%d: I see this on version %d as well, the window flickers\n",
			200*i, i, i)
	}
	clusters := play(&Candidates{}, script(lines.String()))
	if last := clusters[len(clusters)-1]; last > 3 {
		t.Errorf("60 comments are in %d clusters", last)
	}
}

func TestPlaceThreshold(t *testing.T) {
	for _, tt := range []struct {
		threshold float64
		joined    bool
	}{{0, true}, {0.5, false}, {1, false}} {
		if _, joined := channel().Place(
			script("4 nat: hi, can I resize an ntfs partition without losing data?"), nil,
			tt.threshold); joined != tt.joined {
			t.Errorf("a threshold of %v: joined %v", tt.threshold, joined)
		}
	}
	if _, joined := (&Candidates{}).Place(script("0 ann: hello"), nil, 0); joined {
		t.Error("there is nothing to join")
	}
	if _, joined := channel().Place(script("4 ann: bob: it works"), nil, 1); joined {
		t.Error("a threshold of 1 joins")
	}
}

// Place changes nothing.
func TestPlaceOnlyLooks(t *testing.T) {
	c := channel()
	before := string(c.Append(nil))
	c.Place(script("4 nat: ann: hi"), script("5 ann: nat: hello"), 0.5)
	if string(c.Append(nil)) != before {
		t.Error("the candidates have changed")
	}
}

// The decisions for a seeded random conversation are the same on every platform and in every
// release, unless weights or signs are changed on purpose.
func TestPlaceIsDeterministic(t *testing.T) {
	sum := sha256.Sum256([]byte(fmt.Sprint(play(&Candidates{}, talk(1, 2000)))))
	const want = "6d5b7965bf4ef9ce"
	if got := hex.EncodeToString(sum[:8]); got != want {
		t.Errorf("the decisions have digest %s, want %s", got, want)
	}
}

func TestBounds(t *testing.T) {
	c := &Candidates{}
	for i := range 3000 {
		f := Of(Message{Conversation: fmt.Sprint(i / 150), Role: "user",
			Author: fmt.Sprint("nick", i), Text: strings.Repeat(fmt.Sprintf("w%d ", i), 3)})
		c.Touch(uint64(i/20), []Features{f, f})
	}
	if len(c.clusters) != MaxClusters || len(c.convs) != MaxConversations ||
		len(c.convs[0].persons) != maxPersons || c.Has(0) || !c.Has(149) {
		t.Errorf("%d clusters, %d conversations, %d persons", len(c.clusters), len(c.convs),
			len(c.convs[0].persons))
	}
	for i := range 100 {
		c.Touch(1,
			[]Features{Of(Message{Conversation: "c", Role: "user", Author: fmt.Sprint("nick", i),
				Text: manyWords(i)})})
	}
	k := c.find(1)
	if len(k.terms) != maxClusterTerms || len(k.members) != maxMembers {
		t.Errorf("%d terms, %d members", len(k.terms), len(k.members))
	}
	if n := len(c.Append(nil)); n > 256<<10 {
		t.Errorf("%d bytes", n)
	}
}

func manyWords(seed int) string {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "word%dx%d ", seed, i)
	}
	return b.String()
}
