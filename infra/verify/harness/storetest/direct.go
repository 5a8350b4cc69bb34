package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/memtable"
)

// direct reports whether calls of a table in memory reach the engine without the SDK, which takes most of their time.
var direct = true

// UseSDK makes all calls pass through the SDK from now on, for tests of what is sent.
func UseSDK() { direct = false }

// Direct makes the clients of a table in memory call the engine after the first step of the SDK, without writing
// requests and reading answers. It is for changes of a configuration that only add to that step.
func Direct(cfg *aws.Config) {
	memory, ok := cfg.HTTPClient.(*memtable.Engine)
	if !ok || !direct {
		return
	}
	calls := middleware.InitializeMiddlewareFunc("direct", func(ctx context.Context, in middleware.InitializeInput,
		next middleware.InitializeHandler) (out middleware.InitializeOutput, _ middleware.Metadata, err error) {
		switch in := in.Parameters.(type) {
		case *dynamodb.GetItemInput:
			out.Result, err = memory.GetItem(ctx, in)
		case *dynamodb.BatchGetItemInput:
			out.Result, err = memory.BatchGetItem(ctx, in)
		case *dynamodb.QueryInput:
			out.Result, err = memory.Query(ctx, in)
		case *dynamodb.PutItemInput:
			out.Result, err = memory.PutItem(ctx, in)
		case *dynamodb.UpdateItemInput:
			out.Result, err = memory.UpdateItem(ctx, in)
		case *dynamodb.TransactWriteItemsInput:
			out.Result, err = memory.TransactWriteItems(ctx, in)
		default:
			return next.HandleInitialize(ctx, middleware.InitializeInput{Parameters: in})
		}
		return out, middleware.Metadata{}, err
	})
	cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(calls, middleware.After)
	})
}

// Faulty is Open with faults. Calls pass through the SDK, its retries and the faults while there are any.
func Faulty(t testing.TB, now func() time.Time, f *Faults) *store.DB {
	t.Helper()
	return open(t, now, func(memory *memtable.Engine, cfg aws.Config) store.Client {
		return shortcut{memory, dynamodb.NewFromConfig(cfg), f}
	}, f.Attach)
}

// shortcut calls the engine without the SDK while there are no faults.
type shortcut struct {
	memory *memtable.Engine
	sdk    *dynamodb.Client
	faults *Faults
}

// options change the options of a call.
type options = []func(*dynamodb.Options)

// through makes a call by one of two ways.
func through[I, O any](s shortcut, operation string, memory, sdk func(context.Context, I,
	...func(*dynamodb.Options)) (O, error)) func(context.Context, I, options) (O, error) {
	return func(ctx context.Context, in I, o options) (O, error) {
		if s.faults.pass(operation) {
			return memory(ctx, in, o...)
		}
		return sdk(ctx, in, o...)
	}
}

func (s shortcut) GetItem(ctx context.Context, in *dynamodb.GetItemInput,
	o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return through(s, "GetItem", s.memory.GetItem, s.sdk.GetItem)(ctx, in, o)
}

func (s shortcut) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return through(s, "BatchGetItem", s.memory.BatchGetItem, s.sdk.BatchGetItem)(ctx, in, o)
}

func (s shortcut) Scan(ctx context.Context, in *dynamodb.ScanInput,
	o ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	return through(s, "Scan", s.memory.Scan, s.sdk.Scan)(ctx, in, o)
}

func (s shortcut) Query(ctx context.Context, in *dynamodb.QueryInput,
	o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return through(s, "Query", s.memory.Query, s.sdk.Query)(ctx, in, o)
}

func (s shortcut) PutItem(ctx context.Context, in *dynamodb.PutItemInput,
	o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return through(s, "PutItem", s.memory.PutItem, s.sdk.PutItem)(ctx, in, o)
}

func (s shortcut) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput,
	o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return through(s, "UpdateItem", s.memory.UpdateItem, s.sdk.UpdateItem)(ctx, in, o)
}

func (s shortcut) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return through(s, "TransactWriteItems", s.memory.TransactWriteItems, s.sdk.TransactWriteItems)(ctx, in, o)
}
