package advice

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// well are the facts of a factory that nothing is wrong with: three months old, with an
// item each day.
func well() Facts {
	f := Facts{Now: now, Factory: Factory{
		CreatedAt: now.Add(-90 * day), Active: true, Description: "Shoes", Audience: "Runners", Tone: "warm",
		Topics: []string{"shoes", "training", "food"}, ContentTypes: []string{"post", "story"},
		Zone: time.UTC, Times: 1,
	}}
	for i := range 60 {
		at := now.Add(-time.Duration(i)*day - time.Hour)
		f.Items = append(f.Items, Item{Kind: []string{"post", "story"}[i%2], State: "generated", Caption: "A shoe",
			CreatedAt: at, MadeAt: at})
	}
	return f
}

// codes returns the findings in short.
func codes(findings []Finding) (all []string) {
	for _, f := range findings {
		text := fmt.Sprint(f.Code, " ", f.Severity)
		if f.Subject != nil {
			text += " " + *f.Subject
		}
		all = append(all, text)
	}
	return all
}

func TestAWellRunFactoryHasNoFindings(t *testing.T) {
	if found := Find(well()); len(found) != 0 || Score(found) != 100 {
		t.Errorf("found %v", codes(found))
	}
}

func TestFindings(t *testing.T) {
	fail := func(f *Facts, n int, kind, code string) {
		for i := range f.Items {
			if it := &f.Items[i]; n > 0 && it.State == "generated" && (kind == "" || it.Kind == kind) {
				it.State, it.Failure, it.MadeAt = "failed", code, time.Time{}
				n--
			}
		}
	}
	age := func(f *Facts, days int) {
		f.Items = slices.DeleteFunc(f.Items,
			func(it Item) bool { return it.CreatedAt.After(now.Add(-time.Duration(days) * day)) })
	}
	plan := func(f *Facts, planned, late int) {
		for i := range planned {
			f.Items[i].PublishAt = f.Items[i].MadeAt.Add(time.Minute)
			if i < late {
				f.Items[i].PublishAt = f.Items[i].MadeAt.Add(-time.Minute)
			}
		}
	}
	publish := func(f *Facts, ended, failed int) {
		for i := range ended {
			p := Publication{At: now.Add(-time.Duration(i) * day)}
			if i < failed {
				p.Failure = "content_refused"
			}
			f.Items[i/2].Publications = append(f.Items[i/2].Publications, p)
		}
	}
	for name, c := range map[string]struct {
		change func(f *Facts)
		want   []string
	}{
		"a new factory without settings": {func(f *Facts) {
			*f = Facts{Now: now, Factory: Factory{CreatedAt: now.Add(-time.Hour), Active: true,
				ContentTypes: []string{"post"}}}
		}, []string{"no_description warning", "no_audience warning", "no_topics warning", "no_tone info",
			"no_schedule info"}},
		"accounts that are lost": {func(f *Facts) {
			f.Factory.Accounts = []Account{{ID: "soc_1", Lost: true}, {ID: "soc_2", Lost: true}, {ID: "soc_3"}}
			for i := range f.Items {
				f.Items[i].Accounts = []string{"soc_1", "soc_2", "soc_3"}
			}
		}, []string{"account_disconnected critical soc_1", "account_disconnected critical soc_2"}},
		"a publication that failed": {func(f *Facts) { publish(f, 4, 1) }, []string{"publication_failures warning"}},
		"2 of 10 publications that failed": {func(f *Facts) { publish(f, 10, 2) },
			[]string{"publication_failures critical"}},
		"2 of 11 publications that failed": {func(f *Facts) { publish(f, 11, 2) },
			[]string{"publication_failures warning"}},
		"publications that failed long ago": {func(f *Facts) {
			f.Items[0].Publications = []Publication{{now.Add(-31 * day), "timeout"}}
		}, nil},
		"two topics": {func(f *Facts) { f.Factory.Topics = f.Factory.Topics[:2] },
			[]string{"few_topics info"}},
		"nothing made": {func(f *Facts) { f.Items = nil }, []string{"no_content warning"}},
		"nothing made yet": {func(f *Facts) {
			f.Items, f.Factory.CreatedAt = nil,
				now.Add(-6*day)
		}, nil},
		"nothing made, paused":     {func(f *Facts) { f.Items, f.Factory.Active = nil, false }, nil},
		"nothing made for 14 days": {func(f *Facts) { age(f, 14) }, []string{"no_recent_content warning"}},
		"nothing made for 30 days": {func(f *Facts) { age(f, 30) }, []string{"no_recent_content critical"}},
		"a schedule of 5 items in 4 days": {func(f *Facts) {
			f.Factory.Times = 5
			f.Items = append(f.Items,
				slices.Repeat(f.Items[:28], 4)...)
		}, nil},
		"three quarters of the schedule": {func(f *Facts) { f.Items = slices.Delete(f.Items, 1, 6) }, nil},
		"less than 80% of the schedule": {func(f *Facts) { f.Items = slices.Delete(f.Items, 1, 7) },
			[]string{"below_schedule warning", "irregular_cadence warning"}},
		"less than half of the schedule": {func(f *Facts) { f.Factory.Times = 3 },
			[]string{"below_schedule critical"}},
		"a young factory below its plan": {func(f *Facts) {
			f.Factory.CreatedAt, f.Factory.Times,
				f.Items = now.Add(-8*day), 2, f.Items[:8]
		}, []string{"below_schedule warning"}},
		"4 planned items that are late": {func(f *Facts) { plan(f, 4, 4) }, nil},
		"one of 11 late":                {func(f *Facts) { plan(f, 11, 1) }, nil},
		"one of 10 late":                {func(f *Facts) { plan(f, 10, 1) }, []string{"late_items warning"}},
		"3 of 10 late":                  {func(f *Facts) { plan(f, 10, 3) }, []string{"late_items critical"}},
		"a planned item that has failed": {func(f *Facts) { plan(f, 9, 0); fail(f, 1, "", "timeout") },
			[]string{"late_items warning"}},
		"planned items that were canceled": {func(f *Facts) {
			f.Items = append(f.Items, slices.Repeat([]Item{{Kind: "post", State: "canceled", PublishAt: now.Add(-day)}},
				9)...)
		}, nil},
		"2 failures": {func(f *Facts) { fail(f, 2, "", "timeout") }, nil},
		"8 failures for two reasons": {func(f *Facts) {
			fail(f, 5, "", "timeout")
			fail(f, 3, "",
				"content_policy")
		}, []string{"below_schedule warning", "failure_rate warning", "failure_cause info content_policy",
			"failure_cause info timeout"}},
		"20 failures": {func(f *Facts) { fail(f, 20, "", "timeout") },
			[]string{"failure_rate critical", "no_recent_content warning", "failure_cause info timeout"}},
		"failures of one kind": {func(f *Facts) { fail(f, 9, "post", "timeout") },
			[]string{"below_schedule warning", "failure_rate warning", "failure_by_kind warning post",
				"failure_cause info timeout"}},
		"an account that nothing goes to": {func(f *Facts) { f.Factory.Accounts = []Account{{ID: "soc_1"}} },
			[]string{"unused_account warning soc_1"}},
		"an account that was used": {func(f *Facts) {
			f.Factory.Accounts,
				f.Items[5].Accounts = []Account{{ID: "soc_1"}}, []string{"soc_1"}
		}, nil},
		"an account that was used in time": {func(f *Facts) {
			f.Factory.Accounts,
				f.Items[40].Accounts = []Account{{ID: "soc_1"}}, []string{"soc_1"}
		}, []string{"unused_account warning soc_1"}},
		"a caption at the limit": {func(f *Facts) { f.Items[0].Caption = strings.Repeat("ü", 1024) }, nil},
		"a caption over it with its tags": {func(f *Facts) {
			f.Items[0].Caption,
				f.Items[0].Hashtags = strings.Repeat("ü", 1020), []string{"ab"}
		}, []string{"caption_too_long info telegram"}},
		"a caption too long for an account": {func(f *Facts) {
			f.Items[0].Caption, f.Items[0].Accounts = strings.Repeat("ü", 2201), []string{"soc_1"}
			f.Factory.Accounts = []Account{{ID: "soc_1", Platform: "instagram"}}
		}, []string{"caption_too_long warning instagram", "caption_too_long info tiktok",
			"caption_too_long info telegram"}},
		"a caption too long for an account of a platform that not everyone has": {func(f *Facts) {
			f.Items[0].Caption, f.Items[0].Accounts = strings.Repeat("ü", 301), []string{"soc_1"}
			f.Factory.Accounts = []Account{{ID: "soc_1", Platform: "bluesky"}}
		}, []string{"caption_too_long warning bluesky"}},
		"a content type that is not made": {func(f *Facts) {
			f.Factory.ContentTypes = append(f.Factory.ContentTypes,
				"video")
		}, []string{"unused_content_type info video"}},
	} {
		f := well()
		c.change(&f)
		if got := codes(Find(f)); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}

func TestEvidenceIsInNumbers(t *testing.T) {
	f := well()
	f.Factory.Times = 3
	got := Find(f)[0]
	if got.Code != BelowSchedule || !reflect.DeepEqual(got.Evidence, map[string]float64{"made": 28, "expected": 84,
		"days": 28, "share": 0.3333}) || got.Test != nil {
		t.Errorf("%+v", got)
	}
	for i := range 15 {
		f.Items[i].State, f.Items[i].Failure = "failed", "timeout"
	}
	for _, got := range Find(f) {
		if got.Code == FailureRate && (*got.Test != Wilson || got.Evidence["failed"] != 15 ||
			got.Evidence["ended"] != 60 || got.Evidence["share"] != 0.25 || got.Evidence["share_at_least"] != 0.1578) {
			t.Errorf("%+v", got)
		}
	}
}

// posts are published at 9 and 18 o'clock in turn, of both kinds, and get a reaction for
// 10 to 19 views each.
func posts(n int, change func(i int, p *Post)) (all []Post) {
	for i := range n {
		p := Post{Platform: "instagram", Kind: []string{"post", "story"}[i/2%2], Topics: []string{"shoes"}, Views: 1000,
			Reactions:   50 + i*7%10,
			PublishedAt: time.Date(2026, 4, 1+i%28, 9+i%2*9, 0, 0, 0, time.UTC)}
		change(i, &p)
		all = append(all, p)
	}
	return all
}

func TestEngagement(t *testing.T) {
	for name, c := range map[string]struct {
		posts []Post
		want  []string
		says  string
	}{
		"all alike":      {posts(60, func(int, *Post) {}), nil, ""},
		"none published": {nil, nil, ""},
		"one kind gets more": {posts(60, func(_ int, p *Post) {
			if p.Kind == "story" {
				p.Reactions *= 2
			}
		}), []string{"engagement_by_kind info post", "engagement_by_kind info story"}, "less"},
		"one hour gets more": {posts(60, func(i int, p *Post) {
			if i%2 == 1 {
				p.Reactions *= 2
			}
		}), []string{"engagement_by_hour info 11", "engagement_by_hour info 20"}, "less"},
		"one topic gets more": {posts(60, func(i int, p *Post) {
			if i%3 == 0 {
				p.Topics, p.Reactions = []string{"training"}, p.Reactions*2
			}
		}), []string{"engagement_by_topic info shoes", "engagement_by_topic info training"}, "less"},
		"too few posts": {posts(19, func(_ int, p *Post) {
			if p.Kind == "story" {
				p.Reactions *= 2
			}
		}), nil, ""},
		"too few views": {posts(60, func(_ int, p *Post) {
			if p.Views = 99; p.Kind == "story" {
				p.Reactions *= 2
			}
		}), nil, ""},
		// Stories are published where everything gets more: they are no better than posts.
		"another platform": {posts(60, func(_ int, p *Post) {
			if p.Kind == "story" {
				p.Platform, p.Reactions = "tiktok", p.Reactions*2
			}
		}), nil, ""},
		"no reactions": {posts(60, func(_ int, p *Post) { p.Reactions = 0 }), nil, ""},
	} {
		f := well()
		f.Factory.Zone = time.FixedZone("", 2*60*60)
		f.Posts = c.posts
		got := Find(f)
		if !slices.Equal(codes(got), c.want) {
			t.Errorf("%s: found %q, want %q", name, codes(got), c.want)
			continue
		}
		if len(got) > 0 && (*got[0].Test != MannWhitney || got[0].Evidence["p"] > 0.025 ||
			!strings.Contains(got[0].Message, c.says)) {
			t.Errorf("%s: %+v", name, got[0])
		}
	}
}

func TestScore(t *testing.T) {
	finding := func(code Code, severity Severity) Finding { return Finding{Code: code, Severity: severity} }
	for _, c := range []struct {
		findings []Finding
		want     int
	}{
		{nil, 100},
		{[]Finding{finding(NoTone, Info), finding(NoSchedule, Info)}, 100},
		{[]Finding{finding(NoTopics, Warning), finding(NoAudience, Warning)}, 80},
		{[]Finding{finding(LateItems, Critical), finding(NoAudience, Warning)}, 65},
		{[]Finding{finding(UnusedAccount, Warning), finding(UnusedAccount, Warning), finding(UnusedAccount, Warning),
			finding(UnusedAccount, Warning)}, 75},
		{[]Finding{finding(LateItems, Critical), finding(FailureRate, Critical), finding(BelowSchedule, Critical),
			finding(NoRecentContent, Critical), finding(NoTopics, Warning)}, 0},
	} {
		if got := Score(c.findings); got != c.want {
			t.Errorf("%v: %d, want %d", codes(c.findings), got, c.want)
		}
	}
}
