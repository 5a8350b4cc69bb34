// Command suite runs the checks of this repository in stages, and prints what ran, for how long, and what did not run
// for want of which tool. Without arguments it runs the stages of make test, with -check those of make check, and with
// -all all of them, as make test-all does. With the argument calendar it runs tests at other moments, and with figures
// it counts what makes the repository easy or hard to read.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"
)

func main() {
	all := flag.Bool("all", false, "run the long stages too")
	check := flag.Bool("check", false, "run the stages of make check alone")
	only := flag.String("only", "", "run the stages with names that match this pattern alone, as path.Match does")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	switch flag.Arg(0) {
	case "calendar":
		err = calendar(ctx, flag.Args()[1:])
	case "moments":
		err = atMoments(ctx, os.Stdout, flag.Args()[1:])
	case "figures":
		err = printFigures()
	default:
		list := chosen(*all, *check, *only)
		if err = prepare(ctx, list); err == nil {
			code := run(ctx, os.Stdout, list)
			stop()
			os.Exit(code)
		}
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// prepare sets the environment of all stages, and installs what they need. All is compiled as the functions are, so
// that nothing is compiled twice; the compiler and the tests may use more memory, and take less time.
func prepare(ctx context.Context, list []stage) error {
	bin, err := filepath.Abs(".tools/runtime-node/node_modules/.bin")
	if err != nil {
		return err
	}
	flags := os.Getenv("GOFLAGS")
	if !strings.Contains(flags, "-trimpath") {
		flags += " -trimpath"
	}
	for name, value := range map[string]string{"CGO_ENABLED": "0", "GOFLAGS": flags, "GOGC": "800",
		"PATH": bin + string(filepath.ListSeparator) + os.Getenv("PATH")} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	commands := []string{"node infra/tools/explorer-assets.mjs", "node infra/tools/media-tools.mjs",
		"go build -o .local/bin/local ./infra/local", ".local/bin/local tools"}
	for _, s := range list {
		if c := ".local/bin/local tools " + s.tools; s.tools != "" && !slices.Contains(commands, c) {
			commands = append(commands, c)
		}
	}
	for _, c := range commands {
		words := strings.Fields(c)
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
	}
	return nil
}

// chosen returns the stages to run.
func chosen(all, check bool, only string) []stage {
	return slices.DeleteFunc(slices.Clone(stages), func(s stage) bool {
		if only != "" {
			match, _ := filepath.Match(only, s.name)
			return !match
		}
		return !all && (s.check != check || s.long)
	})
}

// outcome is what became of a stage.
type outcome struct {
	stage
	// missing is the tool for want of which the stage did not run, or empty.
	missing        string
	err            error
	wall, cpu      time.Duration
	passed, failed int
}

// run runs the stages of each lane in order: lanes 0 and 1 together, then the lane alone. It returns the exit status.
// If a first stage fails, the others do not run.
func run(ctx context.Context, out io.Writer, list []stage) int {
	if err := os.MkdirAll(logs, 0o755); err != nil {
		fmt.Fprintln(out, err)
		return 2
	}
	results := make([]outcome, len(list))
	for i, s := range list {
		if !s.first {
			continue
		}
		results[i] = s.run(ctx)
		results[i].say(out)
		if results[i].err != nil {
			return closing(out, results[i:i+1])
		}
	}
	var lanes sync.WaitGroup
	var said sync.Mutex
	for _, together := range [][]int{{0, 1}, {alone}} {
		for _, lane := range together {
			lanes.Go(func() {
				for i, s := range list {
					if s.first || s.lane != lane {
						continue
					}
					results[i] = s.run(ctx)
					said.Lock()
					results[i].say(out)
					said.Unlock()
				}
			})
		}
		lanes.Wait()
	}
	return closing(out, results)
}

// logs is the folder of the full output of the stages.
const logs = "build/test"

// run runs one stage. A stage that is not a test counts as one.
func (s stage) run(ctx context.Context) (o outcome) {
	o.stage = s
	if s.needs != "" {
		if _, err := exec.LookPath(s.needs); err != nil {
			o.missing = s.needs
			return o
		}
	}
	log, err := os.Create(filepath.Join(logs, s.name+".log"))
	if err != nil {
		o.err = err
		return o
	}
	defer log.Close()
	began := time.Now()
	c := &counter{log: log}
	cmd := exec.CommandContext(ctx, s.command[0], s.command[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), s.env...), c, c
	// All processes of a stage end with the suite: what goes on would compile files that change.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	o.err = cmd.Run()
	c.end()
	o.wall = time.Since(began)
	if cmd.ProcessState != nil {
		o.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if o.passed, o.failed = c.passed, c.failed; o.passed+o.failed == 0 && o.err == nil {
		o.passed = 1
	}
	if o.err != nil && o.failed == 0 {
		o.failed = 1
	}
	return o
}

// say prints the end of a stage, and its output if it has failed.
func (o outcome) say(out io.Writer) {
	switch {
	case o.missing != "":
		fmt.Fprintf(out, "%-14s not run: %s is not installed\n", o.name, o.missing)
	case o.err == nil:
		fmt.Fprintf(out, "%-14s ok, %.0f s\n", o.name, o.wall.Seconds())
	default:
		fmt.Fprintf(out, "%-14s FAILED after %.0f s: %v. The whole output is in %s/%[1]s.log\n", o.name, o.wall.Seconds(),
			o.err, logs)
		if err := failures(out, filepath.Join(logs, o.name+".log")); err != nil {
			fmt.Fprintln(out, err)
		}
	}
}

// closing prints the table of all stages and the sum, and returns the exit status.
func closing(out io.Writer, results []outcome) (code int) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nstage\twall s\tCPU s\tpassed\tfailed\t")
	var sum outcome
	for _, o := range results {
		sum.passed, sum.failed, sum.cpu = sum.passed+o.passed, sum.failed+o.failed, sum.cpu+o.cpu
		if o.missing != "" {
			fmt.Fprintf(table, "%s\tnot run: %s is not installed\t\t\t\t\n", o.name, o.missing)
			continue
		}
		if o.err != nil {
			code = 1
		}
		fmt.Fprintf(table, "%s\t%.0f\t%.0f\t%d\t%d\t\n", o.name, o.wall.Seconds(), o.cpu.Seconds(), o.passed, o.failed)
	}
	fmt.Fprintf(table, "all\t\t%.0f\t%d\t%d\t\n", sum.cpu.Seconds(), sum.passed, sum.failed)
	_ = table.Flush()
	fmt.Fprintf(out, "\n%d passed, %d failed\n", sum.passed, sum.failed)
	return cmp.Or(code, min(1, sum.failed))
}
