package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
