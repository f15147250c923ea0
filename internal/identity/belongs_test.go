package identity

import (
	"strings"
	"testing"
)

// TestBelongs has a row for each way in which a session may, or may not, be a project's.
func TestBelongs(t *testing.T) {
	plain := Project{Dir: "/w/p", Home: "/home/ada"}
	repo := Project{Dir: "/w/p", Home: "/home/ada", Git: Checkout{Dir: "/w/p", Common: "/w/p/.git",
		Remotes: []string{"h.example/p"}}}
	part := Project{Dir: "/w/p/web", Home: "/home/ada",
		Git: Checkout{Dir: "/w/p", Common: "/w/p/.git", Remotes: []string{"h.example/p"}}}
	home := Project{Dir: "/home/ada", Home: "/home/ada"}
	root := Project{Dir: "/", Home: "/home/ada"}
	known := plain
	known.Known = []string{"/w/old", `C:\work\p`}
	asked := func(p Project, dirs ...string) Project {
		p.Asked = dirs
		return p
	}
	in := func(dir, common string) Checkout { return Checkout{Dir: dir, Common: common} }
	for name, row := range map[string]struct {
		p    Project
		f    Facts
		want string // "ours", or the verdict's reason and, after a colon, what it is of
	}{
		"no directory":        {plain, Facts{}, whyNone},
		"the project's":       {plain, Facts{Dir: "/w/p", There: true, Store: "/w/p"}, "ours"},
		"below it":            {plain, Facts{Dir: "/w/p/a/b", There: true, Store: "/w/p"}, "ours"},
		"below it, and gone":  {plain, Facts{Dir: "/w/p/a", Left: "/w/p", Store: "/w/p"}, "ours"},
		"a longer name":       {plain, Facts{Dir: "/w/p2", There: true}, whyForeign},
		"the directory above": {plain, Facts{Dir: "/w", There: true}, whyForeign},
		"another project with a store": {plain,
			Facts{Dir: "/w/q", There: true, Store: "/w/q"}, whyForeign},
		"a nested store": {plain, Facts{Dir: "/w/p/c/src", There: true, Store: "/w/p/c"},
			whyOwnStore + ":/w/p/c"},
		"inside, and gone in a nested store": {plain,
			Facts{Dir: "/w/p/c/gone", Left: "/w/p/c", Store: "/w/p/c"}, whyOwnStore + ":/w/p/c"},
		"inside, a work tree of a project with a store": {plain,
			Facts{Dir: "/w/p/x", There: true, Store: "/w/q", Git: in("/w/p/x", "/w/q/.git")},
			whyOwnStore + ":/w/q"},
		"inside, a repository without a store": {repo, Facts{Dir: "/w/p/lib/src", There: true,
			Store: "/w/p", Git: in("/w/p/lib", "/w/p/lib/.git")}, "ours"},
		"inside, a submodule": {repo, Facts{Dir: "/w/p/lib", There: true, Store: "/w/p",
			Git: in("/w/p/lib", "/w/p/.git/modules/lib")}, "ours"},
		"inside, a work tree": {repo, Facts{Dir: "/w/p/.worktrees/x", There: true, Store: "/w/p",
			Git: in("/w/p/.worktrees/x", "/w/p/.git"), Same: whyTree}, "ours"},
		"inside, a work tree that was removed": {repo,
			Facts{Dir: "/w/p/.claude/worktrees/x/web", Left: "/w/p", Store: "/w/p"}, "ours"},
		"the store is elsewhere":  {plain, Facts{Dir: "/w/p/a", There: true}, "ours"},
		"the store is above, too": {plain, Facts{Dir: "/w/p/a", There: true, Store: "/w"}, "ours"},

		"a work tree beside it": {repo, Facts{Dir: "/w/x", There: true, Store: "/w/p",
			Git: in("/w/x", "/w/p/.git")}, whyTree + ":/w/x"},
		"in a work tree beside it": {repo, Facts{Dir: "/w/x/web", There: true, Store: "/w/p",
			Git: in("/w/x", "/w/p/.git")}, whyTree + ":/w/x"},
		"a work tree with a store of its own": {repo, Facts{Dir: "/w/x", There: true, Store: "/w/x",
			Git: in("/w/x", "/w/p/.git")}, whyForeign},
		"of a work tree, where the project has a nested store": {repo, Facts{Dir: "/w/x/c",
			There: true, Store: "/w/p/c", Twin: "/w/p/c", Git: in("/w/x", "/w/p/.git")},
			whyForeign},
		"a clone without a store": {repo, Facts{Dir: "/w/y/a", There: true,
			Git: in("/w/y", "/w/y/.git"), Same: whyRemote}, whyRemote + ":/w/y"},
		"of a clone, where the project has a nested store": {repo, Facts{Dir: "/w/y/c", There: true,
			Twin: "/w/p/c", Git: in("/w/y", "/w/y/.git"), Same: whyRemote},
			whyOwnStore + ":/w/p/c"},
		"a clone with a store": {repo, Facts{Dir: "/w/y", There: true, Store: "/w/y",
			Git: in("/w/y", "/w/y/.git")}, whyForeign},
		"another repository": {repo, Facts{Dir: "/w/z", There: true, Git: in("/w/z", "/w/z/.git")},
			whyForeign},
		"part of a repository": {part, Facts{Dir: "/w/p/web/a", There: true, Store: "/w/p/web",
			Git: in("/w/p", "/w/p/.git"), Same: whyTree}, "ours"},
		"another part": {part, Facts{Dir: "/w/p/api", There: true, Git: in("/w/p", "/w/p/.git"),
			Same: whyTree}, whyForeign},
		"the part in a work tree": {part, Facts{Dir: "/w/x/web", There: true, Store: "/w/p/web",
			Git: in("/w/x", "/w/p/.git")}, whyTree + ":/w/x/web"},
		"another part in a work tree": {part, Facts{Dir: "/w/x/api", There: true,
			Git: in("/w/x", "/w/p/.git"), Same: whyTree}, whyForeign},

		"gone, and the project was there": {known, Facts{Dir: "/w/old/a", Left: "/w"},
			whyWasThere + ":/w/old"},
		"there again, and another project": {known, Facts{Dir: "/w/old", There: true,
			Left: "/w/old"}, whyForeign},
		"gone, in what is there again": {known, Facts{Dir: "/w/old/a", Left: "/w/old"}, whyForeign},
		"gone":                         {known, Facts{Dir: "/w/older", Left: "/w"}, whyForeign},
		"gone, and git still lists it": {repo, Facts{Dir: "/w/x/a", Left: "/w", Listed: true},
			whyTree + ":/w/x/a"},
		"gone, and of the same remote": {repo, Facts{Dir: "/w/x", Left: "/w",
			Remote: "h.example/p"}, whyRemote + ":/w/x"},
		"gone, and of another remote": {repo, Facts{Dir: "/w/x", Left: "/w",
			Remote: "h.example/q"}, whyForeign},
		"gone, and the part of the same remote": {part, Facts{Dir: "/w/x/web", Left: "/w",
			Remote: "h.example/p"}, whyRemote + ":/w/x/web"},
		"gone, and another part of the same remote": {part, Facts{Dir: "/w/x/api", Left: "/w",
			Remote: "h.example/p"}, whyForeign},
		"gone, with a branch of ours": {repo, Facts{Dir: "/w/x", Left: "/w", Branch: true},
			whyBranch + ":/w/x?"},
		"gone inside another repository, with a branch of ours": {repo, Facts{Dir: "/w/z/x",
			Left: "/w/z", Git: in("/w/z", "/w/z/.git"), Branch: true}, whyForeign},
		"gone below a work tree": {repo, Facts{Dir: "/w/x/gone", Left: "/w/x", Store: "/w/p",
			Git: in("/w/x", "/w/p/.git")}, whyTree + ":/w/x"},

		"of Windows":          {plain, Facts{Dir: `C:\work\p`}, whyElsewhere},
		"of Windows, known":   {known, Facts{Dir: `c:/Work/P\src`}, whyWasThere + `:C:\work\p`},
		"of Windows, no part": {known, Facts{Dir: `C:\work\p2`}, whyElsewhere},
		"a relative path":     {plain, Facts{Dir: "p"}, whyElsewhere},

		"in the home directory": {home, Facts{Dir: "/home/ada/notes", There: true}, "ours"},
		"a repository there": {home, Facts{Dir: "/home/ada/src/q/a", There: true,
			Git: in("/home/ada/src/q", "/home/ada/src/q/.git")}, whyOwnRepo + ":/home/ada/src/q?"},
		"a store there": {home, Facts{Dir: "/home/ada/src/q", There: true,
			Store: "/home/ada/src/q"}, whyOwnStore + ":/home/ada/src/q"},
		"outside of the home directory": {home, Facts{Dir: "/home/bob", There: true}, whyForeign},
		"a project that is everything": {root, Facts{Dir: "/home/ada/q", There: true, Store: "/"},
			"ours"},
		"a repository in everything": {root, Facts{Dir: "/home/ada/q", There: true,
			Git: in("/home/ada/q", "/home/ada/q/.git")}, whyOwnRepo + ":/home/ada/q?"},

		"asked for": {asked(plain, "/w/p/web"), Facts{Dir: "/w/p/web/a", There: true,
			Store: "/w/p"}, "ours"},
		"not asked for": {asked(plain, "/w/p/web"), Facts{Dir: "/w/p/api", There: true,
			Store: "/w/p"}, ""},
		"foreign and not asked for": {asked(plain, "/w/p/web"), Facts{Dir: "/w/q"}, ""},
		"asked for, elsewhere": {asked(plain, "/w/q"), Facts{Dir: "/w/q/a", There: true},
			whyAsked + ":/w/q"},
		"with another project asked for": {asked(plain, "/w/q"), Facts{Dir: "/w/p", There: true,
			Store: "/w/p"}, "ours"},
		"a nested store, asked for": {asked(plain, "/w/p/c"), Facts{Dir: "/w/p/c", There: true,
			Store: "/w/p/c"}, "ours"},
		"a nested store in what is asked for": {asked(plain, "/w/p/a"), Facts{Dir: "/w/p/a/c",
			There: true, Store: "/w/p/a/c"}, whyOwnStore + ":/w/p/a/c"},
		"a repository in the home directory, asked for": {asked(home, "/home/ada/src/q"),
			Facts{Dir: "/home/ada/src/q", There: true,
				Git: in("/home/ada/src/q", "/home/ada/src/q/.git")}, "ours"},
	} {
		v := row.p.Belongs(&row.f)
		got := v.Why
		if v.Of != "" {
			got += ":" + v.Of
		}
		if v.Asking {
			got += "?"
		}
		if v.Ours && got == "" {
			got = "ours"
		}
		foreign := strings.HasPrefix(got, whyOwnStore) || strings.HasPrefix(got, whyOwnRepo) ||
			strings.HasPrefix(got, whyBranch) || v.Of == "" && got != "ours"
		if got != row.want || v.Ours == foreign {
			t.Errorf("%s: %q, ours: %v; want %q", name, got, v.Ours, row.want)
		}
	}
}

func TestBelow(t *testing.T) {
	for _, row := range []struct {
		dir, top string
		want     bool
	}{
		{"/a/b", "/a", true}, {"/a", "/a", true}, {"/ab", "/a", false}, {"/a", "/a/b", false},
		{"/a", "/", true}, {"/", "/", true}, {"/A", "/a", false}, {"", "/", false},
		{"/a", "", false},
		{`C:\A\b`, `c:/a`, true}, {`C:\Ab`, `c:/a`, false}, {`C:\a`, `D:\a`, false},
		{`\\host\share\a`, `//HOST/share`, false}, {`\\host\share\a`, `\\HOST\share`, true},
		{"/项目", "/测试", false}, {"/项目/a", "/项目", true}, {"relative", "relative", true},
	} {
		if got := Below(row.dir, row.top); got != row.want {
			t.Errorf("%q in %q: %v", row.dir, row.top, got)
		}
	}
}
