package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// The groups of commands, as `ctx help` shows them.
const (
	groupStore        = "store"
	groupConversation = "conversation"
	groupForest       = "forest"
	groupPlumbing     = "plumbing"
	groupAgents       = "agents"
	groupSharing      = "sharing"
	groupOther        = "other"
)

func groups() []*cobra.Group {
	return []*cobra.Group{
		{ID: groupStore, Title: "The store:"},
		{ID: groupConversation, Title: "Conversations:"},
		{ID: groupForest, Title: "Clusters and summaries:"},
		{ID: groupAgents, Title: "With agents:"},
		{ID: groupSharing, Title: "Beyond one machine:"},
		{ID: groupPlumbing, Title: "For scripts:"},
		{ID: groupOther, Title: "Other:"},
	}
}

// entry is a command that is made on demand: making all commands takes longer than many of them
// run.
type entry struct {
	name  string
	group string
	make  func(*app) *cobra.Command
}

// commands lists every command but help.
func commands() []entry {
	return []entry{
		{"init", groupStore, newInitCmd},
		{"status", groupStore, newStatusCmd},
		{"allow", groupStore, newAllowCmd},
		{"config", groupStore, newConfigCmd},
		{"gc", groupStore, newGCCmd},
		{"fsck", groupStore, newFsckCmd},
		{"rebuild", groupStore, newRebuildCmd},
		{"count-objects", groupStore, newCountObjectsCmd},
		{"bundle", groupStore, newBundleCmd},
		{"scan", groupStore, newScanCmd},
		{"forget", groupStore, newForgetCmd},
		{"destroy", groupStore, newDestroyCmd},

		{"append", groupConversation, newAppendCmd},
		{"note", groupConversation, newNoteCmd},
		{"list", groupConversation, newListCmd},
		{"log", groupConversation, newLogCmd},
		{"show", groupConversation, newShowCmd},
		{"render", groupConversation, newRenderCmd},
		{"diff", groupConversation, newDiffCmd},
		{"stats", groupConversation, newStatsCmd},
		{"brief", groupConversation, newBriefCmd},
		{"view", groupConversation, newViewCmd},
		{"search", groupConversation, newSearchCmd},
		{"grep", groupConversation, newGrepCmd},
		{"how", groupConversation, newHowCmd},
		{"fix", groupConversation, newFixCmd},
		{"blame", groupConversation, newBlameCmd},
		{"mask", groupConversation, groupOf("mask plan|apply", newMaskPlanCmd, newMaskApplyCmd)},
		{"offload", groupConversation, newOffloadCmd},
		{"epoch", groupConversation, groupOf("epoch observe|preview|show|guard",
			newEpochObserveCmd, newEpochPreviewCmd, newEpochShowCmd, newEpochGuardCmd)},
		{"rewind", groupConversation, newRewindCmd},
		{"undo", groupConversation, newUndoCmd},
		{"redo", groupConversation, newRedoCmd},
		{"session", groupConversation, groupOf(
			"session list|show|use|rename|tag|pin|unpin|fork|rm|link|state|model",
			newSessionListCmd, newSessionShowCmd, newSessionUseCmd, newSessionRenameCmd,
			newSessionTagCmd, newSessionPinCmd, newSessionUnpinCmd, newSessionForkCmd,
			newSessionRmCmd, newSessionLinkCmd, newSessionStateCmd, newSessionModelCmd)},
		{"branch", groupConversation, groupOf("branch fork|join|list|visible|tokens",
			newBranchForkCmd, newBranchJoinCmd, newBranchListCmd, newBranchVisibleCmd,
			newBranchTokensCmd)},
		{"import", groupConversation, newImportCmd},
		{"export", groupConversation, newExportCmd},
		{"resume", groupConversation, newResumeCmd},
		{"loop", groupConversation, groupOf("loop check", newLoopCheckCmd)},

		{"remote", groupSharing, groupOf("remote add|list|rm|test|member",
			newRemoteAddCmd, newRemoteListCmd, newRemoteRmCmd, newRemoteTestCmd,
			groupOf("member list|add|rm", newRemoteMemberListCmd, newRemoteMemberAddCmd,
				newRemoteMemberRmCmd))},
		{"push", groupSharing, newPushCmd},
		{"pull", groupSharing, newPullCmd},
		{"sync", groupSharing, newSyncCmd},
		{"clone", groupSharing, newCloneCmd},

		{"graduate", groupForest, newGraduateCmd},
		{"compact", groupForest, newCompactCmd},
		{"forest", groupForest, newForestCmd},
		{"expand", groupForest, newExpandCmd},
		{"provenance", groupForest, newProvenanceCmd},
		{"replace", groupForest, newReplaceCmd},
		{"avail", groupForest, newAvailCmd},
		{"evict", groupForest, newEvictCmd},

		{"install", groupAgents, newInstallCmd},
		{"uninstall", groupAgents, newUninstallCmd},
		{"doctor", groupAgents, newDoctorCmd},
		{"hook", groupAgents, newHookCmd},

		{"hash-object", groupPlumbing, newHashObjectCmd},
		{"cat-file", groupPlumbing, newCatFileCmd},
		{"rev-parse", groupPlumbing, newRevParseCmd},
		{"show-ref", groupPlumbing, newShowRefCmd},
		{"for-each-ref", groupPlumbing, newForEachRefCmd},
		{"update-ref", groupPlumbing, newUpdateRefCmd},
		{"reflog", groupPlumbing, newReflogCmd},
		{"op", groupPlumbing, groupOf("op", newOpLogCmd, newOpShowCmd)},

		{"demo", groupOther, newDemoCmd},
		{"prompt", groupOther, newPromptCmd},
		{"completion", groupOther, newCompletionCmd},
		{"version", groupOther, newVersionCmd},
	}
}

// addCommands makes the command of a command line. If the line names no command, it makes all of
// them, for help, completion and suggestions.
func addCommands(a *app, root *cobra.Command, args []string) {
	add := func(e entry) {
		cmd := e.make(a)
		cmd.GroupID = e.group
		root.AddCommand(cmd)
	}
	name := commandName(args)
	for _, e := range commands() {
		if e.name == name {
			add(e)
			root.SetHelpCommand(&cobra.Command{Use: "help", GroupID: groupOther}) // nobody sees it
			return
		}
	}
	for _, e := range commands() {
		add(e)
	}
	root.SetHelpCommand(newHelpCmd(a))
	root.AddCommand(helpTopics()...)
}

// commandName returns the first word of a command line after the flags of every command. It returns
// "" if there is no word, or if a flag is written in a way that only cobra reads.
func commandName(args []string) string {
	if line := withoutFlags(args); !line.odd && len(line.args) > 0 {
		return line.args[0]
	}
	return ""
}

// flagless is a command line without the flags of every command, which stood before the rest.
type flagless struct {
	args  []string
	dirs  []string // of -C
	other string   // the last flag besides -C
	odd   bool     // one of them is written in a way that only cobra reads
}

func withoutFlags(args []string) (line flagless) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		flag := args[0]
		args = args[1:]
		dir, isDir := strings.CutPrefix(flag, "--dir=")
		switch {
		case isDir:
		case (flag == "-C" || flag == "--dir") && len(args) > 0:
			dir, args, isDir = args[0], args[1:], true
		case strings.HasPrefix(flag, "-C"):
			dir, isDir = flag[len("-C"):], true
		case (flag == "-c" || flag == "--config") && len(args) > 0:
			args = args[1:]
		case !slices.Contains([]string{"--json", "-z", "--null", "-q", "--quiet", "--no-pager"},
			flag) && !strings.HasPrefix(flag, "--config="):
			line.odd = true
		}
		if isDir {
			line.dirs = append(line.dirs, dir)
		} else {
			line.other = flag
		}
	}
	line.args = args
	return line
}
