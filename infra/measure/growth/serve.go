package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/content-automation/api/infra/local/standalone"
	"github.com/content-automation/api/infra/local/terminal"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media/objects"
)

// serving is the variable with the folder of the data, with which the command is the service.
const serving = "GROWTH_SERVE"

// limit is the most calls a minute that a key may make, more than a service can answer.
const limit = 1_000_000

// serve runs the service until the context ends. It prints its address and a key first.
func serve(ctx context.Context, dir string) error {
	if name := os.Getenv("GROWTH_PROFILE"); name != "" {
		profile, err := os.Create(name)
		if err == nil {
			err = pprof.StartCPUProfile(profile)
		}
		if err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	metric.SetOutput(io.Discard)
	go standalone.BoundGarbage(ctx)
	s, err := standalone.Start(standalone.Options{Dir: dir, Keyless: limit,
		// The posts have no media.
		Compose: func(*objects.Store) generate.Composer { return nil }})
	if err != nil {
		return err
	}
	defer s.Stop()
	key := s.Kept("key")
	if key == "" {
		demo, err := terminal.NewDemo(ctx, s.DB(), s.BaseURL, time.Now)
		if err != nil {
			return err
		}
		most := limit
		if _, err := account.NewService(s.DB(), time.Now).Update(ctx, tenant.Account(demo.Account),
			account.Settings{LiveLimit: &most}); err != nil {
			return err
		}
		key = demo.Live
		s.Keep("key", key)
	}
	fmt.Println(strings.TrimSpace(s.BaseURL), key)
	<-ctx.Done()
	return nil
}
