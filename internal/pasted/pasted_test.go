package pasted

import (
	"fmt"
	"strings"
	"testing"
)

// many returns n lines of a form.
func many(n int, form string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, form+"\n", i)
	}
	return b.String()
}

// Each text stands between a wish and a question, which stay.
func TestFoldsWhatWasPasted(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"members", many(6, "time=2026-04-14T14:00:0%d.100Z level=INFO msg=sealed"),
			"[6 lines of a log]"},
		{"a time in front", many(5, "2026-04-14 14:00:0%d,100 worker started"),
			"[5 lines of a log]"},
		{"a time in brackets", many(5, "[14:00:0%d] GET /health 200"), "[5 lines of a log]"},
		{"syslog", many(5, "Apr  4 14:00:0%d host sshd[12]: accepted"), "[5 lines of a log]"},
		{"the kernel", many(5, "[   12.34567%d] usb 1-1: new device"), "[5 lines of a log]"},
		{"levels", many(5, "INFO [main] started part=%d in 3 ms"), "[5 lines of a log]"},
		{"progress", many(4, "Receiving objects: 1%d%% (3/60), done."), "[4 lines of a log]"},
		{"a build of docker", "#5 [2/4] RUN make\n#5 0.312 gcc -o a\n#5 0.412 gcc -o b\n#5 DONE 0.5s",
			"[4 lines of a log]"},
		{"the end of one", many(4, " => => naming to registry/lamps:%d 0.0s"), "[4 lines of a log]"},
		{"a log with its last error", many(6, "2026-04-14T14:00:0%dZ working") +
			"2026-04-14T14:00:09Z error: disk full",
			"[7 lines of a log: 2026-04-14T14:00:09Z error: disk full]"},
		{"numbers between the lines of a log", "time=1 level=INFO msg=a\nfar: sum 9 (small 1)\n" +
			"time=2 level=INFO msg=b\nfar: sum 8 (small 2)\ntime=3 level=INFO msg=c",
			"[5 lines of a log]"},
		{"a log and how its program ended", many(5, "2026-04-14T14:00:0%dZ working") +
			"exit status 1", "[6 lines of a log]"},
		{"a log in JSON", many(5, `{"level":"info","n":%d}`), "[5 lines of a log]"},
		{"words behind the same lead", many(3, "target: Resolving deltas: 1%d%% (2/3), done.") +
			"target: Time 2026\ntarget: bye", "[5 lines of a log]"},
		{"a mail", many(5, "> please take route %d"), "[5 lines of a quote]"},
		{"an environment", many(9, "PLEASE_USE_%d=other"), "[9 lines of settings]"},
		{"exports", many(9, "export ROUTE_%d=\"north\""), "[9 lines of settings]"},
		{"YAML", "services:\n" + many(6, "  web%d:\n    image: reg/web\n    - 80:80\n"),
			"[24 lines of settings]"},
		{"much code", "package a\n\n" + many(6, "func f%d(a int) int {\n\tif a > 0 {\n\t\treturn a\n"+
			"\t}\n\treturn 0\n}\n"), "[43 lines of code]"},
		{"HTML", "<ul>\n" + many(16, "  <li>please use route %d</li>") + "</ul>",
			"[18 lines of markup]"},
		{"XML", "<?xml version=\"1.0\"?>\n\n" + many(16, "<route id=\"%d\"/>"),
			"[18 lines of markup]"},
		{"Python", "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n" +
			"    run()\n  File \"b.py\", line 9, in run\n    raise ValueError(x)\nValueError: no name",
			"[6 lines of a stack trace: ValueError: no name]"},
		{"Go", "panic: nil map\n\ngoroutine 1 [running]:\nmain.run(0x1)\n\t/p/a.go:12 +0x1d\n" +
			"main.main()\n\t/p/a.go:4 +0x2f", "[7 lines of a stack trace: panic: nil map]"},
		{"Node", "TypeError: x is undefined\n" + many(4, "    at run (/p/a.js:%d:3)"),
			"TypeError: x is undefined\n[4 lines of a stack trace]"},
		{"a short one of Node", "TypeError: x is undefined\n" + many(2, "    at run (/p/a.js:%d:3)"),
			"TypeError: x is undefined\n[2 lines of a stack trace]"},
		{"Rust that panics", "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds\n" +
			"note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
			"[3 lines of a stack trace: thread 'main' panicked at src/main.rs:4:5:]"},
		{"Java", "Exception in thread \"main\" java.lang.IllegalStateException: closed\n" +
			many(3, "\tat a.b.C.run(C.java:%d)"), "[4 lines of a stack trace: Exception in thread " +
			"\"main\" java.lang.IllegalStateException: closed]"},
		{"a compiler", many(4, "net/a.go:%d:3: undefined: run"),
			"[4 lines of output of a compiler or of tests: net/a.go:0:3: undefined: run]"},
		{"TypeScript", many(4, "src/a.ts(%d,5): error TS2304: no name"),
			"[4 lines of output of a compiler or of tests: src/a.ts(3,5): error TS2304: no name]"},
		{"Rust", "error[E0308]: mismatched types\n  --> src/a.rs:3:4\n   |\n3  |     let x: u8 = 1;\n" +
			"   |                 ^ expected", "[5 lines of output of a compiler or of tests: " +
			"error[E0308]: mismatched types]"},
		{"tests", "=== RUN   TestA\n--- FAIL: TestA (0.00s)\n    a_test.go:4: got 1\nFAIL\tshop/a\t0.1s",
			"[4 lines of output of a compiler or of tests: --- FAIL: TestA (0.00s); " +
				"a_test.go:4: got 1]"},
		{"what a test said in sentences", "--- FAIL: TestA (0.00s)\n    a_test.go:4: got 1\n" +
			"    Created the branch and committed the changes to it.\n    a_test.go:5: done\nFAIL",
			"[5 lines of output of a compiler or of tests: --- FAIL: TestA (0.00s); " +
				"a_test.go:4: got 1]"},
		{"a diff", "diff --git a/x.go b/x.go\nindex 1..2 100644\n--- a/x.go\n+++ b/x.go\n@@ -1,2 +1,2 @@\n" +
			"-old\n+new\n same", "[8 lines of a diff: x.go]"},
		{"JSON", "{\n  \"a\": 1,\n  \"b\": [\n    2\n  ]\n}", "[6 lines of JSON]"},
		{"lines of JSON", many(5, `{"id":%d,"name":"x"}`), "[5 lines of JSON]"},
		{"one long line of JSON", `{"a":"` + strings.Repeat("x", 500) + `"}`, "[1 line of JSON]"},
		{"the middle of JSON", "  \"a\": 1,\n  \"b\": 2,\n  \"c\": {\n  \"d\": 4,", "[4 lines of JSON]"},
		{"JSON in a fence", "```json\n{\n  \"a\": 1,\n  \"b\": 2\n}\n```", "[4 lines of JSON]"},
		{"CSV", "id,name,price\n1,tea,3\n2,milk,4\n3,salt,5", "[4 lines of CSV]"},
		{"behind tabs", "id\tname\n1\ttea\n2\tmilk\n3\tsalt", "[4 lines of CSV]"},
		{"a table", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", "[4 lines of a table]"},
		{"a table of a database", "+---+---+\n| a | b |\n+---+---+\n| 1 | 2 |\n+---+---+",
			"[5 lines of a table]"},
		{"a command and its output", "$ ls\nREADME\nmain.go\nnet\nstore", "$ ls\n[4 lines of a terminal]"},
		{"a prompt with the host", "mia@box:~/shop$ make \\\n  all\ncc -o a a.c\ncc -o b b.c\nld a b\nld b",
			"mia@box:~/shop$ make \\\n  all\n[4 lines of a terminal]"},
		{"an agent's screen", "⏺ Bash(make)\n  ⎿ cc -o a\n     cc -o b\n⏺ It builds.",
			"[4 lines of a terminal]"},
		{"a listing", many(4, "-rw-r--r-- 1 mia mia %d Apr 4 10:00 a"), "[4 lines of a terminal]"},
		{"a plan", "# Plan: a store beside git\n\n" + many(12, "- step %d of it"),
			"[14 lines of a plan: Plan: a store beside git]"},
	}
	for _, tt := range tests {
		const before, after = "Please look at this:\n", "\nso why does it stop?"
		text := before + strings.TrimRight(tt.text, "\n") + after
		want := before + tt.want + after
		if strings.Contains(tt.want, "of a plan") { // it goes up to the end
			text, want = strings.TrimSuffix(text, after), strings.TrimSuffix(want, after)
		}
		if got := Fold(text); got != want {
			t.Errorf("%s:\n%s\ngot\n%s", tt.name, text, got)
		}
		if said := Said(text); strings.Contains(said, "[") && !strings.Contains(tt.want, "\n") {
			t.Errorf("%s: said %q", tt.name, said)
		}
	}
}

// A block may begin in the middle of a line, behind the words of the person.
func TestFoldsBehindWords(t *testing.T) {
	const log = `{"time":"2026-02-15T20:46:1%d.48","level":"DEBUG","msg":"hook invoked"}`
	for _, c := range []struct{ text, want string }{
		{"this one still fails: " + many(5, log), "this one still fails: [5 lines of a log]\n"},
		{"It fails since 2026-04-14 on every host:\n" + many(5, "2026-04-14T14:00:0%dZ working"),
			"It fails since 2026-04-14 on every host:\n[5 lines of a log]\n"},
		{"why? 2026-04-14 14:00:00,100 worker started\n" +
			many(5, "2026-04-14 14:00:0%d,100 worker started"), "why? [6 lines of a log]\n"},
		{"didn't ```\n" + many(5, log) + "```\nthis one succeed?",
			"didn't [5 lines of a log]\nthis one succeed?"},
		{"didn't ```\n" + many(5, log) + "``` succeed?",
			"didn't ```\n[5 lines of a log]\n``` succeed?"},
	} {
		if got := Fold(c.text); got != c.want {
			t.Errorf("%q\ngot %q", c.text, got)
		}
	}
}

// What a person wrote stays, though it may look like a paste at first sight.
func TestKeepsWhatWasWritten(t *testing.T) {
	tests := []struct{ name, text string }{
		{"nothing", ""},
		{"a summary with some output", "1. The test says:\n   --- FAIL: TestA (3.40s)\n" +
			"       a_test.go:8: got 1\n\n   The flow is:\n   1. It reads the file and keeps it.\n" +
			"   2. It writes it to the end."},
		{"requirements", "- keep the old flag names\n- error: must be one line\n- no new files\n" +
			"- INFO is the default level\n- ask before each push"},
		{"numbered steps", many(8, "%d. Read the file and say what it does.")},
		{"a line of a trace", "The log says\n  at run (a.js:3:1)\nand then it stops. What does\n" +
			"panic: nil map\nmean?"},
		{"code to be used", "Use this:\n```go\nfunc run(list []string) error {\n\tfor _, s := range list {\n" +
			"\t\tfmt.Println(s)\n\t}\n\treturn nil\n}\n```"},
		{"a list of a person", strings.Repeat("- check the north lamp\n", 30)},
		{"a form of a person", strings.Repeat("Goal: the lamps must shine at each hour of the night\n", 20)},
		{"code without a fence", "def run(a, b):\n    for x in a:\n        print(x, b)\n    return a\n"},
		{"a table of code", "{\"a\", 1},\n{\"b\", 2},\n{\"c\", 3},\n{\"d\", 4},\n{\"e\", 5},"},
		{"a configuration to be used", "[server]\nport = 8080\nhost = \"a\"\n[log]\nlevel = \"info\""},
		{"commands to be run", "$ make\n$ make install\n$ ./run\n$ ./check --all"},
		{"files to be made", "src/\n├── main.go\n├── net\n│   └── a.go\n└── README.md"},
		{"a timetable", "10:30 look at the queue\n11:00 call Bo\n11:30 write it down\n12:00 eat"},
		{"what was done when", many(5, "2026-03-0%d: shipped one more part")},
		{"settings to be made", "Set these:\n" + many(6, "ROUTE_%d=north")},
		{"a page to be made", many(12, "<li>route %d</li>")},
		{"wishes behind arrows", many(5, "=> make lamp %d brighter")},
		{"a poem", "The tide, the light,\nthe harbour wall,\nthe bell at night,\nand that is all."},
		{"a list of words", "red, green, blue\none, two, three\nup, down, left\nin, out, on"},
		{"quotations of a few lines", "It says\nerror: no such file\nerror: gone\nWhat now?"},
		{"Chinese", "请把日志改成一行。\n不要改变旧的名字。\n错误信息要清楚。\n每次推送之前先问我。\n谢谢。"},
		{"Korean", "로그를 한 줄로 바꿔 주세요.\n이름은 그대로 두세요.\n오류는 분명해야 합니다.\n" +
			"푸시하기 전에 물어보세요.\n감사합니다."},
		{"Arabic", "اجعل السجل سطرا واحدا.\nلا تغير الأسماء القديمة.\nيجب أن يكون الخطأ واضحا.\n" +
			"اسألني قبل كل دفع.\nشكرا."},
		{"a long paragraph", strings.Repeat("Then the store reads the log again and says so. ", 20)},
		{"members in a sentence", "Set a=1 b=2 c=3 for the first run.\nThen do the same with the rest."},
		{"a document that is no plan", "# What to build\n\n" + many(14, "- part %d must be fast")},
		{"places to look at", "Look at a.go:12 and at b.go:14.\nSee also c.go:3, it does the same.\n" +
			"d.go:8 is fine.\nLeave e.go:9 as it is."},
	}
	for _, tt := range tests {
		if got := Fold(tt.text); got != tt.text {
			t.Errorf("%s:\n%s\ngot\n%s", tt.name, tt.text, got)
		}
	}
}

// Whatever the text, blocks are in order, and what is between them stays as it is.
func FuzzFind(f *testing.F) {
	f.Add("time=1 level=INFO msg=a\n" + many(5, "%d.go:1:2: x") + "{\n\"a\": 1,\n\n}\nwhy?")
	f.Add("a,b,c\n\n\t\n$ x\r\n| a | b |\n```\n# Plan\n+\n")
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, b := range Find(text) {
			if b.Start < at || b.End < b.Start || b.End > len(text) || b.Lines < 1 {
				t.Fatalf("block %+v behind %d of %d", b, at, len(text))
			}
			at = b.End
		}
		if strings.Contains(Fold(text), "\n[0 lines") {
			t.Fatal("an empty block")
		}
	})
}

func TestIsCommand(t *testing.T) {
	for line, want := range map[string]bool{
		"$ make": true, "% make": true, "❯ make": true, "➜ shop make": true, "PS> dir": true,
		"mia@host:~/shop$ make":               true,
		"(venv) mia@host:~/shop$ make":        true,
		"root@host:/# make":                   true,
		"mia@Mias-MacBook-Pro shop % make":    true,
		"[mia@host shop]$ make":               true,
		"mia@host ~/shop> make":               true,
		`C:\shop>dir /w`:                      true,
		`PS C:\shop> dir`:                     true,
		"mia@host:~/shop$":                    false,
		`C:\shop>`:                            false,
		"mia@example.com wants 50 % of it":    false,
		"mia@example.com wants 50% of it":     false,
		"ask mia@host about the price in $ x": false,
		"@mia: is it done?":                   false,
		"C: is the drive > D":                 false,
		"(see below) it stops":                false,
	} {
		if got := IsCommand(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func TestWhole(t *testing.T) {
	get := "error: sync: plan: list refs: Get \"http://127.0.0.1:63083/former-repo.git/info/refs?" +
		"service=git-upload-pack\": round trip: dial tcp 127.0.0.1:63083: connection refused"
	for text, want := range map[string]string{
		"a := 1\nb := 2": "[2 lines of code]",
		"mia@host shop % sync plan\n" + get: "[2 lines of a terminal: error: sync: plan: list " +
			"refs: Get \"http://127.0.0.1:63083/forme … round trip: " +
			"dial tcp 127.0.0.1:63083: connection refused]",
		"x\nerror: " + strings.Repeat("é", 100): "[2 lines of code: error: " +
			strings.Repeat("é", 56) + " …]",
	} {
		if got := Whole(text).String(); got != want {
			t.Errorf("%q:\n%s\n%s", text, got, want)
		}
	}
}

func TestSaidBetweenFences(t *testing.T) {
	for text, want := range map[string]string{
		"```\ngo test\nFAIL\n```\nwhy does it fail?":     "why does it fail?",
		"didn't ```\n{\"a\": 1}\n``` work?":              "didn't  work?",
		"what does ```go test``` do?":                    "what does ```go test``` do?",
		"```\nan open fence\nwhy does it fail?":          "```\nan open fence\nwhy does it fail?",
		"one ```\na\n``` two ```b``` three ```\nc\n``` ": "one  two ```b``` three",
	} {
		if got := Said(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
