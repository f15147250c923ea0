package catalog

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Exports of Goose are found beside the sessions of older versions.
func TestGooseSessions(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "data", "sessions")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"20260203_1.jsonl": `{"working_dir":"/src/quay","description":""}` + "\n",
		"20260203_2.json":  "{\n \"working_dir\": \"/src/quay\",\n \"conversation\": []\n}",
		"sessions.db":      "SQLite format 3\x00",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	goose, _ := Named("goose")
	root := goose.Root(Env{Home: "/nowhere", Get: func(name string) string {
		return map[string]string{"GOOSE_PATH_ROOT": home}[name]
	}})
	list := goose.Sessions(root, nil)
	if len(list) != 2 {
		t.Errorf("found %+v", list)
	}
	for _, b := range list {
		if b.Dir != "/src/quay" {
			t.Errorf("%s began in %q", b.File, b.Dir)
		}
	}
}

// Crush lists the projects that it was started in: the data of one may lie above it.
func TestCrushProjects(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "crush"), 0o777); err != nil {
		t.Fatal(err)
	}
	list := `{"projects":[{"path":"/src/quay/web","data_dir":"/src/quay/web/.crush"},
{"path":"/src/quay/api","data_dir":"/src/quay/.crush"},{"path":"/src/quay","data_dir":
"/src/quay/.crush"},{"path":"/x","data_dir":".crush"},{"path":"/x","data_dir":"/x/data"},7]}`
	if err := os.WriteFile(filepath.Join(home, "crush", "projects.json"), []byte(list),
		0o666); err != nil {
		t.Fatal(err)
	}
	crush, _ := Named("crush")
	got := crush.Worked(Env{Get: func(name string) string {
		return map[string]string{"XDG_DATA_HOME": home}[name]
	}})
	if want := []string{"/src/quay/web", "/src/quay"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Of a document that is cut off, the members before the cut are known.
func TestCutDocument(t *testing.T) {
	for text, want := range map[string]string{
		`{"workspaceDirectory":"/src/quay","history":[]}`:      "/src/quay",
		`{"workspaceDirectory":"/src/quay","history":[{"a":`:   "/src/quay",
		`{"history":[{"a":1}],"workspaceDirectory":"/src/qu`:   "",
		`{"workspaceDirectory":"/src/quay","history`:           "/src/quay",
		`{"workspaceDirectory":"/src/quay" "history":[]}`:      "/src/quay",
		`["workspaceDirectory","/src/quay"]`:                   "",
		"\ufeff" + `{"workspaceDirectory":"/src/quay","x":[1,`: "/src/quay",
		"": "",
	} {
		file := filepath.Join(t.TempDir(), "session.json")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := begunInWorkspace(file).Dir; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
