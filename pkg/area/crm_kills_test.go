package area_test

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/testdata/breadth"
)

// changes is the number of deals of each CRM that enter a mapped stage.
var changes = breadth.Of(100, 300)

// Stage changes arrive twice and in any order, the CRM limits calls and loses answers, and processes die before and
// after any of their calls. Each deal has one item, one charge and one note. Where a refresh token is valid once, a
// lost refresh ends the connection: the integration is connected again, and goes on.
func TestShuffledStageChangesUnderKills(t *testing.T) {
	for n, name := range names() {
		t.Run(name, func(t *testing.T) { shuffled(t, name, rand.New(rand.NewPCG(1, uint64(n)))) })
	}
}

func shuffled(t *testing.T, name string, chance *rand.Rand) {
	w := newCrmWorld(t)
	f := w.fakes[name]
	c := w.connect(name, "factory_id", w.shop, "mapping", mapping())
	again := func() {
		if w.get(c.ID).State != crm.Connected {
			c.HookURL = w.connect(name, "integration_id", c.ID).HookURL
		}
	}
	w.run(time.Minute, nil)
	before := w.credits()
	var hooks []string
	for n := range changes {
		id := strconv.Itoa(n + 1)
		f.PutDeal(deal(id, "142"))
		hooks = append(hooks, id, id)
	}
	chance.Shuffle(len(hooks), func(i, j int) { hooks[i], hooks[j] = hooks[j], hooks[i] })
	deaths := 0
	light := func() {
		if chance.IntN(4) == 0 {
			w.fuse.Light(chance.IntN(12), chance.IntN(2) == 0)
		}
		if chance.IntN(6) == 0 {
			faults := platformtest.Faults()
			if fault := faults[chance.IntN(len(faults))]; fault != platformtest.CutOff { // which waits for its caller
				f.Fail(f.Calls()+1, fault)
			}
		}
	}
	for _, id := range hooks {
		for died := true; died; {
			ctx, blown := w.fuse.Process(t.Context())
			light()
			at := base + "/integrations/hooks/" + name
			if c.HookURL != nil {
				at = *c.HookURL
			}
			got := w.sendIn(ctx, f.Hook(at, hintOf(id)))
			if died = blown(); !died && got != http.StatusOK {
				t.Fatalf("the hook gets %d", got)
			}
			if died {
				deaths++ // the CRM sends the webhook again
			}
		}
		f.Calm()
	}
	w.run(2*time.Minute, light)
	w.fuse.Douse()
	again()
	w.finish(item.Generated)
	w.run(10*time.Minute, light)
	w.fuse.Douse()
	f.Calm()
	// What the deaths have delayed is done now. A deal whose reading has died three times is left to the daily
	// synchronization, and its note follows.
	for _, within := range []time.Duration{time.Hour, time.Hour, 26 * time.Hour, time.Hour} {
		again()
		w.finish(item.Generated)
		w.run(within, nil)
	}

	deals := map[string]int{}
	items := w.finish(item.Generated)
	for _, r := range items {
		deals[r.Item.Metadata["crm_deal_id"]]++
	}
	notes := map[string]int{}
	for _, n := range f.Notes() {
		notes[n.Deal]++
	}
	for n := range changes {
		if id := strconv.Itoa(n + 1); deals[id] != 1 || notes[id] != 1 {
			t.Errorf("the deal %s has %d items and %d notes", id, deals[id], notes[id])
		}
	}
	price := items[0].Attempt.Credits
	if spent := before - w.credits(); price == 0 || spent != int64(changes)*price {
		t.Errorf("%d credits were taken for %d items of %d", spent, changes, price)
	}
	if now := w.get(c.ID); now.Counts.Items != int64(changes) || now.Counts.Notes != int64(changes) || deaths == 0 {
		t.Errorf("counted are %+v, and %d deaths in webhooks", now.Counts, deaths)
	}
}

// credits returns the credits that are left.
func (w *crmWorld) credits() int64 {
	w.T.Helper()
	items, err := w.DB.GetAll(w.T.Context(), ledger.FundsKeys(w.Principal.Account, w.Now())...)
	if err != nil {
		w.T.Fatal(err)
	}
	return ledger.FundsOf(items).Credits
}
