// Command cli calls the operations of the API, forwards the events of an account to a developer's machine, and sends
// sample events, signed as the service signs webhooks.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], thisMachine())
	stop()
	os.Exit(code)
}

// run runs a command line, and returns the exit status.
func run(ctx context.Context, args []string, w machine) int {
	cmd := root(w)
	cmd.SetArgs(args)
	cmd, err := cmd.ExecuteContextC(ctx)
	var failed failure
	switch {
	case err == nil:
		return 0
	case errors.As(err, &failed):
		fmt.Fprintf(w.notes, "%s: %v\n", w.called(), err)
		return statusOf(err)
	default:
		fmt.Fprintf(w.notes, "%s: %v\nRun '%s --help' for help.\n", w.called(), err, cmd.CommandPath())
		return 2
	}
}

// failure is an error that is not in the command line.
type failure struct{ error }

// Unwrap returns the cause.
func (f failure) Unwrap() error { return f.error }
