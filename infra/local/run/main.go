// Command run is `make run`: the whole service in one process, with its data in .local/service. It reads PORT,
// PROVIDERS (fake or real), PROVIDER_ENDPOINT (of fakes in another process, instead of those in this one) and FRESH (1:
// without the data of an earlier run).
//
// It answers at once. The explorer's script and ffmpeg are fetched meanwhile, if they are not there: until then, the
// page of the explorer says so, and compositions wait.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/local/standalone"
	"github.com/content-automation/api/infra/local/terminal"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/training/tune"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media/objects"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	port, err := terminal.Port()
	if err == nil {
		err = run(ctx, os.Stdout, port)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, terminal.Sentence(err, port))
		stop()
		os.Exit(1)
	}
}

// The folders and files of the service, from the root of the checkout.
const (
	local   = ".local"
	data    = "service"
	logName = "service.log"
)

// run runs the service until the context ends.
func run(ctx context.Context, out io.Writer, port int) error {
	began := time.Now()
	say := func(step string) { fmt.Fprintf(out, "%5.1f s  %s\n", time.Since(began).Seconds(), step) }
	real, err := terminal.RealProviders()
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(filepath.Join(local, data))
	if err != nil {
		return err
	}
	if os.Getenv("FRESH") == "1" {
		if err := standalone.Remove(dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(dir, logName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	slog.SetDefault(slog.New(slog.NewJSONHandler(log, nil)))
	metric.SetOutput(log)

	tools := fetch(ctx, say)
	manifests := &lateManifests{tools: tools, key: filepath.Join(dir, "provenance.pem")}
	o := standalone.Options{
		Dir: dir, Port: port, Assets: os.DirFS("pkg/service/docs"),
		RealProviders: real, ProviderEndpoint: os.Getenv("PROVIDER_ENDPOINT"),
		Compose: func(files *objects.Store) generate.Composer {
			return &lateComposer{files: files, tools: tools, scratch: filepath.Join(dir, "tmp"),
				threads: runtime.NumCPU(), manifests: manifests}
		},
		Manifests: manifests, FFmpeg: lateFFmpeg{tools},
	}
	if !real {
		o.Trainer = func(cfg aws.Config, fakes, bucket string) training.Trainer {
			return tune.New(tune.Config{AWS: cfg, Fakes: fakes, Bucket: bucket, Role: "arn:aws:iam::000000000000:role/local"})
		}
	}
	go standalone.BoundGarbage(ctx)
	s, err := standalone.Start(o)
	if err != nil {
		return err
	}
	defer func() {
		s.Stop()
		fmt.Fprintln(out, "Stopped.")
	}()
	d, err := demo(ctx, s)
	if err != nil {
		return err
	}
	if err := s.InviteUsers(ctx, tenant.Account(d.Account)); err != nil {
		return err
	}
	t := terminal.System{BaseURL: s.BaseURL, Password: s.Password(), Providers: s.Providers, Platforms: s.Platforms,
		Environment: s.Environment(), Dir: filepath.Dir(dir), Logs: filepath.Join(dir, logName)}
	remove, err := t.WriteFiles(d)
	defer remove()
	if err != nil {
		return err
	}
	say("Ready")
	t.Greet(out, d)
	tools.note(say)
	go func() {
		<-tools.explorer
		s.Refresh()
	}()
	<-ctx.Done()
	fmt.Fprintln(out, "\nStopping …")
	return nil
}

// demo returns the demo account, which outlives restarts.
func demo(ctx context.Context, s *standalone.Service) (d terminal.Demo, err error) {
	if kept := s.Kept("demo"); kept != "" {
		return d, json.Unmarshal([]byte(kept), &d)
	}
	if d, err = terminal.NewDemo(ctx, s.DB(), s.BaseURL, time.Now); err != nil {
		return d, err
	}
	kept, err := json.Marshal(d)
	if err == nil {
		s.Keep("demo", string(kept))
	}
	return d, err
}

// tools tells when the tools of the checkout are there.
type tools struct {
	// explorer is closed when the script of the explorer is there, and media when ffmpeg and the fonts are.
	explorer, media chan struct{}
	// failed is why ffmpeg could not be fetched. It is set before media is closed.
	failed error
}

const mediaTools = "ffmpeg, the fonts and the library of C2PA"

// note says what the first media wait for, if it is not there after a moment: on a slow line that takes a minute.
func (t *tools) note(say func(string)) {
	select {
	case <-t.media:
	case <-time.After(time.Second / 2):
		say("Fetching " + mediaTools + ": the first media wait for them")
	}
}

// fetch fetches the tools that are not there, in the background.
func fetch(ctx context.Context, say func(string)) *tools {
	t := &tools{explorer: make(chan struct{}), media: make(chan struct{})}
	get := func(what, script string) error {
		began := time.Now()
		cmd := exec.CommandContext(ctx, "node", "infra/tools/"+script)
		cmd.Env = append(os.Environ(), "NODE_NO_WARNINGS=1")
		output, err := cmd.CombinedOutput()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, exec.ErrNotFound):
			err = errors.New("node is not installed: get Node 22 or newer, with npm, from https://nodejs.org")
		case err != nil:
			err = fmt.Errorf("%w: %s", err, output)
		}
		if err != nil {
			say(what + " could not be fetched: " + err.Error())
		} else if took := time.Since(began); took > time.Second {
			say("Fetched " + what)
		}
		return err
	}
	go func() {
		defer close(t.explorer)
		_ = get("the explorer's script", "explorer-assets.mjs") // the terminal and the page say so
	}()
	go func() {
		defer close(t.media)
		t.failed = get(mediaTools, "media-tools.mjs")
	}()
	return t
}
