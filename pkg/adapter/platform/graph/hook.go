package graph

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// maxChallenge bounds the text that Meta sends to check an address, and that the answer repeats.
const maxChallenge = 100

// Announced implements platform.Announcer.
func (g Commenter) Announced(ctx context.Context, h platform.Hook) (all []platform.Announced, answer string,
	err error) {
	app, err := g.Via.Client.App(ctx)
	if err != nil {
		return nil, "", err
	}
	if h.Method == http.MethodGet {
		answer = h.Query.Get("hub.challenge")
		if h.Query.Get("hub.mode") != "subscribe" || len(answer) > maxChallenge ||
			!platform.SameSecret(h.Query.Get("hub.verify_token"), app.HookToken) {
			return nil, "", platform.ErrForged
		}
		return nil, answer, nil
	}
	given, ok := strings.CutPrefix(h.Header.Get("X-Hub-Signature-256"), "sha256=")
	sum, bad := hex.DecodeString(given)
	mac := hmac.New(sha256.New, []byte(app.Secret.Reveal()))
	mac.Write(h.Body)
	if !ok || bad != nil || app.Secret == "" || app.HookToken == "" || !hmac.Equal(sum, mac.Sum(nil)) {
		return nil, "", platform.ErrForged
	}
	var body struct {
		Object string `json:"object"`
		Entry  []struct {
			ID      string `json:"id"`
			Changes []struct {
				Field string `json:"field"`
				Value struct {
					Item  string `json:"item"`
					Post  string `json:"post_id"`
					Media struct {
						ID string `json:"id"`
					} `json:"media"`
				} `json:"value"`
			} `json:"changes"`
		} `json:"entry"`
	}
	if err := json.Unmarshal(h.Body, &body); err != nil || body.Object != g.Object {
		return nil, "", nil // webhooks of other objects have other shapes
	}
	for _, e := range body.Entry {
		for _, change := range e.Changes {
			post := change.Value.Post + change.Value.Media.ID
			if change.Field == g.Field && post != "" && (change.Value.Item == "" || change.Value.Item == "comment") {
				all = append(all, platform.Announced{Account: e.ID, Post: post})
			}
		}
	}
	return all, "", nil
}
