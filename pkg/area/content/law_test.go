package content_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// marking is a valid marking of advertising.
var marking = object{"advertiser": "ООО «Ромашка»", "tax_id": "7707083893", "erid": "2VtzqxKFvxM"}

const markedLine = "Реклама. ООО «Ромашка», ИНН 7707083893. erid: 2VtzqxKFvxM"

// refusedBy calls, and checks that a rule refuses.
func (w *world) refusedBy(rule, param, path string, body object) {
	w.T.Helper()
	got := w.Call(http.MethodPost, path, body)
	got.Refused(w.T, http.StatusUnprocessableEntity, errs.RuleViolated, param)
	var context errs.RuleContext
	if err := json.Unmarshal(got.Error.Context, &context); err != nil {
		w.T.Fatal(err)
	}
	r := law.RuleOf(rule)
	want := errs.RuleContext{Rule: rule, Jurisdiction: r.Jurisdiction, Since: r.Since(), Source: r.Source, Mend: r.Mend}
	if context != want {
		w.T.Errorf("the context is %+v, want %+v", context, want)
	}
}

// inRegion gives the factory a region, and further settings.
func (w *world) inRegion(region string, members ...any) {
	w.T.Helper()
	b := object{"region": region}
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, with(b, members...)).Into(w.T, http.StatusOK, new(object))
}

func TestAdvertisingInRussia(t *testing.T) {
	w := newWorld(t)
	w.inRegion("RU", "ad_marking", marking)
	instagram, telegram := w.connect("instagram"), w.connect("telegram")
	w.attach(instagram, telegram)
	at := w.Now().Add(time.Hour)
	it := w.generated()
	if it.AdMarking == nil || it.AdMarking.ERID != "2VtzqxKFvxM" {
		t.Fatalf("%+v", it.AdMarking)
	}
	w.refusedBy(law.AdPlatforms, "/social_account_ids/0", path(it.ID, "schedule"),
		object{"publish_at": at, "social_account_ids": []string{instagram}})
	w.refusedBy(law.AdPlatforms, "/social_account_ids/1", path(it.ID, "publish"),
		object{"social_account_ids": []string{telegram, instagram}})
	if got := w.get(it.ID); got.State != item.Generated || len(got.Publications) > 0 {
		t.Errorf("after it was refused: %+v", got)
	}
	// Accounts that a call does not name are left out.
	w.Call(http.MethodPost, path(it.ID, "schedule"), object{"publish_at": at}).Into(t, http.StatusOK, &it)
	if len(it.OmittedAccounts) != 1 || it.OmittedAccounts[0].Code != "rule_violated" ||
		it.OmittedAccounts[0].SocialAccountID != instagram || len(it.Publications) != 1 {
		t.Errorf("%+v, %+v", it.OmittedAccounts, it.Publications)
	}
	if text := string(it.Previews[0].Text); !strings.Contains(text, markedLine) || strings.Count(text, "Реклама") != 1 {
		t.Errorf("the text is %q", text)
	}
	// Without an erid it cannot be published at all.
	w.Call(http.MethodPatch, path(it.ID), object{"ad_marking": object{"erid": ""}}).
		Refused(t, http.StatusUnprocessableEntity, errs.RuleViolated, "/ad_marking/erid")
	other := w.create("publish_at", at, "social_account_ids", []string{telegram},
		"ad_marking", object{"advertiser": "ИП Иванов", "tax_id": "500100732259", "erid": "Kra23f"})
	if other.AdMarking.Advertiser != "ИП Иванов" {
		t.Errorf("%+v", other.AdMarking)
	}
	w.refusedBy(law.AdMarked, "/ad_marking/erid", "/v1/content-items", w.body("publish_at", at, "social_account_ids",
		[]string{telegram}, "ad_marking", object{"advertiser": "ИП Иванов", "tax_id": "500100732259"}))
}

func TestARefusedItemReservesNothing(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	w.factory = w.makeFactory(object{"type": "blogger", "name": "Blog", "region": "RU", "ad_marking": marking})
	instagram := w.connect("instagram")
	w.attach(instagram)
	before := w.sums()
	w.refusedBy(law.AdPlatforms, "/social_account_ids", "/v1/content-items",
		w.body("publish_at", w.Now().Add(time.Hour)))
	// What is published automatically is refused before, too.
	w.inRegion("RU", "auto_publish", true)
	w.refusedBy(law.AdPlatforms, "/social_account_ids", "/v1/content-items", w.body())
	got := w.sums()
	if len(got) != len(before) || got[w.factory] != before[w.factory] {
		t.Errorf("%v, before %v", got, before)
	}
	// Without a marking it is no advertising, and in another country the rule is not in force.
	w.inRegion("RU", "ad_marking", nil)
	w.create("publish_at", w.Now().Add(time.Hour))
	w.inRegion("KZ", "ad_marking", marking)
	w.create("publish_at", w.Now().Add(time.Hour))
}

func TestAPublicationThatARuleForbidsPostsNothing(t *testing.T) {
	w := newWorld(t)
	instagram := w.connect("instagram")
	w.attach(instagram)
	it := w.generated("ad_marking", marking)
	w.Call(http.MethodPost, path(it.ID, "schedule"), object{"publish_at": w.Now().Add(time.Hour)}).
		Into(t, http.StatusOK, &it)
	w.inRegion("RU") // after it was scheduled
	w.Clock.Add(time.Hour)
	w.work()
	got := w.get(it.ID)
	if got.State != item.Failed || got.Publications[0].Failure == nil ||
		got.Publications[0].Failure.Code != string(errs.RuleViolated) ||
		!strings.Contains(got.Publications[0].Failure.Message, "72-FZ") || got.Publications[0].PlatformPostID != nil {
		t.Errorf("%s %+v", got.State, got.Publications[0])
	}
}

func TestValidationListsRulesAtATime(t *testing.T) {
	w := newWorld(t)
	instagram := w.connect("instagram")
	w.attach(instagram)
	w.inRegion("RU", "ad_marking", marking)
	type problem struct {
		Code, Param string
		Rule        *errs.RuleContext
	}
	check := func(at string) (all []problem) {
		t.Helper()
		var v struct {
			OK       bool
			Problems []problem
			Accounts []struct{ Problems []problem }
		}
		w.Call(http.MethodPost, "/v1/publishing/validate", object{"item": w.body(), "at": at}).
			Into(t, http.StatusOK, &v)
		all = append(v.Problems, v.Accounts[0].Problems...)
		if v.OK != (len(all) == 0) {
			t.Errorf("at %s: ok %t of %+v", at, v.OK, all)
		}
		return all
	}
	if all := check("2025-08-31T20:59:59Z"); len(all) > 0 {
		t.Errorf("on the day before: %+v", all)
	}
	all := check("2025-08-31T21:00:00Z")
	if len(all) != 1 || all[0].Code != "rule" || all[0].Param != "/social_account_ids/0" ||
		all[0].Rule.Rule != law.AdPlatforms || all[0].Rule.Jurisdiction != "RU" {
		t.Errorf("on the first day: %+v", all)
	}
}

func TestTextsOnPublicMattersAreDisclosed(t *testing.T) {
	w := newWorld(t)
	w.Clock.Add(time.Date(2026, time.August, 1, 0, 0, 0, 0, time.UTC).Sub(w.Now()))
	w.factory = w.makeFactory(object{"type": "news", "name": "News", "language": "de", "region": "AT"})
	telegram := w.connect("telegram")
	w.attach(telegram)
	disclosure := law.Disclosure("de")
	it := w.generated()
	text := func(at time.Time) string {
		w.Call(http.MethodPost, path(it.ID, "schedule"), object{"publish_at": at}).Into(t, http.StatusOK, &it)
		return string(it.Previews[0].Text)
	}
	first := time.Date(2026, time.August, 1, 22, 0, 0, 0, time.UTC)
	if got := text(first.Add(-time.Second)); strings.Contains(got, disclosure) {
		t.Errorf("on the day before: %q", got)
	}
	if got := text(first); !strings.HasSuffix(strings.Split(got, "\n\n#")[0], disclosure) {
		t.Errorf("on the first day: %q", got)
	}
	w.Call(http.MethodPost, "/v1/approvals/"+it.ID+"/approve", nil).Into(t, http.StatusOK, &it)
	if !strings.Contains(string(it.Previews[0].Text), disclosure) {
		t.Error("an API key is no person who reviews")
	}
}

func TestBadSettingsOfLawAreRefused(t *testing.T) {
	w := newWorld(t)
	for param, b := range map[string]object{
		"/region":                {"region": "XX"},
		"/ad_marking/tax_id":     {"ad_marking": object{"advertiser": "A", "tax_id": "7707083894"}},
		"/ad_marking/erid":       {"ad_marking": object{"advertiser": "A", "tax_id": "7707083893", "erid": "a b"}},
		"/ad_marking/advertiser": {"ad_marking": object{"tax_id": "7707083893"}},
	} {
		w.Call(http.MethodPatch, "/v1/factories/"+w.factory, b).
			Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, param)
		if param != "/region" {
			w.Call(http.MethodPost, "/v1/content-items", w.body("ad_marking", b["ad_marking"])).
				Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, param)
		}
	}
	w.Call(http.MethodPost, "/v1/content-items", w.body("labelled", true)).
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/labelled")
}

// reprice changes the price of the shoe.
func (s *shop) reprice(cents int) {
	s.w.T.Helper()
	s.Call(http.MethodPatch, "/v1/products/"+s.shoe, object{"price": object{"amount": cents, "currency": "EUR"}}).
		Into(s.w.T, http.StatusOK, new(object))
}

func TestContentShowsTheLawfulPriorPrice(t *testing.T) {
	w := newWorld(t)
	s := newShop(w) // the shoe costs 129.00
	w.factory = s.seller
	w.inRegion("DE")
	telegram := w.connect("telegram")
	w.attach(telegram)
	w.Clock.Add(10 * 24 * time.Hour)
	s.reprice(14900)
	w.Clock.Add(24 * time.Hour)
	var sale product.Promotion
	s.Call(http.MethodPost, "/v1/promotions", object{"factory_id": s.seller, "product_ids": []string{s.shoe},
		"name": "Sale", "discount": object{"kind": "amount", "value": 4000},
		"ends_at": w.Now().AddDate(0, 0, 20)}).
		Into(t, http.StatusCreated, &sale)
	w.composed = nil
	it := w.generated("product_id", s.shoe)
	offer := w.composed[0].(generate.Picture).Offer
	if offer.Was == nil || offer.Was.Amount != 12900 || offer.Price.Amount != 10900 {
		t.Errorf("it shows %v, before %v", offer.Price, offer.Was)
	}
	// The writer is told that price, and the guards permit the percentage that follows from it.
	asked := w.provider.requests[len(w.provider.requests)-1]
	for _, r := range w.provider.requests {
		if r.Kind == provider.KindText {
			asked = r
		}
	}
	if !strings.Contains(asked.User, "€129") || strings.Contains(asked.User, "149") {
		t.Errorf("the writer is told %s", asked.User)
	}
	w.provider.write = func(_ provider.Request, text *provider.Text) { text.Caption = "Jetzt 15 % billiger." }
	if got := w.generated("product_id", s.shoe); got.State != item.Generated {
		t.Errorf("15 %% of 129.00: %+v", got.Failure)
	}
	w.provider.write = func(_ provider.Request, text *provider.Text) { text.Caption = "Jetzt 26 % billiger." }
	if got := w.generated("product_id", s.shoe); len(got.Approval.Reasons) == 0 {
		t.Errorf("26 %% of 149.00: %s %+v", got.State, got.Approval)
	}
	// A promotion in percent of a price that was raised since is refused before it costs, and before it is published.
	w.provider.write = nil
	s.Call(http.MethodPatch, "/v1/promotions/"+sale.ID, object{"state": "ended"}).Into(t, http.StatusOK, new(object))
	w.Clock.Add(31 * 24 * time.Hour)
	s.Call(http.MethodPost, "/v1/promotions", object{"factory_id": s.seller, "product_ids": []string{s.shoe},
		"name": "Twenty", "discount": object{"kind": "percent", "value": 20},
		"ends_at": w.Now().AddDate(0, 0, 20)}).
		Into(t, http.StatusCreated, &sale)
	it = w.generated("product_id", s.shoe)
	w.Call(http.MethodPost, path(it.ID, "schedule"), object{"publish_at": w.Now().Add(time.Hour)}).
		Into(t, http.StatusOK, &it)
	s.reprice(19900)
	w.refusedBy(law.PriorPrice, "/promotion_id", "/v1/content-items", w.body("product_id", s.shoe))
	w.Clock.Add(time.Hour)
	w.work()
	if got := w.get(it.ID); got.State != item.Published { // it shows the earlier price
		t.Errorf("%s %+v", got.State, got.Publications)
	}
}

func TestAStruckPriceThatIsNotLawfulIsNotPublished(t *testing.T) {
	w := newWorld(t)
	s := newShop(w)
	w.factory = s.seller
	w.inRegion("CH")
	w.attach(w.connect("telegram"))
	w.Clock.Add(24 * time.Hour)
	s.reprice(14900)
	w.Clock.Add(24 * time.Hour)
	s.Call(http.MethodPost, "/v1/promotions", object{"factory_id": s.seller, "product_ids": []string{s.shoe},
		"name": "Sale", "discount": object{"kind": "amount", "value": 4000},
		"ends_at": w.Now().AddDate(0, 0, 20)}).
		Into(t, http.StatusCreated, new(object))
	w.composed = nil
	it := w.generated("product_id", s.shoe)
	if was := w.composed[0].(generate.Picture).Offer.Was; was == nil || was.Amount != 14900 {
		t.Errorf("in Switzerland it shows %v", was)
	}
	at := w.Now().Add(time.Hour)
	w.Call(http.MethodPost, path(it.ID, "schedule"), object{"publish_at": at}).Into(t, http.StatusOK, &it)
	w.inRegion("DE")
	w.refusedBy(law.PriorPrice, "/promotion_id", path(it.ID, "schedule"), object{"publish_at": at})
	w.Clock.Add(time.Hour)
	w.work()
	if got := w.get(it.ID); got.State != item.Failed || got.Publications[0].Failure.Code != "rule_violated" {
		t.Errorf("%s %+v", got.State, got.Publications)
	}
}

func TestAutomaticPublishingLeavesOutForbiddenAccounts(t *testing.T) {
	w := newWorld(t)
	instagram, telegram := w.connect("instagram"), w.connect("telegram")
	w.attach(instagram, telegram)
	w.inRegion("RU", "ad_marking", marking, "auto_publish", true)
	it := w.generated()
	w.work()
	got := w.get(it.ID)
	if got.State != item.Published || len(got.Publications) != 1 || got.Publications[0].SocialAccountID != telegram ||
		len(got.OmittedAccounts) != 1 || got.OmittedAccounts[0].Code != "rule_violated" {
		t.Errorf("%s %+v, without %+v", got.State, got.Publications, got.OmittedAccounts)
	}
}

// The region of a factory goes before that of its profile.
func TestTheRegionOfAProfile(t *testing.T) {
	w := newWorld(t)
	now, country := w.Now(), "RU"
	r := profile.Record{Profile: profile.Profile{Resource: resource.New(id.New(id.Profile, now), now, nil), Name: "Client",
		Legal: profile.Legal{Region: &country, AdMarking: &profile.AdMarking{Advertiser: "ООО Клиент",
			TaxID: "7707083893", ERID: "abc"}}}}
	o := w.Principal.Owner.Of(tenant.Profile(r.ID))
	entry, err := r.Item(o)
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Create(entry, nil)
	ledger.OpenPurse(tx, o, ledger.Bounds{})
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	w.factory = w.makeFactory(object{"type": "blogger", "name": "Blog", "profile_id": r.ID})
	it := w.generated()
	if it.AdMarking == nil || it.AdMarking.Advertiser != "ООО Клиент" {
		t.Errorf("%+v", it.AdMarking)
	}
	region := func(itemID string) string {
		t.Helper()
		stored, err := w.DB.Get(t.Context(), store.IDKey(itemID))
		if err != nil {
			t.Fatal(err)
		}
		r, err := item.Decode(&stored)
		if err != nil {
			t.Fatal(err)
		}
		return r.Brief.Region
	}
	if got := region(it.ID); got != "RU" {
		t.Errorf("the region of the profile is %q", got)
	}
	w.inRegion("DE", "ad_marking", marking)
	if it = w.create(); it.AdMarking.Advertiser != "ООО «Ромашка»" {
		t.Errorf("%+v", it.AdMarking)
	}
	if got := region(it.ID); got != "DE" {
		t.Errorf("the region of the factory is %q", got)
	}
	if it = w.create("ad_marking", object{"advertiser": "Own", "tax_id": "500100732259"}); it.AdMarking.Advertiser != "Own" {
		t.Errorf("%+v", it.AdMarking)
	}
}

func TestADeepFakeNeedsItsLabel(t *testing.T) {
	w := newWorld(t)
	w.inRegion("FR")
	mine := w.own(w.Caller, picture(1080, 1350))
	own := func(members ...any) object {
		return with(object{"factory_id": w.factory, "kind": "post", "source": "provided", "caption": "Words",
			"media": []string{mine}, "ai_generated": true, "deep_fake": true}, members...)
	}
	w.Clock.Add(time.Date(2026, time.August, 2, 0, 0, 0, 0, time.UTC).Sub(w.Now()))
	w.refusedBy(law.DeepFakeLabel, "/deep_fake", "/v1/content-items", own())
	for _, body := range []object{own("labelled", true), own("deep_fake", false), own("fit", "pad")} {
		w.Call(http.MethodPost, "/v1/content-items", body).Into(t, http.StatusAccepted, new(item.Item))
	}
	w.composed = nil
	it := w.generated("deep_fake", true)
	if notice := w.composed[0].(generate.Picture).Notice; notice != law.Label("de") || !it.Labelled {
		t.Errorf("it shows %q, labelled %t", notice, it.Labelled)
	}
	// What was generated for another region has no label: it is generated again before it is scheduled.
	w.inRegion("US")
	it = w.generated("deep_fake", true)
	w.inRegion("FR")
	w.attach(w.connect("telegram"))
	body := object{"publish_at": w.Now().Add(time.Hour)}
	w.refusedBy(law.DeepFakeLabel, "/deep_fake", path(it.ID, "schedule"), body)
	w.Call(http.MethodPost, path(it.ID, "regenerate"), nil).Into(t, http.StatusAccepted, &it)
	w.doAttempt(it.ID, 2)
	w.Call(http.MethodPost, path(it.ID, "schedule"), body).Into(t, http.StatusOK, &it)
}
