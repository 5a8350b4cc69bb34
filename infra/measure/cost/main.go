// Command cost counts all that AWS charges for of whole generations, from the call to
// the end, and writes what they cost into a document.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

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

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("cost", flag.ContinueOnError)
	path := flags.String("o", "", "the document whose tables are written anew")
	scale := flags.String("scale", "", "the document whose table of limits is written anew")
	if err := flags.Parse(args); err != nil {
		return err
	}
	metered.Quiet()
	w, err := metered.New(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close(context.WithoutCancel(ctx))) }()
	calls, err := weighCalls(ctx, w, single)
	if err != nil {
		return err
	}
	all, err := generations(ctx, w)
	if err != nil {
		return err
	}
	ways, err := limits(mixOf(calls, all))
	if err != nil {
		return err
	}
	tables := callsMarkdown(calls) + "\n" + generationsMarkdown(all, monthsMarkdown(calls, all))
	fmt.Fprintln(out, tables)
	fmt.Fprintln(out, limitsMarkdown(ways))
	if *path != "" {
		err = document.Rewrite(*path, document.WrittenBy("make cost"), tables)
	}
	if *scale != "" {
		err = errors.Join(err, document.Rewrite(*scale, document.WrittenBy("make cost"), limitsMarkdown(ways)))
	}
	return err
}
