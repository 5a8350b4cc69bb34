package metered

import (
	"io"
	"log/slog"
	"os"

	"github.com/content-automation/api/pkg/cloud/metric"
)

// Quiet discards the metrics of the functions, and their logs except for errors: they run in this process, and
// would write a line for each call and step.
func Quiet() {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	metric.SetOutput(io.Discard)
}
