package advice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/errs"
)

// maxProposals is the greatest number of proposals of a diagnosis.
const maxProposals = 5

// The bounds of the texts of a proposal, in characters. Longer ones are cut.
const (
	maxTitle     = 120
	maxRationale = 1000
	maxEffect    = 300
)

// patched are the members of a factory that proposals may change. They describe its
// content. Proposals do not change its costs, its accounts, or whether it runs.
var patched = []string{"description", "audience", "tone", "topics", "content_types", "schedule", "settings"}

// draft is a proposal as the model writes it.
type draft struct {
	Title          string         `json:"title"`
	Rationale      string         `json:"rationale"`
	Patch          map[string]any `json:"patch"`
	ExpectedEffect string         `json:"expected_effect"`
}

// rejectedDraft is a draft that does not fit, with the reasons.
type rejectedDraft struct {
	Draft    *draft   `json:"proposal,omitempty"`
	Problems []string `json:"problems"`
}

// judge adds the proposals of an answer that fit the factory to those that are known, and
// returns why the others do not.
func judge(f factory.Factory, known []draft, answer json.RawMessage, now time.Time) (drafts []draft,
	refused []rejectedDraft) {
	drafts = slices.Clone(known)
	var form struct {
		Proposals []draft `json:"proposals"`
	}
	d := json.NewDecoder(bytes.NewReader(answer))
	d.DisallowUnknownFields()
	if err := d.Decode(&form); err != nil {
		return drafts, []rejectedDraft{{Problems: []string{"The answer is not of the form asked for: " + err.Error()}}}
	}
	for _, one := range form.Proposals {
		one.clean()
		problems := one.fits(f, now)
		if slices.ContainsFunc(drafts, func(other draft) bool { return reflect.DeepEqual(other.Patch, one.Patch) }) {
			continue
		}
		switch {
		case len(problems) > 0:
			refused = append(refused, rejectedDraft{&one, problems})
		case len(drafts) < maxProposals:
			drafts = append(drafts, one)
		}
	}
	if len(drafts) == 0 && len(refused) == 0 {
		refused = append(refused, rejectedDraft{Problems: []string{"There are no proposals."}})
	}
	return drafts, refused
}

// clean puts each text on one line, and cuts those that are too long.
func (d *draft) clean() {
	line := func(text string, most int) string {
		text = strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) || unicode.IsPrint(r) || r == '\u200c' || r == '\u200d' { // the last two join letters
				return r
			}
			return -1
		}, strings.ToValidUTF8(text, ""))
		return provider.Clip(strings.Join(strings.Fields(text), " "), most)
	}
	d.Title, d.Rationale, d.ExpectedEffect = line(d.Title, maxTitle), line(d.Rationale, maxRationale),
		line(d.ExpectedEffect, maxEffect)
}

// fits returns the reasons why the factory cannot take a draft over, or nothing if it can.
func (d *draft) fits(f factory.Factory, now time.Time) (problems []string) {
	for name, text := range map[string]string{"title": d.Title, "rationale": d.Rationale,
		"expected_effect": d.ExpectedEffect} {
		if text == "" {
			problems = append(problems, name+" is empty")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Patch)) {
		if !slices.Contains(patched, name) {
			problems = append(problems, fmt.Sprintf("/%s must not be changed", name))
		}
	}
	slices.Sort(problems)
	if len(problems) > 0 {
		return problems
	}
	changed, err := f.Change(d.Patch, now)
	if err == nil && !changed {
		return []string{"the patch changes nothing"}
	}
	if err != nil {
		e := errs.As(err)
		if len(e.Details) == 0 {
			return []string{e.Message}
		}
		for _, detail := range e.Details {
			problems = append(problems, detail.Param+" "+detail.Message)
		}
	}
	return problems
}
