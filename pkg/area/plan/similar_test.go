package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider/samples"
	"github.com/content-automation/api/pkg/record/resource"
)

func TestNearDuplicates(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"Ten tips for better sleep", "10 tips for better sleep", true},
		{"Ten tips for better sleep", "TEN TIPS – for better sleep!", true},
		{"Ten tips for better sleep", "For better sleep: ten tips", true},
		{"How to wash your running shoes", "How to wash your running shoe", true},
		{"How to wash your running shoes", "How to choose your first trail", false},
		{"Ten tips for better sleep", "Why naps make you faster", false},
		{"Fünf Tipps für müde Füße", "Fu\u0308nf Tipps fu\u0308r mu\u0308de Fu\u0308ße", true},
		{"Fünf Tipps für müde Füße", "Warum Socken wichtig sind", false},
		{"Пять советов для крепкого сна", "Пять советов для крепкого сна зимой", true},
		{"Пять советов для крепкого сна", "Почему важна растяжка", false},
		{"如何选择适合你的跑鞋", "如何选择适合自己的跑鞋", true},
		{"如何选择适合你的跑鞋", "马拉松前一周吃什么", false},
		{"初心者のためのランニングシューズの選び方", "初心者のためのランニングシューズの選びかた", true},
		{"初心者のためのランニングシューズの選び方", "雨の日に走る楽しさ", false},
		{"วิธีเลือกรองเท้าวิ่ง", "วิธีเลือกรองเท้าวิ่งที่ดี", true},
		{"วิธีเลือกรองเท้าวิ่ง", "อาหารเช้าก่อนวันแข่ง", false},
		{"خمس نصائح لنوم أفضل", "خمس نصائح لنوم أفضل!", true},
		{"ｆｕｌｌ　ｗｉｄｔｈ", "full width", true},
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if got := (knownTopics{shapeOf(pair[1])}).has(shapeOf(pair[0])); got != c.same {
				t.Errorf("%q and %q: %v, similarity %.2f", pair[0], pair[1], got,
					similarity(shapeOf(c.a), shapeOf(c.b)))
			}
		}
	}
}

func TestATopicThatSaysNothingIsRefused(t *testing.T) {
	for _, topic := range []string{"", "🙂🙂🙂", "… – !"} {
		if !(knownTopics{}).has(shapeOf(topic)) {
			t.Errorf("%q is taken for a topic", topic)
		}
	}
}

// planned returns the topics that the sandbox writes for a plan, without those that are near duplicates.
func planned(t *testing.T, days, postsPerDay int, language string) (taken knownTopics, all []string) {
	t.Helper()
	j := job{plan: Plan{Days: days, PostsPerDay: postsPerDay, ContentTypes: []string{"short_video", "post", "carousel"}, StartsOn: "2026-05-02",
		Timezone: "Europe/Berlin", Brief: "The weeks before Christmas in our shop"},
		recipe: Recipe{Language: language, Name: "Nordlauf"}}
	slots, err := j.plan.Slots(j.recipe, Hours{})
	if err != nil {
		t.Fatal(err)
	}
	for i, slot := range slots {
		for j.Round = 0; j.Round < rounds; j.Round++ {
			topic, _ := j.sample(opening{number: i, at: slot.At}, taken)
			if s := shapeOf(topic); !taken.has(s) {
				taken, all = append(taken, s), append(all, topic)
				break
			}
		}
	}
	if len(all) != len(slots) {
		t.Errorf("in %s, there are %d topics for %d slots", language, len(all), len(slots))
	}
	return taken, all
}

// The sandbox must not run out of topics: those of the largest plan differ.
func TestTopicsOfTheSandboxDiffer(t *testing.T) { planned(t, 90, 10, "en") }

// The topics of a usual plan are written in its language, about its brief, with many angles.
func TestTopicsOfTheSandboxAreSensible(t *testing.T) {
	for _, language := range samples.Languages {
		_, all := planned(t, 30, 2, language)
		angles := map[string]bool{}
		for _, topic := range all {
			subject, rest, _ := strings.Cut(topic, ": ")
			known := samples.Of(language).Angles
			at := slices.IndexFunc(known, func(angle string) bool { return strings.HasPrefix(rest, angle+", ") })
			if subject != "The weeks before Christmas" && subject != "Nordlauf" || at < 0 {
				t.Errorf("in %s: %q", language, topic)
			}
			angles[strconv.Itoa(at)] = true
		}
		if len(angles) < 20 {
			t.Errorf("in %s, there are %d angles", language, len(angles))
		}
	}
}

func BenchmarkNearDuplicate(b *testing.B) {
	var taken knownTopics
	for i := range 1400 {
		j := job{plan: Plan{Brief: resource.Text(fmt.Sprint("Topic ", i))}}
		topic, _ := j.sample(opening{number: i, at: time.Unix(int64(i), 0)}, nil)
		taken = append(taken, shapeOf(topic))
	}
	s := shapeOf("How to wash your running shoes after a long run in the rain")
	for b.Loop() {
		taken.has(s)
	}
}
