package recall

// ProjectBudget is the budget of the brief of a project that names none.
const ProjectBudget = projectBudget

// SetManyClusters sets the number of live clusters above which a rendering does not read all of
// them, and returns what it was.
func SetManyClusters(n int) (was int) {
	was, manyClusters = manyClusters, n
	return was
}
