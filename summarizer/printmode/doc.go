// Package printmode asks agents that are installed for summaries: each is run once for a request in
// its print mode, without tools, in an empty directory, and its answer is read from its standard
// output. A table has what differs from agent to agent.
package printmode
