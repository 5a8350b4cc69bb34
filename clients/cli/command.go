package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/content-automation/api/clients/cli/internal/forward"
	"github.com/content-automation/api/clients/cli/internal/sample"
	contentautomation "github.com/content-automation/api/clients/go"
	nearest "github.com/content-automation/api/pkg/base/text"
)

// machine has the parts of the machine that the commands use.
type machine struct {
	out, notes io.Writer
	getenv     func(string) string
	now        func() time.Time
	wait       func(ctx context.Context, d time.Duration) error
	random     io.Reader
	// program is the name by which the command was called.
	program string
	// config returns the folder of the user's configuration.
	config func() (string, error)
	// open opens an address in the browser.
	open func(ctx context.Context, address string) error
	// terminal reports that a person reads the notes on a terminal.
	terminal bool
}

func thisMachine() machine {
	return machine{os.Stdout, os.Stderr, os.Getenv, time.Now, wait, rand.Reader,
		strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"), os.UserConfigDir, openBrowser, isTerminal(os.Stderr)}
}

// isTerminal reports whether a file is a terminal, and no file or pipe.
func isTerminal(f *os.File) bool {
	of, err := f.Stat()
	return err == nil && of.Mode()&os.ModeCharDevice != 0
}

// called returns the name of the command, which releases call otherwise than its folder.
func (w machine) called() string { return cmp.Or(w.program, "cli") }

// wait waits, or returns the context's error if that ends before.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func root(w machine) *cobra.Command {
	cmd := &cobra.Command{
		Use:   w.called(),
		Short: "Call the Content-Automation API, and receive its events on your own machine",
		Long: "Call the Content-Automation API, and receive its events on your own machine, without a public address. " +
			"SVC_API_KEY has the API key, and BASE_URL the base URL; without a key, the command uses that of the last " +
			"login.\n\n" + statuses,
		SilenceUsage: true, SilenceErrors: true, Version: contentautomation.Version,
	}
	cmd.SetOut(w.out)
	cmd.SetErr(w.notes)
	cmd.AddGroup(&cobra.Group{ID: "operations", Title: "Operations of the API:"})
	cmd.AddCommand(listenCommand(w), triggerCommand(w), logsCommand(w), manCommand(), mcpCommand(w), loginCommand(w),
		logoutCommand(w))
	cmd.AddCommand(operationCommands(w)...)
	cmd.InitDefaultCompletionCmd()
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagFault(err) })
	cmd.SetHelpCommand(&cobra.Command{Use: "help [command]", Short: "Help about any command", RunE: showHelpOf})
	refuseOthers(cmd)
	return cmd
}

// flagFault says what the value of a flag must be.
func flagFault(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	kind, known := map[string]string{"int64": "a whole number", "int": "a whole number", "float64": "a number",
		"bool": "true or false", "duration": "a duration such as 15m",
		"stringToString": "pairs such as order=4711"}[invalid.GetFlag().Value.Type()]
	if !known {
		return err
	}
	return fmt.Errorf("--%s must be %s, not %q", invalid.GetFlag().Name, kind, invalid.GetValue())
}

// showHelpOf shows the help of the command that the arguments name.
func showHelpOf(cmd *cobra.Command, args []string) error {
	named, rest, err := cmd.Root().Find(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return noOther(named, rest)
	}
	named.InitDefaultHelpFlag()
	return named.Help()
}

// refuseOthers lets all groups of commands refuse the name of an unknown command, and show their help without a name.
func refuseOthers(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		refuseOthers(sub)
		if sub.HasSubCommands() {
			sub.Args, sub.RunE = noOther, showHelp
		}
	}
}

// noOther returns an error for the name of an unknown command of a group. Without a name the group shows its help.
func noOther(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var known []string
	for _, sub := range cmd.Commands() {
		known = append(known, sub.Name())
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), nearest.NearestHint(args[0], known))
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// target has the flags for the receiver of events.
type target struct{ address, secret string }

func (t *target) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.address, "forward-to", "", "address of your receiver, such as http://localhost:3000/hooks")
	cmd.Flags().StringVar(&t.secret, "secret", "", "secret that signs the requests (whsec_…); default: a new one, "+
		"which is printed")
}

// sender returns the sender for the target. If it has to make a secret, it prints it.
func (t *target) sender(w machine) (*forward.Sender, error) {
	secret, made := t.secret, t.secret == ""
	if made {
		var err error
		if secret, err = forward.NewSecret(w.random); err != nil {
			return nil, failure{error: err}
		}
	}
	s, err := forward.New(t.address, secret, w.now)
	if err == nil && made {
		fmt.Fprintf(w.out, "Signing secret: %s\nUse --secret to sign with the same secret next time.\n", secret)
	}
	return s, err
}

// patterns reads a list of types of events. A pattern is a type, an area such as content.*, or *.
func patterns(list string) ([]string, error) {
	known := []string{"*"}
	for _, t := range sample.Types() {
		area, _, _ := strings.Cut(t, ".")
		known = append(known, t, area+".*")
	}
	var all []string
	for p := range strings.SplitSeq(list, ",") {
		p = strings.TrimSpace(p)
		if !slices.Contains(known, p) {
			return nil, fmt.Errorf("--events: %q is no type of event%s; 'cli trigger' lists them, and content.* "+
				"stands for all that begin with content", p, nearest.NearestHint(p, known))
		}
		all = append(all, p)
	}
	return all, nil
}

// chosen reports whether a type of event matches one of the patterns.
func chosen(eventType string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		area, all := strings.CutSuffix(p, "*")
		return p == eventType || all && strings.HasPrefix(eventType, area)
	})
}
