package child

import "runtime/debug"

// Version returns the version that a program of ctx was built from, as it tells it to ctx.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
