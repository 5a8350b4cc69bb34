package generate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/store"
)

// Write implements generate.Writing: a text, and two better ones. Questions that the part lacks have no answers. With
// the title "good" the text needs no better one.
func (w *thingWork) Write(ctx context.Context, n int, made []generate.PartResult,
	ask generate.Asker) (best generate.PartResult, err error) {
	for i, name := range []string{generate.First, "second", "third"} {
		m, err := ask.Ask(ctx, name, generate.Question{
			Optional: i > 0,
			Request:  func(context.Context, *store.DB) (provider.Request, error) { return w.Request(n, made) },
			Check: func(ctx context.Context, db *store.DB, now time.Time, m generate.PartResult) (*generate.Refusal,
				error) {
				return w.Check(ctx, db, now, *m.Text)
			},
			Publishes: func(m generate.PartResult) string { return w.Publishes(n, m) },
		})
		if err != nil {
			return best, err
		}
		if m.Text != nil {
			best = m
		}
		if best.Text.Title == "good" {
			break
		}
	}
	return best, nil
}

func (w *thingWork) LeavesOut(int, []generate.PartResult) bool { return false }

// asks accepts a text of three questions and a picture. The titles of the answers are the numbers of the questions.
func asks(w *world, titles ...string) {
	w.fake.write = func(provider.Request) (provider.Text, error) {
		return provider.Text{Title: titles[w.fake.count(provider.KindText)-1]}, w.fake.told("submit")
	}
	o := work("thing_1")
	o.KeepsParts = true
	o.Parts[0].Further = []generate.Call{{Name: "second", Provider: "fake", Credits: 2},
		{Name: "third", Provider: "fake", Credits: 4}}
	w.acceptWork(o)
}

// An answer is remembered before the next question is asked: whenever a function dies, no question is asked again but
// the one that it died of.
func TestAnswersAreRemembered(t *testing.T) {
	for death := int64(1); ; death++ {
		w := newWorld(t)
		asks(w, "1", "2", "3", "4")
		died := w.dies(death)
		before := w.fake.count(provider.KindText)
		w.drain()
		v := w.ended("thing_1", "generated")
		asked := w.fake.count(provider.KindText)
		if asked > 4 || asked < 3 || before == 0 && asked > 3 {
			t.Errorf("death after step %d: %d questions, %d of them before", death, asked, before)
		}
		if title := v.Made[0].Text.Title; title != fmt.Sprint(asked) {
			t.Errorf("death after step %d: the text is %s of %d", death, title, asked)
		}
		w.settled(16)
		if !died {
			return
		}
	}
}

// A work that is canceled keeps the best text until then, and costs what was answered. A question that was not needed
// costs as much as one that was asked.
func TestATextIsCanceledBetweenQuestions(t *testing.T) {
	for titles, want := range map[string][]string{
		"1 2 3":    {"0 ", "3 1", "5 2", "9 3"},
		"1 good":   {"0 ", "3 1", "9 good"},
		"good":     {"0 ", "9 good"},
		"1 - 3":    {"0 ", "3 1", "3 1", "5 1", "9 3"}, // the second one is refused twice, and the text stands
		"1 2 - 4 ": {"0 ", "3 1", "5 2", "5 2", "9 4"},
	} {
		for steps, wanted := range want {
			w := newWorld(t)
			all := strings.Fields(titles)
			if i := slices.Index(all, "-"); i > 0 && i == 1 {
				all = slices.Concat(all[:i], []string{"forbidden", "forbidden"}, all[i+1:])
			} else if i > 1 {
				all[i] = "forbidden"
			}
			asks(w, all...)
			for range steps {
				w.relay()
				j, _ := w.pop()
				if err := w.do(t.Context(), j); err != nil {
					t.Fatal(err)
				}
			}
			w.cancel("thing_1")
			v, _ := w.read("thing_1")
			got := fmt.Sprint(v.Cost, " ")
			if v.Made[0].Text != nil {
				got += v.Made[0].Text.Title
			}
			if got != wanted {
				t.Errorf("%q after %d steps: %q, want %q", titles, steps, got, wanted)
			}
			w.drain()
			w.settled(v.Cost)
		}
	}
}
