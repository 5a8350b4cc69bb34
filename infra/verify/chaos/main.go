// Command chaos kills and freezes the functions of the local system at each step of their work, empties their queues
// and loses responses to their calls, while events and generations are in progress. The functions reach AWS, providers
// and receivers through gates of the command, which compares the accepted work with the results. It prints tables,
// and fails if a bound is broken. It finds the processes of functions by /proc, so it needs Linux. Package simulate
// covers the faults that need no processes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	sz := size{}
	flags.IntVar(&sz.events, "events", 200, "how many events each row of webhooks has")
	flags.IntVar(&sz.jobs, "jobs", 40, "how many pieces of work each row of generations has")
	flags.DurationVar(&sz.every, "every", 100*time.Millisecond, "from one event or piece of work to the next")
	flags.IntVar(&sz.kills, "kills", 3, "how often a function is killed in a row")
	flags.DurationVar(&sz.within, "within", 10*time.Minute, "the time without any result after which the rest is taken for lost")
	only := flags.String("rows", "", "a regular expression: only the rows whose names it finds")
	if err := flags.Parse(args); err != nil {
		return err
	}
	names, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(filepath.Join(".local", "chaos"))
	if err != nil {
		return err
	}
	w, err := newWorld(ctx, dir, func(what string) { fmt.Fprintln(out, what) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	r := report{
		size:     sz,
		webhooks: w.playWebhooks(ctx, wanted(webhookRows(sz), names), sz, out),
		jobs:     w.playJobs(ctx, wanted(jobRows(sz), names), sz, out),
	}
	fmt.Fprintf(out, "\n%s\n", r.markdown())
	return r.broken()
}
