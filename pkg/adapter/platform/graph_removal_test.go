package platform_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

// requested is a signed request that a program of Python has made.
const requested = "KB2RvXIwe3RYUNWUwI7GaEEtMYAF_qsi5hXwAHWw47M." +
	"eyJ1c2VyX2lkIjogIjIxODQ3MSIsICJhbGdvcml0aG0iOiAiSE1BQy1TSEEyNTYiLCAiaXNzdWVkX2F0IjogMTc3NzYzNjgwMH0"

// request signs a payload.
func request(payload string) string {
	signed := base64.RawURLEncoding.EncodeToString([]byte(payload))
	mac := hmac.New(sha256.New, []byte("secret"))
	mac.Write([]byte(signed))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)) + "." + signed
}

func TestSignedRequests(t *testing.T) {
	issued := time.Unix(1777636800, 0)
	signature, signed, _ := strings.Cut(requested, ".")
	const good = `{"user_id": "218471", "algorithm": "HMAC-SHA256", "issued_at": 1777636800}`
	for name, c := range map[string]struct {
		request, secret, want string
		late                  time.Duration
	}{
		"of another program":  {request: requested, want: "218471"},
		"made here":           {request: request(good), want: "218471"},
		"with padding":        {request: signature + "=." + signed, want: "218471"},
		"a number":            {request: request(strings.Replace(good, `"218471"`, `218471`, 1)), want: "218471"},
		"in lower case":       {request: request(strings.Replace(good, "HMAC-SHA256", "hmac-sha256", 1)), want: "218471"},
		"an hour old":         {request: requested, late: time.Hour, want: "218471"},
		"older":               {request: requested, late: time.Hour + time.Second},
		"of a clock ahead":    {request: requested, late: -5 * time.Minute, want: "218471"},
		"of the future":       {request: requested, late: -6 * time.Minute},
		"no request":          {},
		"no signature":        {request: signed},
		"an empty signature":  {request: "." + signed},
		"a signature alone":   {request: signature + "."},
		"no base64":           {request: signature + "!." + signed},
		"a cut signature":     {request: signature[:len(signature)-4] + "." + signed},
		"another text":        {request: signature + "." + signed[:len(signed)-4]},
		"another secret":      {request: requested, secret: "guess"},
		"no secret":           {request: requested, secret: "none"},
		"another algorithm":   {request: request(strings.Replace(good, "HMAC-SHA256", "none", 1))},
		"no algorithm":        {request: request(`{"user_id": "218471", "issued_at": 1777636800}`)},
		"no time":             {request: request(`{"user_id": "218471", "algorithm": "HMAC-SHA256"}`)},
		"no person":           {request: request(`{"algorithm": "HMAC-SHA256", "issued_at": 1777636800}`)},
		"a person of letters": {request: request(strings.Replace(good, "218471", "me", 1))},
		"a path":              {request: request(strings.Replace(good, "218471", "1/2", 1))},
		"no JSON":             {request: request("user_id=218471")},
	} {
		app := platform.App{ID: "1", Secret: "secret"}
		if c.secret != "" {
			app.Secret = platform.Secret(strings.TrimPrefix(c.secret, "none"))
		}
		body := url.Values{"signed_request": {c.request}}.Encode()
		got, err := graph.Removed(app, platform.Hook{Body: []byte(body)}, issued.Add(c.late))
		if c.want == "" {
			if !errors.Is(err, platform.ErrForged) || got != (platform.Removal{}) {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		} else if err != nil || got.Person != c.want || !got.At.Equal(issued) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
