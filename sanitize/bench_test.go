package sanitize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const ordinary = "The parser keeps a small buffer of runes and asks the reader for more (see io.Reader).\nfunc next(b []byte) (rune, int) { return utf8.DecodeRune(b) } // note: no copy is made\n"

func benchmarkText(b *testing.B, in []byte) {
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Text(in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkText4KClean(b *testing.B) {
	benchmarkText(b, []byte(strings.Repeat(ordinary, 50)[:4096]))
}

func BenchmarkText4KOneSecret(b *testing.B) {
	benchmarkText(b, []byte(strings.Repeat(ordinary, 50)[:4000]+" password=hunter2"))
}

func BenchmarkText16M(b *testing.B) {
	benchmarkText(b, bytes.Repeat([]byte(ordinary), 16<<20/len(ordinary)))
}

func BenchmarkTextDense1M(b *testing.B) {
	benchmarkText(b, bytes.Repeat([]byte("password=hunter2 "), 1<<20/17))
}

// BenchmarkTextHostile1M cleans inputs that make careless rules quadratic.
func BenchmarkTextHostile1M(b *testing.B) {
	for _, unit := range hostile {
		b.Run(unit, func(b *testing.B) {
			benchmarkText(b, bytes.Repeat([]byte(unit), 1<<20/len(unit)))
		})
	}
}

var hostile = []string{
	"token:", "token=\"", "token='\\\"", "password=a", "://", "x://a:", "x://a@", "a1", "\\",
	"\\\"", "eyJ", "eyJaaaaaaaaaa.", "AKIA", "sk-", "xoxb-", "SK",
	":AA", "1:AA", "-----BEGIN ", "-----BEGIN PRIVATE " + "KEY-----", "[", "[REDACTED:",
	"password=[REDACTED:", "= ", "%3D", "Bearer ", "SG.", ",a=", "token=x,a", "token:[1",
}

// TestHostile only checks that such inputs settle; the benchmark measures the time.
func TestHostile(t *testing.T) {
	for _, unit := range hostile {
		mustText(t, strings.Repeat(unit, 1<<14/len(unit)))
		mustText(t, strings.Repeat(unit, 100)+"hunter2"+strings.Repeat("]", 5))
	}
}

// BenchmarkJSON cleans the lines of transcripts, and reads the same lines with json.Unmarshal in
// the same run: how many times as fast cleaning is does not depend on the machine. CTX_CORPUS names
// a folder of real transcripts (*.jsonl).
func BenchmarkJSON(b *testing.B) {
	lines := transcriptLines(b)
	size := 0
	for _, line := range lines {
		size += len(line)
	}
	var ours, theirs time.Duration
	for b.Loop() {
		start := time.Now()
		for _, line := range lines {
			if _, _, err := JSON(line); err != nil {
				b.Fatal(err)
			}
		}
		middle := time.Now()
		for _, line := range lines {
			var v any
			if err := json.Unmarshal(line, &v); err != nil {
				b.Fatal(err)
			}
		}
		ours, theirs = ours+middle.Sub(start), theirs+time.Since(middle)
	}
	b.ReportMetric(float64(b.N)*float64(size)/1e6/ours.Seconds(), "MB/s")
	b.ReportMetric(theirs.Seconds()/ours.Seconds(), "times-Unmarshal")
}

// transcriptLines reads the folder CTX_CORPUS, or makes lines such as agents write.
func transcriptLines(b *testing.B) (lines [][]byte) {
	b.Helper()
	folder := os.Getenv("CTX_CORPUS")
	if folder == "" {
		result, err := json.Marshal(strings.Repeat(ordinary, 20))
		if err != nil {
			b.Fatal(err)
		}
		for i := range 200 {
			lines = append(lines,
				fmt.Appendf(nil,
					`{"type":"user","uuid":"%08x-0000-4000-8000-000000000000","message":{"role":"user","content":[{"type":"tool_result","content":%s}]}}`, i, result))
		}
		return lines
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil || len(files) == 0 {
		b.Fatalf("no transcripts in %s: %v", folder, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			if len(line) > 0 {
				lines = append(lines, line)
			}
		}
	}
	return lines
}
