package plan_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/base/errs"
)

// local is the time of a topic in a zone.
func local(t plan.Topic, zone string) time.Time {
	at, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	return t.PublishAt.In(at)
}

// A product on offer is announced the day before, shown while the offer lasts and on its last day, and never after it:
// also one whose offer begins during the plan, and one that is older than the newest products.
func TestPromotionsMakeSlots(t *testing.T) {
	w := newWorld(t)
	s := w.open()
	var all, promoted []string
	for i := range 55 { // the first ones are not among the newest
		all = append(all, w.sell(s, fmt.Sprintf("Boot %02d", i)))
	}
	promoted = all[:4]
	s.Call(http.MethodPost, "/v1/promotions", object{"factory_id": w.factory, "product_ids": promoted, "name": "Spring sale",
		"discount":  object{"kind": "percent", "value": 20},
		"starts_at": "2026-05-10T00:00:00+02:00", "ends_at": "2026-05-18T00:00:00+02:00"}).
		Into(t, http.StatusCreated, new(any))
	w.create("days", 30, "posts_per_day", 1, "approve", "topics", "timezone", "Europe/Berlin")
	p := w.until(plan.Proposed)
	shown := map[string]int{}
	during, inWindow, announced, ended := 0, 0, false, false
	for _, topic := range p.Calendar {
		day := local(topic, "Europe/Berlin").Format(time.DateOnly)
		inside := day >= "2026-05-10" && day <= "2026-05-17"
		onSale := slices.Contains(promoted, string(topic.ProductID))
		if topic.ProductID != "" && inside {
			during++
		}
		if !onSale {
			continue
		}
		shown[string(topic.ProductID)]++
		switch {
		case day == "2026-05-09" || day == "2026-05-08" || day == "2026-05-07":
			announced = strings.Contains(string(topic.Occasion), "Spring sale begins on 10 May 2026")
		case !inside:
			t.Errorf("%s is shown on %s, outside of its offer", topic.ProductID, day)
		default:
			inWindow++
			ended = ended || day == "2026-05-17" && strings.Contains(string(topic.Occasion), "ends today")
			if !strings.Contains(string(topic.Occasion), "Spring sale, 20 % off") {
				t.Errorf("on %s, the occasion is %q", day, topic.Occasion)
			}
		}
	}
	if len(shown) != 4 || during == 0 || inWindow != during || !announced || !ended {
		t.Errorf("shown %v, %d of %d product slots of the offer; announced %v, last day %v", shown, inWindow, during,
			announced, ended)
	}
}

// Offers of the same days share the slots that announce, begin and end them.
func TestOffersOfTheSameDaysTakeTurns(t *testing.T) {
	w := newWorld(t)
	s := w.open()
	for _, name := range []string{"Boot", "Shoe", "Sock"} {
		s.Call(http.MethodPost, "/v1/promotions", object{"factory_id": w.factory, "product_ids": []string{w.sell(s, name)},
			"name": "Sale of " + name, "discount": object{"kind": "percent", "value": 20},
			"starts_at": "2026-05-03T00:00:00Z", "ends_at": "2026-05-06T00:00:00Z"}).Into(t, 201, new(any))
	}
	w.create("days", 7, "posts_per_day", 1, "approve", "topics", "timezone", "UTC")
	told := map[string]int{}
	for _, topic := range w.until(plan.Proposed).Calendar {
		if name, _, _ := strings.Cut(string(topic.Occasion), ","); strings.HasPrefix(name, "Sale") {
			name, _, _ = strings.Cut(name, " begins on")
			told[name]++
		}
	}
	if len(told) != 3 {
		t.Errorf("told are %v", told)
	}
}

// A code that is of no country would have no holidays, and nobody would see why.
func TestTheCountryOfAPlanExists(t *testing.T) {
	w := newWorld(t)
	for _, code := range []string{"UK", "EU", "XX"} {
		w.Call(http.MethodPost, w.path(), body("country", code)).Refused(t, 422, errs.ValidationFailed, "/country")
	}
	if p := w.create("country", "GB", "approve", "topics"); p.Country != "GB" {
		t.Errorf("the country is %s", p.Country)
	}
}

// Two pillars, or two campaigns, of one name would be taken for one.
func TestNamesOfAPlanDiffer(t *testing.T) {
	w := newWorld(t)
	campaign := func(name string) object { return object{"name": name, "item_count": 2} }
	for param, members := range map[string][]any{
		"/pillars/1/name":   {"pillars", []object{{"name": "Shoes"}, {"name": "shoes "}}},
		"/campaigns/1/name": {"campaigns", []object{campaign("Launch"), campaign("LAUNCH")}},
	} {
		w.Call(http.MethodPost, w.path(), body(members...)).Refused(t, 422, errs.ValidationFailed, param)
	}
	w.factory = w.makeFactory("topics", []string{"Laufen", "laufen", "Schuhe"})
	if p := w.create("approve", "topics"); len(p.Pillars) != 2 {
		t.Errorf("the pillars are %v", p.Pillars)
	}
}

// A plan for a shop whose only product was on offer goes without a product after it.
func TestASingleProductRestsAfterItsOffer(t *testing.T) {
	w := newWorld(t)
	s := w.open()
	boot := w.sell(s, "Boot")
	s.Call(http.MethodPost, "/v1/promotions", object{"factory_id": w.factory, "product_ids": []string{boot},
		"name": "Spring sale", "discount": object{"kind": "percent", "value": 20},
		"starts_at": "2026-05-03T00:00:00Z", "ends_at": "2026-05-06T00:00:00Z"}).Into(t, http.StatusCreated, new(any))
	w.create("days", 14, "posts_per_day", 1, "product_share", 100, "approve", "topics", "timezone", "UTC")
	for _, topic := range w.until(plan.Proposed).Calendar {
		day := topic.PublishAt.Format(time.DateOnly)
		if topic.ProductID != "" && day >= "2026-05-06" {
			t.Errorf("it is shown on %s", day)
		}
	}
}

// The dates of a brief make slots: a week before, the day before, the morning and the day after. Nothing else of the
// day is about anything else.
func TestDatesOfABriefMakeSlots(t *testing.T) {
	w := newWorld(t)
	w.factory = w.makeFactory("name", "Boulangerie Martin", "language", "fr", "description", "Une boulangerie à Lyon",
		"topics", []string{"pain", "viennoiseries", "portes ouvertes"})
	w.create("days", 20, "posts_per_day", 2, "approve", "topics", "timezone", "Europe/Paris", "brief",
		"Le mois de mai. Portes ouvertes le samedi 16 mai à 10h00, pour les enfants du quartier.")
	p := w.until(plan.Proposed)
	got := map[string][]string{}
	for _, topic := range p.Calendar {
		at := local(topic, "Europe/Paris")
		if strings.HasPrefix(string(topic.Occasion), "Portes ouvertes le samedi 16 mai") {
			_, told, _ := strings.Cut(string(topic.Occasion), " (")
			got[at.Format("01-02")] = append(got[at.Format("01-02")], strings.TrimSuffix(told, ")"))
			if topic.Pillar != "portes ouvertes" || !strings.HasPrefix(topic.Topic, "Portes ouvertes") {
				t.Errorf("on %s, the pillar is %q and the topic %q", at, topic.Pillar, topic.Topic)
			}
			if at.Format("01-02") == "05-16" && told == "today)" && at.Hour() >= 9 {
				t.Errorf("the invitation is at %s", at)
			}
		} else if at.Format("01-02") == "05-16" {
			t.Errorf("on the day, %+v", topic)
		}
	}
	want := "map[05-09:[in 7 days] 05-15:[tomorrow] 05-16:[today today, it has begun] 05-17:[yesterday]]"
	if fmt.Sprint(got) != want {
		t.Errorf("told %v, want %s", got, want)
	}
	if q := w.writer.asked[0]; len(q.Dates) != 1 || !strings.HasPrefix(q.Dates[0], "2026-05-16: Portes ouvertes") {
		t.Errorf("the planner is told the dates %q", q.Dates)
	}
}

// Businesses whose readers are at work leave out weekends and holidays, unless somebody says otherwise, and the times
// of day are those of the business.
func TestDaysAndTimesOfABusiness(t *testing.T) {
	w := newWorld(t)
	month := func(factory string, members ...any) (days map[time.Weekday]int, hours map[int]int, p plan.Plan) {
		w.factory, days, hours = factory, map[time.Weekday]int{}, map[int]int{}
		w.create(append([]any{"days", 28, "posts_per_day", 1, "approve", "topics", "starts_on", "2026-12-07",
			"replace", true}, members...)...)
		p = w.until(plan.Proposed)
		for _, topic := range p.Calendar {
			at := local(topic, p.Timezone)
			days[at.Weekday()]++
			hours[at.Hour()]++
		}
		return days, hours, p
	}
	law := w.makeFactory("type", "expert", "name", "Kancelaria Nowak", "language", "pl",
		"settings", object{"field": "prawo pracy"}, "description", "Kancelaria prawna w Warszawie")
	days, hours, p := month(law)
	if len(p.Calendar) != 17 || days[time.Saturday]+days[time.Sunday] != 0 || hours[8] != 17 ||
		p.Items.Total != 17 || p.SilentDays[0] != "holidays" || len(p.Weekdays) != 5 {
		t.Errorf("a law firm publishes on %v at %v: %+v", days, hours, p)
	}
	for _, topic := range p.Calendar {
		if day := local(topic, p.Timezone).Format("01-02"); day == "12-25" || day == "01-01" || day == "12-24" {
			t.Errorf("a law firm publishes on %s", day)
		}
	}
	days, _, p = month(law, "weekdays", []string{"saturday", "monday"}, "silent_days", []string{"2026-12-12", "12-28"})
	if len(p.Calendar) != 6 || days[time.Saturday] != 3 || days[time.Monday] != 3 {
		t.Errorf("with days of its own: %v", days)
	}
	bakery := w.makeFactory("type", "brand", "name", "Boulangerie Martin", "language", "fr",
		"settings", object{"brand_name": "Martin"}, "schedule", nil)
	if days, hours, p = month(bakery); len(p.Calendar) != 28 || hours[7]+hours[8] != 28 || hours[7] < 20 {
		t.Errorf("a bakery publishes on %v at %v", days, hours)
	}
	scheduled := w.makeFactory("schedule", object{"timezone": "Europe/Berlin", "times": []string{"09:00"},
		"weekdays": []string{"tuesday", "thursday"}, "silent_days": []string{"holidays", "12-24"}})
	if days, _, p = month(scheduled); len(p.Calendar) != 7 || days[time.Tuesday] != 4 || days[time.Thursday] != 3 {
		t.Errorf("by its schedule: %v", days)
	}
	w.Call(http.MethodPost, w.path(), body("days", 1, "starts_on", "2026-12-07", "replace", true)).
		Refused(t, 422, errs.ValidationFailed, "/days")
	for param, members := range map[string][]any{"/weekdays/0": {"weekdays", []string{"mon"}},
		"/silent_days/0": {"silent_days", []string{"2026-02-30"}}} {
		w.Call(http.MethodPost, w.path(), body(members...)).Refused(t, 422, errs.ValidationFailed, param)
	}
	// An event on a day of rest opens it, and a plan of a weekend alone is not empty.
	if _, _, p = month(law, "brief", "Dzień otwarty w sobotę 12 grudnia o 10:00"); len(p.Calendar) != 18 {
		t.Errorf("with an event on Saturday, %d topics", len(p.Calendar))
	}
	if _, _, p = month(law, "days", 2, "starts_on", "2026-12-12"); len(p.Calendar) != 2 {
		t.Errorf("on a weekend, %d topics", len(p.Calendar))
	}
}

// A seller without topics has pillars in its language.
func TestASellerWithoutTopicsHasPillars(t *testing.T) {
	w := newWorld(t)
	w.open()
	w.create("days", 5, "approve", "topics")
	p := w.until(plan.Proposed)
	for _, topic := range p.Calendar {
		if topic.Pillar == "" {
			t.Errorf("%+v has no pillar", topic)
		}
	}
	if len(p.Pillars) != 5 || p.Pillars[0].Name != "Neu im Sortiment" {
		t.Errorf("pillars are %+v", p.Pillars)
	}
}

// Videos are stills unless the caller, the factory or the brief wants motion, and all of their options are kept.
func TestVideosOfAPlan(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	day := 0
	estimate := func(members ...any) plan.Plan {
		day++
		var p plan.Plan
		w.Call(http.MethodPost, w.path(), body(append([]any{"content_types", []string{"short_video"}, "posts_per_day", 1,
			"days", 1, "starts_on", time.Date(2026, 6, day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
			"approve", "topics"}, members...)...)).Into(t, http.StatusAccepted, &p)
		w.Clock.Add(time.Second)
		return p
	}
	stills, clips := estimate(), estimate("visuals", "clips")
	if stills.Visuals != "stills" || clips.Visuals != "clips" || 5*stills.CostEstimate > clips.CostEstimate {
		t.Errorf("%d credits with stills, %d with clips", stills.CostEstimate, clips.CostEstimate)
	}
	for brief, want := range map[string]string{"Short clips of the oven": "clips", "No clips, please": "stills",
		"Bewegung tut gut": "stills", "Ohne Animationen": "stills", "Mit Animationen": "clips", "动画短片": "clips"} {
		if p := estimate("brief", brief); p.Visuals != want {
			t.Errorf("%q: %s", brief, p.Visuals)
		}
	}
	if p := estimate("music", "generated", "duration_seconds", 40); p.Music != "generated" || *p.DurationSeconds != 40 ||
		p.CostEstimate <= stills.CostEstimate {
		t.Errorf("%+v", p)
	}
	w.Call(http.MethodPost, w.path(), body("duration_seconds", 90, "content_types", []string{"short_video"})).
		Refused(t, 422, errs.ValidationFailed, "/duration_seconds")
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"visuals": "clips", "duration_seconds": 12}).
		Into(t, http.StatusOK, new(any))
	if p := estimate(); p.Visuals != "clips" || *p.DurationSeconds != 12 || p.CostEstimate >= clips.CostEstimate {
		t.Errorf("by the factory: %+v", p)
	}
	p := estimate("visuals", "stills", "music", "generated", "duration_seconds", 15, "approve", "none")
	w.engine.Drain()
	it := w.items(p.ID)[0]
	if *it.Visuals != "stills" || *it.Music != "generated" || *it.DurationSeconds != 15 {
		t.Errorf("the item is %+v", it)
	}
}

// A bakery's month of thirty posts with videos costs less than 700 credits.
func TestAMonthOfABakeryIsAffordable(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	var f struct{ ID string }
	w.Call(http.MethodPost, "/v1/factories", object{"type": "brand", "name": "Boulangerie Martin", "language": "fr",
		"settings": object{"brand_name": "Martin"}, "topics": []string{"pain", "viennoiseries", "équipe"}}).
		Into(t, http.StatusCreated, &f)
	w.factory = f.ID
	p := w.create("days", 30, "posts_per_day", 1, "approve", "topics",
		"content_types", []string{"short_video", "post", "carousel", "story"})
	p = w.until(plan.Proposed)
	videos := 0
	for _, topic := range p.Calendar {
		if topic.ContentType == "short_video" {
			videos++
		}
	}
	if p.CostEstimate >= 700 || videos < 7 {
		t.Errorf("%d credits for %d videos", p.CostEstimate, videos)
	}
}
