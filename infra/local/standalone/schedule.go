package standalone

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// schedule calls the functions of schedules, each with its period, and once at the start, until the context ends.
func (s *Service) schedule(ctx context.Context) {
	if s.lane != nil {
		s.lane.open(ctx, s.scheduled)
		return
	}
	for name, run := range s.scheduled {
		f := topology.FunctionNamed(name)
		s.running.Go(func() {
			for {
				if err := guarded(func() error {
					call, cancel := context.WithTimeout(ctx, f.Timeout)
					defer cancel()
					_, err := run.Invoke(call, []byte("{}"))
					return err
				}); err != nil && ctx.Err() == nil {
					slog.Error("a scheduled function failed", "function", name, "error", err)
				}
				if !sleep(ctx, f.Every) {
					return
				}
			}
		})
	}
}

// Invoke calls a function of a schedule by its name, with a payload in JSON, and decodes its result.
func (s *Service) Invoke(ctx context.Context, name, payload string, into any) error {
	run := s.scheduled[name]
	if run == nil {
		return fmt.Errorf("standalone: no schedule calls the function %q", name)
	}
	out, err := run.Invoke(ctx, []byte(payload))
	if err != nil {
		return fmt.Errorf("standalone: the function %s: %w", name, err)
	}
	return json.Unmarshal(out, into)
}
