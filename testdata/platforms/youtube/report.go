package youtube

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
)

// granted returns the scopes that the owner of the channel has allowed.
func (f *Fake) granted() []string {
	return slices.DeleteFunc(slices.Clone(f.OAuth.Scopes), func(scope string) bool { return scope == f.Withheld })
}

// report tells the minutes for which a video was watched, or the figures of the channel by day. Those of the last two
// days are not there yet.
func (f *Fake) report(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	from, err := time.Parse(time.DateOnly, q.Get("startDate"))
	to, other := time.Parse(time.DateOnly, q.Get("endDate"))
	names := strings.Split(q.Get("metrics"), ",")
	var rows [][]any
	video, one := strings.CutPrefix(q.Get("filters"), "video==")
	_, known := f.Find(video)
	switch {
	case f.Withheld == "https://www.googleapis.com/auth/yt-analytics.readonly":
		refuse(w, http.StatusForbidden, "insufficientPermissions")
		return
	case err != nil, other != nil, to.Before(from), q.Get("ids") != "channel==MINE", one != known:
		refuse(w, http.StatusBadRequest, "badRequest")
		return
	case one && q.Get("metrics") == "estimatedMinutesWatched":
		rows = [][]any{{75}}
	case q.Get("dimensions") == "day" && q.Get("sort") == "day" &&
		q.Get("metrics") == "views,estimatedMinutesWatched,subscribersGained,subscribersLost":
		names = append([]string{"day"}, names...)
		for at := from; !at.After(to) && !at.After(f.Now().AddDate(0, 0, -2)); at = at.AddDate(0, 0, 1) {
			rows = append(rows, []any{at.Format(time.DateOnly), 90 + at.Day(), 30, 4, 1})
		}
	default:
		refuse(w, http.StatusBadRequest, "badRequest")
		return
	}
	headers := []any{}
	for _, name := range names {
		headers = append(headers, map[string]string{"name": name})
	}
	control.JSON(w, http.StatusOK, map[string]any{"columnHeaders": headers, "rows": rows})
}
