package graph

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// signedFor is the age up to which a signed request is taken. Meta signs it when it sends it.
const signedFor = time.Hour

// Removed reads the signed request of Meta's callbacks: the one for removed rights, and the one for data to delete. It
// is the signature and the JSON text that is signed, both in base64url, with a dot in between.
func Removed(app platform.App, h platform.Hook, now time.Time) (r platform.Removal, err error) {
	form, err := url.ParseQuery(string(h.Body))
	if err != nil {
		return r, platform.ErrForged
	}
	signature, signed, _ := strings.Cut(form.Get("signed_request"), ".")
	sum, bad := unpadded(signature)
	text, bad2 := unpadded(signed)
	mac := hmac.New(sha256.New, []byte(app.Secret.Reveal()))
	mac.Write([]byte(signed))
	if bad != nil || bad2 != nil || app.Secret == "" || !hmac.Equal(sum, mac.Sum(nil)) {
		return r, platform.ErrForged
	}
	var body struct {
		Algorithm string      `json:"algorithm"`
		IssuedAt  int64       `json:"issued_at"`
		User      json.Number `json:"user_id"` // a text, or a number
	}
	if json.Unmarshal(text, &body) != nil || !strings.EqualFold(body.Algorithm, "HMAC-SHA256") ||
		!Number(body.User.String()) {
		return r, platform.ErrForged
	}
	r = platform.Removal{Person: body.User.String(), At: time.Unix(body.IssuedAt, 0)}
	if !platform.Recent(r.At, now, signedFor) {
		return platform.Removal{}, platform.ErrForged
	}
	return r, nil
}

// unpadded decodes base64url, with padding or without.
func unpadded(text string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
}

// Grantor returns Meta's id of the person who has granted a token, which is another one for each application. It is
// empty if Meta does not tell it: the accounts then end by the refusal of their next call, not by a callback.
func Grantor(ctx context.Context, g API, token platform.Secret) string {
	var me struct {
		ID string `json:"id"`
	}
	if err := g.Get(ctx, token, "/me", url.Values{"fields": {"id"}}, &me); err != nil || !Number(me.ID) {
		return ""
	}
	return me.ID
}
