package bluesky

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
)

func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

func (f *Fake) session(w http.ResponseWriter) {
	access, refresh := f.Grant(2 * time.Hour)
	control.JSON(w, http.StatusOK, map[string]string{"did": DID, "handle": Handle, "accessJwt": access,
		"refreshJwt": refresh})
}

func (f *Fake) connect(w http.ResponseWriter, r *http.Request) {
	var body struct{ Identifier, Password string }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Identifier != Handle ||
		body.Password != Password {
		refuse(w, http.StatusUnauthorized, "AuthenticationRequired")
		return
	}
	f.session(w)
}

// refresh opens the next session. Bluesky accepts a used refresh token for a while.
func (f *Fake) refresh(w http.ResponseWriter, r *http.Request) {
	if !f.TakeRefresh(bearer(r), false) {
		refuse(w, http.StatusBadRequest, "ExpiredToken")
		return
	}
	f.session(w)
}

func (f *Fake) service(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("aud") == "" || q.Get("lxm") == "" || q.Get("exp") == "" {
		invalid(w)
		return
	}
	token := "service-" + f.ID()
	f.mu.Lock()
	f.services[token] = q.Get("aud") + " " + q.Get("lxm")
	f.mu.Unlock()
	control.JSON(w, http.StatusOK, map[string]string{"token": token})
}

// serves reports whether a call has a token for another service.
func (f *Fake) serves(r *http.Request, audience, method string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.services[bearer(r)] == audience+" "+method
}
