package webhook

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/base/lock"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// maxConflicts is the number of times that a change is applied again after another change came first.
const maxConflicts = 20

// Monitor watches the receivers of one function, from one attempt to the next.
type Monitor struct {
	db     *store.DB
	now    func() time.Time
	chance func() float64
	tally  tally
}

// NewMonitor returns a monitor. Random numbers from 0 to 1 come from chance.
func NewMonitor(db *store.DB, now func() time.Time, chance func() float64) *Monitor {
	return &Monitor{db: db, now: now, chance: chance}
}

// Receiver is the receiver of a webhook, as one attempt sees it.
type Receiver struct {
	*Monitor
	ref         Ref
	inFlight    inFlight
	item        store.Item
	record      WebhookRecord
	breakerItem store.Item
	breaker     breaker
	// timer is the id of the timer of the breaker if that is what makes the attempts.
	timer string
}

// HealthKeys returns the keys of the items that Receiver is made of.
func HealthKeys(ref Ref) []store.Key {
	return []store.Key{ref.Key(), breakerKey(ref), inFlightKey(ref)}
}

// Receiver returns the receiver of a webhook from the items of Keys, which are empty if they do not exist.
func (m *Monitor) Receiver(ref Ref, items []store.Item) (*Receiver, error) {
	r := &Receiver{Monitor: m, ref: ref}
	if err := errors.Join(r.read(items[0]), r.readBreaker(items[1])); err != nil {
		return nil, err
	}
	r.inFlight = newInFlight(inFlightKey(ref), r.record.Latencies, items[2], m.now())
	return r, nil
}

// read takes over the webhook's item; one without a kind does not exist.
func (r *Receiver) read(it store.Item) error {
	r.item, r.record = it, WebhookRecord{}
	if it.Kind == "" {
		return nil
	}
	return it.Decode(&r.record)
}

// Record returns the webhook as it is known. It has no state if the webhook was deleted.
func (r *Receiver) Record() WebhookRecord { return r.record }

// MayHang reports whether an attempt now would be made and could take long: attempts of other functions do, or the
// receiver is down and due for a probe. An attempt that would only be put off takes no time, and queues and buses in
// AWS do not hang. An urgent attempt is never put off.
func (r *Receiver) MayHang(now time.Time, urgent bool) bool {
	switch {
	case r.record.Destination != nil || r.record.State != StateEnabled:
		return false
	case r.breaker.open(&r.record):
		return urgent || !now.Before(*r.breaker.ProbeAt)
	default:
		return r.inFlight.slow > 0 && (urgent || !r.inFlight.full())
	}
}

// Note takes over the outcome of an attempt: into the circuit breaker, and into the webhook's health. It comes before
// the attempt's own record: after a crash in between the attempt is made again, with the same lesson. For the same
// reason a failure to note is logged only.
func (r *Receiver) Note(ctx context.Context, o Outcome) {
	r.noteReach(ctx, o)
	r.noteHealth(ctx, o)
}

// get reads one item; one that does not exist has no kind.
func (m *Monitor) get(ctx context.Context, key store.Key) (store.Item, error) {
	it, err := m.db.Lookup(ctx, key)
	it.Key = key
	return it, err
}

// Admission is the decision on an attempt.
type Admission struct {
	// HeldBack is set if the circuit breaker holds the event back.
	HeldBack bool
	// Until is the time to ask again if the receiver has too many slow attempts in flight; otherwise it is zero.
	Until time.Time
	// Probe is set if the attempt probes a receiver that is down.
	Probe bool
}

// Admit decides whether an attempt may be made now. While the receiver is down, one attempt at a time may be made, as
// its probe. An urgent attempt may always be made, as one more probe if the receiver is down.
func (r *Receiver) Admit(ctx context.Context, urgent bool) (Admission, error) {
	var err error
	for range maxConflicts {
		now := r.now()
		open := r.breaker.open(&r.record)
		switch {
		case urgent:
			return Admission{Probe: open}, nil
		case !open && !r.inFlight.full():
			return Admission{}, nil
		case !open:
			return Admission{Until: r.pause()}, nil
		case r.breaker.holds(&r.record, now):
			return Admission{HeldBack: true}, nil
		}
		next := r.breaker.duringProbe(now, r.chance())
		if now.Sub(*r.breaker.ProbeAt) > timerLost {
			next.Timer = "" // a new one is made
		}
		if err = r.saveBreaker(ctx, next); err == nil {
			return Admission{Probe: true}, nil
		}
		if !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	return Admission{}, err
}

// successEvery is the precision of last_success_at: not every success is written.
const successEvery = time.Minute

// FailingLimit is the time for which all attempts at a webhook may fail before one at an event that was retried for
// retriedFor disables it.
const FailingLimit = 5 * 24 * time.Hour

// retriedFor is the age of the schedule of a delivery whose attempt disables a webhook. Where events are rare, the
// first attempt at one may fail in a moment that the receiver is down, long after an outage, and its retries succeed.
const retriedFor = 12 * time.Hour

// note applies the outcome of an attempt to the webhook's health. It reports whether
// that is worth a write: a change is, and one success a minute.
func note(r *WebhookRecord, o Outcome, now time.Time) bool {
	at := o.At
	switch {
	case r.State != StateEnabled:
		return false
	case o.Succeeded():
		if r.FailingSince == nil && r.LastSuccessAt != nil && at.Sub(r.LastSuccessAt.Time) < successEvery {
			return false
		}
		r.FailingSince, r.LastSuccessAt = nil, &at
		return true
	case o.Gone():
		r.Disable(ReasonGone)
	case r.FailingSince == nil:
		// An attempt that ends late must not undo the result of a later one.
		if r.LastSuccessAt != nil && at.Before(r.LastSuccessAt.Time) {
			return false
		}
	case at.Sub(r.FailingSince.Time) >= FailingLimit && o.Age >= retriedFor:
		r.Disable(ReasonFailing)
	default:
		return false
	}
	if r.FailingSince == nil {
		r.FailingSince = &at
	}
	if r.State == StateDisabled {
		r.Touch(now)
	}
	return true
}

// noteHealth records the result of an attempt in its webhook.
func (r *Receiver) noteHealth(ctx context.Context, o Outcome) {
	r.tally.add(r.ref, o.Attempt, r.now())
	var err error
	for range maxConflicts {
		now := r.now()
		noted := r.record
		if r.item.Kind == "" || !note(&noted, o, now) {
			return
		}
		answers := r.tally.take(r.ref)
		noted.Latencies = noted.Latencies.With(answers.sketch, now)
		if err = r.write(ctx, noted, now); err == nil {
			return
		}
		r.tally.put(r.ref, answers, now)
		if !errors.Is(err, store.ErrConflict) {
			break
		}
		// A call or another attempt has changed the webhook: apply the outcome to that.
		var it store.Item
		if it, err = r.get(ctx, r.ref.Key()); err != nil {
			break
		}
		if err = r.read(it); err != nil {
			break
		}
	}
	slog.Error("health of a webhook not written", "webhook", r.ref.ID, "error", err)
}

// write writes the webhook, and in the same transaction the event for the account's
// other webhooks if this one was disabled.
func (r *Receiver) write(ctx context.Context, noted WebhookRecord, now time.Time) error {
	it, tx := r.item, &store.Tx{}
	if err := noted.ReplaceIn(tx, &it, now); err != nil {
		return err
	}
	if err := r.db.Commit(ctx, tx); err != nil {
		return err
	}
	it.Version++
	r.item, r.record = it, noted
	return nil
}

// The circuit breaker opens after TripAfter attempts in a row within tripWithin that the receiver did not answer.
const (
	TripAfter  = 5
	tripWithin = time.Minute
)

// The wait between two probes of a receiver that is down: a tenth of the time that it has been down, within these
// bounds. So it has all its events soon after its return, measured by its absence.
const (
	shortestProbe = 2 * time.Second
	longestProbe  = 5 * time.Minute
)

// timerLost is the time after which a probe that the timer has not made shows that the timer is missing: a restored
// table may have one half of a transaction.
const timerLost = 6 * longestProbe

// breakerKind is the kind of a circuit breaker's item, and keepBreakers how long it is
// kept: longer than a webhook may fail.
const (
	breakerKind  = "breaker"
	keepBreakers = FailingLimit + 24*time.Hour
)

// writeAttribute names the last write of a breaker.
const writeAttribute = "write"

func breakerKey(ref Ref) store.Key {
	return store.Key{PK: "breaker#" + ref.Owner.String(), SK: ref.ID}
}

// breaker is the circuit breaker of a receiver that does not answer, which functions share by the table. While it is
// open one attempt at a time probes the receiver, and all other events are held back, which counts as no failure. Held
// deliveries have no tasks: the one task of the breaker, its timer, probes the receiver and sends them when it answers.
// The transaction that opens the breaker creates the timer, and the one that ends the timer deletes the breaker.
type breaker struct {
	// To is the destination at that time. A new destination starts with a closed breaker.
	To string `json:"to"`
	// Since is when the first of the counted attempts failed.
	Since    time.Time `json:"since"`
	Failures int       `json:"failures"`
	// ProbeAt is the time of the next probe, or nil if the breaker is closed.
	ProbeAt *time.Time `json:"probe_at,omitempty"`
	// Timer is the id of the timer. A closed breaker has one until all that was held back is sent.
	Timer string `json:"timer,omitempty"`
}

// open reports whether the webhook's receiver counts as down.
func (b breaker) open(r *WebhookRecord) bool { return b.ProbeAt != nil && !b.stale(r) }

// stale reports whether the breaker is about another destination, or about the time before the webhook was enabled.
func (b breaker) stale(r *WebhookRecord) bool {
	return b.To != r.GoesTo() || r.EnabledAt != nil && b.Since.Before(*r.EnabledAt)
}

// afterFailure returns the breaker after one more attempt that was not answered.
func (b breaker) afterFailure(r *WebhookRecord, now time.Time) breaker {
	switch {
	case b.open(r):
		return b
	// Attempts that hang one after another take longer than the window: while the backlog is sent, it does not count.
	case b.stale(r), b.Failures == 0, b.Timer == "" && now.Sub(b.Since) >= tripWithin:
		b = breaker{To: r.GoesTo(), Since: now, Timer: b.Timer}
	}
	if b.Failures++; b.Failures >= TripAfter {
		at := now.Add(shortestProbe)
		b.ProbeAt = &at
	}
	return b
}

// duringProbe returns the breaker while a probe is under way.
func (b breaker) duringProbe(now time.Time, chance float64) breaker {
	wait := max(shortestProbe, min(longestProbe, now.Sub(b.Since)/10))
	at := now.Add(Spread(wait, Jitter, chance))
	b.ProbeAt = &at
	return b
}

// afterAnswer returns the breaker, which has a timer, after an attempt that was answered.
func (b breaker) afterAnswer(r *WebhookRecord, now time.Time) breaker {
	if b.ProbeAt == nil && b.Failures == 0 && !b.stale(r) {
		return b
	}
	return breaker{To: r.GoesTo(), Since: now, Timer: b.Timer}
}

// holds reports whether events are held back now. When a probe is due, the next event makes it.
func (b breaker) holds(r *WebhookRecord, now time.Time) bool {
	return b.open(r) && now.Before(*b.ProbeAt)
}

// holds reports whether the breaker of a webhook, whose item was read, holds events back.
func holds(r *WebhookRecord, it store.Item, now time.Time) (bool, error) {
	var b breaker
	if it.Kind == "" {
		return false, nil
	}
	err := it.Decode(&b)
	return b.holds(r, now), err
}

// readBreaker takes over the breaker's item; one without a kind does not exist.
func (r *Receiver) readBreaker(it store.Item) error {
	r.breakerItem, r.breaker = it, breaker{}
	if it.Kind == "" {
		return nil
	}
	return it.Decode(&r.breaker)
}

// saveBreaker writes the breaker, with its timer if it opens. If another function has written it first, it takes
// that over and returns store.ErrConflict.
func (r *Receiver) saveBreaker(ctx context.Context, b breaker) error {
	now, tx := r.now(), &store.Tx{}
	switch {
	case b.ProbeAt != nil && b.Timer == "":
		b.Timer = newTimer(r.ref)
		t := task.Task{Message: timerMessage(r.ref, &r.record, b.Timer), DueAt: *b.ProbeAt}
		if err := task.Create(tx, now, t, Return{}); err != nil {
			return err
		}
	case b.ProbeAt == nil && r.breaker.ProbeAt != nil && b.Timer != r.timer:
		if err := task.Wake(tx, now, timerMessage(r.ref, &r.record, b.Timer)); err != nil {
			return err
		}
	}
	it := r.breakerItem
	if it.Kind == "" {
		var err error
		if it, err = store.NewItem(breakerKind, r.ref.Owner, r.ref.ID, b); err != nil {
			return err
		}
		it.Key, it.ListKey = breakerKey(r.ref), store.Key{}
	} else if err := it.Encode(b); err != nil {
		return err
	}
	it.ExpireAt = now.Add(keepBreakers)
	// Two failures at the same time must not look like one that is written twice.
	it.Attributes = map[string]string{writeAttribute: rand.Text()}
	if it.Version == 0 {
		tx.CreateExpiring(it, now.Unix(), nil)
	} else {
		tx.Replace(it)
	}
	if err := r.db.Commit(ctx, tx); err != nil {
		return errors.Join(err, r.rereadBreaker(ctx, err))
	}
	it.Version++
	r.breakerItem, r.breaker = it, b
	return nil
}

// rereadBreaker takes over the breaker that a write has met.
func (r *Receiver) rereadBreaker(ctx context.Context, met error) error {
	if !errors.Is(met, store.ErrConflict) {
		return nil
	}
	it, err := r.get(ctx, breakerKey(r.ref))
	if err != nil {
		return err
	}
	return r.readBreaker(it)
}

// noteReach records whether an attempt found the receiver down.
func (r *Receiver) noteReach(ctx context.Context, o Outcome) {
	var err error
	for range maxConflicts {
		next := r.breaker.afterFailure(&r.record, r.now())
		if !o.Unanswered() {
			next = r.breaker.afterAnswer(&r.record, r.now())
		}
		switch {
		case r.record.State != StateEnabled:
			return
		case !o.Unanswered() && r.breakerItem.Kind == "":
			return
		case !o.Unanswered() && r.breaker.Timer == "":
			err = r.deleteBreaker(ctx)
		case next == r.breaker:
			return
		default:
			err = r.saveBreaker(ctx, next)
		}
		if !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	if err != nil {
		slog.Error("circuit breaker of a webhook not written", "webhook", r.ref.ID, "error", err)
	}
}

// deleteBreaker deletes a breaker that never opened.
func (r *Receiver) deleteBreaker(ctx context.Context) error {
	tx := &store.Tx{}
	tx.Delete(r.breakerItem)
	if err := r.db.Commit(ctx, tx); err != nil {
		return errors.Join(err, r.rereadBreaker(ctx, err))
	}
	return r.readBreaker(store.Item{})
}

// SlowAfter is the time after which an attempt counts as slow. Quicker ones cost no write.
const SlowAfter = 500 * time.Millisecond

// SlowLimit is the number of slow attempts that all functions together have in flight at one receiver, as far as they
// know; any more are put off. So a receiver that hangs occupies few of them, long before it is known to be down.
const SlowLimit = 20

// HangLimit is the same limit for a receiver that does not usually take long: its slow
// attempts probably hang. They suffice to open the circuit breaker.
const HangLimit = TripAfter

// Pause is the average time by which an attempt that finds no room is put off.
const Pause = 4 * time.Second

// keepInFlight is the time for which the item is kept without a change.
const keepInFlight = time.Hour

const inFlightKind = "inflight"

func inFlightKey(ref Ref) store.Key {
	return store.Key{PK: "inflight#" + ref.Owner.String(), SK: ref.ID}
}

// inFlight limits the slow attempts of all functions at one receiver. They are noted in one item, in which each slow
// attempt has a value of its own: when it ends should its function die.
type inFlight struct {
	key store.Key
	// usual holds the recent latencies of the receiver.
	usual Latencies
	// slow counts the slow attempts as read, and dead names those whose functions must have died.
	slow int
	dead []string
}

func newInFlight(key store.Key, usual Latencies, it store.Item, now time.Time) inFlight {
	f := inFlight{key: key, usual: usual}
	for name, until := range it.Attributes {
		if at, err := time.Parse(resource.TimeLayout, until); err != nil || !now.Before(at) {
			f.dead = append(f.dead, name)
			continue
		}
		f.slow++
	}
	return f
}

// full reports whether the receiver has as many slow attempts as it may have.
func (f *inFlight) full() bool {
	return f.slow >= SlowLimit || f.slow >= HangLimit && !f.usual.Slow(SlowAfter)
}

// pause returns until when an attempt that finds no room is put off.
func (r *Receiver) pause() time.Time { return r.now().Add(Spread(Pause, 0.5, r.chance())) }

// Watch notes an attempt, by a name that no other has, as soon as it is slow, until the returned function is called.
func (r *Receiver) Watch(ctx context.Context, name string) (ended func()) {
	var mu lock.Mutex
	var slow, over bool
	t := time.AfterFunc(SlowAfter, func() {
		mu.Lock()
		defer mu.Unlock()
		if slow = !over; slow {
			r.note(ctx, name, r.now().Add(AttemptTimeout+time.Second)) // no attempt takes longer
		}
	})
	return func() {
		if t.Stop() {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if over = true; slow {
			r.note(ctx, name, time.Time{})
		}
	}
}

// note writes until when a slow attempt lasts, or removes it if that is the zero time. It also removes those of dead
// functions. A failure is not repeated: the note expires.
func (r *Receiver) note(ctx context.Context, name string, until time.Time) {
	it := store.Item{Key: r.inFlight.key, Kind: inFlightKind, ExpireAt: r.now().Add(keepInFlight),
		Attributes: map[string]string{name: ""}}
	for _, dead := range r.inFlight.dead {
		it.Attributes[dead] = ""
	}
	if !until.IsZero() {
		it.Attributes[name] = resource.SortableTime(until)
	}
	if err := r.db.Note(ctx, it); err != nil && ctx.Err() == nil {
		slog.Warn("slow attempt at a webhook not written", "webhook", r.ref.ID, "error", err)
	}
}

// Latency summarises how fast a receiver answers.
type Latency struct {
	// 50th percentile in milliseconds, accurate to 10 %.
	P50 int64 `json:"p50_ms" example:"42"`
	// 90th percentile in milliseconds, accurate to 10 %.
	P90 int64 `json:"p90_ms" example:"96"`
	// 99th percentile in milliseconds, accurate to 10 %.
	P99 int64 `json:"p99_ms" example:"310"`
	// Number of responses counted.
	Count int64 `json:"count" example:"1840"`
}

// accuracy is the relative error of a percentile.
const accuracy = 0.1

// growth is the ratio of the bounds of a bucket: no value in it differs from its middle by more than accuracy.
const growth = (1 + accuracy) / (1 - accuracy)

// Sketch is a DDSketch of latencies: bucket n counts latencies of up to growth^n milliseconds. It is small (all
// latencies of an attempt fall into some fifty buckets), and two sketches add up without loss.
type Sketch map[int]int64

// Bucket returns the bucket of a latency.
func Bucket(ms int64) int { return int(math.Ceil(math.Log(float64(max(ms, 1))) / math.Log(growth))) }

// middle returns the latency that stands for a bucket.
func middle(bucket int) int64 {
	return int64(math.Round(2 * math.Pow(growth, float64(bucket)) / (growth + 1)))
}

// Plus returns the sum of both sketches.
func (s Sketch) Plus(more Sketch) Sketch {
	sum := maps.Clone(s)
	if sum == nil {
		sum = Sketch{}
	}
	for n, count := range more {
		sum[n] += count
	}
	return sum
}

// percentiles returns the percentiles, or nil if the sketch is empty.
func (s Sketch) percentiles() *Latency {
	var l Latency
	for _, count := range s {
		l.Count += count
	}
	if l.Count == 0 {
		return nil
	}
	buckets := slices.Sorted(maps.Keys(s))
	percentile := func(p int64) int64 {
		rank := (l.Count*p + 99) / 100
		for _, n := range buckets {
			if rank -= s[n]; rank <= 0 {
				return middle(n)
			}
		}
		return 0 // not reached: the counts add up to at least the rank
	}
	l.P50, l.P90, l.P99 = percentile(50), percentile(90), percentile(99)
	return &l
}

// Latencies are the answers of the running hour and of the one before it.
type Latencies struct {
	Hour    time.Time `json:"hour"` // when the running hour began
	Current Sketch    `json:"current,omitempty"`
	Earlier Sketch    `json:"before,omitempty"`
}

// With returns the latencies at the given time, with more of them.
func (l Latencies) With(more Sketch, now time.Time) Latencies {
	switch hour := now.UTC().Truncate(time.Hour); {
	case !hour.After(l.Hour): // another function's clock may be ahead of ours
	case hour.Sub(l.Hour) == time.Hour:
		l = Latencies{Hour: hour, Earlier: l.Current}
	default:
		l = Latencies{Hour: hour}
	}
	l.Current = l.Current.Plus(more)
	return l
}

// Percentiles returns the percentiles at the given time, or nil without answers.
func (l Latencies) Percentiles(now time.Time) *Latency {
	l = l.With(nil, now)
	return l.Current.Plus(l.Earlier).percentiles()
}

// Slow reports whether one answer in ten, or more, took at least the given time. The
// latencies count as they were written, whatever the hour is.
func (l Latencies) Slow(limit time.Duration) bool {
	all := l.Current.Plus(l.Earlier).percentiles()
	return all != nil && all.P90 >= limit.Milliseconds()
}

// maxTallied bounds the webhooks in a tally.
const maxTallied = 10_000

// tally counts the answers of each webhook since it was last written. They are not worth a write of their own: the next
// write of the webhook's health carries them, and some are lost when the function ends.
type tally struct {
	mu sync.Mutex
	of map[Ref]answers
}

// answers are the answers of one webhook.
type answers struct {
	since  time.Time
	sketch Sketch
}

// add counts an attempt that was answered.
func (t *tally) add(ref Ref, a Attempt, now time.Time) {
	if a.Status != nil {
		t.put(ref, answers{now, Sketch{Bucket(a.LatencyMS): 1}}, now)
	}
}

// put adds answers to those of a webhook. It drops answers older than an hour, since a write would count them as new.
func (t *tally) put(ref Ref, more answers, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil || len(t.of) >= maxTallied {
		t.of = map[Ref]answers{}
	}
	fresh := func(a answers) bool { return now.Sub(a.since) < time.Hour }
	had := t.of[ref]
	switch {
	case fresh(had):
		for n, count := range more.sketch {
			had.sketch[n] += count
		}
	case fresh(more):
		t.of[ref] = more
	}
}

// take returns the answers of a webhook and resets their count.
func (t *tally) take(ref Ref) answers {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := t.of[ref]
	delete(t.of, ref)
	return taken
}
