package youtube

import (
	"net/http"
	"slices"
	"strings"
)

// The scopes of Google that the calls want.
const (
	full    = "https://www.googleapis.com/auth/youtube"
	upload  = full + ".upload"
	reads   = full + ".readonly"
	ssl     = full + ".force-ssl"
	reports = "https://www.googleapis.com/auth/yt-analytics.readonly"
)

// wanted are the scopes of which a call wants one, as the page of each method lists them. A call that is not listed wants
// none.
var wanted = map[string][]string{
	"POST /upload/youtube/v3/videos":                {upload, full, ssl},
	"POST /upload/youtube/v3/thumbnails/set":        {upload, full, ssl},
	"POST /upload/youtube/v3/captions":              {ssl},
	"GET /youtube/v3/channels":                      {reads, full, ssl},
	"GET /youtube/v3/videos":                        {reads, full, ssl},
	"GET /youtube/v3/playlists":                     {reads, full, ssl},
	"GET /youtube/v3/playlistItems":                 {reads, full, ssl},
	"POST /youtube/v3/playlistItems":                {full, ssl},
	"GET /youtube/v3/commentThreads":                {ssl},
	"GET /youtube/v3/comments":                      {ssl},
	"POST /youtube/v3/comments":                     {ssl},
	"POST /youtube/v3/comments/setModerationStatus": {ssl},
	"DELETE /youtube/v3/comments":                   {ssl},
	"GET /v2/reports":                               {reports},
}

// entitled reports whether the token of a call has one of the scopes that the call wants.
func (f *Fake) entitled(r *http.Request) bool {
	scopes, listed := wanted[r.Method+" "+r.URL.Path]
	f.mu.Lock()
	defer f.mu.Unlock()
	has, known := f.scopes[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if !known {
		has = f.granted()
	}
	return !listed || slices.ContainsFunc(scopes, func(scope string) bool { return slices.Contains(has, scope) })
}
