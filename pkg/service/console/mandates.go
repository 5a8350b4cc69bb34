package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	client "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/web"
)

const mandatesPath = "/settings/mandates"

// Ended reports whether the mandate of a key has ended, so that the key does nothing any more.
func (k key) Ended(now time.Time) bool {
	return k.Mandate.Until != nil && !now.Before(*k.Mandate.Until)
}

// OnlyPeople returns the acts that the mandate of a key leaves to people, in words.
func (k key) OnlyPeople() (all []string) {
	for _, a := range auth.Acts {
		if slices.Contains(k.Mandate.NeedsPerson, string(a.Act)) {
			all = append(all, a.Text)
		}
	}
	return all
}

// Today returns what is spent of the credits of the day, or nil without a limit.
func (k key) Today() *limited {
	if k.Mandate.CreditsADay == nil || k.Kind != client.ModeLive {
		return nil
	}
	return &limited{Name: k.Name, Spent: k.UsedTodayCredits, Limit: *k.Mandate.CreditsADay}
}

// mandateInputs are the inputs of a mandate. A form without them leaves it as it is.
var mandateInputs = []input{
	{Name: "credits_a_day", Member: "mandate/credits_a_day", Label: "Credits a day", Kind: asDigits,
		Counts: boundsAgents},
	{Name: "until", Member: "mandate/until", Label: "Ends on", Kind: asDate, Counts: boundsAgents,
		Help: "From the beginning of this day, in UTC, the key does nothing any more."},
	{Name: "quiet_from", Member: "mandate/quiet_hours/from", Label: "Quiet hours from", Kind: asTime, Free: true,
		Counts: boundsAgents},
	{Name: "quiet_to", Member: "mandate/quiet_hours/to", Label: "Quiet hours to", Kind: asTime, Free: true,
		Counts: boundsAgents},
	{Name: "quiet_zone", Member: "mandate/quiet_hours/timezone", Label: "Time zone of the quiet hours", Kind: asZone,
		Free: true, Wide: true, Help: "Nothing is published in the quiet hours. Content may be made.",
		Counts: func(d draft) bool { return d.Get("quiet_from") != "" || d.Get("quiet_to") != "" }},
	{Name: "platforms", Member: "mandate/platforms", Label: "Platforms that it may publish to", Kind: asBoxes,
		Of: platformChoices, Counts: boundsAgents, Help: "Leave empty for all."},
	{Name: "needs_person", Member: "mandate/needs_person", Label: "Only people do this", Kind: asBoxes,
		Choices: acts, Counts: boundsAgents, Added: "Leaves to people: %s", Removed: "Does by itself again: %s"},
}

// boundsAgents reports whether a form has the inputs of a mandate: browsers send no boxes that are empty.
func boundsAgents(d draft) bool {
	_, sent := d["credits_a_day"]
	return sent
}

// acts are the acts that a mandate leaves to people.
var acts = func() (all []choice) {
	for _, a := range auth.Acts {
		all = append(all, choice{string(a.Act), a.Text})
	}
	return all
}()

// platformChoices are the platforms of the page.
func platformChoices(to map[string]any) []choice {
	platforms, _ := to["Platforms"].([]client.SocialPlatform)
	return mapped(platforms, func(p client.SocialPlatform) choice {
		return choice{string(p.ID), web.Label(string(p.ID))}
	})
}

// mandateForm is the part of a form that has a mandate.
var mandateForm = &form[key]{Inputs: mandateInputs, call: "POST /v1/api-keys"}

// addMandate adds what the inputs of a mandate need to the data of a page.
func addMandate(r *request, v *view, d draft, to map[string]any) error {
	if d.Get("quiet_zone") == "" {
		d["quiet_zone"] = []string{v.Zone.String()}
	}
	return addPlatforms[key](r, v, nil, to)
}

var mandates = page[key]{
	Title: "Agent limits", Path: mandatesPath, API: "/v1/api-keys", List: "mandates", Icon: "key", Name: key.Label,
	Lead:  "What agents may do with a key without a person. The limits are set in the form of the key.",
	Empty: "No key has agent limits", Rows: mandated,
	Actions: []action[key]{{Name: "end", Method: http.MethodPatch, Recent: true, Done: "ended",
		Ask: &confirmation{Title: "End the access", Verb: "End the access",
			Text: "The key, and the keys that it has made, do nothing any more from now on, and what they have " +
				"scheduled is not published. To let it go on, set a later end in the form of the key."},
		Effects: func(_ *request, v *view, k key) ([]string, error) {
			if k.Mandate == nil {
				return nil, errNoPage
			}
			return []string{v.T("Last used") + ": " + v.ago(k.LastUsedAt) + "."}, nil
		},
		Body: func(r *request) (any, error) {
			return map[string]any{"mandate": map[string]any{"until": r.site.Now().UTC().Format(time.RFC3339)}}, nil
		}}},
	Done: map[string]string{"ended": "The access has ended: the key does nothing any more."},
}

// mandated returns the keys with a mandate that can be used, with what they have spent today.
func mandated(r *request, _ url.Values) (some []key, _ string, err error) {
	all, err := keysOfAccount(r)
	for _, k := range all {
		if k.Mandate != nil && k.Active() && len(some) < mostMandates {
			some = append(some, k)
		}
	}
	return some, "", errors.Join(err, each(some, func(k *key) error {
		return r.api.get(r.Context(), "/v1/api-keys/"+url.PathEscape(k.ID), nil, k)
	}))
}

// mostMandates bounds the keys whose spending is read.
const mostMandates = 40
