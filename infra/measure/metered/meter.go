package metered

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
)

// Reading is what was used until a moment, or between two.
type Reading struct {
	Trips         int // round trips to DynamoDB
	Reads, Writes float64
}

// Minus returns what was used since o.
func (r Reading) Minus(o Reading) Reading {
	return Reading{r.Trips - o.Trips, r.Reads - o.Reads, r.Writes - o.Writes}
}

// Written is an item that was written, but not removed.
type Written struct {
	Item attributes
	// New reports that it was not there before.
	New bool
}

// Place is what write units are counted for: the items of a kind, in the table or, where
// it is named, in an index.
type Place struct{ Index, Kind string }

// Places are write units by what they are for.
type Places map[Place]float64

// Sum returns all of them.
func (p Places) Sum() (sum float64) {
	for _, n := range p {
		sum += n
	}
	return sum
}

// Meter reads what the calls of a client of DynamoDB cost. It is for one
// goroutine at a time.
type Meter struct {
	// Used is what was used until now.
	Used Reading
	// Weigh makes it also count the capacity units. For that it reads the items that
	// are to be written, which costs time, so that it is done in calls of its own.
	Weigh bool
	// Written are the items that weighed calls have written, as they are then.
	Written []Written
	// Places are the write units of weighed calls, by what they were for. Whoever wants
	// them sets it to an empty map.
	Places Places
	// err is why the units are not known.
	err error
}

// install puts the meter into a configuration, around all that its clients do.
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
	var changes []change
	if m.Weigh {
		var err error
		changes, err = s.changes(ctx, in.Parameters)
		m.err = errors.Join(m.err, err)
	}
	out, metadata, failure := next.HandleInitialize(ctx, in)
	// What the SDK repeats when a connection breaks is not of our making.
	m.Used.Trips++
	if m.Weigh {
		reads, err := s.read(in.Parameters, out.Result)
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

// Read returns what was used until now.
func (m *Meter) Read() (Reading, error) { return m.Used, m.err }
