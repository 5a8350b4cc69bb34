package main

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
)

// reading is what was used until a moment, or between two.
type reading struct {
	trips         int // round trips to DynamoDB
	reads, writes float64
	cpu           time.Duration
}

func (r reading) minus(o reading) reading {
	return reading{r.trips - o.trips, r.reads - o.reads, r.writes - o.writes, r.cpu - o.cpu}
}

// meter reads what the calls of a client of DynamoDB cost. It is for one
// goroutine at a time.
type meter struct {
	used reading
	// weigh makes it also count the capacity units. For that it reads the items that
	// are to be written, which costs time, so that it is done in calls of its own.
	weigh bool
	scale scale
	// made are the items that weighed calls have made.
	made []attributes
	// err is why the units are not known.
	err error
}

// install puts the meter into a configuration, around all that its clients do.
func (m *meter) install(cfg *aws.Config) {
	m.scale.client = dynamodb.NewFromConfig(*cfg) // not metered itself
	cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("meter", m.handle), middleware.Before)
	})
}

func (m *meter) handle(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	var written []change
	if m.weigh {
		var err error
		written, err = m.scale.changes(ctx, in.Parameters)
		m.err = errors.Join(m.err, err)
	}
	out, metadata, failure := next.HandleInitialize(ctx, in)
	// What the SDK repeats when a connection breaks is not of our making.
	m.used.trips++
	if m.weigh {
		reads, err := m.scale.read(in.Parameters, out.Result)
		m.err = errors.Join(m.err, err)
		writes, made, err := m.scale.written(ctx, written)
		m.err = errors.Join(m.err, err)
		m.made = append(m.made, made...)
		m.used.reads += reads
		m.used.writes += writes
	}
	return out, metadata, failure
}

// read gives what was used until now. The time is that of the whole process: the
// handler, the SDK and its connections, and the garbage collector, on whatever
// thread. DynamoDB's stand-in is a process of its own, and waiting for it is free.
func (m *meter) read() (reading, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return reading{}, err
	}
	now := m.used
	now.cpu = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	return now, m.err
}
