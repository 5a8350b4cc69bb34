package fuzz

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/cloud/seal"
)

// TestMain discards the log, keeps all tables in memory, and keeps host names away from the network.
func TestMain(m *testing.M) {
	metered.Quiet()
	storetest.UseMemory()
	debug.SetGCPercent(500) // most allocations are short-lived
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no names are looked up in tests")
	}}
	m.Run()
}

// usualMore is the probability that an optional member is sent.
const usualMore = 0.3

// The usual sizes. A world takes one batch, so that its tables stay small.
const (
	usually = 10_000
	// whole is the number of requests that reach all operations and answers that can be reached.
	whole     = 40_000
	batchSize = 2000
	// most is the number of failures that are shown.
	most = 20
)

// plan is the source of the requests.
type plan struct {
	doc     *document
	seed    uint64
	changes [][]change // by operation
	walk    []place    // the order of the walk
}

// place is a change of an operation.
type place struct{ op, change int }

func newPlan(t *testing.T) *plan {
	p := &plan{doc: readDocument(t), seed: number64(t, "FUZZ_SEED", 1)}
	for i, o := range p.doc.operations {
		all, byChance := p.doc.changes(o)
		p.changes = append(p.changes, append(all, byChance...))
		for n := range all {
			p.walk = append(p.walk, place{i, n})
		}
	}
	// Each batch has requests to all operations, so that none uses up the resources of one operation.
	newRand(p.seed, 0).Shuffle(len(p.walk), func(i, j int) { p.walk[i], p.walk[j] = p.walk[j], p.walk[i] })
	return p
}

func number64(t *testing.T, name string, usual uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// result is the result of the requests of a batch.
type result struct {
	requests, failed int
	failures         map[string]string      // one for each kind of failure
	statuses         map[string]map[int]int // by operation
}

// TestEveryRequestFitsTheDocument sends the requests of all batches.
func TestEveryRequestFitsTheDocument(t *testing.T) {
	p := newPlan(t)
	total := int(number64(t, "FUZZ_REQUESTS", usually))
	if testing.Short() {
		total /= 20
	}
	batches := (total + batchSize - 1) / batchSize
	from := 0
	if os.Getenv("FUZZ_BATCH") != "" {
		from = int(number64(t, "FUZZ_BATCH", 0))
		batches = from + 1
	}
	began := time.Now()
	next := make(chan int)
	results := make(chan result)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for n := range next {
				r, err := p.batch(t.Context(), n)
				if err != nil {
					r.fail("", err, fmt.Sprintf("batch %d", n))
				}
				results <- r
			}
		})
	}
	go func() {
		for n := from; n < batches; n++ {
			next <- n
		}
		close(next)
		workers.Wait()
		close(results)
	}()
	all := newResult()
	for r := range results {
		all.add(r)
	}
	took := time.Since(began)
	t.Logf("the walk has %d requests; seed %d: %d requests in %s, %.0f a second", len(p.walk), p.seed, all.requests,
		took.Round(time.Second), float64(all.requests)/took.Seconds())
	for i, kind := range slices.Sorted(maps.Keys(all.failures)) {
		if i == most {
			break
		}
		t.Error(all.failures[kind])
	}
	if from == 0 && total >= whole { // fewer need not reach all
		all.cover(t, p.doc)
	}
	if all.failed > 0 {
		t.Fatalf("%d requests failed. Repeat a batch with FUZZ_SEED=%d FUZZ_BATCH=<its number>", all.failed, p.seed)
	}
}

func newResult() result {
	return result{failures: map[string]string{}, statuses: map[string]map[int]int{}}
}

// fail counts a failed request, and records the first of each kind.
func (all *result) fail(operation string, err error, request string) {
	all.failed++
	line, _, _ := strings.Cut(err.Error(), "\n{")
	kind := operation + " " + digits.ReplaceAllString(line, "0")
	if all.failures[kind] == "" {
		all.failures[kind] = fmt.Sprintf("%s: %v\n%s", operation, err, request)
	}
}

var digits = regexp.MustCompile(`[0-9]+|[a-z]{3}_[0-9a-z]{26}`)

// cover checks that each operation has had requests that succeed and requests that are refused, so that the
// requests are odd, but not too odd.
func (all *result) cover(t *testing.T, d *document) {
	t.Helper()
	byStatus := map[int]int{}
	for _, o := range d.operations {
		succeeded, refused := 0, 0
		for status, n := range all.statuses[o.OperationID] {
			byStatus[status] += n
			if status < 300 {
				succeeded += n
			} else {
				refused += n
			}
		}
		if succeeded == 0 || refused == 0 {
			t.Errorf("%s: %d requests succeed, and %d do not", o.OperationID, succeeded, refused)
		}
	}
	t.Logf("the statuses are %v", byStatus)
}

func (all *result) add(r result) {
	all.requests += r.requests
	all.failed += r.failed
	for kind, failure := range r.failures {
		if all.failures[kind] == "" {
			all.failures[kind] = failure
		}
	}
	for operation, by := range r.statuses {
		if all.statuses[operation] == nil {
			all.statuses[operation] = map[int]int{}
		}
		for status, n := range by {
			all.statuses[operation][status] += n
		}
	}
}

// batch sends the requests of a batch to a service of its own.
func (p *plan) batch(ctx context.Context, n int) (r result, err error) {
	r = newResult()
	b := &batch{plan: p, n: n, result: &r, maker: &maker{doc: p.doc, rng: newRand(p.seed, uint64(n)+1),
		more: usualMore}}
	if err = b.open(ctx); err == nil {
		err = b.run(ctx)
	}
	if err == nil {
		err = b.readEvents(ctx)
	}
	if b.world != nil {
		err = errors.Join(err, b.world.Close(ctx))
	}
	return r, err
}

// batch is a batch that is being sent.
type batch struct {
	*plan
	n      int
	world  *metered.World
	maker  *maker
	result *result
	bases  map[string]metered.Request // by operation
}

// open creates the service of the batch, or replaces it if it is worn out.
func (b *batch) open(ctx context.Context) (err error) {
	if b.world != nil {
		if err := b.world.Close(ctx); err != nil {
			return err
		}
	}
	b.bases = map[string]metered.Request{}
	b.world, err = metered.NewWith(ctx, metered.Settings{
		Account: "Fuzz", Agent: "fuzz/1.0", Listed: 2, Clock: time.Date(2026, 5, 1, 9, 0, 30, 0, time.UTC),
		Tick: time.Second, Used: true, Secret: seal.FixedSecret([]byte("the secret of the fuzz")),
	})
	if err != nil {
		return err
	}
	b.maker.now = b.world.Now()
	return b.learn(ctx)
}

// base returns a request to an operation that succeeds.
func (b *batch) base(ctx context.Context, operation string) (metered.Request, error) {
	if r, ok := b.bases[operation]; ok {
		return r, nil
	}
	r, err := b.world.Prepare(ctx, operation)
	if err != nil {
		// The changes of odd requests may prevent its success.
		if err := b.readEvents(ctx); err != nil {
			return r, err
		}
		if err := b.open(ctx); err != nil {
			return r, err
		}
		if r, err = b.world.Prepare(ctx, operation); err != nil {
			return r, err
		}
	}
	b.bases[operation] = r
	return r, nil
}

// readEvents reads all events, whose responses are checked like all others.
func (b *batch) readEvents(ctx context.Context) error {
	at := slices.IndexFunc(b.doc.operations, func(o *operation) bool { return o.OperationID == "listEvents" })
	c, err := newCall(b.doc.operations[at],
		metered.Request{Operation: "listEvents", Query: map[string]string{"limit": "100"}})
	if err != nil {
		return err
	}
	for {
		body, err := b.send(ctx, c)
		if err != nil {
			b.result.fail(c.op.OperationID, err, c.String())
			return nil
		}
		var page struct {
			Next *string `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil || page.Next == nil {
			return err
		}
		c.query.Set("cursor", *page.Next)
	}
}

func (b *batch) run(ctx context.Context) error {
	for i := range batchSize {
		at := b.n*batchSize + i
		var op *operation
		var changes []change
		walks := at < len(b.walk)
		if walks {
			to := b.walk[at]
			op, changes = b.doc.operations[to.op], b.changes[to.op][to.change:to.change+1]
		} else {
			o := b.maker.rng.IntN(len(b.doc.operations))
			op, changes = b.doc.operations[o], b.changes[o]
		}
		base, err := b.base(ctx, op.OperationID)
		if err != nil {
			return fmt.Errorf("request %d: %s: %w", i, op.OperationID, err)
		}
		c, err := newCall(op, base)
		if err != nil {
			return err
		}
		if walks {
			changes[0](b.maker, c)
		} else {
			random(b.maker, c, changes)
		}
		if c.live && sandboxOnly[op.OperationID] {
			c.live = false
		}
		c.finish()
		if _, err := b.send(ctx, c); err != nil {
			b.result.fail(op.OperationID, err, fmt.Sprintf("batch %d, request %d: %s", b.n, i, c))
		}
	}
	return nil
}

// sandboxOnly are the operations that make outside calls with a live key.
var sandboxOnly = map[string]bool{"connectSocialAccount": true, "sendMessage": true}

// send makes a call, checks its response, and returns the body.
func (b *batch) send(ctx context.Context, c *call) (string, error) {
	e, err := b.world.Event(metered.Request{Operation: c.op.OperationID, ID: "x", Part: "x", Live: c.live})
	if err != nil {
		return "", err
	}
	c.event(&e)
	b.result.requests++
	out, err := b.world.Deliver(ctx, c.op.OperationID, e)
	if err != nil {
		return "", err
	}
	if b.result.statuses[c.op.OperationID] == nil {
		b.result.statuses[c.op.OperationID] = map[int]int{}
	}
	b.result.statuses[c.op.OperationID][out.StatusCode]++
	if len(c.ids) > 0 && c.op.Method != "GET" && out.StatusCode < 300 {
		delete(b.bases, c.op.OperationID) // the resource may be used up
	}
	if out.StatusCode < 300 {
		b.maker.learn(out.Body)
	}
	if err := check(c, out); err != nil {
		return "", fmt.Errorf("%w\n%s", err, shorten(out.Body))
	}
	return out.Body, nil
}

func shorten(text string) string {
	if len(text) > longestShown {
		return text[:longestShown] + "…"
	}
	return text
}

// learn collects ids of resources of the world, of all kinds that it has. Some belong to the other account, which
// has the live key.
func (b *batch) learn(ctx context.Context) error {
	b.maker.ids = map[string][]string{}
	made, err := b.world.Call(ctx, metered.Request{Operation: "createFactory", Live: true,
		Body: json.RawMessage(`{"type":"seller","name":"Elsewhere","settings":{"currency":"EUR"}}`)})
	if err != nil {
		return err
	}
	b.maker.learn(string(made.Data))
	for _, o := range b.doc.operations {
		if !strings.HasPrefix(o.OperationID, "list") || len(o.prefixes) > 0 {
			continue
		}
		// These take an id that is not known yet, and show no ids of their own.
		if slices.Contains([]string{"listSlots", "listAccountMetrics", "listLookups"}, o.OperationID) {
			continue
		}
		for _, live := range []bool{false, true} {
			a, err := b.world.Call(ctx, metered.Request{Operation: o.OperationID, Live: live})
			if err != nil {
				return err
			}
			b.maker.learn(string(a.Data))
		}
	}
	return nil
}
