package instagram

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
)

// options are the parameters of a container that a post shows.
var options = []string{"collaborators", "user_tags", "location_id", "share_to_feed", "trial_params", "audio_name"}

var name, place = regexp.MustCompile(`^[A-Za-z0-9._]{1,30}$`), regexp.MustCompile(`^[0-9]+$`)

// adorned reports whether the options of a container have the form that the API takes.
func adorned(kind string, form url.Values) bool {
	var names []string
	if raw := form.Get("collaborators"); raw != "" {
		if json.Unmarshal([]byte(raw), &names) != nil || len(names) == 0 || len(names) > 3 ||
			slices.ContainsFunc(names, func(n string) bool { return !name.MatchString(n) }) {
			return false
		}
	}
	var tags []struct {
		Username string   `json:"username"`
		X        *float64 `json:"x"`
		Y        *float64 `json:"y"`
	}
	if raw := form.Get("user_tags"); raw != "" && (json.Unmarshal([]byte(raw), &tags) != nil || len(tags) == 0) {
		return false
	}
	for _, t := range tags {
		placed := t.X != nil && t.Y != nil && *t.X >= 0 && *t.X <= 1 && *t.Y >= 0 && *t.Y <= 1
		if !name.MatchString(t.Username) || placed == (kind == "REELS") {
			return false
		}
	}
	trial := form.Get("trial_params")
	return (!form.Has("location_id") || place.MatchString(form.Get("location_id"))) &&
		(trial == "" || !form.Has("collaborators") && !form.Has("share_to_feed") &&
			(trial == `{"graduation_strategy":"MANUAL"}` || trial == `{"graduation_strategy":"SS_PERFORMANCE"}`))
}
