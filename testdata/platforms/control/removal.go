package control

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Person is the one user of Meta, as Meta names it to an application: an id that is none of the user's pages and
// accounts.
const Person = "10220000000000007"

// Me answers GET /me of Meta for the fields id alone.
func Me(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("fields") != "id" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	JSON(w, http.StatusOK, map[string]string{"id": Person})
}

// SignedRequest returns the form of a callback of Meta about a person, as its page "Data Deletion Request Callback"
// has it: base64url of the HMAC, and base64url of the JSON text that is signed.
func SignedRequest(secret, person string, at time.Time) string {
	payload, _ := json.Marshal(map[string]any{"user_id": person, "algorithm": "HMAC-SHA256", "issued_at": at.Unix()})
	signed := base64.RawURLEncoding.EncodeToString(payload)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(signed))
	return url.Values{"signed_request": {base64.RawURLEncoding.EncodeToString(mac.Sum(nil)) + "." + signed}}.Encode()
}

// TikTokSignature returns the header TikTok-Signature of a webhook, as TikTok's page "Webhooks Verification" has it.
func TikTokSignature(secret, body string, at time.Time) string {
	t := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "." + body))
	return "t=" + t + ",s=" + hex.EncodeToString(mac.Sum(nil))
}
