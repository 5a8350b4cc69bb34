package catalog

import (
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/record/resource"
)

// at returns the offer of all providers at a time.
func at(now time.Time) Offer {
	return NewOffer(strings.Join(Providers(), ","), "us-west-2", func() time.Time { return now })
}

func TestAModelIsRetiredFromItsEndOn(t *testing.T) {
	const model = "nano-banana-pro"
	_, end := Ending(model)
	before, after := at(end.Add(-time.Second)), at(end)
	if _, err := before.Choose("image", model, "", true); err != nil {
		t.Errorf("before its end: %v", err)
	}
	_, err := after.Choose("image", model, "", true)
	if err == nil || !strings.Contains(err.Error(), "is retired. Use its successor nano-banana-2.1") {
		t.Errorf("after its end: %v", err)
	}
	for _, o := range []Offer{before, after} {
		for _, m := range o.Models(Filter{Kind: "image"}, true) {
			if m.ID == model && (m.State == Retired) != (o.clock() == end) {
				t.Errorf("at %s it is %s", o.clock(), m.State)
			}
		}
	}
	for _, live := range []bool{true, false} {
		if err := Usable("image", model, "/model", end); err == nil {
			t.Errorf("live %t: usable after its end", live)
		}
	}
}

func TestADefaultThatHasEndedGivesWay(t *testing.T) {
	end := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	usual := Default("text")
	on := resource.Instant(end)
	changed(t, usual.ID, func(m *Model) { m.RetiresAt = &on })
	for _, live := range []bool{true, false} {
		if m, err := at(end).Default("text", live); err != nil || m.ID == usual.ID {
			t.Errorf("live %t: the default is %s, %v", live, m.ID, err)
		}
		if m, err := at(end.Add(-time.Second)).Default("text", live); err != nil || m.ID != usual.ID {
			t.Errorf("live %t: before its end the default is %s, %v", live, m.ID, err)
		}
	}
}

func TestASuccessorTakesThePlaceIfItCostsNoMore(t *testing.T) {
	_, end := Ending("nano-banana-pro")
	for name, c := range map[string]struct {
		offer    Offer
		live     bool
		from, to string
	}{
		"cheaper":              {at(end), true, "nano-banana-pro", "nano-banana-2.1"},
		"in the sandbox":       {at(end), false, "nano-banana-pro", "nano-banana-2.1"},
		"not retired yet":      {at(end.Add(-time.Second)), true, "nano-banana-pro", "nano-banana-pro"},
		"dearer":               {at(end), true, "nano-banana", "nano-banana"},
		"retired in the table": {at(end), true, "claude-sonnet-4.5", "claude-sonnet-5.5"},
		"a provider that is not here": {NewOffer("bedrock", "us-west-2", func() time.Time { return end }), true,
			"nano-banana-pro", "nano-banana-pro"},
		"a model that is not there": {at(end), true, "no-such-model", "no-such-model"},
		"no model":                  {at(end), true, "", ""},
	} {
		if got := c.offer.Succeed(c.from, c.live); got != c.to {
			t.Errorf("%s: %s takes the place of %s, want %s", name, got, c.from, c.to)
		}
	}
}

// changed has a row of the table changed for a test.
func changed(t *testing.T, id string, change func(*Model)) {
	t.Helper()
	for i, r := range models().Models {
		if r.ID == id {
			before := r.Model
			change(&models().Models[i].Model)
			t.Cleanup(func() { models().Models[i].Model = before })
		}
	}
}

func TestASuccessorThatEndedIsFollowed(t *testing.T) {
	next := "mistral-large-3"
	changed(t, "claude-sonnet-5.5", func(m *Model) { m.State, m.Successor = Retired, &next })
	if got := everything.Succeed("claude-sonnet-4.5", true); got != next {
		t.Errorf("%s takes its place", got)
	}
}

// From three months into its Legacy period on, AWS may charge more for a model of which it has named the end.
func TestExtendedAccessCostsMore(t *testing.T) {
	raw := strings.Replace(string(modelsJSON), `"usd": "10", "usd_input": "2"`, `"usd": "10", "usd_input": "2",
		"extended": {"from": "2027-01-08", "usd": "30", "usd_input": "6"}`, 1)
	table, err := parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range table.Models {
		if r.ID != "claude-sonnet-5.5" {
			continue
		}
		from := time.Date(2027, 1, 8, 0, 0, 0, 0, time.UTC)
		for at, want := range map[time.Time]int64{from.Add(-time.Second): 1100, from: 3000} {
			if got, err := r.in("eu").At(at).Cost(Quantity{OutputTokens: 1e6}); err != nil || got != want {
				t.Errorf("at %s it costs %d, %v; want %d", at, got, err, want)
			}
		}
		return
	}
	t.Error("the row is not there")
}

func TestModelsOfBedrockHaveTheNoticeOfAWS(t *testing.T) {
	for id, want := range map[string]int{"nova-lite": 45, "stable-image-core": 45, "kling-4": 60, "polly-neural": 60} {
		if got := model(t, id).Notice(); got != time.Duration(want)*24*time.Hour {
			t.Errorf("%s: %s", id, got)
		}
	}
}

// A price covers another if no request costs more by the other.
func TestLongPromptsAreCovered(t *testing.T) {
	small, large := model(t, "claude-haiku-5.5").Price, model(t, "nova-lite").Price
	flat := *small
	flat.LongPrompt = nil
	for name, c := range map[string]struct {
		p, q *Price
		want bool
	}{
		"the same": {small, small, true}, "cheaper with a long prompt": {small, &flat, true},
		"dearer with a long prompt": {&flat, small, false}, "dearer with a short one": {large, small, false},
		"none": {nil, small, false},
	} {
		if got := c.p.covers(c.q); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
