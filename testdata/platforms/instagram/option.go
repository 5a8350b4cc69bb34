package instagram

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
)

// options are the parameters of a container that a post shows.
var options = []string{"collaborators", "user_tags", "location_id", "share_to_feed", "trial_params", "audio_name"}

// picturesOf and videosOf are the bounds of the files of a type of container (IG User Media, image, reel and story
// specifications). Images that are narrower than 320 pixels or wider than 1,440 are scaled, so that their width has no
// bound. The ratio of the image of a story is a recommendation.
func picturesOf(kind string) control.Bounds {
	b := control.Bounds{MIMEs: []string{"image/jpeg"}, MaxBytes: 8 << 20}
	if kind != "STORIES" {
		b.Narrowest, b.Widest = control.Ratio{Width: 4, Height: 5}, control.Ratio{Width: 191, Height: 100}
	}
	return b
}

func videosOf(kind string) control.Bounds {
	b := control.Bounds{MIMEs: []string{"video/mp4", "video/quicktime"}, MaxBytes: 300 << 20, MaxWidth: 1920,
		Narrowest: control.Ratio{Width: 1, Height: 100}, Widest: control.Ratio{Width: 10, Height: 1},
		MinLength: 3 * time.Second, MaxLength: 15 * time.Minute}
	if kind != "REELS" {
		b.MaxBytes, b.MaxLength = 100<<20, time.Minute
	}
	return b
}

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
