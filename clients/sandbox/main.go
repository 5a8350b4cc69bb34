// Command sandbox is the service in one program, for the tests of its callers. It keeps its data in memory. With --seed
// and --now it gives the same answers in each run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	contentautomation "github.com/content-automation/api/clients/go"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs a command line until the context ends, and returns the exit status: 0 after Ctrl-C and --help, 1 after a
// failure, and 2 if the command line is wrong.
func run(ctx context.Context, args []string, env func(string) string, out, notes io.Writer) int {
	o, err := parse(args, env, notes)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(notes, "sandbox: %v\nRun 'sandbox --help' for help.\n", err)
		return 2
	}
	if o.version {
		fmt.Fprintln(out, "sandbox", version())
		return 0
	}
	if err := o.serve(ctx, out, notes); err != nil {
		fmt.Fprintln(notes, "sandbox:", err)
		return 1
	}
	return 0
}

// version returns the version of the API, and the revision that the program was built from, where that is known.
func version() string {
	revision := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				revision = s.Value[:12]
			}
		}
	}
	return contentautomation.APIVersion + ", revision " + revision
}
