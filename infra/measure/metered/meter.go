package metered

import (
	"context"
	"errors"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
)

// Reading is the usage up to a moment, or between two moments.
type Reading struct {
	Trips         int // round trips to DynamoDB
	Reads, Writes float64
}

// Minus returns the usage since o.
func (r Reading) Minus(o Reading) Reading {
	return Reading{r.Trips - o.Trips, r.Reads - o.Reads, r.Writes - o.Writes}
}

// Written is an item that was written and not removed.
type Written struct {
	Item attributes
	// New reports whether the item was new.
	New bool
}

// Place is the target of write units: the items of a kind, in an index or, if Index is empty, in the table.
type Place struct{ Index, Kind string }

// Places are write units by place.
type Places map[Place]float64

// Sum returns the total of all units.
func (p Places) Sum() (sum float64) {
	for _, n := range p {
		sum += n
	}
	return sum
}

// Meter measures the usage of a client of DynamoDB. It takes concurrent calls one after another; its fields are read
// and changed between calls.
type Meter struct {
	// Used is the usage so far.
	Used Reading
	// Weigh makes the meter also count capacity units. For that it reads the items that are to be written. The
	// reads cost time, so that callers weigh in separate calls.
	Weigh bool
	// Written are the items that weighed calls have written, as they are after the call.
	Written []Written
	// Places are the write units of weighed calls, by place. Callers who need them set it to an empty map.
	Places Places
	// err is the reason if the units are unknown.
	err error
	mu  sync.Mutex
}

// install puts the meter into a configuration, around all calls of its clients.
func (m *Meter) install(cfg *aws.Config) {
	s := &scale{client: dynamodb.NewFromConfig(*cfg)} // not metered itself
	cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("meter",
			func(ctx context.Context, in middleware.InitializeInput,
				next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
				return m.handle(ctx, s, in, next)
			}), middleware.Before)
	})
}

func (m *Meter) handle(ctx context.Context, s *scale, in middleware.InitializeInput,
	next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var changes []change
	if m.Weigh {
		var err error
		changes, err = s.changes(ctx, in.Parameters)
		m.err = errors.Join(m.err, err)
	}
	out, metadata, failure := next.HandleInitialize(ctx, in)
	// Repeats of the SDK after a broken connection do not count.
	m.Used.Trips++
	if m.Weigh {
		reads, err := s.read(ctx, in.Parameters, out.Result)
		m.err = errors.Join(m.err, err)
		writes, written, err := s.written(ctx, changes)
		m.err = errors.Join(m.err, err)
		m.Written = append(m.Written, written...)
		m.Used.Reads += reads
		m.Used.Writes += writes.Sum()
		if m.Places != nil {
			for place, n := range writes {
				m.Places[place] += n
			}
		}
	}
	return out, metadata, failure
}

// Read returns the usage so far.
func (m *Meter) Read() (Reading, error) { return m.Used, m.err }
