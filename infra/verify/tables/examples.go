package main

//go:generate sh -c "cd ../../.. && go run ./infra/verify/tables examples"

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/cloud/metric"
)

// target is the file of the examples.
const target = "pkg/service/api/examples.json"

// quiet discards the log and the metrics.
func quiet() {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	metric.SetOutput(io.Discard)
}

// examples calls every operation in one process, at a fixed time, and writes the request and the response of a
// successful call into the target. The OpenAPI document shows them.
func examples(ctx context.Context) error {
	quiet()
	storetest.UseMemory()
	debug.SetGCPercent(1000) // most allocations are short-lived
	all, err := record(ctx)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(all); err != nil {
		return err
	}
	// An unchanged file is not written, because pkg/service/api may be compiling.
	if old, err := os.ReadFile(target); err == nil && bytes.Equal(old, out.Bytes()) {
		return nil
	}
	return os.WriteFile(target, out.Bytes(), 0o644)
}
