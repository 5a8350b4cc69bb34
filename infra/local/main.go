// Command local deploys the synthesised template onto a local AWS (`make stack`), or has AWS SAM serve its API
// (`make sam`). It also builds the functions (`local build`), and runs tests on
// AWS's own database engine.
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
	"strings"
	"syscall"
	"time"

	"github.com/content-automation/api/infra/local/identity"
	"github.com/content-automation/api/infra/local/system"
	"github.com/content-automation/api/infra/local/terminal"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
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
	name := "stack"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch name {
	case "stack", "sam":
		port, err := terminal.Port()
		if err != nil {
			return err
		}
		real, err := terminal.RealProviders()
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
		return install(ctx, strings.Join(args, " "))
	case "test-engine":
		return testEngine(ctx, os.Stdout, slices.Equal(args, []string{"all"}))
	default:
		return fmt.Errorf("there is no command %q: stack, sam, build, tools or test-engine", name)
	}
}

func build(ctx context.Context, arch string) error {
	target, err := system.Lambda(arch)
	if err != nil {
		return err
	}
	return system.Build(ctx, ".", target)
}

// install installs the tools that the local system and the short tests need, those for the clients (sdk, check, sizes,
// n8n), that of the server for agents (mcp), the judges of texts and of emoji, or all that tests and lint need.
func install(ctx context.Context, which string) error {
	if err := system.CheckTools(ctx); err != nil {
		return err
	}
	sets := system.Base
	switch which {
	case "sdk":
		sets = slices.Concat(sets[:1], system.SDK, system.Clients)
	case "check":
		sets = slices.Concat(sets[:1], system.Check)
	case "sizes":
		sets = slices.Concat(sets[:1], system.SDK, system.Sizes)
	case "mcp":
		sets = append(sets[:1:1], system.MCP...)
	case "texts":
		sets = append(sets[:1:1], system.Texts...)
	case "emoji":
		sets = append(sets[:1:1], system.Emoji...)
	case "n8n":
		sets = append(sets[:1:1], system.N8n...)
	case "all":
		sets = slices.Concat(sets, system.SAM, system.Judges, system.Clients, system.SDK)
	}
	return system.Install(ctx, ".", func(step string) { fmt.Println(step) }, sets)
}

// sentence describes an error as a step for the person at the terminal.
func sentence(err error) string {
	var port *system.PortError
	switch {
	case errors.Is(err, system.ErrNoEngine):
		return "SAM runs functions in containers, and no Docker engine answers: start Docker, or use `make stack`, " +
			"which needs none."
	case errors.As(err, &port):
		return terminal.Sentence(err, port.Port)
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
	db := store.Open(s.AWS(), s.Table)
	d, err := terminal.NewDemo(ctx, db, s.BaseURL, time.Now)
	if err != nil {
		return err
	}
	if err := identity.Invite(ctx, db, tenant.Account(d.Account), time.Now); err != nil {
		return err
	}
	t := terminal.System{BaseURL: s.BaseURL, Password: s.Password, Providers: s.Providers, Platforms: s.Platforms,
		Environment: s.Environment(), Dir: filepath.Dir(s.Logs), Logs: s.Logs}
	remove, err := t.WriteFiles(d)
	defer remove()
	if err != nil {
		return err
	}
	say("Ready")
	t.Greet(out, d)
	select {
	case <-ctx.Done():
		fmt.Fprintln(out, "\nStopping …")
		return nil
	case <-s.Ended():
		return fmt.Errorf("the local AWS has ended by itself, or SAM; their logs are in %s", s.Logs)
	}
}
