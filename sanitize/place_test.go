package sanitize

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
)

// place puts a sample somewhere. asJSON says that the result is for JSON rather than for Text. ok
// is false if the sample cannot stand there.
type place struct {
	name string
	put  func(r *rand.Rand, s sample) (in string, asJSON, ok bool)
}

func isLines(s sample) bool { return strings.Contains(s.text, "\n") }

// The spellings of a name.
func snake(name string) string  { return strings.ReplaceAll(name, " ", "_") }
func kebab(name string) string  { return strings.ReplaceAll(name, " ", "-") }
func upper(name string) string  { return strings.ToUpper(snake(name)) }
func pascal(name string) string { return strings.ReplaceAll(title(name), " ", "") }

func title(name string) string {
	parts := strings.Fields(name)
	for i, p := range parts {
		parts[i] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, " ")
}

func lowerCamel(name string) string {
	p := pascal(name)
	return strings.ToLower(p[:1]) + p[1:]
}

// jsonText returns v as JSON, without the escapes for HTML.
func jsonText(v any, indent bool) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if indent {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// say chooses one of the ways to write a sample. %n stands for the name of the sample if it has
// one.
func say(
	r *rand.Rand, s sample, spell func(string) string, quote func(string) string,
	withName, without []string,
) string {
	text := s.text
	if quote != nil {
		text = quote(text)
	}
	ways := without
	if s.name != "" {
		ways = withName
	}
	out := ways[r.IntN(len(ways))]
	if s.name != "" {
		out = strings.ReplaceAll(out, "%n", spell(s.name))
	}
	return strings.ReplaceAll(out, "%v", text)
}

func places() []place {
	text := func(f func(*rand.Rand, sample) string) func(*rand.Rand, sample) (string, bool, bool) {
		return func(r *rand.Rand, s sample) (string, bool, bool) { return f(r, s), false, true }
	}
	oneLine := func(f func(*rand.Rand, sample) string) func(*rand.Rand,
		sample) (string, bool, bool) {
		return func(r *rand.Rand, s sample) (string, bool, bool) {
			if isLines(s) {
				return "", false, false
			}
			return f(r, s), false, true
		}
	}
	return []place{
		{"prose", text(prose)},
		{"Go", text(goCode)},
		{"Python", text(python)},
		{"JavaScript", text(javaScript)},
		{"JSON", text(jsonDocument)},
		{"JSON in JSON", text(func(r *rand.Rand, s sample) string {
			return jsonText(map[string]any{"status": 200, "body": jsonDocument(r, s)},
				r.IntN(2) == 0)
		})},
		{"YAML", text(yaml)},
		{".env", oneLine(dotEnv)},
		{"URL", oneLine(inURL)},
		{"log", text(logLine)},
		{"shell", text(shell)},
		{"Markdown", text(markdown)},
		{"diff", text(diff)},
		{"colours", oneLine(colours)},
		{"wrapped", wrapped},
		{"call", inCall},
		{"result", inResult},
		{"two parts", splitSecret},
	}
}

func prose(r *rand.Rand, s sample) string {
	if isLines(s) {
		return "here it is, don't share it:\n\n" + s.text + "\nthanks!"
	}
	return say(r, s, func(n string) string { return n }, nil,
		[]string{"Please use this %n: %v for now.", "The %n is %v, change it later.",
			"ok, %n = %v", "%n: %v"},
		[]string{"Please use %v for now.", "I got `%v` from ops.", "Here: %v",
			"is (%v) still valid?"})
}

func goCode(r *rand.Rand, s sample) string {
	return "func main() {\n\t" + say(r, s, lowerCamel, strconv.Quote,
		[]string{"%n := %v", "const %n = %v", "cfg.%n = %v", "run(Config{%n: %v, Debug: true})",
			"m := map[string]string{\"%n\": %v}", "os.Setenv(\"%n\", %v)", "var %n string = %v"},
		[]string{"x := New(%v)", "const line = %v", "run(Config{Value: %v, Debug: true})",
			"os.Setenv(\"X\", %v)"}) + "\n}\n"
}

func pyQuote(t string) string {
	if strings.Contains(t, "\n") {
		return `"""` + t + `"""`
	}
	if strings.Contains(t, "'") {
		return jsonText(t, false)
	}
	return "'" + t + "'"
}

func python(r *rand.Rand, s sample) string {
	return "import os\n\n" + say(r, s, snake, pyQuote,
		[]string{"%n = %v", "connect(user='app', %n=%v, port=1)", "os.environ['%n'] = %v",
			"conf = {'%n': %v, 'debug': True}", "    self.%n = %v", "%n: str = %v"},
		[]string{"x = %v", "send(%v)", "conf = {'x': %v, 'debug': True}"}) + "\n"
}

func jsQuote(t string) string { return jsonText(t, false) }

func javaScript(r *rand.Rand, s sample) string {
	return say(r, s, lowerCamel, jsQuote,
		[]string{"const %n = %v;", "export default { user: 'a', %n: %v };", "process.env.%n = %v;",
			"client.login({ %n: %v })", "let %n: string = %v;"},
		[]string{"const x = %v;", "fetch(u, { body: %v });", "client.login(%v)"}) + "\n"
}

func jsonDocument(r *rand.Rand, s sample) string {
	name := "x"
	if s.name != "" {
		name = pick(r, snake(s.name), lowerCamel(s.name), kebab(s.name), upper(s.name))
	}
	return jsonText(map[string]any{"host": "db.acme.test", "n": 3, name: s.text}, r.IntN(2) == 0)
}

func yaml(r *rand.Rand, s sample) string {
	if isLines(s) {
		return "data:\n  file: |\n    " +
			strings.ReplaceAll(strings.TrimSuffix(s.text, "\n"), "\n", "\n    ") + "\n"
	}
	return "app:\n  debug: false\n" + say(r, s, snake, nil,
		[]string{"  %n: %v\n", "  %n: \"%v\"\n", "  env:\n  - name: %n\n    value: %v\n",
			"  env:\n  - name: %n\n    value: \"%v\"\n", "  - %n=%v\n"},
		[]string{"  x: %v\n", "  x: '%v'\n", "  - %v\n"})
}

func dotEnv(r *rand.Rand, s sample) string {
	return "DEBUG=1\n" +
		say(r, s, upper, nil, []string{"%n=%v\n", "export %n=%v\n", "%n=\"%v\"\n", "%n='%v'\n"},
			[]string{"X=%v\n", "export X='%v'\n"}) + "PORT=80\n"
}

func inURL(r *rand.Rand, s sample) string {
	return say(r, s, snake, url.QueryEscape,
		[]string{"https://api.acme.test/v1/x?%n=%v&page=2", "GET /v1/x?u=1&%n=%v HTTP/1.1",
			"https://login.acme.test/cb#%n=%v"},
		[]string{"https://api.acme.test/v1/x?q=%v&page=2", "GET /v1/%v HTTP/1.1"})
}

func logLine(r *rand.Rand, s sample) string {
	if isLines(s) {
		return "2026-03-04T05:06:07Z INFO read file\n2026-03-04T05:06:07Z DEBUG content: " +
			s.text + "2026-03-04T05:06:08Z INFO done\n"
	}
	return say(r, s, snake, nil,
		[]string{"2026-03-04T05:06:07Z INFO connect host=db %n=%v ms=3\n",
			"[05:06:07] DEBUG: using %n: %v\n", "time=05:06 level=info msg=\"login\" %n=\"%v\"\n",
			"DEBUG config {host=db, %n=%v, port=1}\n"},
		[]string{"2026-03-04T05:06:07Z INFO sent %v ms=3\n", "[05:06:07] DEBUG: %v\n",
			"time=05:06 level=info msg=\"got %v\"\n"})
}

func shell(r *rand.Rand, s sample) string {
	if isLines(s) {
		return "$ cat > f <<'EOF'\n" + s.text + "EOF\n$ ls\n"
	}
	if s.name == "" {
		return "$ " +
			say(r, s, nil, nil, nil,
				[]string{"echo '%v' | tee x", "run \"%v\"",
					"curl -H 'X: %v' https://acme.test/", "%v"}) + "\n"
	}
	spell, ways := kebab, []string{"tool --%n %v --yes", "tool --%n=%v run", "tool --%n '%v'"}
	if r.IntN(2) == 0 {
		spell, ways = upper,
			[]string{"%n=%v tool run", "export %n='%v'", "docker run -e %n=%v img",
				"echo %n=%v >> .env", "kubectl create secret generic x --from-literal=%n=%v"}
	}
	return "$ " + say(r, s, spell, nil, ways, nil) + "\n"
}

func markdown(r *rand.Rand, s sample) string {
	if isLines(s) {
		return "## Setup\n\n```\n" + s.text + "```\n\nThen run it.\n"
	}
	return say(r, s, title, nil,
		[]string{"| user | %n |\n|---|---|\n| me | `%v` |\n", "| %n | `%v` |\n", "- **%n**: `%v`\n",
			"- %n: %v\n", "```\n%n=%v\n```\n", "**%n:** %v\n"},
		[]string{"| me | `%v` |\n", "- `%v`\n", "```\n%v\n```\n", "> %v\n"})
}

func diff(r *rand.Rand, s sample) string {
	sign := pick(r, "+", "-", " ")
	body := s.text
	if !isLines(s) {
		body = say(r, s, snake, nil, []string{"%n: %v", "%n = \"%v\"", "export %n=%v"},
			[]string{"x: %v", "x = \"%v\""})
	}
	return "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a: 1\n" + sign +
		strings.ReplaceAll(strings.TrimSuffix(body, "\n"), "\n", "\n"+sign) + "\n b: 2\n"
}

func colours(r *rand.Rand, s sample) string {
	return say(r, s, snake, nil,
		[]string{"\x1b[36m%n\x1b[0m=\x1b[33m%v\x1b[0m", "\x1b[1m%n:\x1b[0m %v",
			"\x1b[32m\"%n\"\x1b[0m: \x1b[31m\"%v\"\x1b[0m"},
		[]string{"\x1b[33m%v\x1b[0m", "found \x1b[1;31m%v\x1b[m in f", "\x1b[32m\"%v\"\x1b[0m"})
}

// wrapped breaks the first secret like a terminal of that many columns.
func wrapped(r *rand.Rand, s sample) (string, bool, bool) {
	secret := s.secrets[0]
	if isLines(s) || len(secret) < 12 {
		return "", false, false
	}
	line := say(r, s, snake, nil, []string{"%n: %v", "%n=%v", "export %n=\"%v\""},
		[]string{"%v", "got %v ok"})
	at := strings.Index(line, secret)
	columns := pick(r, "80", "100", "120")
	n, _ := strconv.Atoi(columns)
	cut := n - (3 + r.IntN(max(1, min(len(secret)-6, n/2)))) // where the secret begins in its line
	line = strings.Repeat("a line that is there ", n)[:max(0, cut-at-1)] + " " + line
	var out strings.Builder
	for len(line) > n {
		out.WriteString(line[:n] + pick(r, "\n", "\n", "\r\n"))
		line = line[n:]
	}
	return out.String() + line + "\n", false, true
}

func inCall(r *rand.Rand, s sample) (string, bool, bool) {
	args := map[string]any{"command": strings.TrimSuffix(shell(r, s), "\n"), "timeout": 10}
	if s.name != "" && r.IntN(2) == 0 {
		args = map[string]any{pick(r, snake(s.name), lowerCamel(s.name)): s.text}
	}
	if r.IntN(3) == 0 {
		args = map[string]any{"file_path": "a.txt", "new_string": goCode(r, s)}
	}
	return jsonText(
		[]any{map[string]any{"functionCall": map[string]any{"name": "run", "id": "c1",
			"args": args}}}, false), true, true
}

func inResult(r *rand.Rand, s sample) (string, bool, bool) {
	out := pick(r, logLine(r, s), yaml(r, s), jsonDocument(r, s), diff(r, s))
	return jsonText(
		[]any{map[string]any{"functionResponse": map[string]any{"name": "run", "id": "c1",
			"response": map[string]any{"output": out, "exitCode": 0}}}}, false), true, true
}

// splitSecret writes a text as two parts of one message, with the border inside the first secret.
func splitSecret(r *rand.Rand, s sample) (string, bool, bool) {
	line := prose(r, s)
	at := strings.Index(line, s.secrets[0]) + 1 + r.IntN(len(s.secrets[0])-1)
	return jsonText([]any{map[string]any{"text": line[:at]}, map[string]any{"text": line[at:]}},
		false), true, true
}
