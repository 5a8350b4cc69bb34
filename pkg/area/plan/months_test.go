package plan_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/plan"
)

var update = flag.Bool("update", false, "write the months of testdata anew")

// month is a plan that is printed as a grid, for a strategist to read.
type month struct {
	name            string
	factory, planed object
	// shop fills the catalog of a seller.
	shop func(w *world, s *apitest.Caller)
}

// months are the plans of five clients.
var months = []month{
	{name: "bakery-lyon", factory: object{"type": "brand", "name": "Boulangerie Martin", "language": "fr", "region": "FR",
		"description": "Une boulangerie de quartier à Lyon", "settings": object{"brand_name": "Boulangerie Martin"},
		"topics": []string{"Le pain au levain", "Viennoiseries", "L'équipe", "La vie du quartier", "Fêtes de fin d'année"}},
		planed: object{"days": 30, "posts_per_day": 1, "starts_on": "2026-12-01",
			"content_types": []string{"short_video", "post", "carousel", "story"},
			"brief": "Décembre à la boulangerie. Portes ouvertes le samedi 12 décembre à 10h00 : les enfants pétrissent " +
				"leur pain. Fermé les 25 et 26 décembre."}},
	{name: "law-warsaw", factory: object{"type": "expert", "name": "Kancelaria Nowak", "language": "pl", "region": "PL",
		"description": "Kancelaria prawa pracy w Warszawie", "audience": "działy kadr i przedsiębiorcy",
		"settings": object{"field": "Prawo pracy"},
		"topics":   []string{"Umowy o pracę", "Urlopy", "Praca zdalna", "Zwolnienia"}},
		planed: object{"days": 30, "posts_per_day": 1, "starts_on": "2026-12-01", "content_types": []string{"post", "carousel"},
			"brief": "Koniec roku w kadrach. Bezpłatne szkolenie online 10 grudnia o 11:00."}},
	{name: "games-seoul", factory: object{"type": "entertainment", "name": "달빛 게임", "language": "ko", "region": "KR",
		"description": "서울의 인디 게임 스튜디오", "topics": []string{"캐릭터", "개발 일지", "게임 음악", "출시"}},
		planed: object{"days": 30, "posts_per_day": 2, "starts_on": "2026-12-01",
			"content_types": []string{"short_video", "post", "carousel"},
			"brief":         "12월 17일 18시 새 게임 출시. 출시 전까지 기대를 모은다.",
			"campaigns": []object{{"name": "출시 카운트다운", "about": "게임을 찜 목록에 넣어 달라고 부탁한다",
				"item_count": 4, "starts_on": "2026-12-03", "ends_on": "2026-12-16"}}}},
	{name: "retailer-40", factory: object{"type": "seller", "name": "Nordlauf", "language": "de", "region": "DE",
		"description": "Ein Laden für Laufschuhe", "settings": object{"currency": "EUR"}},
		planed: object{"days": 30, "posts_per_day": 2, "starts_on": "2026-12-01",
			"content_types": []string{"short_video", "post", "carousel"}, "brief": "Der Dezember im Laden"},
		shop: func(w *world, s *apitest.Caller) {
			var ids []string
			for i := range 40 {
				ids = append(ids, w.sell(s, fmt.Sprintf("Schuh %02d", i+1)))
			}
			s.Call(http.MethodPost, "/v1/promotions", object{"factory_id": w.factory, "product_ids": ids[:12],
				"name": "Winteraktion", "discount": object{"kind": "percent", "value": 20},
				"starts_at": "2026-12-07T00:00:00+01:00", "ends_at": "2026-12-21T00:00:00+01:00"}).
				Into(w.T, http.StatusCreated, new(any))
		}},
	{name: "news-hamburg", factory: object{"type": "news", "name": "Hafenblick", "language": "de", "region": "DE",
		"topics": []string{"Hafen", "Verkehr", "Wetter"}, "settings": object{"sources": []object{
			{"url": "https://example.com/feed", "kind": "feed"}}}},
		planed: object{"days": 30, "posts_per_day": 3, "starts_on": "2026-12-01", "content_types": []string{"post", "story"}}},
}

// The months of five clients are as they were read: the test prints them as grids with their prices.
func TestMonths(t *testing.T) {
	for _, m := range months {
		w := newWorld(t)
		var members []any
		for name, value := range m.factory {
			members = append(members, name, value)
		}
		w.factory = w.makeFactory(append(members, "quality", "standard")...)
		if m.shop != nil {
			own := w.factory
			s := w.open()
			w.factory = own
			m.shop(w, s)
		}
		price := func(visuals string) (p plan.Plan) {
			b := with(m.planed, "approve", "topics", "replace", true)
			if visuals != "" {
				b["visuals"] = visuals
			}
			w.Call(http.MethodPost, w.path(), b).Into(t, http.StatusAccepted, &p)
			w.Clock.Add(time.Second)
			return p
		}
		clips := price("clips").CostEstimate
		price("")
		p := w.until(plan.Proposed)
		got := grid(p, clips)
		file := filepath.Join("testdata", "months", m.name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil || got != string(want) {
			t.Errorf("%s has changed: read it anew with go test ./pkg/area/plan -run TestMonths -update (%v)", m.name, err)
		}
	}
}

// grid prints a plan as its client would read it.
func grid(p plan.Plan, clips int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d items, %d credits with %s, %d with clips. On %s, silent on %s, in %s.\n", p.Items.Total,
		p.CostEstimate, p.Visuals, clips, strings.Join(p.Weekdays, " "), strings.Join(p.SilentDays, " "), p.Timezone)
	for _, topic := range p.Calendar {
		at := local(topic, p.Timezone)
		about := []string{at.Format("Mon 02 Jan 15:04"), topic.ContentType, string(topic.Pillar)}
		for _, text := range []string{string(topic.Occasion), string(topic.Campaign), topic.Topic} {
			if text != "" {
				about = append(about, text)
			}
		}
		fmt.Fprintln(&b, strings.Join(about, " | "))
	}
	return b.String()
}
