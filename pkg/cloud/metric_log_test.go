package cloud_test

import (
	"log/slog"
	"testing"

	"github.com/content-automation/api/pkg/cloud/metric"
)

func TestTheLevelIsThatOfTheEnvironment(t *testing.T) {
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	for value, want := range map[string]slog.Level{
		"": slog.LevelInfo, "debug": slog.LevelDebug, "INFO": slog.LevelInfo, "warn": slog.LevelWarn,
		"ERROR": slog.LevelError, "loud": slog.LevelInfo,
	} {
		t.Setenv("LOG_LEVEL", value)
		metric.SetupLog()
		h := slog.Default().Handler()
		if !h.Enabled(t.Context(), want) || h.Enabled(t.Context(), want-1) {
			t.Errorf("LOG_LEVEL=%q is not %s", value, want)
		}
		if _, ok := h.(*slog.JSONHandler); !ok {
			t.Errorf("the log is written by %T", h)
		}
	}
}
