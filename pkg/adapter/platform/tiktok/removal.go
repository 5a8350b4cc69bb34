package tiktok

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

var _ platform.Remover = (*Platform)(nil)

const (
	// signedFor is the age up to which a signature is taken. TikTok signs each attempt to send a webhook.
	signedFor = 5 * time.Minute
	// removed is the event of a person who has removed the rights, or whose account is gone.
	removed = "authorization.removed"
)

// Removed implements platform.Remover. The header TikTok-Signature has the time and the signature of a webhook, as in
// t=1633174587,s=1849…; what is signed is the time, a dot and the body. All events of an application come to one
// address.
func (*Platform) Removed(app platform.App, h platform.Hook, now time.Time) (r platform.Removal, err error) {
	var at, signature string
	for part := range strings.SplitSeq(h.Header.Get("TikTok-Signature"), ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(part), "="); name {
		case "t":
			at = value
		case "s":
			signature = value
		}
	}
	seconds, bad := strconv.ParseInt(at, 10, 64)
	sum, bad2 := hex.DecodeString(signature)
	mac := hmac.New(sha256.New, []byte(app.Secret.Reveal()))
	mac.Write([]byte(at + "."))
	mac.Write(h.Body)
	if bad != nil || bad2 != nil || app.Secret == "" || !hmac.Equal(sum, mac.Sum(nil)) ||
		!platform.Recent(time.Unix(seconds, 0), now, signedFor) {
		return r, platform.ErrForged
	}
	var body struct {
		Client  string `json:"client_key"`
		Event   string `json:"event"`
		Created int64  `json:"create_time"`
		User    string `json:"user_openid"`
	}
	if json.Unmarshal(h.Body, &body) != nil || body.Event != removed {
		return r, nil
	}
	if body.Client != app.ID {
		return r, platform.ErrForged
	}
	return platform.Removal{Person: body.User, At: time.Unix(body.Created, 0)}, nil
}
