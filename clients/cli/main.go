// Command cli calls the operations of the API, forwards the events of an account to a developer's machine, and sends
// sample events, signed as the service signs webhooks.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"

	contentautomation "github.com/content-automation/api/clients/go"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], thisMachine())
	stop()
	os.Exit(code)
}

// run runs a command line, and returns the exit status.
func run(ctx context.Context, args []string, w machine) int {
	out := &output{Writer: w.out}
	w.out = out
	cmd := root(w)
	cmd.SetArgs(args)
	cmd, err := cmd.ExecuteContextC(ctx)
	var failed failure
	if cause := out.failed.Load(); cause != nil && !errors.As(err, &failed) {
		asked, _ := cmd.Flags().GetBool("json")
		err = failure{error: fmt.Errorf("write the output: %w", *cause), json: asked}
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(w.notes, "%s: interrupted: a call that was sent may have had its effect\n", w.called())
		return 130 // as shells say SIGINT
	case errors.As(err, &failed):
		failed.write(w)
		return statusOf(err)
	default:
		fmt.Fprintf(w.notes, "%s: %v\nRun '%s --help' for help.\n", w.called(), err, cmd.CommandPath())
		return 2
	}
}

// output is the output of a command. It remembers why it could not be written, so that a full disk is no success.
type output struct {
	io.Writer
	failed atomic.Pointer[error]
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if err != nil {
		o.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// failure is an error that is not in the command line.
type failure struct {
	error
	// json has the error written as JSON, as the answers of the call are.
	json bool
	// hints say by which flags the members are sent that the answer refuses.
	hints []string
}

// write writes the error with all its details, to the output for errors.
func (f failure) write(w machine) {
	if f.json {
		out := json.NewEncoder(w.notes)
		out.SetEscapeHTML(false)
		_ = out.Encode(f.document()) // nothing can be done about a closed output
		return
	}
	fmt.Fprintf(w.notes, "%s: %v\n", w.called(), f.error)
	var api *contentautomation.Error
	if !errors.As(f.error, &api) {
		return
	}
	details := api.Details
	if len(details) == 1 && strings.Contains(api.Message, details[0].Message) &&
		strings.Contains(api.Message, details[0].Param) {
		details = nil // the message has said it
	}
	for _, d := range details {
		fmt.Fprintf(w.notes, "  %s: %s\n", d.Param, d.Message)
	}
	for _, hint := range f.hints {
		fmt.Fprintf(w.notes, "  %s\n", hint)
	}
}

// document returns the error as it is written as JSON.
func (f failure) document() map[string]any {
	var api *contentautomation.Error
	var failed *contentautomation.FailedError
	switch {
	case errors.As(f.error, &api):
		return map[string]any{"request_id": api.RequestID, "error": map[string]any{"status": api.Status,
			"code": api.Code, "type": api.Type, "message": api.Message, "param": api.Param, "details": api.Details,
			"context": api.Context, "doc_url": api.DocURL}}
	case errors.As(f.error, &failed):
		return map[string]any{"error": map[string]any{"message": failed.Error(), "state": failed.State,
			"failure": failed.Failure}, "data": failed.Resource}
	}
	return map[string]any{"error": map[string]any{"message": f.Error()}}
}

// Unwrap returns the cause.
func (f failure) Unwrap() error { return f.error }
