package analytics_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

func (w *world) commit(add func(tx *store.Tx) error) {
	w.T.Helper()
	tx := &store.Tx{}
	if err := add(tx); err != nil {
		w.T.Fatal(err)
	}
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
}

// connect makes a social account of an owner, which publishes for the factory if it is that of the world.
func (w *world) connect(o tenant.Owner, name string) string {
	w.T.Helper()
	now := w.Now()
	r := &social.Record{PlatformID: "sandbox-" + name + "-1", Account: social.Account{
		Resource: resource.New(social.NewID(now), now, nil), Platform: name, State: social.Connected,
		FactoryIDs: []string{}}}
	if o == w.Principal.Owner {
		r.FactoryIDs = []string{w.factory}
	}
	it, err := r.Item(o)
	if err != nil {
		w.T.Fatal(err)
	}
	w.commit(func(tx *store.Tx) error {
		tx.Create(it, nil)
		if len(r.FactoryIDs) == 0 {
			return nil
		}
		factory, err := w.DB.Get(w.T.Context(), store.IDKey(w.factory))
		if err != nil {
			return err
		}
		_, err = factoryrecord.Attach(&factory, r.ID, now)
		tx.Replace(factory)
		return err
	})
	return r.ID
}

// post stores an item of an owner that was published at a time, and returns the id of the publication.
func (w *world) post(o tenant.Owner, kind item.Kind, accountID, name string, at time.Time, views, likes int64) string {
	w.T.Helper()
	r := w.entry(kind, accountID, name, at, views, likes)
	w.commit(func(tx *store.Tx) error { return r.Create(tx, o) })
	return r.Item.Publications[0].ID
}

// entry returns an item that was published at a time.
func (w *world) entry(kind item.Kind, accountID, name string, at time.Time, views, likes int64) *item.Record {
	when := resource.Instant(at)
	pub := item.Publication{Resource: resource.New(id.New(id.Publication, at), at, nil), SocialAccountID: accountID,
		Platform: name, State: item.PublicationPublished, PublishedAt: &when, Warnings: []item.PublicationWarning{},
		Metrics: &item.Metrics{Counts: item.Counts{Views: &views, Likes: &likes}, ReadAt: when}}
	return &item.Record{Item: item.Item{Resource: resource.New(id.New(id.ContentItem, at), at, nil),
		FactoryID: w.factory, Kind: kind, State: item.Published, Publications: []item.Publication{pub}}}
}

func (w *world) best(query string) (b analytics.BestTimes) {
	w.T.Helper()
	w.Call(http.MethodGet, "/v1/analytics/best-times?"+query, nil).Into(w.T, http.StatusOK, &b)
	return b
}

// The sandbox has earlier posts of each account, of which the evening is the best time.
func TestBestTimesInTheSandbox(t *testing.T) {
	w := newWorld(t)
	if b := w.best("factory_id=" + w.factory); b.Enough || b.Posts != 0 || b.Needed != 30 || len(b.Hours) != 0 {
		t.Errorf("without posts: %+v", b)
	}
	accountID := w.connect(w.Principal.Owner, "instagram")
	w.locate("Asia/Tokyo")
	for _, query := range []string{"factory_id=" + w.factory, "social_account_id=" + accountID} {
		b := w.best(query)
		if !b.Enough || b.Posts < 200 || b.Simulated < b.Posts || b.Timezone != "Asia/Tokyo" || len(b.Hours) < 20 {
			t.Fatalf("%s: %+v", query, b)
		}
		if again := w.best(query); fmt.Sprint(again.Hours[0].Low, len(again.Hours)) !=
			fmt.Sprint(b.Hours[0].Low, len(b.Hours)) {
			t.Error("the answers differ")
		}
		for i, h := range b.Hours {
			if h.Low > h.MeanEffect || h.MeanEffect > h.High || h.Posts < 3 || i > 0 && h.Low > b.Hours[i-1].Low {
				t.Errorf("%+v", h)
			}
		}
		// 18 and 19 o'clock in UTC.
		if first := b.Hours[0]; first.Hour != 3 && first.Hour != 4 || first.MeanEffect < 0.1 {
			t.Errorf("the best hour is %+v", first)
		}
	}
	b := w.best("factory_id=" + w.factory + "&timezone=UTC&metric=likes")
	effect, n := map[int]float64{}, map[int]float64{}
	for _, h := range b.Hours {
		effect[h.Hour] += h.MeanEffect * float64(h.Posts)
		n[h.Hour] += float64(h.Posts)
	}
	if b.Metric != "likes" || effect[19]/n[19] < 0.1 || effect[22]/n[22] > -0.1 {
		t.Errorf("in UTC, 19 o'clock has the effect %.2f, and 22 o'clock %.2f", effect[19]/n[19], effect[22]/n[22])
	}
}

// Thirty posts are enough, and twenty-nine are not. Only posts of the last 180 days count, that are a day old.
func TestBestTimesNeedPosts(t *testing.T) {
	w := newWorld(t)
	live := w.Live()
	o := live.Principal.Owner
	w.factory = w.makeFactory(live)
	best := func() (b analytics.BestTimes) {
		live.Call(http.MethodGet, "/v1/analytics/best-times?factory_id="+w.factory, nil).Into(t, http.StatusOK, &b)
		return b
	}
	now := w.Now()
	// Mondays at 09:00 are twice as good as other hours.
	first := platform.Midnight(now).AddDate(0, 0, -int(now.Weekday()+6)%7-7)
	for n := range 29 {
		at, likes := first.AddDate(0, 0, -7*(n%12)).Add(9*time.Hour), int64(40+n%3)
		if n%2 > 0 {
			at, likes = at.Add(time.Duration(n)*time.Hour), 20+int64(n%3)
		}
		w.post(o, item.Post, "soc_1", "vk", at, 1000, likes)
	}
	w.post(o, item.Post, "soc_1", "vk", now.AddDate(0, 0, -181), 1000, 10)
	w.post(o, item.Post, "soc_1", "vk", now.Add(-time.Hour), 1000, 10)
	w.post(o, item.Post, "soc_1", "vk", now.AddDate(0, 0, -2), 99, 10)
	if b := best(); b.Posts != 29 || b.Enough || len(b.Hours) != 0 || b.Simulated != 0 {
		t.Fatalf("%+v", b)
	}
	w.post(o, item.Post, "soc_1", "vk", first.Add(30*time.Hour), 1000, 20)
	b := best()
	if b.Posts != 30 || !b.Enough || len(b.Hours) != 1 {
		t.Fatalf("%+v", b)
	}
	h := b.Hours[0]
	if h.Weekday != "monday" || h.Hour != 9 || h.Posts != 15 || h.P == nil || !h.Significant || h.MeanEffect < 0.2 ||
		h.Low > h.MeanEffect || h.High < h.MeanEffect {
		t.Errorf("%+v", h)
	}
}

// All posts of the period count, also those of thousands of items. If there are too many for the time of a call, the
// answer says so, and has the latest ones.
func TestManyPosts(t *testing.T) {
	w := newWorld(t)
	now, many := w.Now(), 2300
	views, likes := int64(1000), int64(20)
	for n := 0; n < many; n += 50 {
		w.commit(func(tx *store.Tx) error {
			for i := n; i < n+50; i++ {
				r := w.entry(item.Post, "soc_1", "vk", now.Add(-25*time.Hour-time.Duration(i)*time.Hour), views, likes)
				if err := r.Create(tx, w.Principal.Owner); err != nil {
					return err
				}
			}
			return nil
		})
	}
	query := "from=" + now.AddDate(0, 0, -100).Format(time.DateOnly) +
		"&compare=hour&compare_a=1,2,3,4,5,6,7,8,9,10,11,12&compare_b=13,14,15,16,17,18,19,20,21,22,23,0"
	if b := w.best("factory_id=" + w.factory); b.Posts != many || !b.Complete {
		t.Errorf("%d posts, complete %v", b.Posts, b.Complete)
	}
	if c := w.compare(query); c.A.Posts+c.B.Posts != many || !c.Complete {
		t.Errorf("%d and %d posts, complete %v", c.A.Posts, c.B.Posts, c.Complete)
	}
	passed := time.Duration(0)
	slow := apitest.New(t, w.DB, &apitest.Log{}, w.Now, analytics.NewService(w.DB, func() time.Time {
		passed += 2 * time.Second // for each page
		return now.Add(passed)
	}))
	slow.Principal = w.Principal
	var b analytics.BestTimes
	slow.Call(http.MethodGet, "/v1/analytics/best-times?factory_id="+w.factory, nil).Into(t, http.StatusOK, &b)
	if b.Complete || b.Posts < 100 || b.Posts > 500 {
		t.Errorf("in too little time: %d posts, complete %v", b.Posts, b.Complete)
	}
	var a analytics.Analytics
	slow.Call(http.MethodGet, w.path("?"+query), nil).Into(t, http.StatusOK, &a)
	if a.Comparison.Complete || a.Comparison.A.Posts+a.Comparison.B.Posts > 500 {
		t.Errorf("in too little time: %+v", a.Comparison)
	}
}

func (w *world) compare(query string) *analytics.Comparison {
	w.T.Helper()
	return w.get("?" + query).Comparison
}

// Two sets are compared by each of the ways, and differ if they do.
func TestComparisons(t *testing.T) {
	w := newWorld(t)
	w.connect(w.Principal.Owner, "instagram")
	w.Clock.Add(24 * time.Hour)
	o := w.Principal.Owner
	if w.get("").Comparison != nil {
		t.Error("there is a comparison that nobody asked for")
	}
	from := "from=" + w.Now().AddDate(0, 0, -120).Format(time.DateOnly)
	c := w.compare(from + "&compare=kind&compare_a=video&compare_b=post,carousel")
	if c.Decision != "a" || c.A.Posts < 10 || c.B.Posts < 10 || *c.P >= 0.05 || *c.Low <= 0 || *c.High < *c.Difference ||
		*c.Superiority <= 0.5 || c.Simulated == 0 {
		t.Errorf("by kind: %+v", c)
	}
	c = w.compare(from + "&compare=hour&compare_a=22&compare_b=18,19")
	if c.Decision != "b" || *c.Difference >= 0 || *c.High >= 0 {
		t.Errorf("by hour: %+v", c)
	}
	now := w.Now()
	date := func(days int) string { return now.AddDate(0, 0, -days).Format(time.DateOnly) }
	c = w.compare("compare=period&compare_a=" + date(60) + ".." + date(31) + "&compare_b=" + date(30) + ".." + date(1))
	if c.A.Posts < 30 || c.B.Posts < 30 || c.P == nil {
		t.Errorf("by period: %+v", c)
	}
	var a, b []string
	for n := range 12 {
		at := now.AddDate(0, 0, -3-n)
		a = append(a, w.post(o, item.Post, "soc_1", "vk", at, 1000, int64(50+n)))
		b = append(b, w.post(o, item.Post, "soc_1", "vk", at.Add(time.Hour), 1000, int64(20+n)))
	}
	c = w.compare("compare=publications&compare_a=" + strings.Join(a, ",") + "&compare_b=" + strings.Join(b, ","))
	if c.Decision != "a" || c.A.Posts != 12 || c.B.Posts != 12 || *c.A.Median != 0.0555 || *c.Superiority != 1 {
		t.Errorf("by publications: %+v", c)
	}
	c = w.compare("compare=publications&compare_a=" + strings.Join(a[:9], ",") + "&compare_b=" + strings.Join(b, ","))
	if c.Decision != "no_decision" || c.P != nil || c.Difference != nil || c.A.Posts != 9 || c.Needed != 10 {
		t.Errorf("of nine: %+v", c)
	}
	c = w.compare(from + "&compare=platform&compare_a=vk&compare_b=instagram&metric=views")
	if c.A.Posts != 24 || c.Decision != "b" || *c.A.Median != 1000 {
		t.Errorf("by platform: %+v", c)
	}
}

// What nobody can compare is refused, with the parameter.
func TestBadComparisonsAndTimes(t *testing.T) {
	w := newWorld(t)
	pub := id.New(id.Publication, w.Now())
	analyticsOf := w.path("") + "?"
	const best, accounts = "/v1/analytics/best-times?", "/v1/analytics/accounts?"
	own := w.connect(w.Principal.Owner, "instagram")
	for query, param := range map[string]string{
		analyticsOf + "compare=kind":                                                                            "compare_a",
		analyticsOf + "compare_a=video&compare_b=post":                                                          "compare_a",
		analyticsOf + "compare=kind&compare_a=video":                                                            "compare_b",
		analyticsOf + "compare=colour&compare_a=red&compare_b=blue":                                             "compare",
		analyticsOf + "compare=kind&compare_a=video&compare_b=film":                                             "compare_b",
		analyticsOf + "compare=kind&compare_a=video,post&compare_b=post":                                        "compare_b",
		analyticsOf + "compare=kind&compare_a=video,&compare_b=post":                                            "compare_a",
		analyticsOf + "compare=platform&compare_a=myspace&compare_b=vk":                                         "compare_a",
		analyticsOf + "compare=hour&compare_a=24&compare_b=1":                                                   "compare_a",
		analyticsOf + "compare=hour&compare_a=09&compare_b=9":                                                   "compare_b",
		analyticsOf + "compare=hour&compare_a=-1&compare_b=9":                                                   "compare_a",
		analyticsOf + "compare=period&compare_a=2026-10-01&compare_b=9":                                         "compare_a",
		analyticsOf + "compare=period&compare_a=2026-10-09..2026-10-01&compare_b=2026-11-01..2026-11-02":        "compare_a",
		analyticsOf + "compare=period&compare_a=2026-10-01..2026-10-09&compare_b=2026-10-09..2026-10-10":        "compare_b",
		analyticsOf + "compare=period&compare_a=2024-10-01..2024-10-09&compare_b=2026-10-09..2026-10-10":        "compare_b",
		analyticsOf + "compare=publications&compare_a=" + pub + "&compare_b=pub_x":                              "compare_b",
		analyticsOf + "compare=publications&compare_a=" + pub + "&compare_b=" + id.New(id.Publication, w.Now()): "compare_a",
		analyticsOf + "compare=kind&compare_a=video&compare_b=post&metric=applause":                             "metric",
		best: "factory_id",
		best + "factory_id=" + w.factory + "&social_account_id=" + own: "social_account_id",
		best + "factory_id=" + w.factory + "&timezone=Mars/Olympus":    "timezone",
		best + "factory_id=" + w.factory + "&metric=luck":              "metric",
		accounts: "social_account_id",
		accounts + "social_account_id=" + own + "&from=2026-02-02&to=2026-02-01": "from",
		accounts + "social_account_id=" + own + "&from=2024-02-02&to=2026-02-01": "from",
		accounts + "social_account_id=" + own + "&from=yesterday":                "from",
		accounts + "social_account_id=" + own + "&to=2026-02-30":                 "to",
	} {
		w.Call(http.MethodGet, query, nil).Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, param)
	}
}

// Factories and accounts of others are not found, and neither are those of another profile.
func TestFiguresOfOthers(t *testing.T) {
	w := newWorld(t)
	own := w.connect(w.Principal.Owner, "instagram")
	other := w.connect(w.Principal.Owner.Of("prf_other"), "instagram")
	bound := w.As(func(p *auth.Principal) { p.Profiles = []tenant.Profile{"prf_bound"} })
	for name, caller := range map[string]*apitest.Caller{"a stranger": w.Stranger(), "a live key": w.Live(), "a key of a profile": bound} {
		for _, query := range []string{"best-times?factory_id=" + w.factory, "best-times?social_account_id=" + own,
			"accounts?social_account_id=" + own, "accounts?social_account_id=" + other,
			"best-times?social_account_id=" + other} {
			if a := caller.Call(http.MethodGet, "/v1/analytics/"+query, nil); a.Status != http.StatusNotFound {
				t.Errorf("%s: %s: %d", name, query, a.Status)
			}
		}
	}
	for _, nonsense := range []string{"nonsense", strings.Repeat("x", 3000)} { // longer than a key may be
		if a := w.Call(http.MethodGet, "/v1/analytics/accounts?social_account_id="+nonsense, nil); a.Status !=
			http.StatusUnprocessableEntity {
			t.Errorf("%.10s: %d", nonsense, a.Status)
		}
	}
}

// The figures of an account are listed by day in pages, and as a file without formulas.
func TestFiguresOfAnAccount(t *testing.T) {
	w := newWorld(t)
	accountID := w.connect(w.Principal.Owner, "instagram")
	today := platform.Midnight(w.Now())
	var days []platform.Day
	for n := range 45 {
		if n == 40 {
			continue // a day without figures
		}
		days = append(days, platform.Day{Date: today.AddDate(0, 0, n-44), Followers: platform.Count(int64(1000 + n)),
			Metrics: platform.Metrics{Reach: platform.Count(int64(n))}})
	}
	w.commit(func(tx *store.Tx) error {
		return social.KeepDays(t.Context(), w.DB, tx, w.Principal.Owner, accountID, days)
	})
	path := "/v1/analytics/accounts?social_account_id=" + accountID
	all := apitest.All[analytics.AccountDay](w.Caller, path, 10)
	if len(all) != 29 || all[28].Day != today.Format(time.DateOnly) || *all[28].Followers != 1044 ||
		*all[28].Reach != 44 || all[28].Views != nil || all[28].Gained != nil {
		t.Fatalf("there are %d days: %+v", len(all), all)
	}
	a := w.Call(http.MethodGet, path+"&limit=1&from="+days[0].Date.Format(time.DateOnly), nil, "Accept", "text/csv")
	lines, err := csv.NewReader(strings.NewReader(a.Raw)).ReadAll()
	if err != nil || a.Status != http.StatusOK || len(lines) != 45 || lines[0][0] != "day" ||
		a.Header.Get("Content-Type") != "text/csv; charset=utf-8" ||
		!strings.Contains(a.Header.Get("Content-Disposition"), "account-metrics.csv") {
		t.Fatalf("%v, %v: %d lines: %v", err, a.Header, len(lines), lines)
	}
	// A list without a file stays JSON, with its pages.
	a = w.Call(http.MethodGet, "/v1/factories?limit=1", nil, "Accept", "text/csv")
	if a.Status != http.StatusOK || a.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%v", a.Header)
	}
}
