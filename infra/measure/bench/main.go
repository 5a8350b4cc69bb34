// Command bench measures what the service costs: of each operation the round
// trips to DynamoDB, the capacity units and the CPU time; of each function the size of
// its binary and the time that it takes to start; and how many webhooks the deliver
// function delivers. It writes the tables into a document and fails
// where a bound is broken.
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
	"syscall"

	"github.com/content-automation/api/infra/local/system"
	"github.com/content-automation/api/infra/measure/document"
	"github.com/content-automation/api/infra/measure/metered"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	calls := flags.Int("calls", 200, "how often each operation is called")
	rounds := flags.Int("rounds", 300, "how often each function is started")
	deliveries := flags.Int("deliveries", 20_000, "how many deliveries a round of the deliver function has")
	profile := flags.String("profile", "", "only deliver, and write a CPU profile of it to this file")
	only := flags.Bool("only-deliveries", false, "only measure deliveries, and write their section alone anew")
	path := flags.String("o", "", "the document whose tables are written anew")
	if err := flags.Parse(args); err != nil {
		return err
	}
	metered.Quiet()
	programs, delivery, err := build(ctx)
	if err != nil {
		return err
	}
	if *profile != "" {
		_, _, err := countAllocations(ctx, delivery.inprocess, *deliveries, *profile)
		return err
	}
	fmt.Fprintf(out, "Delivering %d times %d webhooks\n", deliveryRounds, *deliveries)
	delivered, err := measureDeliveries(ctx, delivery, *deliveries, deliveryRounds)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, delivered.markdown())
	if *only {
		if *path == "" {
			return nil
		}
		return document.Rewrite(*path, deliveriesTitle, delivered.markdown())
	}
	fmt.Fprintf(out, "Starting %d programs %d times\n", len(programs), *rounds)
	starts, err := measureStarts(ctx, programs, *rounds)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Calling each operation %d times\n", *calls)
	r := report{machine: document.ThisMachine(), calls: *calls, rounds: *rounds, starts: starts, delivering: delivered}
	if err := r.measureOperations(ctx); err != nil {
		return err
	}
	tables := r.markdown()
	fmt.Fprintf(out, "\n%s\n", tables)
	if *path != "" {
		if err := document.Rewrite(*path, document.WrittenBy("make bench"), tables); err != nil {
			return err
		}
	}
	return r.broken()
}

// deliveryRounds is how often deliveries are measured.
const deliveryRounds = 5

// measureOperations fills in what the operations cost.
func (r *report) measureOperations(ctx context.Context) (err error) {
	w, err := metered.New(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close(context.WithoutCancel(ctx))) }()
	if r.operations, err = operations(ctx, w, r.calls); err != nil {
		return err
	}
	r.firstOfMinute, err = firstOfMinute(ctx, w)
	return err
}

// build builds the functions for this machine, and with the same flags the two
// programs that they are compared with; it returns those first. Beside them it returns
// what measures deliveries.
func build(ctx context.Context) ([]program, deliveryPrograms, error) {
	target := system.Machine()
	if err := system.Build(ctx, ".", target); err != nil {
		return nil, deliveryPrograms{}, err
	}
	baselines := filepath.Join("build", ".bench")
	if err := system.Compile(ctx, ".", target, baselines, "./infra/measure/bench/baseline/...", "./infra/measure/bench/inprocess"); err != nil {
		return nil, deliveryPrograms{}, err
	}
	programs := []program{
		{name: helloBaseline, path: filepath.Join(baselines, "hello")},
		{name: sdkBaseline, path: filepath.Join(baselines, "sdk")},
	}
	functions, err := os.ReadDir("functions")
	if err != nil {
		return nil, deliveryPrograms{}, err
	}
	for _, f := range functions {
		programs = append(programs, program{name: f.Name(), path: filepath.Join(target.Dir(), f.Name(), "bootstrap")})
	}
	return programs, deliveryPrograms{
		function: filepath.Join(target.Dir(), "deliver", "bootstrap"), inprocess: filepath.Join(baselines, "inprocess"),
	}, nil
}
