package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// A form writes message i of a conversation.
type form struct {
	file  string
	write func(w io.Writer, i int, text string) error
}

func inJSON(file string) form {
	return form{file, func(w io.Writer, i int, text string) error {
		return jsonLine(w, map[string]string{"role": roleOf(i), "text": text})
	}}
}

func inPlain(file string) form {
	return form{file, func(w io.Writer, _ int, text string) error {
		_, err := fmt.Fprintln(w, text)
		return err
	}}
}

// inCommits writes a stream for fast-import.
func inCommits(file string) form {
	return form{file, func(w io.Writer, i int, text string) error {
		_, err := fmt.Fprintf(w,
			"commit refs/heads/main\ncommitter a <a@b> %d +0000\ndata %d\n%s\n\n", 1_700_000_000+i,
			len(text), text)
		return err
	}}
}

func roleOf(i int) string { return []string{"user", "model"}[i%2] }

func jsonLine(w io.Writer, line map[string]string) error {
	b, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// generate writes the same n messages in each form to its file.
func generate(n int, forms ...form) (err error) {
	writers := make([]*bufio.Writer, len(forms))
	for i, f := range forms {
		out, err := os.Create(f.file)
		if err != nil {
			return err
		}
		w := bufio.NewWriter(out)
		defer func() { err = errors.Join(err, w.Flush(), out.Close()) }()
		writers[i] = w
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		text := talk(r, i)
		for k, f := range forms {
			if err := f.write(writers[k], i, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// talk returns message i: a few words that are everywhere, and many that are rare.
func talk(r *rand.Rand, i int) string {
	var b strings.Builder
	for k := range 8 + r.IntN(33) {
		if k > 0 {
			b.WriteByte(' ')
		}
		if r.IntN(2) == 0 {
			b.WriteString(
				[]string{"the", "file", "error", "test", "build", "server", "value",
					"port"}[r.IntN(8)])
		} else {
			fmt.Fprintf(&b, "w%d", r.IntN(20000))
		}
	}
	if i%50000 == 7 {
		fmt.Fprintf(&b, " zanzibar%d", i)
	}
	return b.String()
}

// sessionMessages is the number of messages of a generated session.
const sessionMessages = 10

// generateSessions writes n transcripts, each a file of its own in dir, and returns their names.
func generateSessions(dir string, n int) (files []string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(1, 2))
	for k := range n {
		session := fmt.Sprint("s", k)
		var b bytes.Buffer
		for i := range sessionMessages {
			line := map[string]string{"role": roleOf(i), "text": talk(r, sessionMessages*k+i),
				"session": session}
			if err := jsonLine(&b, line); err != nil {
				return nil, err
			}
		}
		file := filepath.Join(dir, session+".jsonl")
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}
