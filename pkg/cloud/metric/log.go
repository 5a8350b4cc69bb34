package metric

import (
	"log/slog"
	"os"
)

// SetupLog makes the default log write JSON lines, which the log service indexes, at the level in LOG_LEVEL, or info if
// that has none.
func SetupLog() {
	var level slog.Level
	if err := level.UnmarshalText([]byte(os.Getenv("LOG_LEVEL"))); err != nil {
		level = slog.LevelInfo
	}
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
}
