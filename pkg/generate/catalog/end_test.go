package catalog

import (
	"strings"
	"testing"
	"time"
)

// at returns the offer of all providers at a time.
func at(now time.Time) Offer {
	return NewOffer(strings.Join(Providers(), ","), "us-west-2", func() time.Time { return now })
}

func TestAModelIsRetiredFromItsEndOn(t *testing.T) {
	const model = "llama-3.3-70b"
	_, end := Ending(model)
	before, after := at(end.Add(-time.Second)), at(end)
	if _, err := before.Choose("text", model, "", true); err != nil {
		t.Errorf("before its end: %v", err)
	}
	_, err := after.Choose("text", model, "", true)
	if err == nil || !strings.Contains(err.Error(), "is retired. Use its successor gpt-oss-120b") {
		t.Errorf("after its end: %v", err)
	}
	for _, o := range []Offer{before, after} {
		for _, m := range o.Models(Filter{Kind: "text"}, true) {
			if m.ID == model && (m.State == Retired) != (o.clock() == end) {
				t.Errorf("at %s it is %s", o.clock(), m.State)
			}
		}
	}
	for _, live := range []bool{true, false} {
		if err := Usable("text", model, "/model", end); err == nil {
			t.Errorf("live %t: usable after its end", live)
		}
	}
}

func TestADefaultThatHasEndedGivesWay(t *testing.T) {
	end := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	usual := Default("text")
	for i, r := range models().Models {
		if r.ID == usual.ID {
			on := day{}
			if err := on.UnmarshalText([]byte("2030-01-01")); err != nil {
				t.Fatal(err)
			}
			models().Models[i].Model.RetiresAt = on.at
			defer func() { models().Models[i].Model.RetiresAt = nil }()
		}
	}
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
	_, end := Ending("llama-3.3-70b")
	for name, c := range map[string]struct {
		offer    Offer
		live     bool
		from, to string
	}{
		"cheaper":                     {at(end), true, "llama-3.3-70b", "gpt-oss-120b"},
		"in the sandbox":              {at(end), false, "llama-3.3-70b", "gpt-oss-120b"},
		"not retired yet":             {at(end.Add(-time.Second)), true, "llama-3.3-70b", "llama-3.3-70b"},
		"dearer":                      {at(end), true, "titan-image-2", "titan-image-2"},
		"retired in the table":        {at(end), true, "nova-premier", "nova-pro"},
		"without a last price":        {at(end), true, "nova-canvas", "nova-canvas"},
		"a provider that is not here": {NewOffer("fal", "us-west-2", func() time.Time { return end }), true, "llama-3.3-70b", "llama-3.3-70b"},
		"superseded, and still there": {at(end), true, "eleven-turbo-2.5", "eleven-turbo-2.5"},
		"a model that is not there":   {at(end), true, "no-such-model", "no-such-model"},
		"no model":                    {at(end), true, "", ""},
	} {
		if got := c.offer.Succeed(c.from, c.live); got != c.to {
			t.Errorf("%s: %s takes the place of %s, want %s", name, got, c.from, c.to)
		}
	}
}

func TestASuccessorThatEndedIsFollowed(t *testing.T) {
	_, end := Ending("deepseek-r1")
	if got := at(end).Succeed("deepseek-r1", true); got != "nova-pro" {
		t.Errorf("%s takes its place", got)
	}
}
