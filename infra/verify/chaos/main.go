// Command chaos breaks the service in every way that it must bear, while events
// are on their way: it kills functions at each step of their work, empties queues,
// lets tables refuse, loses answers and repeats messages. It runs the local system,
// whose functions reach AWS and receivers through gates of the command's own, and
// counts what the API accepted against what arrived. It prints a table, and fails
// where a bound is broken. It finds the functions' processes by /proc, so it needs
// Linux.
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

	"github.com/content-automation/api/infra/measure/document"
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
	flags.IntVar(&sz.jobs, "jobs", 40, "how many pieces of work each row of generations, plans, diagnoses and publications has")
	flags.DurationVar(&sz.every, "every", 100*time.Millisecond, "from one event or piece of work to the next")
	flags.IntVar(&sz.kills, "kills", 3, "how often a function is killed in a row")
	flags.DurationVar(&sz.outage, "outage", 10*time.Second, "how long a service refuses")
	flags.DurationVar(&sz.within, "within", 10*time.Minute, "when what has not arrived is taken for lost")
	only := flags.String("rows", "", "a regular expression: only the rows whose names it finds")
	path := flags.String("o", "", "the document whose table is written anew")
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
		machine: document.ThisMachine(), size: sz,
		webhooks: w.playWebhooks(ctx, wanted(webhookRows(sz), names), sz, out),
		jobs:     w.playJobs(ctx, wanted(jobRows(sz), names), sz, out),
		plans:    w.playPlans(ctx, wanted(planRows(sz), names), sz, out),
		reviews:  w.playReviews(ctx, wanted(reviewRows(sz), names), sz, out),
		posts:    w.playPublications(ctx, wanted(publishRows(sz), names), sz, out),
	}
	table := r.markdown()
	fmt.Fprintf(out, "\n%s\n", table)
	if *path != "" {
		if err := document.Rewrite(*path, document.WrittenBy("make chaos"), table); err != nil {
			return err
		}
	}
	return r.broken()
}
