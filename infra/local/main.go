// Command local runs the whole service on this machine (`make run`), or with its API served
// by AWS SAM (`make sam`). It also builds the functions (`local build`), and runs tests on
// AWS's own database engine (`make test-engine`).
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
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/content-automation/api/infra/local/system"
)

func main() {
	// The terminal sends Ctrl-C to every process of the foreground. The processes started here
	// are not among them, so that they end in order.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := command(ctx, os.Args[1:])
	if err != nil && !(errors.Is(err, context.Canceled) && ctx.Err() != nil) {
		fmt.Fprintln(os.Stderr, sentence(err))
		stop()
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	name := "run"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch name {
	case "run", "sam":
		port, err := portFrom(os.Getenv("PORT"))
		if err != nil {
			return err
		}
		real, err := realProviders(os.Getenv("PROVIDERS"))
		if err != nil {
			return err
		}
		return serve(ctx, os.Stdout, system.Options{Port: port, RealProviders: real, SAM: name == "sam"})
	case "build":
		flags := flag.NewFlagSet("build", flag.ContinueOnError)
		arch := flags.String("arch", "arm64", "the architecture to build for: arm64 or x86_64")
		if err := flags.Parse(args); err != nil {
			return err
		}
		return build(ctx, *arch)
	case "tools":
		return install(ctx, slices.Equal(args, []string{"all"}))
	case "test-engine":
		return testEngine(ctx, os.Stdout)
	default:
		return fmt.Errorf("there is no command %q: run, sam, build, tools or test-engine", name)
	}
}

func build(ctx context.Context, arch string) error {
	target, err := system.Lambda(arch)
	if err != nil {
		return err
	}
	return system.Build(ctx, ".", target)
}

// install installs the tools that the local system needs, or all that tests and lint need.
func install(ctx context.Context, all bool) error {
	if err := system.CheckTools(ctx); err != nil {
		return err
	}
	sets := system.Base
	if all {
		sets = slices.Concat(sets, system.Judges, system.Clients)
	}
	return system.Install(ctx, ".", func(step string) { fmt.Println(step) }, sets)
}

const defaultPort = 8080

// portFrom reads the variable PORT.
func portFrom(value string) (int, error) {
	if value == "" {
		return defaultPort, nil
	}
	port, err := strconv.Atoi(value)
	if err != nil || port < 1 || port > 65535 {
		return 0, fmt.Errorf("PORT is a number from 1 to 65535, not %q", value)
	}
	return port, nil
}

// realProviders reads the variable PROVIDERS.
func realProviders(value string) (bool, error) {
	switch value {
	case "", "fake":
		return false, nil
	case "real":
		return true, nil
	default:
		return false, fmt.Errorf("PROVIDERS is fake or real, not %q", value)
	}
}

// sentence describes an error as a step for the person at the terminal.
func sentence(err error) string {
	var port *system.PortError
	switch {
	case errors.Is(err, system.ErrNoEngine):
		return "SAM runs functions in containers, and no Docker engine answers: start Docker, or use `make run`, " +
			"which needs none."
	case errors.As(err, &port) && errors.Is(err, syscall.EADDRINUSE):
		return fmt.Sprintf("Port %d is in use: stop what uses it, or choose another one with `make run PORT=%d`.",
			port.Port, port.Port+1)
	case errors.As(err, &port) && errors.Is(err, syscall.EACCES):
		return fmt.Sprintf("Port %d needs rights that you do not have: choose one from 1024 up with `make run PORT=%d`.", port.Port, defaultPort)
	default:
		return "Error: " + err.Error()
	}
}

// serve runs the system until the context ends.
func serve(ctx context.Context, out io.Writer, o system.Options) error {
	began := time.Now()
	say := func(step string) { fmt.Fprintf(out, "%5.1f s  %s\n", time.Since(began).Seconds(), step) }
	o.Say = say
	s, err := system.Start(ctx, o)
	if err != nil {
		return err
	}
	defer func() {
		s.Stop()
		fmt.Fprintln(out, "Stopped.")
	}()
	say("Making the demo account")
	d, err := seed(ctx, s)
	if err != nil {
		return err
	}
	files, err := writeFiles(filepath.Dir(s.Logs), s, d)
	defer func() {
		for _, file := range files {
			_ = os.Remove(file)
		}
	}()
	if err != nil {
		return err
	}
	say("Ready")
	greet(out, s, d)
	select {
	case <-ctx.Done():
		fmt.Fprintln(out, "\nStopping …")
		return nil
	case <-s.Ended():
		return fmt.Errorf("the local AWS has ended by itself, or SAM; their logs are in %s", s.Logs)
	}
}

// writeFiles writes files with the values that scripts need to call the API, and that the
// operator's command needs to reach the state table. Only their owner can read them.
func writeFiles(dir string, s *system.System, d demo) ([]string, error) {
	var files []string
	for name, text := range map[string]string{
		envFile: fmt.Sprintf("BASE_URL=%s\nSVC_TEST_KEY=%s\nSVC_LIVE_KEY=%s\nSVC_API_KEY=$SVC_TEST_KEY\nexport "+
			"BASE_URL SVC_API_KEY\n", s.BaseURL, d.test, d.live),
		awsFile: s.Environment(),
	} {
		file := filepath.Join(dir, name)
		// An older file would keep its permissions.
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return files, err
		}
		files = append(files, file)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return files, err
		}
	}
	return files, nil
}

// Files written while the system runs.
const (
	envFile = "env"
	awsFile = "aws-env"
)

func greet(out io.Writer, s *system.System, d demo) {
	files := relative(filepath.Dir(s.Logs))
	fmt.Fprintf(out, `
  API       %[1]s
  Explorer  %[1]s/api-docs/explorer
  Test key  %[2]s
  Live key  %[3]s
  Account   %[4]s (enterprise plan, %[5]d credits)
  Providers %[10]s
  Platforms fakes at %[11]s (see docs/social.md)

Try it:
  curl -s %[1]s/v1/me -H 'Authorization: Bearer %[2]s'

Scripts find the address and the keys in %[6]s/%[7]s, the operator's command what it needs in %[6]s/%[8]s.
Logs are in %[9]s. Ctrl-C stops everything.
`, s.BaseURL, d.test, d.live, d.account, demoCredits, files, envFile, awsFile, relative(s.Logs), providers(s), s.Platforms)
}

// providers describes the providers for live keys.
func providers(s *system.System) string {
	if s.Providers != "" {
		return "fakes at " + s.Providers + ", which cost nothing"
	}
	return "real ones, which cost money; give their credentials to `go run ./infra/operate/admin providers set`"
}

// relative makes a path relative to the working directory.
func relative(path string) string {
	if wd, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(wd, path); err == nil {
			return short
		}
	}
	return path
}
