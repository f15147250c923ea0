package message

import (
	"encoding/json"
	"strings"
	"testing"
)

func deedsOf(t testing.TB, name, input string) string {
	t.Helper()
	args, err := json.Marshal(map[string]string{"input": input})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, c := range Deeds([]Part{{Call: &Call{ID: "c", Name: name, Args: args}}}) {
		if c.ID != "c" || !json.Valid(c.Args) {
			t.Errorf("%+v", c)
		}
		list = append(list, c.Name+" "+string(c.Args))
	}
	return strings.Join(list, "\n")
}

func TestDeeds(t *testing.T) {
	for in, want := range map[string]string{
		`const r = await tools.exec_command({cmd:"go test ./...", "workdir":'/w', n: 1e3}); text(r.output)`:  `exec_command {"cmd":"go test ./...","n":1000,"workdir":"/w"}`,
		"const patch = `*** Begin Patch\\n+a\n*** End Patch`;\ntext(await tools.apply_patch(patch));":        `apply_patch "*** Begin Patch\n+a\n*** End Patch"`,
		"let p = [\"*** Begin Patch\", '+a'].join(\"\\n\"); tools.apply_patch({input: p})":                   `apply_patch {"input":"*** Begin Patch\n+a"}`,
		"tools.apply_patch(String.raw`*** Begin Patch\n+\\d`)":                                               `apply_patch "*** Begin Patch\n+\\d"`,
		`await Promise.all([tools.exec_command({cmd:"a"}), tools?.exec_command({cmd:"b" + "c"})])`:           "exec_command {\"cmd\":\"a\"}\nexec_command {\"cmd\":\"bc\"}",
		"for (const f of files) await tools.exec_command({cmd: `cat ${f}`, deep: {a: [true, null]}, x: f});": "exec_command {\"cmd\":\"cat ${f}\",\"deep\":{\"a\":[true,null]}}",
		`const cmd = "ls"; tools["exec_command"]({cmd, workdir, ...more, tty: a ? {b: "}"} : 1, last: 2})`:   `exec_command {"cmd":"ls","last":2}`,
		`tools.update_plan({plan:[{step:"it\'s \u00e9\x41",status:"completed"}]})`:                           `update_plan {"plan":[{"status":"completed","step":"it's éA"}]}`,
		"// tools.exec_command({cmd:\"no\"})\n/* tools.x({}) */ text(\"tools.y({})\"); my.tools.z({})":       "",
		"const p = `*** Begin Patch\n${x}`; tools.apply_patch(p); tools.exec_command({cmd: p.trim()})":       "exec_command {}",
		`text(ALL_TOOLS.length)`:     "",
		`tools.exec_command({cmd:"a`: "",
	} {
		if want == "" {
			args, _ := json.Marshal(map[string]string{"input": in})
			want = "exec " + string(args)
		}
		if got := deedsOf(t, "exec", in); got != want {
			t.Errorf("%s: %s, not %s", in, got, want)
		}
		if got := deedsOf(t, "shell", in); !strings.HasPrefix(got, "shell ") {
			t.Errorf("of another tool: %s", got)
		}
	}
}

// FuzzDeeds reads any script to its end.
func FuzzDeeds(f *testing.F) {
	for _, s := range []string{"tools.a({b:[`c${d}`,{e:1}],...f})", "const a = [\"b\"].join('c' + 1", "tools[", "{"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { deedsOf(t, "exec", s) })
}

// A script that is no script takes no longer than its length.
func TestDeedsAreBounded(t *testing.T) {
	for _, part := range []string{"const a={", "tools.a([{b:", "let x=`${", "(", "a.join("} {
		deedsOf(t, "exec", strings.Repeat(part, 1<<16))
	}
}
