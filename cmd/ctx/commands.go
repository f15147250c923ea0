package main

import "github.com/spf13/cobra"

// conversationCommands are about what was said.
func conversationCommands(a *app) []*cobra.Command {
	return []*cobra.Command{}
}

// forestCommands are about clusters and their summaries.
func forestCommands(a *app) []*cobra.Command {
	return []*cobra.Command{}
}

// agentCommands are about agents and their transcripts, and the demonstration.
func agentCommands(a *app) []*cobra.Command {
	return []*cobra.Command{}
}
