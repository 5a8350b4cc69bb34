package contentautomation

import (
	"bytes"
	"cmp"
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
		if strings.TrimSpace(s) != s {
			return nil, &ConfigError{"the signing secret has a space or a line break at its start or end"}
		}
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
	found := http.Header{} // a map that was made a Header may have names in any case
	for name, values := range header {
		for _, value := range values {
			found.Add(name, value)
		}
	}
	id, stamp, signatures := found.Get("Webhook-Id"), found.Get("Webhook-Timestamp"), found.Get("Webhook-Signature")
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
	if err := json.Unmarshal(body, event); err != nil || bytes.TrimSpace(body)[0] != '{' {
		return nil, &SignatureError{"the body is no event"}
	}
	return event, nil
}

// Sign signs an event with the first secret, for tests of a receiver: a body as []byte, or what is encoded as JSON. The
// id of the request is that of the event.
func (w *Receiver) Sign(event any) (http.Header, []byte, error) {
	body, given := event.([]byte)
	if !given {
		var err error
		if body, err = json.Marshal(event); err != nil {
			return nil, nil, &ConfigError{"the event cannot be encoded: " + err.Error()}
		}
	}
	var e struct{ ID string }
	_ = json.Unmarshal(body, &e) // a body that is none is signed, too
	id, stamp := cmp.Or(e.ID, "evt_"+newKey()), strconv.FormatInt(w.Now().Unix(), 10)
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("Webhook-Id", id)
	header.Set("Webhook-Timestamp", stamp)
	header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(sum(w.keys[0], id+"."+stamp+".", body)))
	return header, body, nil
}

func sum(key []byte, head string, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(head))
	mac.Write(body)
	return mac.Sum(nil)
}

func (w *Receiver) signed(head string, body []byte, signatures string) bool {
	for _, key := range w.keys {
		want := sum(key, head, body)
		for _, s := range strings.Fields(signatures) {
			given, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, "v1,"))
			if err == nil && strings.HasPrefix(s, "v1,") && hmac.Equal(given, want) {
				return true
			}
		}
	}
	return false
}
