package metered

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"io"
	mathrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/gofrs/uuid/v5"

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

// drawn counts the seeds of this process.
var drawn atomic.Uint64

// draw makes the ids and the randomness of the process those of the next seed, each from its beginning. Records are
// compressed, so that the units of one near a limit would otherwise differ with the ids in it. Ids have a stream of
// their own, because a signature may take a byte more than another.
func draw() {
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], drawn.Add(1))
	rand.Reader = &serial{from: mathrand.NewChaCha8(seed)}
	uuid.DefaultGenerator = uuid.NewGenWithOptions(
		uuid.WithRandomReader(&serial{from: mathrand.NewChaCha8(seed)}))
}

// serial is a reader that several may read at a time.
type serial struct {
	mu   sync.Mutex
	from io.Reader
}

// Read reads from r.
func (r *serial) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.from.Read(b)
}

// begin fills the world, or copies what the first world of its settings has made.
func (w *World) begin(ctx context.Context) error {
	draw()
	defer draw() // What a copy makes must not be what the original was filled with.
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
