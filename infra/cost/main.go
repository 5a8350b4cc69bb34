// Command cost counts all that AWS charges for of whole generations, from the call to
// the end, and writes what they cost into a document.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/content-automation/api/infra/document"
	"github.com/content-automation/api/infra/metered"
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
	if err := flags.Parse(args); err != nil {
		return err
	}
	// Refused calls and the like are logged; here only what fails matters.
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	w, err := metered.New(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close(context.WithoutCancel(ctx))) }()
	all, err := generations(ctx, w)
	if err != nil {
		return err
	}
	tables := generationsMarkdown(all)
	fmt.Fprintln(out, tables)
	if *path == "" {
		return nil
	}
	return document.Rewrite(*path, document.WrittenBy("make cost"), tables)
}
