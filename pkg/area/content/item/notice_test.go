package item

import (
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
)

func TestWhatFinishedMediaHaveToShow(t *testing.T) {
	in := func(region string, change func(*Record)) *Record {
		r := &Record{Item: Item{Kind: Video, Source: SourceGenerated, Language: "de",
			Resource: resource.Resource{UpdatedAt: resource.Instant(time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC))}}}
		r.Brief.Region = region
		change(r)
		return r
	}
	pad, none := FitPad, FitNone
	ad := &profile.AdMarking{Advertiser: "A", TaxID: "7707083893"}
	for name, c := range map[string]struct {
		r    *Record
		want string
	}{
		"nothing":     {in("DE", func(*Record) {}), ""},
		"a deep fake": {in("DE", func(r *Record) { r.Item.DeepFake = true }), "KI-generiert"},
		"elsewhere":   {in("US", func(r *Record) { r.Item.DeepFake = true }), ""},
		"advertising": {in("RU", func(r *Record) { r.Item.AdMarking = ad }), "Реклама"},
		"both": {in("DE", func(r *Record) { r.Item.AdMarking, r.Item.DeepFake = ad, true }),
			"Реклама · KI-generiert"},
		"own media, fitted": {in("DE", func(r *Record) {
			r.Item.DeepFake, r.Item.Source, r.Item.Fit = true,
				SourceProvided, &pad
		}), "KI-generiert"},
		"own media as they are": {in("DE", func(r *Record) {
			r.Item.DeepFake, r.Item.Source, r.Item.Fit = true,
				SourceProvided, &none
		}), ""},
		"own media with a label": {in("DE", func(r *Record) {
			r.Item.DeepFake, r.Item.Source, r.Item.Fit, r.Item.Labelled = true, SourceProvided, &pad, true
		}), ""},
		"made again": {in("DE", func(r *Record) { r.Item.DeepFake, r.Item.Labelled = true, true }), "KI-generiert"},
		"before the rule": {in("DE", func(r *Record) {
			r.Item.DeepFake, r.Item.UpdatedAt = true, resource.Instant(time.Date(2026, 8, 1, 21, 59, 59, 0, time.UTC))
		}), ""},
	} {
		if got := shownNotice(c.r); got != c.want {
			t.Errorf("%s shows %q, want %q", name, got, c.want)
		}
	}
}

func TestOnlyAPersonReviews(t *testing.T) {
	r := &Record{Item: Item{Source: SourceGenerated, Language: "en"}}
	r.Brief.Region, r.Brief.Type = "IE", newsType
	at := resource.Instant(time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC))
	r.Item.UpdatedAt, r.Item.Caption = at, "News"
	for by, disclosed := range map[string]bool{"": true, "key_1": true, "usr_1": false, "rvl_1": false} {
		if r.Item.Approval = (Approval{State: Approved, By: &by, At: &at}); by == "" {
			r.Item.Approval = Approval{State: ApprovalPending}
		}
		text := r.Words("telegram", "").Caption
		if strings.Contains(string(text), law.Disclosure("en")) != disclosed {
			t.Errorf("approved by %q: %q", by, text)
		}
		violated := len(law.Check(FactsOf(r, &Publication{Platform: "telegram"}, at.Time))) > 0
		if violated {
			t.Errorf("approved by %q: it violates a rule", by)
		}
	}
	r.Item.Caption = resource.Text("News\n\n" + law.Disclosure("en"))
	if r.Item.Approval = (Approval{}); strings.Count(string(r.Words("", "").Caption), law.Disclosure("en")) != 1 {
		t.Error("the disclosure is there twice")
	}
}
