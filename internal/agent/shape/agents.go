package shape

// The agents whose transcripts have a Form: what the source of a message names, and the member of a
// part with the fields that only this agent has.
const (
	AmpAgent      = "amp"
	ClineAgent    = "cline"
	ContinueAgent = "continue"
	CrushAgent    = "crush"
	DroidAgent    = "droid"
	GooseAgent    = "goose"
	KiloAgent     = "kilo-code"
	KiroAgent     = "kiro"
	OpenClawAgent = "openclaw"
	PiAgent       = "pi"
	RooAgent      = "roo-code"
	VSCodeAgent   = "vscode"
	ZedAgent      = "zed"
)
