package metered

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/infra/verify/harness/storetest"
)

// filling is what worlds begin with: to make it takes hundreds of calls.
type filling struct {
	first          sync.Once
	err            error
	state, entries []map[string]types.AttributeValue
	clock          time.Time
	resources      resources
}

// sameFilling are the settings by which worlds begin alike.
type sameFilling struct {
	account, agent string
	listed         int
	clock          time.Time
	tick           time.Duration
	profiled       bool
}

// fillings are the fillings of this process by their settings.
var fillings sync.Map // sameFilling to *filling

// begin fills the world, or copies what the first world of its settings has made.
func (w *World) begin(ctx context.Context) error {
	if _, ok := storetest.Contents(w.State); !ok {
		return w.fill(ctx)
	}
	s := w.settings
	known, _ := fillings.LoadOrStore(sameFilling{s.Account, s.Agent, s.Listed, s.Clock, s.Tick, s.Profiled}, &filling{})
	f := known.(*filling)
	copied := true
	f.first.Do(func() {
		copied = false
		if f.err = w.fill(ctx); f.err == nil {
			f.state, _ = storetest.Contents(w.State)
			f.entries, _ = storetest.Contents(w.entries)
			f.clock, f.resources = w.Clock, w.resources
		}
	})
	if f.err != nil || !copied {
		return f.err
	}
	w.Clock, w.resources = f.clock, f.resources
	if err := storetest.Refill(w.State, f.state); err != nil {
		return err
	}
	return storetest.Refill(w.entries, f.entries)
}
