package area_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/money"
)

func eur(cents int64) money.Price { return money.Price{Amount: cents, Currency: "EUR"} }

func utc(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

var marked = &law.Marking{Advertiser: "ООО «Ромашка»", TaxID: "7707083893", ERID: "2VtzqxKFvxM"}

// cases has for each rule facts that violate it and facts that keep it, and the last moment before its first day and
// the first one of it.
var cases = map[string]struct {
	region        string
	broken, kept  []law.Facts
	before, first string
	param         string
}{
	law.PriorPrice: {"DE", []law.Facts{
		{Reduction: &law.Reduction{Now: eur(8000), Prior: eur(9000), Percent: 20, Param: "/discount/value"}},
		{Reduction: &law.Reduction{Now: eur(9000), Prior: eur(9000), Param: "/discount/value"}},
		{Reduction: &law.Reduction{Now: eur(8000), Prior: eur(9000), Struck: eur(9001), Param: "/discount/value"}},
	}, []law.Facts{
		{}, {Reduction: &law.Reduction{Now: eur(8000), Prior: eur(10000), Percent: 20}},
		{Reduction: &law.Reduction{Now: eur(8000), Prior: eur(9000)}},
		{Reduction: &law.Reduction{Now: eur(8000), Prior: eur(9000), Struck: eur(9000)}},
		{Reduction: &law.Reduction{Now: eur(799), Prior: eur(999), Percent: 20}}, // 799.2 is rounded
	}, "2022-05-27T21:59:59Z", "2022-05-27T22:00:00Z", ""},
	law.DeepFakeLabel: {"FR", []law.Facts{{DeepFake: true}}, []law.Facts{{}, {DeepFake: true, Labelled: true}},
		"2026-08-01T23:59:59+02:00", "2026-08-02T00:00:00+02:00", "/deep_fake"},
	law.PublicDisclosure: {"IE", []law.Facts{{Informs: true, Generated: true}}, []law.Facts{{Informs: true},
		{Generated: true},
		{Informs: true, Generated: true, Reviewed: true}, {Informs: true, Generated: true, Disclosed: true}},
		"2026-08-01T23:59:59+02:00", "2026-08-02T00:00:00+02:00", "/caption"},
	law.AdMarked: {"RU", []law.Facts{{Advertising: true, Platform: "telegram"},
		{Advertising: true, Platform: "vk", Marked: &law.Marking{Advertiser: "A", TaxID: "7707083893"}}},
		[]law.Facts{{}, {Platform: "vk"}, {Advertising: true}, {Advertising: true, Platform: "vk", Marked: marked}},
		"2022-08-31T20:59:59Z", "2022-08-31T21:00:00Z", ""},
	law.AdPlatforms: {"RU", []law.Facts{
		{Advertising: true, Marked: marked, Platform: "instagram", Param: "/social_account_ids/0"},
		{Advertising: true, Marked: marked, Platform: "facebook", Param: "/social_account_ids/0"},
		{Advertising: true, Marked: marked, Platform: "x", Param: "/social_account_ids/0"},
	}, []law.Facts{{Platform: "instagram"}, {Advertising: true, Marked: marked, Platform: "telegram"},
		{Advertising: true, Marked: marked, Platform: "youtube"}},
		"2025-08-31T23:59:59+03:00", "2025-09-01T00:00:00+03:00", "/social_account_ids/0"},
}

// violates reports whether facts violate a rule.
func violates(id string, f law.Facts) bool {
	return slices.ContainsFunc(law.Check(f), func(v law.Violation) bool { return v.ID == id })
}

func TestEachRuleFromItsFirstDay(t *testing.T) {
	for i := range law.Rules {
		r := &law.Rules[i]
		c, ok := cases[r.ID]
		if !ok {
			t.Errorf("%s has no cases", r.ID)
			continue
		}
		before, first := utc(c.before), utc(c.first)
		if first.Sub(before) != time.Second {
			t.Errorf("%s: %s is not just before %s", r.ID, before, first)
		}
		for n, f := range c.broken {
			f.Region = c.region
			if f.At = before; violates(r.ID, f) {
				t.Errorf("%s is violated by %d on the day before", r.ID, n)
			}
			for _, at := range []time.Time{first, first.In(time.FixedZone("", -10*3600)), first.AddDate(5, 0, 0)} {
				if f.At = at; !violates(r.ID, f) {
					t.Errorf("%s is not violated by %d at %s", r.ID, n, at)
				}
			}
			f.Region = "US"
			if violates(r.ID, f) || (law.Facts{At: f.At}).Region == f.Region {
				t.Errorf("%s is in force in the US", r.ID)
			}
			if f.Region = ""; len(law.Check(f)) > 0 {
				t.Errorf("%s is in force without a region", r.ID)
			}
		}
		for n, f := range c.kept {
			if f.Region, f.At = c.region, first; violates(r.ID, f) {
				t.Errorf("%s is violated by %d, which keeps it", r.ID, n)
			}
		}
		if r.Version == 0 || r.Reads == "" || r.Requirement == "" || r.Source == "" || r.URL == "" || r.Mend == "" {
			t.Errorf("%s lacks a member: %+v", r.ID, r)
		}
		if law.RuleOf(r.ID) != r {
			t.Errorf("%s is not found by its id", r.ID)
		}
	}
}

// The document lists the rules.
func TestTheErrorListsAllRules(t *testing.T) {
	member, _ := reflect.TypeFor[errs.RuleContext]().FieldByName("Rule")
	var ids []string
	for _, r := range law.Rules {
		ids = append(ids, r.ID)
	}
	all, _ := format.Of(member.Tag.Get("format"))
	if got := all.Values; len(ids) == 0 || !slices.Equal(got, ids) {
		t.Errorf("the error lists %s, want %v", got, ids)
	}
}

func TestARuleEndsWithItsLastDay(t *testing.T) {
	r := law.Rule{Jurisdiction: "RU", From: utc("2022-09-01T00:00:00+03:00"), Until: utc("2023-03-01T00:00:00+03:00")}
	for at, want := range map[string]bool{"2022-08-31T20:59:59Z": false, "2022-08-31T21:00:00Z": true,
		"2023-02-28T20:59:59Z": true, "2023-02-28T21:00:00Z": false} {
		if got := r.InForce("RU", utc(at)); got != want {
			t.Errorf("at %s: %t", at, got)
		}
	}
	if r.Since() != "2022-09-01" {
		t.Errorf("it is in force since %s", r.Since())
	}
}

func TestTheErrorNamesTheRule(t *testing.T) {
	f := cases[law.AdPlatforms].broken[0]
	f.Region, f.At = "RU", utc("2026-01-01T00:00:00Z")
	e := errs.As(law.Refused(law.Check(f)))
	want := errs.RuleContext{Rule: law.AdPlatforms, Jurisdiction: "RU", Since: "2025-09-01",
		Source: "Federal Law 38-FZ, Article 5(10.7), as amended by 72-FZ of 7 April " +
			"2025", Mend: law.RuleOf(law.AdPlatforms).Mend}
	if e.Code != errs.RuleViolated || e.Param != "/social_account_ids/0" || e.Context != want {
		t.Errorf("%+v", e)
	}
	if err := law.Refused(nil); err != nil {
		t.Errorf("without a violation: %v", err)
	}
	f.Marked = nil // both rules of Russia
	if e = errs.As(law.Refused(law.Check(f))); len(e.Details) != 2 || e.Code != errs.RuleViolated || e.Context == nil {
		t.Errorf("%+v", e)
	}
}

func TestTaxIDs(t *testing.T) {
	for number, want := range map[string]bool{"7707083893": true, "500100732259": true, "7707083894": false,
		"500100732258": false, "500100732159": false, "770708389": false, "": false, "770708389٣": false,
		"77070838930": false} {
		if got := law.ValidTaxID(number); got != want {
			t.Errorf("%s: %t", number, got)
		}
	}
}

func TestRegions(t *testing.T) {
	members := 0
	for first := 'A'; first <= 'Z'; first++ {
		for second := 'A'; second <= 'Z'; second++ {
			if law.InEU(string([]rune{first, second})) {
				members++
			}
		}
	}
	if members != 27 {
		t.Errorf("the EU has %d members", members)
	}
	for code, want := range map[string][2]bool{"DE": {true, true}, "RU": {true, false}, "GB": {true, false},
		"XX": {}, "de": {}, "D": {}, "": {}, " D": {}, "E ": {}} {
		err := law.CheckCountry("/country", code)
		if (err == nil) != want[0] || law.InEU(code) != want[1] {
			t.Errorf("%q: %v, EU %t", code, err, law.InEU(code))
		}
	}
	for _, r := range law.Rules {
		if r.Jurisdiction != law.EU && law.CheckCountry("", r.Jurisdiction) != nil {
			t.Errorf("%s is in force in %s", r.ID, r.Jurisdiction)
		}
	}
}

// The texts are in each official language of the Union.
func TestTheWordsAreInEachLanguage(t *testing.T) {
	for _, language := range []string{"bg", "cs", "da", "de", "el", "en", "es", "et", "fi", "fr", "ga", "hr", "hu",
		"it", "lt",
		"lv", "mt", "nl", "pl", "pt", "ro", "sk", "sl", "sv"} {
		for _, words := range []func(string) string{law.Label, law.Disclosure} {
			if got := words(language); got == "" || language != "en" && got == words("en") {
				t.Errorf("no words in %s", language)
			}
		}
	}
	if law.Label("de-AT") != "KI-generiert" || law.Label("PT-br") != "Gerado por IA" || law.Label("ja") != law.Label("en") {
		t.Errorf("%s, %s, %s", law.Label("de-AT"), law.Label("PT-br"), law.Label("ja"))
	}
	if got, want := marked.Line(), "Реклама. ООО «Ромашка», ИНН 7707083893. erid: 2VtzqxKFvxM"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The prior price is compared with the price at every hour of the 30 days before, for ten changes around the start.
func TestThePriorPriceIsTheLowestOfThirtyDays(t *testing.T) {
	began := utc("2026-06-15T12:00:00Z")
	rapid.Check(t, func(t *rapid.T) {
		var hours []int
		for range 10 {
			hours = append(hours, rapid.IntRange(-60*24, 10*24).Draw(t, "hour"))
		}
		slices.Sort(hours)
		var steps []law.Step
		for _, h := range hours {
			steps = append(steps, law.Step{At: began.Add(time.Duration(h) * time.Hour),
				Price: eur(rapid.Int64Range(1, 10).Draw(t, "price") * 1000)})
		}
		var want int64
		for h := -30 * 24; h < 0; h++ {
			at := began.Add(time.Duration(h)*time.Hour + time.Nanosecond)
			if p, ok := law.InForce(steps, at); ok && (want == 0 || p.Amount < want) {
				want = p.Amount
			}
		}
		// The price that was in force at the very beginning of the window ended then.
		got, ok := law.Prior(steps, began)
		if ok != (want > 0) || got.Amount != want {
			t.Fatalf("prior price %d (%t), want %d of %v", got.Amount, ok, want, steps)
		}
		now := eur(rapid.Int64Range(1, 12000).Draw(t, "now"))
		percent := law.Percent(got, now)
		if ok && now.Amount < got.Amount && (now.Amount > law.Reduced(got, percent) || percent < 99 &&
			now.Amount <= law.Reduced(got, percent+1)) {
			t.Fatalf("%d %% of %s to %s", percent, got, now)
		}
	})
}

func TestPricesOfOtherCurrenciesDoNotCount(t *testing.T) {
	began := utc("2026-06-15T12:00:00Z")
	steps := []law.Step{{At: began.AddDate(0, 0, -20), Price: money.Price{Amount: 100, Currency: "USD"}},
		{At: began.AddDate(0, 0, -10), Price: eur(5000)}}
	if got, ok := law.Prior(steps, began); !ok || got != eur(5000) {
		t.Errorf("%v %t", got, ok)
	}
	if _, ok := law.Prior(steps, began.AddDate(0, 0, -30)); ok {
		t.Error("a price is known before the first step")
	}
}
