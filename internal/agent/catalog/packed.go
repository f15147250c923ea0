package catalog

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/durable"
)

// The most that is read of a packed transcript, and the most memory that its decoder takes, in
// bytes. A small file can be made that unpacks without end.
const (
	maxUnpacked     = 4 << 30
	maxDecoderBytes = 128 << 20
)

// packings are the forms in which a transcript may be packed: how the bytes begin, and what the
// name of a file ends with.
var packings = [...]struct {
	begin, ending string
	unpack        func(io.Reader) (io.Reader, func(), error)
}{
	{"\x1f\x8b", ".gz", func(r io.Reader) (io.Reader, func(), error) {
		return &gunzip{r: r}, func() {}, nil
	}},
	{"\x28\xb5\x2f\xfd", ".zst", func(r io.Reader) (io.Reader, func(), error) {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxMemory(maxDecoderBytes))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}},
	{"BZh", ".bz2", func(r io.Reader) (io.Reader, func(), error) {
		return bzip2.NewReader(r), func() {}, nil
	}},
}

// unread are the forms that are not read, and what unpacks them.
var unread = [...]struct{ begin, form, program string }{
	{"\xfd7zX", "xz", "xz -d"}, {"PK\x03\x04", "zip", "unzip"},
}

// gunzip reads a gzip file, also one that ends in its header.
type gunzip struct {
	r io.Reader
	z *gzip.Reader
}

// Read reads from r.
func (g *gunzip) Read(p []byte) (n int, err error) {
	if g.z == nil {
		if g.z, err = gzip.NewReader(g.r); errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return 0, err
		}
	}
	return g.z.Read(p)
}

// upToDamage reads what can be unpacked. Where the rest is not what was packed, it is as if the
// file ended there.
type upToDamage struct{ r io.Reader }

// Read reads from r.
func (u upToDamage) Read(p []byte) (n int, err error) {
	n, err = u.r.Read(p)
	var file *fs.PathError
	if err != nil && !errors.Is(err, io.EOF) && !errors.As(err, &file) &&
		!errors.Is(err, zstd.ErrDecoderSizeExceeded) &&
		!errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Unpack returns what is packed in r, as a *transcript.UpToCut, whatever the file is called; r
// itself, or a reader of the same bytes, if nothing is. A caller calls end after it has read.
func Unpack(r io.Reader) (in io.Reader, end func(), err error) {
	head, r, err := transcript.Peek(r, 4)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range packings {
		if bytes.HasPrefix(head, []byte(p.begin)) {
			in, end, err := p.unpack(r)
			return &transcript.UpToCut{
				R: &transcript.AtMost{R: upToDamage{in}, Most: maxUnpacked}}, end, err
		}
	}
	for _, p := range unread {
		if bytes.HasPrefix(head, []byte(p.begin)) {
			return nil, nil, fmt.Errorf("it is packed with %s, which ctx does not read: `%s` unpacks it",
				p.form, p.program)
		}
	}
	return r, func() {}, nil
}

// Text returns the UTF-8 text of a transcript, which may be packed, or UTF-16. It is r itself if r
// can seek and is UTF-8 already. packed is nil if nothing is packed; a caller has it count what is
// cut off, and calls end after it has read.
func Text(r io.Reader) (text io.Reader, packed *transcript.UpToCut, end func(), err error) {
	in, end, err := Unpack(r)
	if err == nil {
		packed, _ = in.(*transcript.UpToCut)
		text, err = transcript.Text(in)
	}
	return text, packed, end, err
}

// Plain returns the name that a file has without the ending of what it is packed with. A file that
// has none keeps its name.
func Plain(name string) string {
	for _, p := range packings {
		if plain, ok := strings.CutSuffix(name, p.ending); ok {
			return plain
		}
	}
	return name
}

// open opens a transcript, packed or not, as UTF-8.
func open(file string) (io.Reader, func(), error) {
	f, _, err := durable.OpenAtMost(file, durable.MaxInput)
	if err != nil {
		return nil, nil, err
	}
	in, _, end, err := Text(f)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return in, func() {
		end()
		_ = f.Close() // it was only read
	}, nil
}

// unpacked returns the files of which an agent writes one, without those that are there as they
// were written, too: one is being packed, or was unpacked to go on.
func unpacked(files []string) (list []string) {
	there := map[string]bool{}
	for _, file := range files {
		there[file] = true
	}
	for _, file := range files {
		if plain := Plain(file); plain == file || !there[plain] {
			there[plain] = true
			list = append(list, file)
		}
	}
	return list
}
