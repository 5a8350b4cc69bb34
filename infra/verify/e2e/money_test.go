package e2e

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/base/tenant"
)

// recording returns a WAV of silence, in 8 bits at 8 kHz.
func recording(seconds int) []byte {
	data := bytes.Repeat([]byte{128}, 8000*seconds)
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data")
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(data))), data...)
}

// An avatar is charged for its real speech, whatever length its caller declares.
func TestAvatarsCostWhatTheySpeak(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/speech.wav" {
			_, _ = w.Write(recording(3))
			return
		}
		_, _ = w.Write([]byte("<html></html>"))
	}))
	defer server.Close()
	c := newCustomer(t)
	c.topUp(1000)
	secret, face := c.live.Secret, server.URL+"/anna.jpg"
	spent := int64(0)
	for name, avatar := range map[string]struct {
		body           object
		reserved, cost int64
	}{
		"a recording": {object{"audio_url": server.URL + "/speech.wav", "image_url": face}, 30, 30},
		"Chinese":     {object{"text": strings.Repeat("字", 12), "image_url": face}, 30, 30},
		"digits":      {object{"text": strings.Repeat("7", 12), "image_url": face}, 60, 60},
		// The fake speaks for three seconds.
		"a text that takes longer": {object{"text": "Hi", "image_url": face}, 10, 30},
	} {
		t.Run(name, func(t *testing.T) {
			estimate := into[struct{ Credits int64 }](call(t, secret, http.MethodPost, "/v1/balance/estimates",
				object{"operation": "createAvatar", "body": avatar.body}), http.StatusOK)
			made := into[generation](call(t, secret, http.MethodPost, "/v1/studio/avatars", avatar.body,
				"Idempotency-Key", name), http.StatusAccepted)
			got := generated(t, secret, made.ID)
			if spent += got.CostCredits; got.State != "generated" || got.CostCredits != avatar.cost ||
				estimate.Credits != avatar.reserved {
				t.Errorf("%+v %+v, estimated %d; want %d, reserved %d", got, got.Failure, estimate.Credits, avatar.cost,
					avatar.reserved)
			}
		})
	}
	if sum, states := c.entries(); c.balance() != 1000-spent || sum != 1000-spent || states["held"] != 0 {
		t.Errorf("the balance is %d after spending %d; the entries add up to %d: %v", c.balance(), spent, sum, states)
	}
	a := call(t, secret, http.MethodPost, "/v1/studio/avatars",
		object{"audio_url": server.URL + "/page", "image_url": face})
	if err := a.refused(http.StatusUnprocessableEntity, "unsupported_media"); err != nil ||
		a.Error.Param != "/audio_url" {
		t.Error(err, a.Error)
	}
}

// A late cancellation is charged for the completed parts.
func TestALateCancelIsCharged(t *testing.T) {
	c := newCustomer(t)
	c.topUp(100)
	secret := c.live.Secret
	factory := c.factory(secret)
	type contentItem struct {
		ID, State   string
		CostCredits int64 `json:"cost_credits"`
	}
	fault(t, "fal", "status", "rate_limited", "A late shoe") // Delays the picture.
	made := into[contentItem](call(t, secret, http.MethodPost, "/v1/content-items",
		object{"factory_id": factory, "kind": "post", "prompt": "A late shoe"}), http.StatusAccepted)
	poll.Until(t, "the text of "+made.ID, func() bool {
		return into[contentItem](call(t, secret, http.MethodGet, "/v1/content-items/"+made.ID, nil),
			http.StatusOK).State == "generating"
	})
	got := into[contentItem](call(t, secret, http.MethodPost, "/v1/content-items/"+made.ID+"/cancel", nil),
		http.StatusOK)
	if got.State != "canceled" || got.CostCredits < 1 || c.balance() != 100-got.CostCredits {
		t.Errorf("%+v, and the balance is %d", got, c.balance())
	}
	if sum, states := c.entries(); sum != 100-got.CostCredits || states["held"] != 0 || states["charged"] != 1 {
		t.Errorf("the entries add up to %d: %v", sum, states)
	}
}

// An account is refused if its work costs providers money without being charged.
func TestLostSpendingIsBounded(t *testing.T) {
	none := int64(0)
	c := newCustomer(t, func(set *account.Settings) { set.LostSpendLimit = &none })
	c.topUp(100)
	image := object{"prompt": "A shoe of noise", "model": "flux-pro-1.1"}
	fault(t, "fal", "media", "garbage", "A shoe of noise") // The picture is made, but unreadable.
	made := into[generation](call(t, c.live.Secret, http.MethodPost, "/v1/studio/images", image), http.StatusAccepted)
	if got := generated(t, c.live.Secret, made.ID); got.State != "failed" || c.balance() != 100 {
		t.Fatalf("%+v, and the balance is %d", got, c.balance())
	}
	a := call(t, c.live.Secret, http.MethodPost, "/v1/studio/images", image)
	if err := a.refused(http.StatusTooManyRequests, "rate_limited"); err != nil || a.Header.Get("Retry-After") == "" {
		t.Error(err, a.Header)
	}
	into[generation](call(t, c.test.Secret, http.MethodPost, "/v1/studio/images", image), http.StatusAccepted)
}

// A key spends up to its monthly limit; another key of the account is not affected.
func TestAKeySpendsUpToItsLimit(t *testing.T) {
	c := newCustomer(t)
	c.topUp(100)
	limit := int64(7)
	limited := c.key(tenant.Live, apikey.Settings{SpendLimit: &limit})
	image := object{"prompt": "A shoe", "model": "flux-pro-1.1"} // 4 credits
	first := into[generation](call(t, limited.Secret, http.MethodPost, "/v1/studio/images", image), http.StatusAccepted)
	a := call(t, limited.Secret, http.MethodPost, "/v1/studio/images", image)
	if err := a.refused(http.StatusPaymentRequired, "spend_limit_reached"); err != nil {
		t.Error(err)
	}
	generated(t, limited.Secret, first.ID)
	into[generation](call(t, c.live.Secret, http.MethodPost, "/v1/studio/images", image), http.StatusAccepted)
	if b := c.balance(); b != 92 {
		t.Errorf("the balance is %d", b)
	}
}
