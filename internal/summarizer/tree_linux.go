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

// maxEnviron is the number of bytes of a process's environment that are searched for a mark.
const maxEnviron = 4 << 20

// adoptOrphans makes this process the parent of orphaned descendants, so that killTree finds them.
// If the system refuses, killTree finds only descendants whose parents still run.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// proc is a running process: its parent, its state as in proc_pid_stat(5), and its start time,
// which distinguishes it from a later process with the same number.
type proc struct {
	parent int
	state  byte
	start  string
}

// killTree kills the process root and all its descendants, whatever their process group or session.
// It finds a descendant whose parent has ended by mark, an entry of its environment. It reaps the
// ended processes except root, which its *exec.Cmd reaps.
func killTree(root int, mark string) {
	known := map[int]string{} // start times by process number
	for pause := time.Millisecond; pause < grace; pause *= 2 {
		running := processes()
		if k, ok := running[root]; ok && k.parent == os.Getpid() {
			known[root] = k.start
		}
		if killed := killDescendants(running, known, root, mark); killed == 0 {
			return
		}
		time.Sleep(pause) // a killed process takes a moment to end
	}
}

// killDescendants kills the descendants of the known processes and the processes with the mark, and
// adds them to known. It returns the number of those that had not ended.
func killDescendants(
	running map[int]proc, known map[int]string, root int, mark string,
) (killed int) {
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

// processes lists the running processes that this process can see.
func processes() map[int]proc {
	running := map[int]proc{}
	dirs, _ := os.ReadDir("/proc") // empty if /proc is not mounted
	for _, dir := range dirs {
		pid, err := strconv.Atoi(dir.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", dir.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		// The name of the program stands in brackets and may contain any character.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 20 {
			continue
		}
		parent, err := strconv.Atoi(fields[1])
		if err == nil {
			running[pid] = proc{parent, fields[0][0], fields[19]}
		}
	}
	return running
}

// hasMark reports whether the environment with which a process was started has an entry. The
// environment of an ended process is gone.
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
