package platform_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/tiktok"
	"github.com/content-automation/api/testdata/platforms/control"
)

// The webhook of TikTok's documents, with a signature that a program of Python has made.
const (
	removal = `{"client_key":"bwo2m45353a6k85","event":"authorization.removed","create_time":1777636790,` +
		`"user_openid":"act.example12345Example12345Example","content":"{\"reason\": 1 }"}`
	removalSignature = "t=1777636800,s=65f454335c8754d9d9e78159a1e6e1ccdca9b7136a56d4512aa750bc72c3773c"
	removedPerson    = "act.example12345Example12345Example"
)

func TestWebhooksAboutRemovedRights(t *testing.T) {
	sent := time.Unix(1777636800, 0)
	other := strings.Replace(removal, "authorization.removed", "video.publish.completed", 1)
	foreign := strings.Replace(removal, "bwo2m45353a6k85", "another", 1)
	_, signature, _ := strings.Cut(removalSignature, ",")
	for name, c := range map[string]struct {
		body, header string
		late         time.Duration
		want         string
		forged       bool
	}{
		"of another program":     {removal, removalSignature, 0, removedPerson, false},
		"in another order":       {removal, signature + ", t=1777636800", 0, removedPerson, false},
		"five minutes old":       {removal, removalSignature, 5 * time.Minute, removedPerson, false},
		"older":                  {removal, removalSignature, 5*time.Minute + time.Second, "", true},
		"of the future":          {removal, removalSignature, -6 * time.Minute, "", true},
		"no signature":           {removal, "", 0, "", true},
		"no time":                {removal, signature, 0, "", true},
		"another time":           {removal, "t=1777636801," + signature, 0, "", true},
		"another body":           {removal + " ", removalSignature, 0, "", true},
		"another secret":         {removal, control.TikTokSignature("guess", removal, sent), 0, "", true},
		"no hexadecimal":         {removal, "t=1777636800,s=zz", 0, "", true},
		"another event":          {other, control.TikTokSignature("secret", other, sent), 0, "", false},
		"no JSON":                {"{", control.TikTokSignature("secret", "{", sent), 0, "", false},
		"of another application": {foreign, control.TikTokSignature("secret", foreign, sent), 0, "", true},
	} {
		h := platform.Hook{Header: http.Header{}, Body: []byte(c.body)}
		h.Header.Set("TikTok-Signature", c.header)
		got, err := new(tiktok.Platform).Removed(platform.App{ID: "bwo2m45353a6k85", Secret: "secret"}, h, sent.Add(c.late))
		if errors.Is(err, platform.ErrForged) != c.forged || !c.forged && err != nil || got.Person != c.want ||
			c.want != "" && got.At.Unix() != 1777636790 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	h := platform.Hook{Header: http.Header{"Tiktok-Signature": {control.TikTokSignature("", removal, sent)}},
		Body: []byte(removal)}
	if _, err := new(tiktok.Platform).Removed(platform.App{ID: "bwo2m45353a6k85"}, h, sent); !errors.Is(err, platform.ErrForged) {
		t.Errorf("without a secret: %v", err)
	}
}
