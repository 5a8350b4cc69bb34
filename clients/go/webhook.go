package contentautomation

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// tolerance is how far the clock of the service may differ from that of the receiver.
const tolerance = 5 * time.Minute

// Receiver verifies the requests that a webhook receives, as Standard Webhooks 1.0 defines.
type Receiver struct {
	keys [][]byte
	// Now is the clock. It is time.Now unless a test sets it.
	Now func() time.Time
}

// NewReceiver returns the verifier for the signing secret of a webhook (whsec_…). While a secret is replaced, give both.
func NewReceiver(secrets ...string) (*Receiver, error) {
	w := &Receiver{Now: time.Now}
	for _, s := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, "whsec_"))
		if err != nil || len(key) == 0 || !strings.HasPrefix(s, "whsec_") {
			return nil, &ConfigError{"the signing secret is malformed: a secret is whsec_ and base64"}
		}
		w.keys = append(w.keys, key)
	}
	if len(w.keys) == 0 {
		return nil, &ConfigError{"the signing secret is missing"}
	}
	return w, nil
}

// String names the verifier without its secrets.
func (w *Receiver) String() string {
	return fmt.Sprintf("contentautomation.Receiver(%d secrets)", len(w.keys))
}

// GoString names the verifier without its secrets.
func (w *Receiver) GoString() string { return w.String() }

// Event verifies a request by its headers and its body as it was received, and returns the event. A request with a wrong
// signature, or one that was signed more than five minutes ago, is refused with a *SignatureError.
func (w *Receiver) Event(header http.Header, body []byte) (*Event, error) {
	id, stamp, signatures := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp"), header.Get("Webhook-Signature")
	if id == "" || stamp == "" || signatures == "" {
		return nil, &SignatureError{"a header of the signature is missing"}
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return nil, &SignatureError{"the timestamp is malformed"}
	}
	if age := w.Now().Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return nil, &SignatureError{"the timestamp is too far from the present"}
	}
	if !w.signed(id+"."+stamp+".", body, signatures) {
		return nil, &SignatureError{"no signature matches"}
	}
	event := &Event{}
	if err := json.Unmarshal(body, event); err != nil {
		return nil, &SignatureError{"the body is no event"}
	}
	return event, nil
}

func (w *Receiver) signed(head string, body []byte, signatures string) bool {
	for _, key := range w.keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(head))
		mac.Write(body)
		sum := mac.Sum(nil)
		for _, s := range strings.Fields(signatures) {
			given, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, "v1,"))
			if err == nil && strings.HasPrefix(s, "v1,") && hmac.Equal(given, sum) {
				return true
			}
		}
	}
	return false
}
