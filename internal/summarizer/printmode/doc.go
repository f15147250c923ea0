// Package printmode asks installed agents for summaries. It runs an agent once for each request in
// the agent's print mode, without tools and in an empty directory, and reads the answer from the
// agent's standard output. The table in agents.go holds the differences between agents. Begin with
// Runner.Ask.
package printmode
