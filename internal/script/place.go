package script

import "path"

// Place follows the commands of a script into the directories in which they run.
type Place struct {
	Dir string // of the next command: "" where the script begins, if that is not known

	join        func(dir, to string) string
	start, last string
	left        []string // by pushd
}

// From returns the place where a script begins. join returns the path of a directory as it is named
// in another one.
func From(dir string, join func(dir, to string) string) *Place {
	return &Place{Dir: dir, join: join, start: dir, last: dir}
}

// Join returns the path of a file as it is named in a directory, which may be unknown.
func Join(dir, file string) string {
	if dir == "" || path.IsAbs(file) {
		return file
	}
	return path.Join(dir, file)
}

// Go follows a command, and reports whether it does nothing but go to a directory. With the end of
// a group ends what its commands did; where it began is not known.
func (p *Place) Go(words []string) bool {
	to := p.Dir
	switch n := len(words); {
	case words[0] == ")":
		p.Dir = p.start
		return false
	case words[0] == "popd" && len(p.left) > 0:
		to, p.left = p.left[len(p.left)-1], p.left[:len(p.left)-1]
	case words[0] == "pushd" && n > 1:
		p.left = append(p.left, to)
		to = p.join(to, words[n-1])
	case words[0] == "cd" && n > 1 && words[n-1] == "-":
		to = p.last
	case words[0] == "cd" && n > 1:
		to = p.join(to, words[n-1])
	default:
		return words[0] == "cd"
	}
	p.Dir, p.last = to, p.Dir
	return true
}
