package item

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/samples"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/craft/guard"
)

// claimed returns the findings without those about the language: the sandbox does not translate a prompt.
func claimed(found []guard.Finding) []guard.Finding {
	return slices.DeleteFunc(found, func(f guard.Finding) bool { return f.Code == guard.Language })
}

// The samples of the sandbox pass the guards in each of its languages, for each type of factory and kind of content, so
// that test keys see them and not the plain text that replaces a refused one.
func TestTheSamplesOfTheSandboxPassTheGuards(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	writer := sandbox.New(func() time.Time { return now })
	for _, language := range samples.Languages {
		for _, kind := range []Kind{Post, Video, Carousel, Story, MusicClip} {
			for _, of := range []string{"blogger", "seller", "expert", "brand", "news", "entertainment", "musician"} {
				f := voiced()
				f.Type, f.Sells = of, of == "seller"
				format := ""
				if kind == Video {
					format = FormatShort
				}
				r := recordOf(t, kind, format, language, f)
				if f.Sells {
					r.Brief.Product = &Product{ProductID: "prd_1", Name: "Trail shoe", Description: "Made of nets. Weighs 240 g.",
						Price: money.Price{Amount: 12900, Currency: "EUR"}}
				}
				if err := AttemptAt(r).Plan(all, Options{}, false); err != nil {
					t.Fatal(err)
				}
				req := AttemptAt(r).foreseen(r.Parts[0])
				sub, err := writer.Submit(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				rules := AttemptAt(r).rules(now)
				rules.Sourced = false
				name := fmt.Sprint(language, " ", kind, " of ", of)
				if found := claimed(guard.Check(AttemptAt(r).fields(*sub.Result.Text), rules)); len(found) > 0 {
					t.Errorf("%s: %s", name, guard.Reasons(found))
				}
				req.Repair = &provider.Repair{Problems: []string{"x"}}
				again, err := writer.Submit(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				rules.Forbidden, rules.Facts = []string{"shoe", "nets"}, nil
				if found := claimed(guard.Check(AttemptAt(r).fields(*again.Result.Text), rules)); len(found) > 0 {
					t.Errorf("%s, written again: %s", name, guard.Reasons(found))
				}
			}
		}
	}
}
