package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// options are the options of the command line.
type options struct {
	port          int
	listen, url   string
	seed          *uint64
	now           *time.Time
	ahead         time.Duration
	imports       []string
	webhooks      string
	play          time.Duration
	ffmpeg, fonts string
	json, version bool
}

// defaultPort is the port of a local system, too.
const defaultPort = 8080

// variable returns the name of the variable of a flag. A container that takes no arguments has variables.
func variable(flag string) string { return "SANDBOX_" + strings.ToUpper(flag) }

// parse reads the flags, and for those that are not there the variables.
func parse(args []string, env func(string) string, notes io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("sandbox", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run writes the error
	flags.IntVar(&o.port, "port", defaultPort, "the `port` to listen on; 0 is any free port")
	flags.StringVar(&o.listen, "listen", "127.0.0.1", "the `address` to listen on; 0.0.0.0 in a container")
	flags.StringVar(&o.url, "url", "", "the `address` by which callers reach the API (default http://localhost with the port)")
	flags.Func("seed", "a `number` that determines the keys and the ids", func(text string) error {
		seed, err := strconv.ParseUint(text, 10, 64)
		o.seed = &seed
		return named(err, "a number from 0 to 18446744073709551615")
	})
	flags.Func("now", "the `time` of the sandbox at its start, such as 2026-05-01T12:00:00Z; its clock then moves with "+
		"its calls only", func(text string) error {
		now, err := time.Parse(time.RFC3339, text)
		o.now = &now
		return named(err, "a time such as 2026-05-01T12:00:00Z")
	})
	flags.DurationVar(&o.ahead, "ahead", 2*time.Minute, "with --now: after each call, the work of this `time` is done at once")
	flags.Func("import", "the `files` of an export, separated by commas: what was published after --now is published "+
		"again, each post at its time", func(text string) error {
		for name := range strings.SplitSeq(text, ",") {
			o.imports = append(o.imports, strings.TrimSpace(name))
		}
		return nil
	})
	flags.DurationVar(&o.play, "play", 0, "with --import and --now: the `time` that is played at the start, such as 744h")
	flags.StringVar(&o.webhooks, "webhooks", "", "with --import: the `address` that the imported webhooks send to; without it "+
		"they are disabled")
	flags.StringVar(&o.ffmpeg, "ffmpeg", "", "the `path` of ffmpeg, to compose media as the service does; needs --fonts")
	flags.StringVar(&o.fonts, "fonts", "", "the `folder` of the fonts for --ffmpeg")
	flags.BoolVar(&o.json, "json", false, "print the address and the keys as JSON")
	flags.BoolVar(&o.version, "version", false, "print the version, and end: the answers of --seed are those of one version")
	if err = flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(notes, "Usage: sandbox [flags]\n\nEach flag may also be a variable, such as %s.\n\n", variable("port"))
		flags.SetOutput(notes)
		flags.PrintDefaults()
	}
	if err != nil {
		return o, err
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	flags.VisitAll(func(f *flag.Flag) {
		if value := env(variable(f.Name)); value != "" && !given[f.Name] && f.Name != "version" && err == nil {
			if err = flags.Set(f.Name, value); err != nil {
				err = fmt.Errorf("invalid value %q for the variable %s: %w", value, variable(f.Name), err)
			}
		}
	})
	if err != nil {
		return o, err
	}
	return o, o.check(flags.Args())
}

// named returns an error that says what a value must be, if there is one.
func named(err error, want string) error {
	if err != nil {
		return errors.New("it must be " + want)
	}
	return nil
}

// check refuses options that do not fit together.
func (o options) check(rest []string) error {
	u, err := url.Parse(o.url)
	hooks, wrong := url.Parse(o.webhooks)
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unknown argument %q: there are flags only", rest[0])
	case o.port < 0 || o.port > 65535:
		return fmt.Errorf("--port is a number from 0 to 65535, not %d", o.port)
	case o.url != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == ""):
		return fmt.Errorf("--url is an address such as http://sandbox:8080, not %q", o.url)
	case o.webhooks != "" && (wrong != nil || hooks.Scheme != "http" && hooks.Scheme != "https" || hooks.Host == ""):
		return fmt.Errorf("--webhooks is an address such as http://127.0.0.1:9090/hooks, not %q", o.webhooks)
	case o.webhooks != "" && len(o.imports) == 0:
		return errors.New("--webhooks needs --import")
	case o.play != 0 && (len(o.imports) == 0 || o.now == nil || o.play < 0):
		return errors.New("--play is a time from 0s, and needs --import and --now")
	case o.ahead < 0:
		return fmt.Errorf("--ahead is a time from 0s, not %v", o.ahead)
	case (o.ffmpeg == "") != (o.fonts == ""):
		return errors.New("--ffmpeg and --fonts need each other")
	}
	return nil
}
