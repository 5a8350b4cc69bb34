package metered

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// The sizes of the capacity units, by DynamoDB's published rules.
const (
	readUnit  = 4096
	writeUnit = 1024
)

type attributes = map[string]types.AttributeValue

// scale computes the consumption of calls from the sizes of the items, because the local engine counts a read as
// one unit, however large it is, and a condition of a transaction as nothing.
type scale struct {
	client *dynamodb.Client
	tables map[string]*types.TableDescription
}

// change is an item that is to be written, or whose condition is to be checked.
type change struct {
	table *types.TableDescription
	key   attributes
	// times is the number of times that the write counts: twice in a transaction, which first prepares it and then
	// carries it out.
	times  float64
	before attributes
}

// changes returns the items that a call is about to write, in their present state.
func (s *scale) changes(ctx context.Context, call any) ([]change, error) {
	switch in := call.(type) {
	case *dynamodb.PutItemInput:
		return s.change(ctx, nil, in.TableName, in.Item, 1)
	case *dynamodb.UpdateItemInput:
		return s.change(ctx, nil, in.TableName, in.Key, 1)
	case *dynamodb.DeleteItemInput:
		return s.change(ctx, nil, in.TableName, in.Key, 1)
	case *dynamodb.TransactWriteItemsInput:
		var all []change
		var err error
		for _, w := range in.TransactItems {
			switch {
			case w.Put != nil:
				all, err = s.change(ctx, all, w.Put.TableName, w.Put.Item, 2)
			case w.Update != nil:
				all, err = s.change(ctx, all, w.Update.TableName, w.Update.Key, 2)
			case w.Delete != nil:
				all, err = s.change(ctx, all, w.Delete.TableName, w.Delete.Key, 2)
			case w.ConditionCheck != nil:
				all, err = s.change(ctx, all, w.ConditionCheck.TableName, w.ConditionCheck.Key, 2)
			}
			if err != nil {
				return nil, err
			}
		}
		return all, nil
	case *dynamodb.GetItemInput, *dynamodb.BatchGetItemInput, *dynamodb.QueryInput:
		return nil, nil
	default:
		return nil, fmt.Errorf("units: %T is not known", call)
	}
}

// change adds the item whose key is among the attributes.
func (s *scale) change(ctx context.Context, to []change, table *string, holds attributes,
	times float64) ([]change, error) {
	t, err := s.table(ctx, table)
	if err != nil {
		return nil, err
	}
	c := change{table: t, key: attributes{}, times: times}
	for _, k := range t.KeySchema {
		c.key[*k.AttributeName] = holds[*k.AttributeName]
	}
	c.before, err = s.item(ctx, c)
	return append(to, c), err
}

func (s *scale) table(ctx context.Context, name *string) (*types.TableDescription, error) {
	if t := s.tables[*name]; t != nil {
		return t, nil
	}
	out, err := s.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: name})
	if err != nil {
		return nil, err
	}
	if s.tables == nil {
		s.tables = map[string]*types.TableDescription{}
	}
	s.tables[*name] = out.Table
	return out.Table, nil
}

func (s *scale) item(ctx context.Context, c change) (attributes, error) {
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: c.table.TableName, Key: c.key,
		ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// written returns the units of writes that have been carried out: for each item the larger of its sizes before and
// after, and the same for each index that changed. An index is written later and not as a part of the transaction.
// It also returns the items that were written.
func (s *scale) written(ctx context.Context, all []change) (units Places, there []Written, err error) {
	units = Places{}
	for _, c := range all {
		after, err := s.item(ctx, c)
		if err != nil {
			return nil, nil, err
		}
		if after != nil {
			there = append(there, Written{after, c.before == nil})
		}
		kind := kindOf(c.before, after)
		units[Place{"", kind}] += c.times * blocks(max(size(c.before), size(after)), writeUnit)
		for _, index := range c.table.GlobalSecondaryIndexes {
			if n := indexUnits(c.table.KeySchema, index, c.before, after); n > 0 {
				units[Place{*index.IndexName, kind}] += n
			}
		}
	}
	return units, there, nil
}

// kindOf returns the kind of an item, of which one version may be nil. A counter that was never created as a
// resource has no kind: kindOf returns the beginning of its key.
func kindOf(before, after attributes) string {
	for _, it := range []attributes{after, before} {
		if kind, ok := it["kind"].(*types.AttributeValueMemberS); ok {
			return kind.Value
		}
	}
	for _, it := range []attributes{after, before} {
		if pk, ok := it["pk"].(*types.AttributeValueMemberS); ok {
			name, _, _ := strings.Cut(pk.Value, "#")
			return name
		}
	}
	return ""
}

// projected returns the attributes of an item that an index holds.
func projected(table []types.KeySchemaElement, x types.GlobalSecondaryIndexDescription, it attributes) attributes {
	if it == nil || x.Projection.ProjectionType != types.ProjectionTypeKeysOnly {
		return it
	}
	held := attributes{}
	for _, k := range slices.Concat(table, x.KeySchema) {
		if v, ok := it[*k.AttributeName]; ok {
			held[*k.AttributeName] = v
		}
	}
	return held
}

// indexUnits returns the units of an index for a change of an item.
func indexUnits(table []types.KeySchemaElement, x types.GlobalSecondaryIndexDescription, before,
	after attributes) float64 {
	before, after = projected(table, x, before), projected(table, x, after)
	had, has := true, true // whether the index had the item, and has it now
	same := true
	for _, k := range x.KeySchema {
		b, a := before[*k.AttributeName], after[*k.AttributeName]
		had, has = had && b != nil, has && a != nil
		same = same && reflect.DeepEqual(b, a)
	}
	switch {
	case had && has && same:
		if reflect.DeepEqual(before, after) {
			return 0
		}
		return blocks(max(size(before), size(after)), writeUnit)
	case had && has: // it moves: one entry goes, one comes
		return blocks(size(before), writeUnit) + blocks(size(after), writeUnit)
	case had:
		return blocks(size(before), writeUnit)
	case has:
		return blocks(size(after), writeUnit)
	default:
		return 0
	}
}

// read returns the units of a read that has been carried out.
func (s *scale) read(ctx context.Context, call, result any) (float64, error) {
	switch in := call.(type) {
	case *dynamodb.GetItemInput:
		out, ok := result.(*dynamodb.GetItemOutput)
		if !ok {
			return 0, nil
		}
		return blocks(size(out.Item), readUnit) * consistency(in.ConsistentRead), nil
	case *dynamodb.BatchGetItemInput:
		out, ok := result.(*dynamodb.BatchGetItemOutput)
		if !ok {
			return 0, nil
		}
		var units float64
		for table, asked := range in.RequestItems {
			found := out.Responses[table]
			// Every item counts by itself, and a missing one counts as a small one.
			n := float64(len(asked.Keys) - len(found))
			for _, item := range found {
				n += blocks(size(item), readUnit)
			}
			units += n * consistency(asked.ConsistentRead)
		}
		return units, nil
	case *dynamodb.QueryInput:
		out, ok := result.(*dynamodb.QueryOutput)
		if !ok {
			return 0, nil
		}
		items := out.Items
		if out.ScannedCount != out.Count {
			var err error
			if items, err = s.scanned(ctx, *in, out.ScannedCount); err != nil {
				return 0, err
			}
		}
		total := 0
		for _, item := range items {
			total += size(item)
		}
		return blocks(total, readUnit) * consistency(in.ConsistentRead), nil
	default:
		return 0, nil
	}
}

// scanned returns the items that a query has read, of which its filter dropped some: they count too.
func (s *scale) scanned(ctx context.Context, in dynamodb.QueryInput, read int32) ([]attributes, error) {
	in.FilterExpression, in.Limit = nil, &read
	// Names and values that no expression uses are an error.
	words := regexp.MustCompile(`[#:]\w+`).FindAllString(*in.KeyConditionExpression, -1)
	names, values := map[string]string{}, attributes{}
	for _, word := range words {
		if name, ok := in.ExpressionAttributeNames[word]; ok {
			names[word] = name
		} else {
			values[word] = in.ExpressionAttributeValues[word]
		}
	}
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = names, values
	if len(names) == 0 {
		in.ExpressionAttributeNames = nil
	}
	out, err := s.client.Query(ctx, &in)
	if err != nil {
		return nil, err
	}
	if out.Count != read {
		return nil, fmt.Errorf("units: a query read %d items, and without its filter %d", read, out.Count)
	}
	return out.Items, nil
}

// consistency returns the cost of a read relative to one that sees every write.
func consistency(consistent *bool) float64 {
	if aws.ToBool(consistent) {
		return 1
	}
	return 0.5
}

// blocks returns the number of units that a size takes, which is at least one.
func blocks(size, unit int) float64 { return math.Max(1, math.Ceil(float64(size)/float64(unit))) }

// size returns the size of an item as DynamoDB counts it: names and values.
func size(item attributes) int {
	n := 0
	for name, value := range item {
		n += len(name) + valueSize(value)
	}
	return n
}

func valueSize(value types.AttributeValue) int {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		digits := strings.Trim(strings.NewReplacer("-", "", ".", "").Replace(v.Value), "0")
		return 1 + (len(digits)+1)/2
	case *types.AttributeValueMemberBOOL:
		return 1
	default:
		panic(fmt.Sprintf("units: the type %T is used by no table", value))
	}
}

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

// use makes the account a used one: it generates an item of each kind, an item that retells a video, and what was
// published and commented on. Its lists then have members that new resources do not have yet.
func (w *World) use(ctx context.Context) error {
	for _, body := range []Object{
		{"kind": "post", "prompt": "A shoe made of nets"},
		{"kind": "carousel", "prompt": "Five ways to lace a shoe"},
		{"kind": "video", "format": "short", "prompt": "How the shoe is made"},
		{"kind": "video", "format": "long", "prompt": "A year of the shoe", "visuals": "stills"},
		{"kind": "story", "prompt": "Back in stock"},
		{"kind": "music_clip", "prompt": "Rain on a trail"},
		{"kind": "post", "source": "provided", "caption": "A shoe made of recycled nets."},
		{"kind": "post", "prompt": "A shoe that fails", "sandbox": Object{"outcome": "failed",
			"failure_code": "content_policy"}},
	} {
		body["factory_id"] = w.factory
		a, err := w.Call(ctx, Request{Operation: "createContentItem", Body: body})
		if err != nil {
			return err
		}
		made, err := a.ID()
		if err != nil {
			return err
		}
		if body["source"] == nil {
			if err := w.generate(ctx, made); err != nil {
				return fmt.Errorf("metered: generate %v: %w", body, err)
			}
		}
	}
	if _, err := w.posted(ctx); err != nil {
		return err
	}
	_, err := w.commented(ctx)
	return err
}
