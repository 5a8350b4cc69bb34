// Command measure counts the AWS usage of calls and generations, computes their cost and the limit that they reach
// first, and times the start of the functions. It prints one report.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

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

// sections are the parts of the report. The tables have all but the first, whose figures depend on the machine.
var sections = []string{start, "units", "cost", "scale", "standing"}

const start = "start"

// summary is the section of the page, with a few figures of the others.
const summary = "summary"

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("measure", flag.ContinueOnError)
	only := flags.String("only", "", "print these sections, separated by commas: "+strings.Join(sections, ", "))
	rounds := flags.Int("rounds", 300, "how often each function is started")
	tables := flags.String("o", "", "replace the sections of this file")
	page := flags.String("page", "", "replace the summary of this page")
	if err := flags.Parse(args); err != nil {
		return err
	}
	wanted := strings.Split(cmp.Or(*only, strings.Join(sections, ",")), ",")
	for _, name := range wanted {
		if !slices.Contains(sections, name) {
			return fmt.Errorf("there is no section %q", name)
		}
	}
	metered.Quiet()
	report, broken := map[string]string{}, error(nil)
	if len(wanted) > 1 || wanted[0] != start {
		m, err := measure(ctx)
		if err != nil {
			return err
		}
		broken = m.broken()
		if report, err = m.report(); err != nil {
			return err
		}
		if err := write(*page, report, summary); err != nil {
			return err
		}
	}
	if slices.Contains(wanted, start) {
		starts, err := startFunctions(ctx, *rounds)
		if err != nil {
			return err
		}
		report[start], broken = startTable(starts), errors.Join(broken, tooSlow(starts))
	}
	for _, name := range wanted {
		fmt.Fprintf(out, "## %s\n\n%s\n", name, report[name])
	}
	kept := slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return name == start })
	return errors.Join(write(*tables, report, kept...), broken)
}

// write replaces sections of a file. Without a path it does nothing.
func write(path string, report map[string]string, sections ...string) error {
	if path == "" {
		return nil
	}
	document, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(document)
	for _, name := range sections {
		if text, err = replace(text, name, report[name]); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// replace returns a document with the text between the lines that mark a section replaced.
func replace(document, section, text string) (string, error) {
	begin, end := "<!-- make measure: "+section+" -->\n", "<!-- end of "+section+" -->\n"
	before, rest, begun := strings.Cut(document, begin)
	_, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		return "", fmt.Errorf("no place for the section %s", section)
	}
	return before + begin + "\n" + text + "\n" + end + after, nil
}
