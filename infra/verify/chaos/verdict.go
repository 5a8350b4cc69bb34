package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ending is the end of a piece of work, as the API shows it.
type ending struct {
	ID          string
	State       string
	CostCredits int64 `json:"cost_credits"`
	Media       []file
}

// file is one of the files that work has made.
type file struct {
	URL    string
	Bytes  int64
	SHA256 string
}

// told is an event that reports the end of work.
type told struct {
	Type      string
	CreatedAt time.Time `json:"created_at"`
	Data      struct{ Object struct{ ID string } }
}

// entry is an entry of the balance.
type entry struct {
	Kind, Subject string
	Credits       int64
	State         *string
}

// books holds all that the API shows of a scene's account.
type books struct {
	endings map[string]ending
	events  []told
	entries []entry
	balance int64
	// sums are the analytics.
	sums sums
	// broken is the number of files whose content does not match their description, or that cannot be fetched.
	broken int
}

// read reads the books from the API.
func (s *scene) read(ctx context.Context) (books, error) {
	a := books{endings: map[string]ending{}}
	for _, of := range works {
		some, err := list[ending](ctx, s.client, of.path)
		if err != nil {
			return a, err
		}
		for _, e := range some {
			a.endings[e.ID] = e
			for _, f := range e.Media {
				if err := fetch(ctx, f); err != nil {
					a.broken++
				}
			}
		}
	}
	var err error
	if a.events, err = list[told](ctx, s.client, "/v1/events"); err != nil {
		return a, err
	}
	if a.entries, err = list[entry](ctx, s.client, "/v1/balance/entries"); err != nil {
		return a, err
	}
	var me struct{ Balance struct{ Credits int64 } }
	err = s.client.call(ctx, http.MethodGet, "/v1/me", "", nil, &me)
	if a.balance = me.Balance.Credits; err != nil {
		return a, err
	}
	a.sums, err = s.readSums(ctx, a.truth())
	return a, err
}

// fetch downloads a file by its signed address and compares it with its description.
func fetch(ctx context.Context, f file) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	hash := sha256.New()
	n, err := io.Copy(hash, resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || n != f.Bytes ||
		hex.EncodeToString(hash.Sum(nil)) != f.SHA256) {
		err = fmt.Errorf("%s answers %s with %d bytes", f.URL, resp.Status, n)
	}
	return err
}

// verdict is the result of a row about generations.
type verdict struct {
	name              string
	bounds            bounds
	trouble           error // the reason if there is no result
	hits              int
	accepted          int
	generated, failed int
	unended           int // neither completed nor failed
	strangers         int // work that nobody requested
	events            int // pieces of work without exactly one fitting event
	media             int // generated work without files, and files that cannot be fetched
	charged           int64
	money             []string // the entries and sums that do not add up
	bought, usual     int      // generations that the providers accepted, here and without a fault
	last              time.Duration
}

// verdict reads the result of a row.
func (s *scene) verdict(ctx context.Context) (verdict, error) {
	a, err := s.read(ctx)
	if err != nil {
		return verdict{}, err
	}
	done, _ := s.load.accepted()
	s.mu.Lock()
	v := judge(done, a, s.ended)
	v.hits = s.hits
	s.mu.Unlock()
	v.bought, err = s.bought(ctx)
	return v, err
}

// judge compares the accepted work with the books of the account.
func judge(done []accepted, a books, ended time.Time) verdict {
	v := verdict{accepted: len(done), media: a.broken}
	tells := map[string][]told{}
	for _, e := range a.events {
		tells[e.Data.Object.ID] = append(tells[e.Data.Object.ID], e)
	}
	for _, d := range done {
		e := a.endings[d.id]
		switch e.State {
		case "generated":
			v.generated++
			if len(e.Media) == 0 {
				v.media++
			}
		case "failed":
			v.failed++
		default:
			v.unended++
		}
		if of := tells[d.id]; len(of) != 1 || !strings.HasSuffix(of[0].Type, "."+e.State) {
			v.events++
		} else if d.at.Before(ended) {
			v.last = max(v.last, of[0].CreatedAt.Sub(ended))
		}
	}
	v.strangers = max(0, len(a.endings)-len(done))
	v.charged, v.money = settled(a)
	v.money = append(v.money, miscounted(a)...)
	return v
}

// settled sums up the account's money. It returns the amount that was charged, and the errors.
func settled(a books) (charged int64, wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	var sum, cost int64
	reserved, released := map[string][]entry{}, map[string]int64{}
	for _, e := range a.entries {
		sum += e.Credits
		switch e.Kind {
		case "reserve":
			reserved[e.Subject] = append(reserved[e.Subject], e)
		case "release":
			released[e.Subject] += e.Credits
		}
	}
	if sum != a.balance {
		say("the entries add up to %d, the balance is %d", sum, a.balance)
	}
	for id, e := range a.endings {
		cost += e.CostCredits
		want := map[string]string{"generated": "charged", "failed": "released"}[e.State]
		of := reserved[id]
		// A result that is longer than the caller paid for has a second entry, for the rest.
		most := 1
		if want == "charged" {
			most = 2
		}
		var price int64
		for _, r := range of {
			price -= r.Credits
		}
		if len(of) == 0 || len(of) > most ||
			slices.ContainsFunc(of, func(r entry) bool { return r.State == nil || *r.State != want }) {
			say("%s is %s and was reserved %d times", id, e.State, len(of))
			continue
		}
		switch {
		case want == "charged" && (e.CostCredits != price || released[id] != 0):
			say("%s costs %d, and %d of %d was charged", id, e.CostCredits, price-released[id], price)
		case want == "released" && (e.CostCredits != 0 || released[id] != price):
			say("%s failed, costs %d, and %d of %d was released", id, e.CostCredits, released[id], price)
		}
		if want == "charged" {
			charged += price
		}
	}
	if len(reserved) != len(a.endings) {
		say("%d pieces of work, and reservations for %d", len(a.endings), len(reserved))
	}
	if charged != cost {
		say("%d was charged, all work together costs %d", charged, cost)
	}
	return charged, wrong
}

// broken returns an error that lists the broken bounds, or nil if all hold.
func (v verdict) broken() error {
	return broken(v.name, v.trouble, v.check)
}

// check calls fail for each bound with whether it is broken.
func (v verdict) check(fail failIf) {
	fail(v.accepted == 0, "nothing was accepted")
	fail(v.unended > 0, "%d of %d pieces of work have not ended", v.unended, v.accepted)
	fail(v.strangers > 0, "%d pieces of work were made that nobody asked for", v.strangers)
	fail(v.events > 0, "of %d pieces of work not exactly one event tells that they ended as they did", v.events)
	fail(v.media > 0, "%d files are missing or damaged", v.media)
	fail(len(v.money) > 0, "%s", strings.Join(v.money, "; "))
	fail(v.bounds.once && v.usual > 0 && v.bought != v.usual, "the providers were asked for %d generations, without "+
		"a fault for %d", v.bought, v.usual)
}

// markdown returns the line of a row.
func (v verdict) markdown() string {
	kept, adds := "yes", "yes"
	if v.broken() != nil {
		kept = "**no**"
	}
	if len(v.money) > 0 {
		adds = "**no**"
	}
	cells := []string{
		v.name, strconv.Itoa(v.hits), strconv.Itoa(v.accepted), strconv.Itoa(v.generated), strconv.Itoa(v.failed),
		strconv.Itoa(v.unended),
		strconv.Itoa(v.events), strconv.Itoa(v.media), strconv.FormatInt(v.charged, 10), adds, strconv.Itoa(v.bought),
		fmt.Sprintf("%.1f", v.last.Seconds()), kept,
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// bounds are the bounds that a row must keep.
type bounds struct {
	// recovery is the longest time from the end of the fault to the last delivery of an event that was accepted
	// before.
	recovery time.Duration
	// once forbids repeats, even of events that were in flight.
	once bool
}

// result is the result of a row about deliveries.
type result struct {
	name      string
	bounds    bounds
	trouble   error // the reason if there is no result
	accepted  int
	delivered int // at least once
	lost      int
	repeats   int
	doubled   int // items with more than one event
	strangers int // events of items that nobody requested
	pending   int // deliveries that are missing by the service's own count
	hits      int // the number of times that the fault happened
	inFlight  int // events that were on their way to the receiver at the fault
	recovery  time.Duration
	p50, p99  time.Duration // from the event to its receipt
}

// result counts the events that arrived.
func (s *scene) result(ctx context.Context) (result, error) {
	done, _ := s.load.accepted()
	came, err := s.mailbox.all()
	if err != nil {
		return result{}, err
	}
	s.mu.Lock()
	out := count(done, came, s.ended)
	out.hits, out.inFlight = s.hits, s.inFlight
	s.mu.Unlock()
	out.pending, err = s.client.undelivered(ctx, s.webhook)
	return out, err
}

// count compares the accepted work with the receipts.
func count(done []accepted, came []receipt, ended time.Time) result {
	out := result{accepted: len(done)}
	by := map[string][]receipt{}
	for _, r := range came {
		by[r.subject] = append(by[r.subject], r)
		out.repeats += r.times - 1
	}
	var waits []time.Duration
	for _, a := range done {
		events := by[a.id]
		if len(events) == 0 {
			out.lost++
			continue
		}
		out.delivered++
		if len(events) > 1 {
			out.doubled++
		}
		came := slices.MinFunc(events, func(a, b receipt) int { return a.first.Compare(b.first) })
		waits = append(waits, came.first.Sub(came.happened))
		if a.at.Before(ended) {
			out.recovery = max(out.recovery, came.first.Sub(ended))
		}
	}
	asked := map[string]bool{}
	for _, a := range done {
		asked[a.id] = true
	}
	for subject, events := range by {
		if !asked[subject] {
			out.strangers += len(events)
		}
	}
	slices.Sort(waits)
	out.p50, out.p99 = percentile(waits, 50), percentile(waits, 99)
	return out
}

// percentile returns the smallest of the sorted values that at least p percent of them do not exceed.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

// failIf records a broken bound if its first argument is true.
type failIf = func(is bool, format string, args ...any)

// broken returns an error that lists the bounds of a row that check finds broken, or nil if all hold. If the row
// has trouble, broken returns that and does not check.
func broken(row string, trouble error, check func(failIf)) error {
	if trouble != nil {
		return fmt.Errorf("%s: %w", row, trouble)
	}
	var all []error
	check(func(is bool, format string, args ...any) {
		if is {
			all = append(all, fmt.Errorf(row+": "+format, args...))
		}
	})
	return errors.Join(all...)
}

// broken returns an error that lists the broken bounds, or nil if all hold.
func (r result) broken() error {
	return broken(r.name, r.trouble, r.check)
}

// check calls fail for each bound with whether it is broken.
func (r result) check(fail failIf) {
	fail(r.accepted == 0, "nothing was accepted")
	fail(r.lost > 0, "%d of %d accepted events never came", r.lost, r.accepted)
	fail(r.doubled > 0, "of %d items more than one event came", r.doubled)
	fail(r.strangers > 0, "%d events came of what nobody asked for", r.strangers)
	fail(r.pending > 0, "the service itself misses %d deliveries", r.pending)
	fail(r.bounds.once && r.repeats > 0, "%d repeats, none should be", r.repeats)
	fail(r.repeats > r.inFlight && !r.bounds.once, "%d repeats, and %d events were in flight", r.repeats, r.inFlight)
	fail(r.recovery > r.bounds.recovery,
		"the last delivery came %.1f s after the end of the fault, the bound is %.1f s", r.recovery.Seconds(),
		r.bounds.recovery.Seconds())
}

// sums are the analytics of a factory that its content determines.
type sums struct {
	Made, Failed int64
	CostCredits  int64 `json:"cost_credits"`
}

// truth returns the analytics that the work implies.
func (b books) truth() (t sums) {
	for id, e := range b.endings {
		if !strings.HasPrefix(id, "cnt_") {
			continue
		}
		switch e.State {
		case "generated":
			t.Made++
		case "failed":
			t.Failed++
		}
		t.CostCredits += e.CostCredits
	}
	return t
}

// Analytics follow the content within seconds. After a fault, they follow within the time in which the stream
// repeats.
const (
	sumsWithin = 30 * time.Second
	sumsEvery  = time.Second / 2
)

// readSums reads the analytics until they show the truth or the time is over.
func (s *scene) readSums(ctx context.Context, truth sums) (shown sums, err error) {
	for begun := time.Now(); ; {
		var a struct{ Totals sums }
		if err := s.client.call(ctx, http.MethodGet, "/v1/factories/"+s.factory+"/analytics", "", nil, &a); err != nil {
			return shown, err
		}
		if a.Totals == truth || time.Since(begun) > sumsWithin {
			return a.Totals, nil
		}
		if err := pause(ctx, sumsEvery); err != nil {
			return shown, err
		}
	}
}

// miscounted returns the differences between the analytics and the truth.
func miscounted(b books) []string {
	if truth := b.truth(); b.sums != truth {
		return []string{fmt.Sprintf("the analytics show %+v of content that is %+v", b.sums, truth)}
	}
	return nil
}
