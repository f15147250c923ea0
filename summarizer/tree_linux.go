package summarizer

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// maxEnviron is how much of a process's environment is searched for a mark, in bytes.
const maxEnviron = 4 << 20

// adoptOrphans makes this process the parent of whatever its descendants leave behind, so that
// killTree finds them. Where the system refuses, killTree finds those whose parents still run.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// kin is a running process: its parent, its state as in proc_pid_stat(5), and when it started,
// which tells it from a later process of the same number.
type kin struct {
	parent int
	state  byte
	start  string
}

// killTree kills the process root and everything that descends from it, in whatever process group
// or session. A descendant whose parent has ended is known by mark, an entry of its environment.
// The processes that ended are reaped, but for root, whose *exec.Cmd does that.
func killTree(root int, mark string) {
	known := map[int]string{} // by number, when it started
	for pause := time.Millisecond; pause < grace; pause *= 2 {
		running := processes()
		if k, ok := running[root]; ok && k.parent == os.Getpid() {
			known[root] = k.start
		}
		if killed := killDescendants(running, known, root, mark); killed == 0 {
			return
		}
		time.Sleep(pause) // a killed process ends as soon as the system gets to it
	}
}

// killDescendants kills what descends from the known processes or has the mark, and adds it to
// known. It returns how many of them had not ended.
func killDescendants(running map[int]kin, known map[int]string, root int, mark string) (killed int) {
	self := os.Getpid()
	for more := true; more; {
		more = false
		for pid, k := range running {
			_, seen := known[pid]
			parent, child := known[k.parent]
			child = child && running[k.parent].start == parent
			orphan := !seen && !child && k.parent == self && pid != root && hasMark(pid, mark)
			if !seen && (child || orphan) {
				known[pid], more = k.start, true
			}
		}
	}
	for pid, start := range known {
		switch k, ok := running[pid]; {
		case !ok || k.start != start:
		case k.state != 'Z':
			_ = unix.Kill(pid, unix.SIGKILL)
			killed++
		case k.parent == self && pid != root:
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
	}
	return killed
}

// processes lists what runs on this machine, as far as this process may see it.
func processes() map[int]kin {
	running := map[int]kin{}
	dirs, _ := os.ReadDir("/proc") // none where it is not mounted
	for _, dir := range dirs {
		pid, err := strconv.Atoi(dir.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", dir.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		// The name of the program stands in brackets and may hold anything.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 20 {
			continue
		}
		parent, err := strconv.Atoi(fields[1])
		if err == nil {
			running[pid] = kin{parent, fields[0][0], fields[19]}
		}
	}
	return running
}

// hasMark reports whether the environment with which a program was started has an entry. A process
// that has ended has no environment any more.
func hasMark(pid int, mark string) bool {
	f, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return false
	}
	defer f.Close()
	environ := make([]byte, maxEnviron)
	n := 0
	for n < len(environ) {
		m, err := f.Read(environ[n:])
		if n += m; err != nil {
			break
		}
	}
	for entry := range bytes.SplitSeq(environ[:n], []byte{0}) {
		if string(entry) == mark {
			return true
		}
	}
	return false
}
