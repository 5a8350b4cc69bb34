package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	client "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
)

const mandatesPath = "/settings/mandates"

// mandate is the mandate of a key as the API answers it.
type mandate struct {
	ID          string           `json:"id"`
	CreditsADay *int64           `json:"credits_a_day"`
	Platforms   []string         `json:"platforms"`
	QuietHours  *auth.QuietHours `json:"quiet_hours"`
	NeedsPerson []auth.Act       `json:"needs_person"`
	Until       *time.Time       `json:"until"`
}

// Ended reports whether the mandate has ended, so that its key does nothing any more.
func (m mandate) Ended(now time.Time) bool { return m.Until != nil && !now.Before(*m.Until) }

// Texts returns the acts that only people do, in words.
func (m mandate) Texts() (all []string) {
	for _, a := range auth.Acts {
		if slices.Contains(m.NeedsPerson, a.Act) {
			all = append(all, a.Text)
		}
	}
	return all
}

// mandateDraft is what a form has for the mandate of a key. All is empty without one.
type mandateDraft struct {
	Credits, From, To, Zone, Until string
	Platforms                      []string
	Acts                           []string
	// sent reports whether the form had the fields of a mandate.
	sent bool
}

func mandateOf(r *request) mandateDraft {
	return mandateDraft{Credits: r.FormValue("credits_a_day"), From: r.FormValue("quiet_from"),
		To: r.FormValue("quiet_to"), Zone: strings.TrimSpace(r.FormValue("quiet_zone")), Until: r.FormValue("until"),
		Platforms: slices.Clone(r.Form["platforms"]), Acts: slices.Clone(r.Form["needs_person"]),
		sent: r.Form.Has("credits_a_day")}
}

// mandateDraftOf returns the form of a mandate, which may be nil.
func mandateDraftOf(m *mandate) (d mandateDraft) {
	if m == nil {
		return d
	}
	if m.CreditsADay != nil {
		d.Credits = strconv.FormatInt(*m.CreditsADay, 10)
	}
	if q := m.QuietHours; q != nil {
		d.From, d.To, d.Zone = q.From, q.To, q.Timezone
	}
	for _, act := range m.NeedsPerson {
		d.Acts = append(d.Acts, string(act))
	}
	d.Platforms, d.Until = m.Platforms, dayOf(m.Until)
	return d
}

// Platform reports whether the platform with an id is chosen in the form.
func (d mandateDraft) Platform(id client.Platform) bool {
	return slices.Contains(d.Platforms, string(id))
}

// Act reports whether an act is left to people.
func (d mandateDraft) Act(act auth.Act) bool { return slices.Contains(d.Acts, string(act)) }

// empty reports whether the form asks for no mandate. A zone alone bounds nothing.
func (d mandateDraft) empty() bool {
	return d.Credits == "" && d.From == "" && d.To == "" && d.Until == "" && len(d.Platforms) == 0 && len(d.Acts) == 0
}

// body returns the member of a body that sets the mandate, all of it, or nil for no mandate. A day that is that of the
// mandate before keeps its time.
func (d mandateDraft) body(before *mandate) (map[string]any, fieldErrors) {
	if d.empty() {
		return nil, nil
	}
	body := map[string]any{"credits_a_day": nil, "platforms": nil, "quiet_hours": nil, "needs_person": d.Acts,
		"until": nil}
	if d.Credits != "" {
		n, err := strconv.ParseInt(d.Credits, 10, 64)
		if err != nil {
			return nil, about("credits_a_day", mends["/mandate/credits_a_day"].text)
		}
		body["credits_a_day"] = n
	}
	if len(d.Platforms) > 0 {
		body["platforms"] = d.Platforms
	}
	if d.Acts == nil {
		body["needs_person"] = []string{}
	}
	if d.From != "" || d.To != "" {
		body["quiet_hours"] = map[string]string{"from": d.From, "to": d.To, "timezone": d.Zone}
	}
	switch day, err := time.Parse(time.DateOnly, d.Until); {
	case d.Until == "":
	case before != nil && d.Until == dayOf(before.Until):
		body["until"] = before.Until.Format(time.RFC3339Nano)
	case err != nil:
		return nil, about("until", mends["/mandate/until"].text)
	default:
		body["until"] = day.Format(time.RFC3339)
	}
	return body, nil
}

// differs reports whether a form asks for another mandate than that of its key.
func (d mandateDraft) differs(from *mandate) bool {
	if !d.sent {
		return false
	}
	was := mandateDraftOf(from)
	return d.Credits != was.Credits || d.From != was.From || d.To != was.To || d.Until != was.Until ||
		(d.From != "" && d.Zone != was.Zone) ||
		!slices.Equal(slices.Sorted(slices.Values(d.Platforms)), slices.Sorted(slices.Values(was.Platforms))) ||
		!slices.Equal(slices.Sorted(slices.Values(d.Acts)), slices.Sorted(slices.Values(was.Acts)))
}

// hours returns the quiet hours in words, or an empty text.
func (d mandateDraft) hours() string {
	if d.From == "" && d.To == "" {
		return ""
	}
	return d.From + "–" + d.To + " " + d.Zone
}

// changedMandate adds lines about what a form changes in a mandate.
func changedMandate(v *view, all []string, from *mandate, d mandateDraft) []string {
	if !d.differs(from) {
		return all
	}
	was := mandateDraftOf(from)
	all = changed(v, all, "Credits a day", was.Credits, d.Credits)
	all = changed(v, all, "Platforms that it may publish to", strings.Join(was.Platforms, ", "),
		strings.Join(d.Platforms, ", "))
	all = changed(v, all, "Quiet hours", was.hours(), d.hours())
	all = changedSet(v, all, "Leaves to people: %s", "Does by itself again: %s", was.Acts, d.Acts)
	return changed(v, all, "Ends on", was.Until, d.Until)
}

// addMandate adds what the fields of a mandate need to the data of a page.
func addMandate(r *request, data map[string]any, d mandateDraft) error {
	var platforms []client.SocialPlatform
	if err := r.api.get(r.Context(), "/v1/social/platforms", nil, &platforms); err != nil {
		return err
	}
	if d.Zone == "" {
		d.Zone = r.view("", "").Zone.String()
	}
	data["Mandate"], data["Platforms"], data["Acts"] = d, platforms, auth.Acts
	return nil
}

func addMandates(open func(string, func(*request) error)) {
	open("GET "+mandatesPath, listMandates)
}

// mandates are what ends a mandate.
var mandates = page[key]{
	Path: mandatesPath, API: "/v1/api-keys", Name: key.Label,
	Actions: []action[key]{{Name: "end", Method: http.MethodPatch, Recent: true, Done: "ended",
		Ask: &confirmation{Title: "End the access", Verb: "End the access",
			Text: "The key, and the keys that it has made, do nothing any more from now on, and what they have " +
				"scheduled is not published. To let it go on, set a later end in the form of the key."},
		Effects: func(_ *request, v *view, k key) ([]string, error) {
			if k.Mandate == nil {
				return nil, &failure{Status: http.StatusNotFound, Message: "There is no such page."}
			}
			return []string{v.T("Last used") + ": " + v.ago(k.LastUsedAt) + "."}, nil
		},
		Body: func(r *request) map[string]any {
			return map[string]any{"mandate": map[string]any{"until": r.site.Now().UTC().Format(time.RFC3339)}}
		}}},
}

// mandated returns the keys with a mandate that can be used, with what they have spent today.
func mandated(r *request) (some []key, err error) {
	all, err := keysOfAccount(r)
	for _, k := range all {
		if k.Mandate != nil && k.Active() && len(some) < mostMandates {
			some = append(some, k)
		}
	}
	return some, errors.Join(err, each(some, func(k *key) error {
		return r.api.get(r.Context(), "/v1/api-keys/"+url.PathEscape(k.ID), nil, k)
	}))
}

// mostMandates bounds the keys whose spending is read.
const mostMandates = 40

// mandateRow is a mandate in the list of those that the person sees.
type mandateRow struct {
	Key   key
	Ended bool
	// Today is what is spent of the credits of the day, or nil without a limit.
	Today *limited
}

func listMandates(r *request) error {
	keys, err := mandated(r)
	if err != nil {
		return err
	}
	var rows []mandateRow
	for _, k := range keys {
		one := mandateRow{Key: k, Ended: k.Mandate.Ended(r.site.Now())}
		if most := k.Mandate.CreditsADay; most != nil && k.Kind == tenant.Live {
			one.Today = &limited{Name: k.Name, Spent: k.SpentToday, Limit: *most}
		}
		rows = append(rows, one)
	}
	v := r.view("Agent limits", mandatesPath)
	v.Notice = map[string]string{"ended": "The access has ended: the key does nothing any more."}[r.FormValue("done")]
	v.Data = map[string]any{"Rows": rows}
	return r.show(http.StatusOK, "mandates", v)
}
