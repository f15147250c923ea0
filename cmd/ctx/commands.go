package main

import "github.com/spf13/cobra"

// conversationCommands are about what was said.
func conversationCommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		newStatusCmd(a), newAppendCmd(a), newLogCmd(a), newShowCmd(a), newRenderCmd(a), newRewindCmd(a), newUndoCmd(a), newRedoCmd(a), newSessionCmd(a),
	}
}

// forestCommands are about clusters and their summaries.
func forestCommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		newGraduateCmd(a), newCompactCmd(a), newForestCmd(a), newExpandCmd(a), newProvenanceCmd(a),
	}
}

// agentCommands are about agents and their transcripts, and the demonstration.
func agentCommands(a *app) []*cobra.Command {
	return []*cobra.Command{newImportCmd(a)}
}
