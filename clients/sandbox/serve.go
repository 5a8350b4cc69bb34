package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/clients/sandbox/internal/sketch"
	"github.com/content-automation/api/infra/local/standalone"
	"github.com/content-automation/api/infra/local/terminal"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/training/tune"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/composer"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/service/docs"
)

// greeting is what tests need to know. Its members in JSON are the names of the lines.
type greeting struct {
	URL     string `json:"BASE_URL"`
	Account string `json:"SVC_ACCOUNT"`
	Test    string `json:"SVC_TEST_KEY"`
	Live    string `json:"SVC_LIVE_KEY"`
	// Import is the id of the import, and Secrets are the signing secrets of its webhooks; only with --import.
	Import  string            `json:"SVC_IMPORT,omitempty"`
	Secrets map[string]string `json:"SVC_WEBHOOK_SECRETS,omitempty"`
}

// lines returns the greeting in a form that a shell can evaluate.
func (g greeting) lines() string {
	text := fmt.Sprintf("BASE_URL=%s\nSVC_ACCOUNT=%s\nSVC_TEST_KEY=%s\nSVC_LIVE_KEY=%s\n", g.URL, g.Account, g.Test, g.Live)
	if g.Import == "" {
		return text
	}
	var secrets []string
	for _, id := range slices.Sorted(maps.Keys(g.Secrets)) {
		secrets = append(secrets, id+":"+g.Secrets[id])
	}
	return text + fmt.Sprintf("SVC_IMPORT=%s\nSVC_WEBHOOK_SECRETS=%s\n", g.Import, strings.Join(secrets, ","))
}

// The paths of the greeting, for tests that do not start the sandbox themselves.
const (
	jsonPath  = "/_sandbox"
	linesPath = "/_sandbox.env"
)

// unlimited is a number of calls without a key that no test makes: health checks have none.
const unlimited = 1 << 30

// serve runs the sandbox until the context ends.
func (o options) serve(ctx context.Context, out, notes io.Writer) error {
	slog.SetDefault(slog.New(slog.NewTextHandler(notes, &slog.HandlerOptions{Level: slog.LevelError})))
	metric.SetOutput(io.Discard)
	if o.seed != nil {
		seedProcess(*o.seed)
	}
	scratch, err := composer.Scratch(os.TempDir())
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	engine, err := o.engine(scratch)
	if err != nil {
		return err
	}
	parts := make([][]byte, len(o.imports))
	for i, name := range o.imports {
		if parts[i], err = os.ReadFile(name); err != nil {
			return err
		}
	}
	var g greeting
	options := standalone.Options{
		Port: o.port, Listen: o.listen, URL: o.url, Keyless: unlimited,
		Assets: docs.Assets(),
		Compose: func(files *objects.Store) generate.Composer {
			return &composer.Composer{Engine: engine, Objects: files, Dir: scratch}
		},
		Trainer: func(cfg aws.Config, fakes, bucket string) training.Trainer {
			return tune.New(tune.Config{AWS: cfg, Fakes: fakes, Bucket: bucket, Role: "arn:aws:iam::000000000000:role/local"})
		},
		// The greeting is there before the first answer.
		Prepare: func(ctx context.Context, s *standalone.Service) error {
			d, err := terminal.NewDemo(ctx, s.DB(), s.BaseURL, s.Now)
			g = greeting{URL: s.BaseURL, Account: d.Account, Test: d.Test, Live: d.Live}
			if err == nil && len(o.imports) > 0 {
				g.Import, g.Secrets, err = o.open(ctx, s, tenant.Account(d.Account), parts)
			}
			if err == nil && o.json {
				return json.NewEncoder(out).Encode(g)
			}
			if err == nil {
				_, err = io.WriteString(out, g.lines())
			}
			return err
		},
		Wrap: func(next http.Handler) http.Handler { return greet(&g, next) },
	}
	if o.now != nil {
		options.Lane = &standalone.Lane{From: *o.now, Ahead: o.ahead, Play: o.play}
	}
	go standalone.BoundGarbage(ctx)
	s, err := standalone.Start(options)
	if err != nil {
		return err
	}
	<-ctx.Done()
	slog.SetDefault(slog.New(slog.DiscardHandler)) // work that is cut off is no error
	s.Stop()
	return nil
}

// open opens an export in the sandbox of an account, before the first call is answered.
func (o options) open(ctx context.Context, s *standalone.Service, of tenant.Account, parts [][]byte) (id string,
	secrets map[string]string, err error) {
	r := transfer.Rehearsal{DB: s.DB(), Envelope: s.Envelope(), Put: s.PutFile, Random: rand.Reader, Now: s.Now(),
		Owner: tenant.Of(of, tenant.Test), Webhooks: o.webhooks}
	out, err := r.Open(ctx, parts)
	if err != nil {
		return "", nil, fmt.Errorf("--import: %w", err)
	}
	return out.Import, out.Secrets, nil
}

// engine returns the engine of compositions.
func (o options) engine(scratch string) (composer.Engine, error) {
	if o.ffmpeg == "" {
		return sketch.Engine{}, nil
	}
	return compose.New(compose.Settings{FFmpeg: o.ffmpeg, Fonts: o.fonts, Scratch: scratch, Threads: runtime.NumCPU()})
}

// greet adds the paths of the greeting.
func greet(g *greeting, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case jsonPath:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(g)
		case linesPath:
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = io.WriteString(w, g.lines())
		default:
			next.ServeHTTP(w, r)
		}
	})
}
