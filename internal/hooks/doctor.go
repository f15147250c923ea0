package hooks

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/store"
)

// The states of a check.
const (
	OK   = "ok"
	Warn = "warn" // worth knowing; recording goes on
	Fail = "fail" // something is not recorded, or will not be
)

// Check is the result for one link of the chain from an agent to the store.
type Check struct {
	Agent  string // that it is about; "" for all
	Name   string
	State  string
	Detail string
	Hint   string
}

// Doctor has what Diagnose needs to check the hooks of a project.
type Doctor struct {
	Store   *session.Store // nil if it cannot be opened
	Err     error          // why Store is nil
	Project string         // the directory that the agent works in
	Home    string         // the home directory of Gemini CLI, which holds .gemini
	Program string         // this program's path
	Version string
	Now     time.Time
	// Scratch makes a store in a new directory, calls use with both, and removes both. No store of
	// the user is touched.
	Scratch func(use func(s *session.Store, dir string) error) error

	Getenv   func(name string) string // an environment variable
	UserHome string                   // the home directory; "" if there is none

	path Check // what the PATH says of ctx
}

// maxFile limits the files of other programs that are read, in bytes.
const maxFile = 1 << 20

// Diagnose checks each link of the chain by which agents call ctx: the program, the store, each
// agent with its installed hooks, and a turn that the agent's shell records. It is for the agent
// with a name, or for all agents if name is "". Of all agents it leaves out those that have neither
// hooks of ctx nor sessions of the project. It changes nothing but scratch files of its own, and it
// runs programs: the installed hooks, the ctx on the PATH, and the agents, which are asked for
// their versions.
func Diagnose(ctx context.Context, d Doctor, name string) []Check {
	d.path = d.program(ctx)
	list := []Check{d.path, d.store(ctx)}
	list = append(list, d.agents(ctx, name)...)
	list = append(list, d.drift(name)...)
	if d.Store == nil {
		return list
	}
	list = append(list, d.allowed())
	list = append(list, d.git()...)
	list = append(list, d.setAside()...)
	if name == "" || name == GeminiCLI {
		list = append(list, d.ignore())
	}
	return append(list, d.trouble(name))
}

// agents checks one agent, or all of them.
func (d *Doctor) agents(ctx context.Context, name string) (list []Check) {
	installed := 0
	for _, agent := range Agents() {
		if name != "" && agent.Name != name {
			continue
		}
		places := d.places(&agent)
		if len(places) > 0 {
			installed++
		}
		list = append(list, d.agent(ctx, &agent, places, name != "")...)
	}
	if installed > 0 || name != "" {
		return list
	}
	none := Check{Name: "hooks", State: OK,
		Detail: "not installed: no agent works in this project, as far as is known"}
	var without []string
	for _, c := range list {
		agent, _ := AgentNamed(c.Agent)
		without = append(without, agent.Title)
	}
	if len(list) > 0 || d.empty() {
		none.State, none.Detail = Fail, "not installed: nothing is recorded as it is said"
		none.Hint = "`ctx install` finds the agents on this machine"
	}
	if len(list) > 0 {
		none.Detail += "; the sessions of " + strings.Join(without, ", ") +
			" come with `ctx import --all` alone"
	}
	return []Check{none}
}

// Sound reports whether no check has failed.
func Sound(list []Check) bool {
	return !slices.ContainsFunc(list, func(c Check) bool { return c.State == Fail })
}

// store checks that the store can be written.
func (d *Doctor) store(ctx context.Context) Check {
	c := Check{Name: "store", State: OK}
	if d.Store == nil {
		c.State, c.Detail, c.Hint = Fail, d.Err.Error(),
			"`ctx init` makes one; without one the hooks do nothing"
		config, owner := &repo.ConfigError{}, &repo.OwnerError{}
		switch {
		case errors.As(d.Err, &config):
			c.Hint = config.Hint
		case errors.As(d.Err, &owner):
			c.Hint = "if you trust the store, set CTX_DIR to its path"
		}
		return c
	}
	c.Detail = d.Store.Dir
	held, err := d.Store.Lock(ctx)
	if err == nil {
		err = held.Release()
	}
	if err == nil {
		_, err = d.Store.Digest16([]byte("doctor"))
	}
	if err != nil {
		c.State, c.Detail = Fail, "cannot be written: "+err.Error()
	}
	return c
}

// allowed checks that the store may speak to models, since hooks do nothing where it may not.
func (d *Doctor) allowed() Check {
	c := Check{Name: "allowed", State: OK, Detail: "the store was made or allowed on this machine"}
	ok, err := d.Store.Allowed()
	switch {
	case err != nil:
		c.State, c.Detail = Fail, err.Error()
	case !ok:
		c.State, c.Detail = Fail, repo.ErrNotAllowed.Error()+
			": hooks record nothing, and tell models nothing"
		c.Hint = "look at the store, and then `ctx allow`, or `ctx destroy`"
	}
	return c
}

// setAside warns of each file that another program has put beside one of the store's.
func (d *Doctor) setAside() (list []Check) {
	found, err := store.SetAsides(d.Store.Dir)
	if err != nil {
		return []Check{{Name: "copies", State: Warn, Detail: err.Error()}}
	}
	for _, one := range found {
		c := Check{Name: "copies", State: Warn, Detail: one.String(), Hint: store.SetAsideHint}
		if one.Known {
			c.Hint = "remove it"
		}
		list = append(list, c)
	}
	return list
}

// git checks that git does not remove the store with files that it does not track.
func (d *Doctor) git() []Check {
	c := Check{Name: "git clean", State: OK}
	switch shield := d.Store.Shielded(); shield {
	case repo.NoGit:
		return nil
	case repo.Shielded:
		c.Detail = "`git clean -fdx` leaves the store alone; `git clean -ffdx` removes it"
	case repo.InLinked:
		c.State = Warn
		c.Detail = "the store is in a linked work tree: git worktree remove would remove it"
		c.Hint = "move it to the main work tree, as .gemini/context there: all work trees share it"
	case repo.Bare:
		c.State, c.Detail = Warn, "git clean -fdx would remove the store"
		if err := d.Store.PutShield(); err != nil { // the lock has tried it
			c.Detail += ": " + err.Error()
		}
		c.Hint = "`ctx init` tries again to keep git clean from it"
	}
	return []Check{c}
}

// ignore checks that neither git nor the agent reads the files of the store.
func (d *Doctor) ignore() Check {
	c := Check{Name: "ignore", State: Warn}
	b, err := durable.ReadAtMost(filepath.Join(d.Store.Dir, ".gitignore"), maxFile)
	switch advice := d.Store.IgnoreAdvice(); {
	case err != nil || !slices.Contains(strings.Fields(string(b)), "*"):
		c.Detail = "the store's .gitignore does not say *"
		c.Hint = "write the line * into " + filepath.Join(d.Store.Dir, ".gitignore")
	case advice != "":
		c.Detail = "outside git the agent lists and searches the store's files"
		c.Hint = "add the line " + advice + " to .geminiignore"
	default:
		c.State, c.Detail = OK, "git and the agent's searches leave the store out"
	}
	return c
}

// drift warns of each agent whose transcripts have records of kinds that ctx does not know; name
// chooses one agent, "" all.
func (d *Doctor) drift(name string) (list []Check) {
	if d.Store == nil {
		return nil
	}
	for _, one := range d.Store.Importer.Drifts() {
		text := one.String()
		switch n := len(list); {
		case name != "" && one.Agent != name:
		case n > 0 && list[n-1].Agent == one.Agent:
			list[n-1].Detail += "; " + text
		default:
			list = append(list, Check{
				one.Agent, "drift", Warn, text,
				"a newer version of ctx may understand them: import the transcripts again then",
			})
		}
	}
	if name != "" && len(list) == 0 {
		list = append(list, Check{
			Agent: name, Name: "drift", State: OK,
			Detail: "every record that was read is of a kind that ctx knows",
		})
	}
	return list
}

// recent is how long the doctor reports trouble.
const recent = 7 * 24 * time.Hour

// trouble tells what failed lately; name chooses one agent, "" all.
func (d *Doctor) trouble(name string) Check {
	list, err := Troubles(d.Store.Dir)
	if err != nil {
		return Check{Name: "trouble", State: Warn, Detail: err.Error()}
	}
	list, _ = Failures(list)
	list = slices.DeleteFunc(list, func(t Trouble) bool {
		return t.Time.Before(d.Now.Add(-recent)) || name != "" && t.Agent != name
	})
	if len(list) == 0 {
		return Check{Name: "trouble", State: OK, Detail: "none in seven days"}
	}
	t := list[len(list)-1]
	return Check{
		Name: "trouble", State: Warn,
		Detail: fmt.Sprintf("%d in seven days; the last at %s, %s: %s",
			len(list), t.Time.UTC().Format(time.RFC3339), t.Event, t.Problem),
		Hint: "all of it is in " + TroubleLog(d.Store.Dir),
	}
}
