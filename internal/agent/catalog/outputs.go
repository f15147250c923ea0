package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// This file finds the outputs that an agent keeps in files of their own, beside a transcript that
// has only their beginning. The agent removes these files after some time.

// maxOutput is the most bytes of such a file that are taken.
const maxOutput = 15 << 20

// outputsDir is the directory of a session of Claude Code with long outputs, and outputMarks are
// what a result has that stands for one.
const outputsDir = "tool-results"

var outputMarks = []string{"<persisted-output>", "persistedOutputPath"}

// withOutputs has emit followed by a note for each file with an output that a message of the
// transcript at path names. The message stays as the agent wrote it, so that the next import finds
// it unchanged, whether the file is still there or not.
func withOutputs(path string, emit emit) emit {
	taken := map[string]bool{}
	return func(st transcript.Step) error {
		if err := emit(st); err != nil || st.Kind != transcript.KindMessage ||
			len(st.Message.Results) == 0 {
			return err
		}
		for _, name := range outputsIn(st.Message.Parts) {
			text, ok := "", false
			for _, dir := range outputDirs(path, st.Message.Origin.Session) {
				if text, ok = readOutput(dir, name); ok {
					break
				}
			}
			if !ok || taken[name] {
				continue
			}
			taken[name] = true
			note := st
			note.Loose, note.Message = true, outputNote(&st.Message, name, text)
			if err := emit(note); err != nil {
				return err
			}
		}
		return nil
	}
}

// outputsIn returns the names of the files that parts name in the place of an output.
func outputsIn(parts json.RawMessage) (names []string) {
	if !slices.ContainsFunc(outputMarks,
		func(mark string) bool { return bytes.Contains(parts, []byte(mark)) }) {
		return nil
	}
	_, _ = jsonvalue.Rewrite(parts, func(scalar []byte) ([]byte, error) {
		text, _ := jsonvalue.Text(scalar)
		for {
			_, after, found := strings.Cut(text, outputsDir)
			if !found {
				return scalar, nil
			}
			text = after
			if after == "" || after[0] != '/' && after[0] != '\\' {
				continue
			}
			name := after[1:]
			if end := strings.IndexAny(name, "\n\r/\\<>\"' "); end >= 0 {
				name = name[:end]
			}
			if name = strings.TrimRight(name, ".,;:)"); filepath.IsLocal(name) &&
				!slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	})
	return names
}

// outputDirs returns where a session keeps its outputs: in the directory that is named for it,
// beside its transcript. Transcripts of subagents lie deeper.
func outputDirs(path, session string) []string {
	folder, below, deep := strings.Cut(filepath.ToSlash(path), "/subagents/")
	if deep && below != "" {
		return []string{filepath.Join(filepath.FromSlash(folder), outputsDir)}
	}
	folder = filepath.Dir(path)
	dirs := []string{filepath.Join(strings.TrimSuffix(path, filepath.Ext(path)), outputsDir)}
	if session != "" && filepath.IsLocal(session) && filepath.Base(session) == session {
		dirs = append(dirs, filepath.Join(folder, session, outputsDir))
	}
	return dirs
}

// readOutput returns the words of a file. ok is false if it is not there, or has no words. A link
// leads nowhere: it may lead to a file of anybody.
func readOutput(dir, name string) (text string, ok bool) {
	path := filepath.Join(dir, name)
	if real, err := filepath.EvalSymlinks(path); err != nil || filepath.Base(real) != name ||
		filepath.Base(filepath.Dir(real)) != outputsDir {
		return "", false
	}
	f, info, err := durable.OpenAtMost(path, durable.MaxInput)
	if err != nil {
		return "", false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxOutput))
	if err != nil || len(b) == 0 || bytes.IndexByte(b, 0) >= 0 {
		return "", false
	}
	if text = strings.ToValidUTF8(string(b), "\uFFFD"); info.Size() > maxOutput {
		text += fmt.Sprintf("\n[%d bytes more were in the agent's file]\n", info.Size()-maxOutput)
	}
	return text, true
}

// outputNote makes a note with the whole of an output, which names the call.
func outputNote(m *transcript.Message, name, text string) transcript.Message {
	call, tool := m.Results[0], ""
	for _, p := range transcript.PartsOf(m) {
		if p.Kind == transcript.PartResult &&
			(p.ID == call || bytes.Contains(p.Raw, []byte(name))) {
			call, tool = p.ID, p.Tool
		}
	}
	return transcript.Message{
		Origin: transcript.Origin{Agent: m.Origin.Agent, Session: m.Origin.Session,
			Message: transcript.Fit(transcript.BesideID + "output:" + name)},
		Note: true, Role: transcript.RoleTool, Author: transcript.Fit(tool), Time: m.Time,
		Parts: jsonvalue.Array([]json.RawMessage{
			jsonvalue.Encode(jsonvalue.NewObject("text", text)),
			transcript.Kept(claudecode.Agent,
				jsonvalue.NewObject("output", map[string]string{"call": call, "file": name})),
		}),
	}
}
