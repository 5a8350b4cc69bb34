package generate_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

const account = "acc_1"

var owner = tenant.Of(account, tenant.Live)

// payer is the key that pays for all work.
var payer = ledger.Payer{Key: "key_1", Month: "2026-01"}

var errInjected = errors.New("injected")

// thing is a resource that the engine works for. Its id names it.
type thing struct {
	ID      string
	State   string
	Attempt int
	Percent int
	Made    []generate.PartResult
	Cost    int64
	Failure generate.Failure
	Ticket  generate.Ticket
}

type area struct{}

func (area) Open(it store.Item) (generate.Work, error) {
	w := &thingWork{item: it}
	return w, it.Decode(&w.thing)
}

type thingWork struct {
	item store.Item
	thing
}

func (w *thingWork) WaitsForAttempt() int {
	if w.State == "queued" || w.State == "generating" {
		return w.Attempt
	}
	return 0
}
func (w *thingWork) Ticket() *generate.Ticket { return &w.thing.Ticket }
func (w *thingWork) About() ledger.About      { return ledger.About{} }
func (w *thingWork) Request(n int, made []generate.PartResult) (provider.Request, error) {
	return provider.Request{Prompt: fmt.Sprintf("part %d after %d", n, len(made)), AspectRatio: "1:1"}, nil
}
func (w *thingWork) Composition(n int, made []generate.PartResult) (generate.Composition, error) {
	return generate.Picture{Use: generate.Post, Text: fmt.Sprintf("part %d", n), File: &made[n-1].Files[0]}, nil
}
func (w *thingWork) Gave(e *provider.Error) bool { return e.Part == "/music" }
func (w *thingWork) Start(time.Time)             { w.State = "generating" }
func (w *thingWork) Progress(_ time.Time, percent int) bool {
	changed := percent > w.Percent
	w.Percent = max(w.Percent, percent)
	return changed
}
func (w *thingWork) Succeed(tx *store.Tx, _ time.Time, made []generate.PartResult, cost int64) error {
	w.State, w.Made, w.Cost = "generated", made, cost
	return w.notify(tx)
}
func (w *thingWork) Fail(tx *store.Tx, _ time.Time, f generate.Failure) error {
	w.State, w.Failure, w.Cost = "failed", f, f.Cost
	return w.notify(tx)
}
func (w *thingWork) Cancel(_ *store.Tx, _ time.Time, _ int64, made []generate.PartResult) error {
	w.State, w.Made = "canceled", made
	return nil
}
func (w *thingWork) notify(tx *store.Tx) error {
	it, err := store.NewItem("event", owner, rand.Text(), map[string]string{"id": w.ID, "state": w.State})
	tx.Create(it, nil)
	return err
}
func (w *thingWork) Item() (store.Item, error) { return w.item, w.item.Encode(w.thing) }

// world is an engine with everything around it.
type world struct {
	t       *testing.T
	db      *store.DB
	faults  *storetest.Faults
	clock   *apitest.Clock
	fake    *fake
	objects *memory
	worker  *generate.Worker
	kernel  *task.Kernel
	// queue holds the messages, with the time from which on they are seen.
	queue []message
	seen  map[string]bool // jobs that were relayed
}

type message struct {
	task.Message
	queued string // the queue's id of it
	at     time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, faults: &storetest.Faults{}, clock: apitest.NewClock(), objects: &memory{},
		seen: map[string]bool{}}
	w.db = storetest.Open(t, w.clock.Now, w.faults.Attach)
	w.fake = &fake{now: w.clock.Now, polls: 1, live: map[provider.Handle]*generation{}}
	w.worker = &generate.Worker{
		DB: w.db, Loaders: map[string]generate.Loader{"thing": area{}}, Providers: w.fake, Objects: w.objects,
		Now: w.clock.Now,
	}
	w.kernel = servicetest.Kernel(w.db, w.clock.Now, w.worker.Handlers())
	w.topUp(1000)
	return w
}

func (w *world) commit(tx *store.Tx) {
	w.t.Helper()
	if err := w.db.Commit(w.t.Context(), tx); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) topUp(credits int64) {
	w.t.Helper()
	tx := &store.Tx{}
	if _, err := ledger.TopUp(tx, w.clock.Now(), account, credits); err != nil {
		w.t.Fatal(err)
	}
	w.commit(tx)
}

func (w *world) balance() ledger.Balance {
	w.t.Helper()
	items, err := w.db.GetAll(w.t.Context(), ledger.FundsKeys(account, w.clock.Now())...)
	if err != nil {
		w.t.Fatal(err)
	}
	return ledger.FundsOf(items)
}

// entries returns the sum of the ledger's entries, and how many reservations there
// are in each state.
func (w *world) entries() (sum int64, states map[string]int) {
	w.t.Helper()
	states = map[string]int{}
	for _, row := range storetest.Rows(w.t, w.db) {
		if row["kind"] != "balance_entry" {
			continue
		}
		it, err := w.db.Get(w.t.Context(), store.Key{PK: row["pk"], SK: row["sk"]})
		if err != nil {
			w.t.Fatal(err)
		}
		e, err := ledger.EntryOf(it)
		if err != nil {
			w.t.Fatal(err)
		}
		sum += e.Credits
		if e.State != nil {
			states[*e.State]++
		}
	}
	return sum, states
}

// parts are a text and a picture.
func parts() []generate.Part {
	return []generate.Part{{Kind: provider.KindText, Provider: "fake", Credits: 3},
		{Kind: provider.KindImage, Provider: "fake", Credits: 7}}
}

func work(id string) generate.Order {
	return generate.Order{Owner: owner, Subject: id, Attempt: 1, Parts: parts()}
}

func item(t *testing.T, v thing) store.Item {
	t.Helper()
	it, err := store.NewItem("thing", owner, v.ID, v)
	if err != nil {
		t.Fatal(err)
	}
	return it
}

// accept accepts the work of a new thing.
func (w *world) accept(id string) { w.acceptWork(work(id)) }

func (w *world) acceptWork(a generate.Order) {
	w.t.Helper()
	tx := &store.Tx{}
	ticket, err := generate.Accept(tx, w.clock.Now(), a, payer, w.balance())
	if err != nil {
		w.t.Fatal(err)
	}
	tx.Create(item(w.t, thing{ID: a.Subject, State: "queued", Attempt: a.Attempt, Ticket: ticket}), nil)
	w.commit(tx)
	w.relay()
}

// acceptAll accepts the work of new things together.
func (w *world) acceptAll(ids ...string) {
	w.t.Helper()
	var all []generate.Order
	for _, id := range ids {
		all = append(all, work(id))
	}
	tx := &store.Tx{}
	ticket, err := generate.AcceptBatch(tx, w.clock.Now(), all, payer, w.balance())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, id := range ids {
		tx.Create(item(w.t, thing{ID: id, State: "queued", Attempt: 1, Ticket: ticket}), nil)
	}
	w.commit(tx)
	w.relay()
}

// cancel cancels the work of a thing, as an operation does.
func (w *world) cancel(id string) {
	w.t.Helper()
	for {
		v, it := w.read(id)
		if v.State != "queued" && v.State != "generating" {
			w.t.Fatalf("%s cannot be canceled: %s", id, v.State)
		}
		tx := &store.Tx{}
		items, err := w.db.GetAll(w.t.Context(), generate.TaskKey(id, v.Attempt))
		if err != nil {
			w.t.Fatal(err)
		}
		if v.Cost, v.Made, err = generate.Cancel(tx, w.clock.Now(), owner, &v.Ticket, items[0]); errors.Is(err,
			store.ErrConflict) {
			continue
		} else if err != nil {
			w.t.Fatal(err)
		}
		v.State = "canceled"
		if err := it.Encode(v); err != nil {
			w.t.Fatal(err)
		}
		tx.Replace(it)
		err = w.db.Commit(w.t.Context(), tx)
		if err == nil {
			return
		}
		if !errors.Is(err, store.ErrConflict) {
			w.t.Fatal(err)
		}
	}
}

func (w *world) read(id string) (thing, store.Item) {
	w.t.Helper()
	it, err := w.db.Get(context.Background(), store.IDKey(id))
	if err != nil {
		w.t.Fatal(err)
	}
	var v thing
	if err := it.Decode(&v); err != nil {
		w.t.Fatal(err)
	}
	return v, it
}

// relay puts the jobs that were committed into the queue, as the relay does.
func (w *world) relay() {
	w.t.Helper()
	for _, row := range storetest.Rows(w.t, w.db) {
		if row["kind"] != task.ItemKind || w.seen[row["pk"]] {
			continue
		}
		w.seen[row["pk"]] = true
		var m task.Message
		if err := json.Unmarshal([]byte(row["doc"]), &m); err != nil {
			w.t.Fatal(err)
		}
		w.queue = append(w.queue, message{m, rand.Text(), w.clock.Now()})
	}
}

// pop takes the message that is seen first, and lets the time come.
func (w *world) pop() (message, bool) {
	if len(w.queue) == 0 {
		return message{}, false
	}
	slices.SortStableFunc(w.queue, func(a, b message) int { return a.at.Compare(b.at) })
	m := w.queue[0]
	w.queue = w.queue[1:]
	if wait := m.at.Sub(w.clock.Now()); wait > 0 {
		w.clock.Add(wait)
	}
	return m, true
}

// do has the kernel handle a message, and sends the next one.
func (w *world) do(ctx context.Context, j message) error {
	next, err := w.kernel.Do(ctx, j.Message, j.queued)
	if err == nil && next != nil {
		w.send(*next)
	}
	return err
}

func (w *world) send(n task.Next) {
	w.queue = append(w.queue, message{n.Message, rand.Text(), w.clock.Now().Add(n.Delay)})
}

// most bounds the messages of one test.
const most = 3000

// drain does all messages until there are none; a failed one comes again.
func (w *world) drain() {
	w.t.Helper()
	for range most {
		w.relay()
		j, ok := w.pop()
		if !ok {
			return
		}
		if err := w.do(w.t.Context(), j); err != nil {
			w.clock.Add(time.Second)
			w.queue = append(w.queue, message{j.Message, j.queued, w.clock.Now()})
		}
	}
	w.t.Fatalf("%d messages are no end", most)
}

// ended checks how a thing ended, and that there is one event of it.
func (w *world) ended(id, state string) thing {
	w.t.Helper()
	v, _ := w.read(id)
	if v.State != state {
		w.t.Errorf("%s is %s, want %s: %+v", id, v.State, state, v.Failure)
	}
	want := 1
	if state == "canceled" {
		want = 0 // the caller who canceled it knows
	}
	if told := w.told(id); told != want {
		w.t.Errorf("the end of %s is told %d times", id, told)
	}
	return v
}

func (w *world) told(id string) (n int) {
	w.t.Helper()
	for _, row := range storetest.Rows(w.t, w.db) {
		var e struct{ ID string }
		if row["kind"] == "event" && json.Unmarshal([]byte(row["doc"]), &e) == nil && e.ID == id {
			n++
		}
	}
	return n
}

// settled checks that all work has ended: its cost, that nothing is held, and that nothing counts as waiting.
func (w *world) settled(cost int64) {
	w.t.Helper()
	sum, states := w.entries()
	if b := w.balance(); b.Credits != 1000-cost || sum != b.Credits || states["held"] != 0 {
		w.t.Errorf("the balance is %d, want %d; the entries add up to %d; reservations: %v", b.Credits,
			1000-cost, sum, states)
	}
	if it, err := w.db.Get(w.t.Context(), store.IDKey("waiting#"+account+"#live")); err == nil && it.Count() != 0 {
		w.t.Errorf("%d pieces of work still wait", it.Count())
	}
	if it, err := w.db.Get(w.t.Context(), payer.Counters(account)[0]); err == nil && it.Count() != cost {
		w.t.Errorf("the key has spent %d, want %d", it.Count(), cost)
	}
	for _, row := range storetest.Rows(w.t, w.db) {
		if row["kind"] == task.ItemKind && row["due_pk"] != "" {
			w.t.Errorf("%s is still due", row["pk"])
		}
	}
}

// memory keeps no files, but describes them.
type memory struct {
	mu    sync.Mutex
	saved map[string]int
	after func(step string) error
	err   error
	typ   media.Type
	// seconds is the length of saved files.
	seconds float64
}

func (m *memory) Save(_ context.Context, place media.Place, n int, body io.Reader,
	_ *provenance.Statement) (media.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return media.File{}, m.err
	}
	if _, err := io.Copy(io.Discard, body); err != nil {
		return media.File{}, err
	}
	if m.saved == nil {
		m.saved = map[string]int{}
	}
	m.saved[place.Key(n, "png")]++
	f := media.File{ID: place.ID(n), Type: media.Image, Key: place.Key(n, "png"), Width: 8, Height: 8, Bytes: 1,
		DurationSeconds: m.seconds, SHA256: "the hash of " + place.ID(n)}
	if m.typ != "" {
		f.Type = m.typ
	}
	if m.after != nil {
		return f, m.after("save")
	}
	return f, nil
}

func (m *memory) Put(_ context.Context, f media.File, content io.ReadSeeker) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := io.Copy(io.Discard, content); err != nil || m.err != nil {
		return errors.Join(m.err, err)
	}
	m.saved[f.Key]++
	return nil
}

func (m *memory) Open(_ context.Context, key string) (io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.saved[key] == 0 {
		return nil, errs.New(errs.NotFound, "The file does not exist.")
	}
	return io.NopCloser(strings.NewReader(key)), nil
}

func (m *memory) Remove(_ context.Context, place media.Place) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.saved, func(key string, _ int) bool { return strings.HasPrefix(key, place.Prefix()) })
	return nil
}

// generation is one that the fake provider runs.
type generation struct {
	token    string
	polls    int
	canceled bool
}

// fake is a provider that answers texts at once and queues pictures.
type fake struct {
	// write writes texts, unless it is nil.
	write func(provider.Request) (provider.Text, error)
	now   func() time.Time
	// polls is how often a picture is asked for before it is there.
	polls int
	// token reports whether it takes client tokens.
	token bool
	// unstoppable reports whether a canceled generation is paid for.
	unstoppable bool
	// The faults.
	submit, poll, fetch error
	status              *provider.Status
	none                bool // not configured
	// hook is called when a picture was submitted, before that is answered.
	hook  func()
	after func(step string) error

	mu          sync.Mutex
	submissions []provider.Request
	live        map[provider.Handle]*generation
}

func (f *fake) For(name string, mode tenant.Mode) (provider.Provider, error) {
	if f.none || name != "fake" {
		return nil, errs.New(errs.ProviderUnavailable, "There is no %s for %s.", name, mode)
	}
	return f, nil
}
func (f *fake) Name() string { return "fake" }
func (f *fake) Capabilities() provider.Capabilities {
	return provider.Capabilities{ClientToken: f.token, Unstoppable: f.unstoppable}
}

func (f *fake) told(step string) error {
	if f.after != nil {
		return f.after(step)
	}
	return nil
}

func (f *fake) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	if err := ctx.Err(); err != nil {
		return provider.Submission{}, err
	}
	if f.submit != nil {
		return provider.Submission{}, f.submit
	}
	f.mu.Lock()
	f.submissions = append(f.submissions, req)
	n := len(f.submissions)
	f.mu.Unlock()
	if req.Kind == provider.KindText && f.write != nil {
		text, err := f.write(req)
		return provider.Submission{Result: &provider.Result{Text: &text}}, err
	}
	if req.Kind == provider.KindText {
		return provider.Submission{Result: &provider.Result{Text: &provider.Text{Title: "title"}}}, f.told("submit")
	}
	h := provider.Handle(fmt.Sprint("handle-", n))
	if f.token {
		h = provider.Handle(req.ClientToken)
	}
	f.mu.Lock()
	f.live[h] = &generation{token: req.ClientToken, polls: f.polls}
	f.mu.Unlock()
	if f.hook != nil {
		f.hook()
	}
	return provider.Submission{Handle: h}, f.told("submit")
}

func (f *fake) Poll(_ context.Context, h provider.Handle) (provider.Status, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.live[h]
	switch {
	case g == nil:
		return provider.Status{}, &provider.Error{Kind: provider.BadInput, Code: "unknown_generation",
			Message: "There is none."}
	case f.poll != nil:
		return provider.Status{}, f.poll
	case f.status != nil:
		return *f.status, nil
	}
	if err := f.told("poll"); err != nil {
		return provider.Status{}, err
	}
	if g.polls > 0 {
		g.polls--
		return provider.Status{State: provider.Running, Progress: 50, Wait: 3 * time.Second}, nil
	}
	return provider.Status{State: provider.Succeeded, Progress: 100}, nil
}

func (f *fake) Fetch(context.Context, provider.Handle) (provider.Result, error) {
	if f.fetch != nil {
		return provider.Result{}, f.fetch
	}
	return provider.Result{Media: []provider.File{{Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader([]byte("x"))), nil
	}}}}, f.told("fetch")
}

func (f *fake) Cancel(_ context.Context, h provider.Handle) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if g := f.live[h]; g != nil {
		g.canceled = true
	}
	return nil
}

// count counts the submissions of a kind.
func (f *fake) count(kind provider.Kind) (n int) {
	for _, req := range f.submissions {
		if req.Kind == kind {
			n++
		}
	}
	return n
}

// running counts the generations that are not canceled.
func (f *fake) running() (n int) {
	for _, g := range f.live {
		if !g.canceled {
			n++
		}
	}
	return n
}
